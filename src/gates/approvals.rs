//! Keeps the approvals of people: for one write, or for a while for a page or a kind of write.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::session::SessionId;
use super::set::ChangeSet;
use crate::audit::{CallId, Client};
use crate::change::Operation;
use crate::page::Field;
use crate::share::evict_index;

/// The most approvals that stand at a time; beyond it, the oldest of the owner with the most is
/// evicted.
const MAX_STANDING: usize = 100;
/// The lifetime of an approval for a page or a kind of write.
const LIFE: Duration = Duration::from_mins(30);
/// The most writes that it covers, including the one for which it was given.
const MAX_WRITES: u8 = 20;

/// The scope of a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For the one change that was shown.
    Once,
    /// For more writes of this kind to this page.
    Page,
    /// For more writes of this kind to any page.
    Kind,
}

impl ApprovalScope {
    /// The word, in questions, answers and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Page => "page",
            Self::Kind => "kind",
        }
    }

    /// The scopes that a person may be offered for a set. Only `Once` is offered for deletes,
    /// moves, styles, scripts and the loss of fields, for several changes, and for callers without
    /// a session.
    #[must_use]
    pub fn offered(session: &SessionId, set: &ChangeSet) -> &'static [Self] {
        if !session.lasts() {
            return &[Self::Once];
        }
        match ApprovalSubject::new(set) {
            None => &[Self::Once],
            Some(ApprovalSubject { page: None, .. }) => &[Self::Once, Self::Kind],
            Some(ApprovalSubject { page: Some(_), .. }) => &[Self::Once, Self::Page, Self::Kind],
        }
    }
}

/// The page and the kind of write to which an approval can be bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ApprovalSubject {
    operation: Operation,
    page: Option<i64>,
}

impl ApprovalSubject {
    /// `None` if only this one set can be approved.
    fn new(set: &ChangeSet) -> Option<Self> {
        if set.is_list() {
            return None;
        }
        let change = &set.first().change;
        let operation = change.operation();
        let is_light = match operation {
            Operation::Create | Operation::Update => !change.moves(),
            // What belongs to a page is approved by itself, as moves and deletes are.
            _ => false,
        };
        let is_code = |field: &Field| field.is_code();
        let is_light = is_light && change.lost().is_empty() && !change.fields().iter().any(is_code);
        is_light.then(|| Self {
            operation,
            page: change.before().and_then(|page| page.id),
        })
    }
}

/// The person whose yes counts, known by a session and a client of it by the name it gives itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approver {
    session: SessionId,
    name: String,
    version: String,
    subject: Option<String>,
}

impl Approver {
    /// The person behind a client of a session.
    pub(crate) fn new(session: &SessionId, client: &Client) -> Self {
        Self {
            session: session.clone(),
            name: client.name.clone(),
            version: client.version.clone(),
            subject: client.subject.clone(),
        }
    }
}

/// Proof that a person said yes to this very set, or to its page or kind.
///
/// [`Approvals`] alone make one. Calling [`Approvals::give`] claims that a person answered. Within
/// the crate only `write/stages/ask.rs` calls it. Nothing outside the crate can, neither with a
/// proof:
///
/// ```compile_fail,E0603
/// fn forged(approved: wikijs_gate::gates::Approved) {}
/// ```
///
/// nor with approvals of its own:
///
/// ```compile_fail,E0603
/// let own = wikijs_gate::gates::Approvals::default();
/// ```
#[derive(Debug)]
#[must_use]
pub(crate) struct Approved {
    set: ChangeSet,
    approval: CallId,
    standing: Option<ApprovalScope>,
}

impl Approved {
    /// The approved set.
    pub(crate) const fn set(&self) -> &ChangeSet {
        &self.set
    }

    /// The call in which the person said yes.
    pub(crate) const fn approval(&self) -> CallId {
        self.approval
    }

    /// The scope of an earlier yes that covers this write; `None` for a yes to this very write.
    pub(crate) const fn standing(&self) -> Option<ApprovalScope> {
        self.standing
    }
}

#[derive(Debug)]
struct StandingApproval {
    approver: Approver,
    operation: Operation,
    /// The page that it covers; `None` covers any page.
    page: Option<i64>,
    approval: CallId,
    since: Instant,
    writes_left: u8,
}

impl StandingApproval {
    fn covers(&self, approver: &Approver, subject: ApprovalSubject) -> bool {
        self.approver == *approver
            && self.operation == subject.operation
            && (self.page.is_none() || self.page == subject.page)
    }
}

/// The approvals for a page or a kind of write: in memory, bounded, each for one session and
/// client, for thirty minutes or twenty writes.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    standing: Mutex<Vec<StandingApproval>>,
}

impl Approvals {
    /// Records that a person said yes to a set in a call. `None` if this scope is not allowed for
    /// the set.
    pub(crate) fn give(
        &self,
        approver: Approver,
        set: ChangeSet,
        scope: ApprovalScope,
        approval: CallId,
    ) -> Option<Approved> {
        self.give_at(Instant::now(), approver, set, scope, approval)
    }

    /// Uses up one write of a standing approval, if one covers the change.
    pub(crate) fn take(&self, approver: &Approver, set: &ChangeSet) -> Option<Approved> {
        self.take_at(Instant::now(), approver, set)
    }

    fn give_at(
        &self,
        now: Instant,
        approver: Approver,
        set: ChangeSet,
        scope: ApprovalScope,
        approval: CallId,
    ) -> Option<Approved> {
        if !ApprovalScope::offered(&approver.session, &set).contains(&scope) {
            return None;
        }
        if scope != ApprovalScope::Once {
            let subject = ApprovalSubject::new(&set)?;
            let mut standing = self.lock(now);
            if standing.len() >= MAX_STANDING {
                let held: Vec<_> = standing
                    .iter()
                    .map(|standing| (standing.approver.session.owner(), 1))
                    .collect();
                if let Some(place) = evict_index(&held, (approver.session.owner(), 1)) {
                    standing.remove(place);
                }
            }
            standing.push(StandingApproval {
                approver,
                operation: subject.operation,
                page: subject.page.filter(|_| scope == ApprovalScope::Page),
                approval,
                since: now,
                writes_left: MAX_WRITES - 1,
            });
        }
        Some(Approved {
            set,
            approval,
            standing: None,
        })
    }

    fn take_at(&self, now: Instant, approver: &Approver, set: &ChangeSet) -> Option<Approved> {
        let subject = ApprovalSubject::new(set)?;
        let mut standing = self.lock(now);
        let found = standing
            .iter_mut()
            .find(|standing| standing.covers(approver, subject))?;
        found.writes_left = found.writes_left.checked_sub(1)?;
        Some(Approved {
            set: set.clone(),
            approval: found.approval,
            standing: Some(match found.page {
                Some(_) => ApprovalScope::Page,
                None => ApprovalScope::Kind,
            }),
        })
    }

    /// The approvals that still stand.
    fn lock(&self, now: Instant) -> std::sync::MutexGuard<'_, Vec<StandingApproval>> {
        // Entries are put in whole, so a panic elsewhere leaves the list intact.
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.retain(|one| one.writes_left > 0 && now.duration_since(one.since) < LIFE);
        standing
    }
}

#[cfg(test)]
mod tests;
