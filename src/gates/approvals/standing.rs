//! Keeps the approvals that stand for more writes than one: a document each, with an end.
//!
//! Whoever gives, uses or ends one holds one lease, so no two servers use the same write. What cannot
//! be read counts as no approval.
//!
//! The end is a time of the wall clock, so that it holds over a restart. If that clock goes back,
//! an approval does not count until the time at which it was given, and ends if that time is half an
//! hour ahead or more. The server that got it removes it after its life by a clock that only goes
//! forward; whoever finds one that has ended removes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{ApprovalScope, ApprovalSubject, Approver};
use crate::audit::{AuditError, AuditLog, AuditResult, CallId, Client, LineHash};
use crate::change::Operation;
use crate::page::{Date, Locale, PagePath, PageState};
use crate::share::evict_index;
use crate::store::{DocumentKind, Fence, LeaseName, LeaseQueue, Store, StoreError, blocking};

/// The most approvals that stand at a time; beyond it, the oldest of the owner with the most is
/// evicted.
pub(super) const MAX_STANDING: usize = 100;
/// The lifetime of an approval for a page or a kind of write.
pub(super) const LIFE: Duration = Duration::from_mins(30);
/// The most writes that it covers, including the one for which it was given.
pub(super) const MAX_WRITES: u8 = 20;
/// The version of the documents.
const VERSION: u32 = 1;
/// The longest wait for others who give, use or end one.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const KIND: DocumentKind = DocumentKind::Approval;

/// The contents of the document of an approval; the members are in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// The version of the file.
    pub v: u32,
    /// Its name: the call in which a person said yes.
    pub id: CallId,
    /// The client that asked, without its address.
    pub client: Client,
    /// The owner of its session: approvals of one owner give way to those of others.
    pub owner: String,
    /// The SHA-256 of the name of its session.
    pub session: LineHash,
    /// A digest of the gates, the site and the key of the wiki: under others it does not count.
    pub gates: LineHash,
    /// The kind of write.
    pub operation: Operation,
    /// The page's id; without one it covers any page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<i64>,
    /// The page's locale when it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub locale: Option<Locale>,
    /// The page's path when it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<PagePath>,
    /// Time at which it was given: UTC, in milliseconds.
    pub given: Date,
    /// Time at which it ends.
    pub ends: Date,
    /// Number of writes that it still covers.
    pub writes_left: u8,
}

impl StandingApproval {
    /// A yes for writes of this kind to a page, or to any page.
    pub(super) fn new(
        now: OffsetDateTime,
        approver: &Approver,
        (operation, page): (Operation, Option<&PageState>),
        id: CallId,
    ) -> Self {
        let date = |at| Date::from_instant(at).unwrap_or_default();
        Self {
            v: VERSION,
            id,
            client: approver.client.clone(),
            owner: approver.session.owner().to_owned(),
            session: approver.session.digest(),
            gates: approver.gates,
            operation,
            page: page.and_then(|page| page.id),
            locale: page.map(|page| page.locale.clone()),
            path: page.map(|page| page.path.clone()),
            given: date(now),
            ends: date(now + LIFE),
            writes_left: MAX_WRITES - 1,
        }
    }

    /// Its scope.
    pub const fn scope(&self) -> ApprovalScope {
        match self.page {
            Some(_) => ApprovalScope::Page,
            None => ApprovalScope::Kind,
        }
    }

    fn read(name: &str, json: &[u8]) -> AuditResult<Self> {
        let read: Self = serde_json::from_slice(json).map_err(|_| AuditError::BadApproval)?;
        let life = read.span().map(|(given, ends)| ends - given);
        let is_fit = read.v == VERSION
            && read.id.to_string() == name
            && life.is_some_and(|life| life == LIFE)
            && (1..MAX_WRITES).contains(&read.writes_left);
        is_fit.then_some(read).ok_or(AuditError::BadApproval)
    }

    fn span(&self) -> Option<(OffsetDateTime, OffsetDateTime)> {
        self.given.instant().zip(self.ends.instant())
    }

    /// True if it never counts again.
    pub fn has_ended(&self, now: OffsetDateTime) -> bool {
        self.span()
            .is_none_or(|(given, ends)| ends <= now || given - now >= LIFE)
    }

    fn is_of(&self, approver: &Approver) -> bool {
        self.owner == approver.session.owner()
            && self.client == approver.client
            && self.session == approver.session.digest()
    }

    fn is_valid_at(&self, now: OffsetDateTime) -> bool {
        let is_now = |(given, ends)| given <= now && now < ends;
        self.span().is_some_and(is_now)
    }
}

/// The name of a document, and the approval in it.
pub(crate) type CheckedApproval = (String, AuditResult<StandingApproval>);

/// The standing approvals of one wiki; other processes may work on the same.
#[derive(Debug, Clone)]
pub struct Approvals {
    store: Arc<dyn Store>,
    leases: LeaseQueue,
}

impl Approvals {
    /// Those of the wiki whose log this is. Nothing on the disk is touched.
    pub fn of(log: &AuditLog) -> Self {
        Self {
            store: Arc::clone(log.store()),
            leases: log.leases.clone(),
        }
    }

    /// All documents, the oldest approval first; changes nothing.
    pub async fn all(&self) -> AuditResult<Vec<CheckedApproval>> {
        let store = Arc::clone(&self.store);
        blocking(move || read(&*store)).await
    }

    /// Those that would cover writes of this person now, the oldest first; changes nothing.
    pub async fn valid_for(&self, approver: &Approver) -> AuditResult<Vec<StandingApproval>> {
        let now = now();
        let all = self.all().await?.into_iter();
        Ok(all
            .filter_map(|(_, one)| one.ok())
            .filter(|one| one.is_of(approver) && one.gates == approver.gates)
            .filter(|one| one.is_valid_at(now))
            .collect())
    }

    /// Ends those of these names, readable or not; gives those that were there.
    pub async fn end(&self, names: Vec<String>) -> AuditResult<Vec<String>> {
        self.with_lease(move |store, fence| {
            let mut ended = Vec::new();
            for name in names {
                if store.remove_held(fence, KIND, &name)? {
                    ended.push(name);
                }
            }
            Ok(ended)
        })
        .await
    }

    /// Keeps a new one.
    pub(super) async fn add(&self, now: OffsetDateTime, new: StandingApproval) -> AuditResult<()> {
        self.with_lease(move |store, fence| {
            let standing = standing(store, fence, now)?;
            if standing.len() >= MAX_STANDING {
                let held = standing.iter().map(|one| (one.owner.as_str(), 1));
                let gone = evict_index(held, (&new.owner, 1));
                if let Some(gone) = gone.and_then(|at| standing.get(at)) {
                    store.remove_held(fence, KIND, &gone.id.to_string())?;
                }
            }
            write(store, fence, &new)
        })
        .await
    }

    /// Ends one after its life, whatever the wall clock says then.
    pub(super) fn end_after(&self, life: Duration, id: CallId) {
        let own = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(life).await;
            // If this fails, the store has said so, and the wall clock still ends it.
            let _ = own.end(vec![id.to_string()]).await;
        });
    }

    /// Uses up one write of one that covers this, and gives it. Those of this person under other gates
    /// end.
    pub(super) async fn spend(
        &self,
        now: OffsetDateTime,
        approver: &Approver,
        subject: ApprovalSubject,
    ) -> AuditResult<Option<StandingApproval>> {
        let (approver, asked) = (approver.clone(), Instant::now());
        self.with_lease(move |store, fence| {
            // It may have waited for the lease.
            let now = now + asked.elapsed();
            let own = standing(store, fence, now)?;
            let own = own.into_iter().filter(|one| one.is_of(&approver));
            let (own, under_others): (Vec<_>, Vec<_>) =
                own.partition(|one| one.gates == approver.gates);
            for one in under_others {
                store.remove_held(fence, KIND, &one.id.to_string())?;
            }
            let covers = |one: &StandingApproval| {
                let is_of_page = one.page.is_none() || one.page == subject.page;
                one.is_valid_at(now) && one.operation == subject.operation && is_of_page
            };
            let Some(mut taken) = own.into_iter().find(covers) else {
                return Ok(None);
            };
            taken.writes_left = taken.writes_left.saturating_sub(1);
            if taken.writes_left == 0 {
                store.remove_held(fence, KIND, &taken.id.to_string())?;
            } else {
                write(store, fence, &taken)?;
            }
            Ok(Some(taken))
        })
        .await
    }

    /// Works on them while nobody else changes any.
    async fn with_lease<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store, Fence) -> AuditResult<T> + Send + 'static,
    ) -> AuditResult<T> {
        let name = LeaseName::APPROVALS;
        let lease = self.leases.alone(&name, LONGEST_WAIT).await?;
        let store = Arc::clone(&self.store);
        blocking(move || {
            // Held until it is done.
            work(&*store, lease.fence())
        })
        .await
    }
}

/// The time by the wall clock.
pub(super) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Reads all of them, the oldest first; the program's own log names what cannot be read.
fn read(store: &dyn Store) -> AuditResult<Vec<CheckedApproval>> {
    let mut all = Vec::new();
    for listed in store.documents(KIND)? {
        let read = match store.document(KIND, &listed.name) {
            // It was ended meanwhile.
            Ok(None) => continue,
            Ok(Some(json)) => StandingApproval::read(&listed.name, &json),
            Err(StoreError::Unfit(_)) => Err(AuditError::BadApproval),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &read {
            tracing::error!(approval = listed.name, %error, "an approval counts as none");
        }
        all.push((listed.name, read));
    }
    let given = |read: &StandingApproval| String::from(read.given.clone());
    all.sort_by_cached_key(|(_, read)| read.as_ref().ok().map(given));
    Ok(all)
}

/// Those that can be read and have not ended, the oldest first; removes those that have.
fn standing(
    store: &dyn Store,
    fence: Fence,
    now: OffsetDateTime,
) -> AuditResult<Vec<StandingApproval>> {
    let mut standing = Vec::new();
    for (name, one) in read(store)? {
        match one {
            Ok(one) if one.has_ended(now) => drop(store.remove_held(fence, KIND, &name)?),
            Ok(one) => standing.push(one),
            Err(_) => {}
        }
    }
    Ok(standing)
}

fn write(store: &dyn Store, fence: Fence, one: &StandingApproval) -> AuditResult<()> {
    let json = serde_json::to_vec(one).map_err(|_| AuditError::BrokenOff)?;
    if u64::try_from(json.len()).is_ok_and(|length| length > KIND.most_bytes()) {
        return Err(AuditError::TooLarge);
    }
    Ok(store.write_held(fence, (KIND, &one.id.to_string()), &json)?)
}
