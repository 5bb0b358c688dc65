//! Keeps the links that sign people in, and the sessions that these or an issuer began: a document each, named
//! by the digest of the secret that is in the link, or that the browser has.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::browser_state::BrowserState;
use crate::audit::ClientId;
use crate::hex;
use crate::oauth::PersonClaims;
use crate::store::{
    self, DocumentKind, Fence, HeldLease, LeaseName, LeaseQueue, Store, StoreError, StoreHome,
    wait_for,
};

/// The kind of the documents.
const KIND: DocumentKind = DocumentKind::SignIn;
/// Prefix of the secret of every sign-in link.
pub const LINK_PREFIX: &str = "wjl_";
/// The time within which a link signs in, in seconds.
const LINK_COUNTS: i64 = 24 * 60 * 60;
/// The time after which an unused session ends, in seconds.
const IDLE: i64 = 12 * 60 * 60;
/// The longest that one counts.
const LONGEST: i64 = 7 * 24 * 60 * 60;
/// The longest that one counts without the issuer being asked again.
const UNASKED: i64 = 60 * 60;
/// The time after which the use of a session is noted again, in seconds.
const NOTED: i64 = 5 * 60;
/// The number of looks for those that are to be ended.
const ROUNDS: usize = 8;
/// The most sign-ins at a time, and of one person; the one used longest ago gives way.
const MOST: usize = 1_000;
const MOST_OF_ONE: usize = 20;
/// The usual time to wait for whoever is changing a sign-in.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a name by which operators know a sign-in.
const SHORT: usize = 8;

/// The sign-ins of all servers of a store.
#[derive(Debug, Clone)]
pub struct SignIns {
    store: Arc<dyn Store>,
    leases: LeaseQueue,
    /// Time to wait for whoever is changing a sign-in.
    patience: Duration,
}

/// A sign-in as it is kept. Times are in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInRecord {
    /// The way of it.
    pub(crate) by: SignInBy,
    pub(crate) opened: i64,
    pub(crate) used: i64,
    /// The last time at which the issuer vouched for the person.
    pub(crate) asked: i64,
    /// The last time at which the issuer was asked in vain.
    #[serde(default)]
    pub(crate) tried: i64,
    /// The sealed refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh: Option<String>,
    /// All that the pages of the session leave for the next one.
    #[serde(default)]
    pub(super) state: BrowserState,
}

/// The way of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SignInBy {
    /// An issuer vouches for the person.
    Issuer {
        /// The claims of the person, as the issuer had them last.
        claims: PersonClaims,
        /// The id of the key that sealed the refresh token.
        key: String,
    },
    /// A link of this client.
    #[serde(rename_all = "camelCase")]
    Link {
        /// The client.
        client: ClientId,
        /// Its name.
        name: String,
        /// False if it waits to be used: nobody is signed in.
        is_used: bool,
    },
}

impl SignInRecord {
    /// A sign-in that begins.
    pub(crate) fn new(by: SignInBy, now: i64) -> Self {
        Self {
            by,
            opened: now,
            used: now,
            asked: now,
            tried: 0,
            refresh: None,
            state: BrowserState::default(),
        }
    }

    /// A link of a client, or the sign-in by it.
    pub(super) fn by_link(client: ClientId, name: &str, is_used: bool) -> Self {
        let by = SignInBy::Link {
            client,
            name: name.to_owned(),
            is_used,
        };
        Self::new(by, now())
    }

    /// The same sign-in with what the issuer says of the person now.
    pub(crate) fn renewed(&self, claims: PersonClaims, now: i64) -> Self {
        let by = match &self.by {
            SignInBy::Issuer { key, .. } => SignInBy::Issuer {
                claims,
                key: key.clone(),
            },
            link @ SignInBy::Link { .. } => link.clone(),
        };
        Self {
            opened: self.opened,
            refresh: self.refresh.clone(),
            state: self.state.clone(),
            ..Self::new(by, now)
        }
    }

    /// The same sign-in after the issuer was asked and gave no answer.
    pub(crate) fn in_vain(self, now: i64) -> Self {
        Self {
            used: now,
            tried: now.max(self.asked.saturating_add(1)),
            ..self
        }
    }

    /// The claims of a person until the sign-in's last moment, if an issuer vouches for them.
    pub(crate) fn claims(&self) -> Option<PersonClaims> {
        let SignInBy::Issuer { claims, .. } = &self.by else {
            return None;
        };
        let end = OffsetDateTime::from_unix_timestamp(self.end());
        Some(PersonClaims {
            expires: end.unwrap_or(OffsetDateTime::UNIX_EPOCH),
            ..claims.clone()
        })
    }

    /// True if it is of the same person.
    fn is_of_same(&self, other: &Self) -> bool {
        match (&self.by, &other.by) {
            (SignInBy::Issuer { claims: own, .. }, SignInBy::Issuer { claims: other, .. }) => {
                own.issuer == other.issuer && own.subject == other.subject
            }
            _ => self.client().is_some() && self.client() == other.client(),
        }
    }

    /// The client, if it is by a link.
    pub const fn client(&self) -> Option<ClientId> {
        match self.by {
            SignInBy::Issuer { .. } => None,
            SignInBy::Link { client, .. } => Some(client),
        }
    }

    /// True if it is a link that nobody has used.
    pub const fn is_unused(&self) -> bool {
        matches!(self.by, SignInBy::Link { is_used: false, .. })
    }

    /// The person's name, or the client's.
    pub fn name(&self) -> &str {
        match &self.by {
            SignInBy::Issuer { claims, .. } => &claims.name,
            SignInBy::Link { name, .. } => name,
        }
    }

    /// Time at which it began.
    pub fn opened(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(self.opened).ok()
    }

    /// Time of its last use, to about five minutes.
    pub fn used(&self) -> Option<OffsetDateTime> {
        let used = Some(self.used).filter(|_| !self.is_unused());
        OffsetDateTime::from_unix_timestamp(used?).ok()
    }

    /// Time at which it ends if it is not used any more.
    pub fn ends(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(self.end_unused()).ok()
    }

    fn end_unused(&self) -> i64 {
        let idle = if self.is_unused() { LINK_COUNTS } else { IDLE };
        self.end().min(self.used.saturating_add(idle))
    }

    /// Its last moment, however much it is used.
    const fn end(&self) -> i64 {
        let most = match self.by {
            SignInBy::Issuer { .. } if self.refresh.is_none() => UNASKED,
            SignInBy::Issuer { .. } | SignInBy::Link { .. } => LONGEST,
        };
        self.opened.saturating_add(most)
    }

    /// True if it is over.
    pub fn is_over(&self, now: OffsetDateTime) -> bool {
        now.unix_timestamp() >= self.end_unused()
    }

    /// The last moment at which it counts while the issuer does not answer.
    pub(crate) const fn bridged_until(&self) -> i64 {
        self.asked.saturating_add(UNASKED)
    }
}

impl SignIns {
    /// Those of the servers that keep their state there.
    pub fn new(home: &StoreHome) -> Self {
        let store = home.shared();
        Self {
            leases: LeaseQueue::new(Arc::clone(&store)),
            store,
            patience: PATIENCE,
        }
    }

    /// Makes a link that signs a client in, once and within a day, and gives its secret. It ends the client's
    /// sessions, and replaces its links of before. Blocks.
    ///
    /// # Errors
    /// Why it could not be made.
    pub fn invite(&self, client: ClientId, name: &str) -> Result<SecretString, String> {
        self.end_of(client)?;
        let secret = random(LINK_PREFIX).map_err(|_| "the system gave no random numbers")?;
        let link = SignInRecord::by_link(client, name, false);
        self.begin(&digest(&secret), &link)?;
        Ok(secret.into())
    }

    /// Ends all links and sessions of a client. Blocks.
    ///
    /// # Errors
    /// Why one could not be ended.
    pub fn end_of(&self, client: ClientId) -> Result<usize, String> {
        self.end_all(|_, record| record.client() == Some(client))
    }

    /// The sign-in of a link's secret, which is not used up.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn of_link(&self, secret: &str) -> Result<Option<SignInRecord>, String> {
        if !secret.starts_with(LINK_PREFIX) {
            return Ok(None);
        }
        let counts = |record: &SignInRecord| record.is_unused() && !is_over(record);
        Ok(self.get(&digest(secret))?.filter(counts))
    }

    /// Uses a link up, and opens the session of its client; gives the secret of that. Of all who come with a
    /// link, to whichever server, the first alone is let in.
    ///
    /// # Errors
    /// That the store cannot be read or written. The link may be used up by then.
    pub async fn take_link(&self, secret: &str) -> Result<Option<(String, SignInRecord)>, String> {
        let (own, secret) = (self.clone(), secret.to_owned());
        let work = move || {
            let Some(link) = own.of_link(&secret)? else {
                return Ok(None);
            };
            let Some(client) = link.client() else {
                return Ok(None);
            };
            let cookie = random("").map_err(|error| error.to_string())?;
            let session = SignInRecord::by_link(client, link.name(), true);
            // Whoever ends all of the client's finds the link or the session.
            own.begin(&digest(&cookie), &session)?;
            // The removal decides.
            let is_first = own.end(&digest(&secret), Fence::default());
            if is_first != Ok(true) {
                own.end(&digest(&cookie), Fence::default())?;
            }
            Ok(is_first?.then_some((cookie, session)))
        };
        store::blocking(work).await
    }

    /// The sign-in of a name; `None` if there is none, or what is there cannot be ours.
    pub(crate) fn get(&self, name: &str) -> Result<Option<SignInRecord>, StoreError> {
        match self.store.document(KIND, name) {
            Ok(found) => Ok(found.and_then(|bytes| serde_json::from_slice(&bytes).ok())),
            Err(StoreError::Unfit(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The session of a name, if it is not over.
    pub(crate) fn session(&self, name: &str) -> Result<Option<SignInRecord>, StoreError> {
        let counts = |record: &SignInRecord| !record.is_unused() && !is_over(record);
        Ok(self.get(name)?.filter(counts))
    }

    /// Changes what the pages of a session leave for the next one. A session that ended meanwhile stays so.
    pub(super) async fn change(&self, name: &str, change: impl FnOnce(&mut BrowserState)) {
        let changed = self.rewrite(name, |record| change(&mut record.state));
        if let Err(error) = changed.await {
            tracing::warn!(%error, "a session at the review page was not told what a page showed");
        }
    }

    /// Notes that a session is used, where nobody asks an issuer at its pace, which does the same.
    pub(crate) async fn note_use(&self, name: &str, record: &SignInRecord) {
        let is_due = now().saturating_sub(record.used) >= NOTED;
        if is_due && !record.is_unused() {
            let noted = self.rewrite(name, |record| record.used = now());
            if let Err(error) = noted.await {
                tracing::warn!(%error, "the use of a session at the review page was not noted");
            }
        }
    }

    async fn rewrite(
        &self,
        name: &str,
        change: impl FnOnce(&mut SignInRecord),
    ) -> Result<(), String> {
        let turn = self.turn(name).await?;
        let Some(mut record) = self.session(name)? else {
            return Ok(());
        };
        change(&mut record);
        self.write(name, &record, turn.fence())
    }

    /// Ends a session, whoever else is at it, and gives what was kept of it. What somebody then still writes
    /// goes after it, in a turn of its own.
    pub(crate) async fn sign_out(&self, name: &str) -> Result<Option<SignInRecord>, String> {
        let turn = self.turn(name).await;
        let record = self.session(name).ok().flatten();
        let ended = turn.and_then(|turn| self.end(name, turn.fence()));
        if ended.is_err() {
            self.end(name, Fence::default())?;
            let (own, name) = (self.clone(), name.to_owned());
            tokio::spawn(async move { own.end_in_turn(&name).await });
        }
        Ok(record)
    }

    async fn end_in_turn(&self, name: &str) {
        for _ in 0..ROUNDS {
            let turn = self.turn(name).await;
            if turn.and_then(|turn| self.end(name, turn.fence())).is_ok() {
                return;
            }
        }
        tracing::error!(
            "a session that was signed out may count again: somebody is at it all the time"
        );
    }

    /// All sign-ins, with their names.
    ///
    /// # Errors
    /// Why they cannot be listed.
    pub fn all(&self) -> Result<Vec<(String, SignInRecord)>, String> {
        let mut all = Vec::new();
        for it in self.store.documents(KIND)? {
            let found = self.get(&it.name)?;
            all.extend(found.map(|record| (it.name, record)));
        }
        Ok(all)
    }

    /// The part of a name by which operators know a sign-in.
    pub fn short(name: &str) -> &str {
        name.get(..SHORT).unwrap_or(name)
    }

    /// Takes the turn to change one.
    pub(crate) async fn turn(&self, name: &str) -> Result<HeldLease, String> {
        let lease = LeaseName::document(KIND, name);
        Ok(self.leases.alone(&lease, self.patience).await?)
    }

    /// Begins one, after those that are over have gone; of too many, the one used longest ago goes, of too
    /// many of one person their own. Blocks.
    pub(crate) fn begin(&self, name: &str, record: &SignInRecord) -> Result<(), String> {
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
    pub(crate) fn write(
        &self,
        name: &str,
        record: &SignInRecord,
        turn: Fence,
    ) -> Result<(), String> {
        let bytes = serde_json::to_vec(record).map_err(|error| error.to_string())?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > KIND.most_bytes()) {
            return Err(StoreError::Unfit("is too large").into());
        }
        Ok(self.store.write_held(turn, (KIND, name), &bytes)?)
    }

    /// Ends one, for whoever has its turn.
    pub(crate) fn end(&self, name: &str, turn: Fence) -> Result<bool, String> {
        Ok(self.store.remove_held(turn, KIND, name)?)
    }

    /// Ends those of a person, or the one of `name/id`; returns how many there were.
    ///
    /// # Errors
    /// Why one could not be ended.
    pub fn revoke(&self, whose: &str) -> Result<usize, String> {
        let (person, short) = whose
            .split_once('/')
            .map_or((whose, None), |(it, id)| (it, Some(id)));
        self.end_all(|name, record| {
            record.name() == person && short.is_none_or(|short| Self::short(name) == short)
        })
    }

    fn end_all(&self, is_meant: impl Fn(&str, &SignInRecord) -> bool) -> Result<usize, String> {
        let mut ended = 0_usize;
        // A link may become a session meanwhile.
        for _ in 0..ROUNDS {
            let mut all = self.all()?;
            all.retain(|(name, record)| is_meant(name, record));
            if all.is_empty() {
                return Ok(ended);
            }
            for (name, _) in &all {
                let lease = LeaseName::document(KIND, name);
                let turn = wait_for(&*self.store, &lease, self.patience)?;
                ended += usize::from(self.end(name, turn.fence())?);
            }
        }
        Err("new ones begin all the time".to_owned())
    }
}

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

fn is_over(record: &SignInRecord) -> bool {
    record.is_over(OffsetDateTime::now_utc())
}

/// 256 random bits as text behind a prefix.
pub(crate) fn random(prefix: &str) -> Result<String, getrandom::Error> {
    let mut bits = [0_u8; 32];
    getrandom::fill(&mut bits)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bits)))
}

/// SHA-256 in hex. Digests are compared, which have one length, in constant time.
pub(crate) fn digest(secret: &str) -> String {
    hex::encode(&Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests;
