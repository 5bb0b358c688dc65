//! Keeps the sign-ins of people at the review page: a document each, named by the digest of the secret
//! that the browser has.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::oauth::PersonClaims;
use crate::store::{
    DocumentKind, Fence, HeldLease, LeaseName, LeaseQueue, Store, StoreHome, wait_for,
};

/// The time after which an unused sign-in ends, in seconds.
const IDLE: i64 = 12 * 60 * 60;
/// The longest that one counts.
const LONGEST: i64 = 7 * 24 * 60 * 60;
/// The longest that one counts without the issuer being asked again.
const UNASKED: i64 = 60 * 60;
/// The most sign-ins at a time, and of one person; the one used longest ago gives way.
const MOST: usize = 1_000;
const MOST_OF_ONE: usize = 20;
/// Time to wait for whoever is changing a sign-in.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a name by which operators know a sign-in.
const SHORT: usize = 8;

/// The sign-ins of a server.
#[derive(Debug, Clone)]
pub struct SignIns {
    store: Arc<dyn Store>,
    leases: LeaseQueue,
}

/// A sign-in as it is kept. Times are in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInRecord {
    /// The id of the key that sealed the refresh token.
    pub(in crate::server) key: String,
    /// The claims of the person, as the issuer had them last.
    claims: PersonClaims,
    pub(in crate::server) opened: i64,
    pub(in crate::server) used: i64,
    /// The last time at which the issuer vouched for the person.
    pub(in crate::server) asked: i64,
    /// The last time at which the issuer was asked in vain.
    #[serde(default)]
    pub(in crate::server) tried: i64,
    /// The sealed refresh token.
    pub(in crate::server) refresh: Option<String>,
}

impl SignInRecord {
    /// The sign-in of a person at this moment.
    pub(in crate::server) fn new(claims: PersonClaims, key: String, now: i64) -> Self {
        Self {
            key,
            claims,
            opened: now,
            used: now,
            asked: now,
            tried: 0,
            refresh: None,
        }
    }

    /// The same sign-in with what the issuer says of the person now.
    pub(in crate::server) fn renewed(&self, claims: PersonClaims, now: i64) -> Self {
        Self {
            opened: self.opened,
            refresh: self.refresh.clone(),
            ..Self::new(claims, self.key.clone(), now)
        }
    }

    /// The same sign-in after the issuer was asked and gave no answer.
    pub(in crate::server) fn in_vain(self, now: i64) -> Self {
        Self {
            used: now,
            tried: now.max(self.asked.saturating_add(1)),
            ..self
        }
    }

    /// The claims of the person until the sign-in's last moment.
    pub(in crate::server) fn claims(&self) -> PersonClaims {
        let end = OffsetDateTime::from_unix_timestamp(self.end());
        PersonClaims {
            expires: end.unwrap_or(OffsetDateTime::UNIX_EPOCH),
            ..self.claims.clone()
        }
    }

    /// True if it is of the same person.
    fn is_of_same(&self, other: &Self) -> bool {
        self.claims.issuer == other.claims.issuer && self.claims.subject == other.claims.subject
    }

    /// The person's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.claims.name
    }

    /// Time at which it began.
    #[must_use]
    pub fn opened(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(self.opened).ok()
    }

    /// Time of its last use, to about five minutes.
    #[must_use]
    pub fn used(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(self.used).ok()
    }

    /// Time at which it ends if it is not used any more.
    #[must_use]
    pub fn ends(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(self.end().min(self.used.saturating_add(IDLE))).ok()
    }

    /// Its last moment, however much it is used.
    fn end(&self) -> i64 {
        let most = if self.refresh.is_some() {
            LONGEST
        } else {
            UNASKED
        };
        self.opened.saturating_add(most)
    }

    /// True if it is over.
    #[must_use]
    pub fn is_over(&self, now: OffsetDateTime) -> bool {
        let now = now.unix_timestamp();
        now >= self.end() || now >= self.used.saturating_add(IDLE)
    }

    /// The last moment at which it counts while the issuer does not answer.
    pub(in crate::server) const fn bridged_until(&self) -> i64 {
        self.asked.saturating_add(UNASKED)
    }
}

impl SignIns {
    /// Those of the servers that keep their state there.
    #[must_use]
    pub fn new(home: &StoreHome) -> Self {
        let store = home.shared();
        Self {
            leases: LeaseQueue::new(Arc::clone(&store)),
            store,
        }
    }

    /// The sign-in of a name; `None` if there is none, or what is there cannot be ours.
    pub(in crate::server) fn get(&self, name: &str) -> Option<SignInRecord> {
        let found = self.store.document(DocumentKind::SignIn, name).ok()??;
        serde_json::from_slice(&found).ok()
    }

    /// True if there is surely none of a name.
    pub(in crate::server) fn is_gone(&self, name: &str) -> bool {
        matches!(self.store.document(DocumentKind::SignIn, name), Ok(None))
    }

    /// All sign-ins, with their names.
    ///
    /// # Errors
    /// Why they cannot be listed.
    pub fn all(&self) -> Result<Vec<(String, SignInRecord)>, String> {
        let listed = self.store.documents(DocumentKind::SignIn);
        let listed = listed.map_err(|error| error.to_string())?.into_iter();
        let read = listed.filter_map(|it| self.get(&it.name).map(|record| (it.name, record)));
        Ok(read.collect())
    }

    /// The part of a name by which operators know a sign-in.
    #[must_use]
    pub fn short(name: &str) -> &str {
        name.get(..SHORT).unwrap_or(name)
    }

    /// Takes the turn to change one.
    pub(in crate::server) async fn turn(&self, name: &str) -> Result<HeldLease, String> {
        let lease = LeaseName::document(DocumentKind::SignIn, name);
        let held = self.leases.alone(&lease, PATIENCE).await;
        held.map_err(|error| error.to_string())
    }

    /// Begins one, after those that are over have gone; of too many, the one used longest ago goes, of too
    /// many of one person their own. Blocks.
    pub(in crate::server) fn begin(&self, name: &str, record: &SignInRecord) -> Result<(), String> {
        let now = OffsetDateTime::now_utc();
        let (over, mut all): (Vec<_>, Vec<_>) = self
            .all()?
            .into_iter()
            .partition(|(_, record)| record.is_over(now));
        all.sort_by_key(|(_, record)| record.used);
        let is_own = |(_, other): &&(String, SignInRecord)| other.is_of_same(record);
        let own = all.iter().filter(is_own).count();
        let own_surplus = (own + 1).saturating_sub(MOST_OF_ONE);
        let surplus = (all.len() + 1).saturating_sub(MOST);
        let gone = all.iter().filter(is_own).take(own_surplus);
        for (name, _) in over.iter().chain(gone).chain(all.iter().take(surplus)) {
            self.end(name, Fence::default())?;
        }
        self.write(name, record, Fence::default())
    }

    /// Writes one, for whoever has its turn.
    pub(in crate::server) fn write(
        &self,
        name: &str,
        record: &SignInRecord,
        turn: Fence,
    ) -> Result<(), String> {
        let bytes = serde_json::to_vec(record).map_err(|error| error.to_string())?;
        let written = self
            .store
            .write_held(turn, (DocumentKind::SignIn, name), &bytes);
        written.map_err(|error| error.to_string())
    }

    /// Ends one, for whoever has its turn.
    pub(in crate::server) fn end(&self, name: &str, turn: Fence) -> Result<bool, String> {
        let removed = self.store.remove_held(turn, DocumentKind::SignIn, name);
        removed.map_err(|error| error.to_string())
    }

    /// Ends those of a person, or the one of `name/id`; returns how many there were.
    ///
    /// # Errors
    /// Why one could not be ended.
    pub fn revoke(&self, whose: &str) -> Result<usize, String> {
        let (person, short) = whose
            .split_once('/')
            .map_or((whose, None), |(it, id)| (it, Some(id)));
        let is_meant = |(name, record): &(String, SignInRecord)| {
            record.claims.name == person && short.is_none_or(|short| Self::short(name) == short)
        };
        let meant: Vec<_> = self.all()?.into_iter().filter(is_meant).collect();
        for (name, _) in &meant {
            let lease = LeaseName::document(DocumentKind::SignIn, name);
            let turn = wait_for(&*self.store, &lease, PATIENCE);
            let turn = turn.map_err(|error| error.to_string())?;
            self.end(name, turn.fence())?;
        }
        Ok(meant.len())
    }
}
