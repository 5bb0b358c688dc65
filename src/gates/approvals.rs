//! What a person said yes to: once, or for a while for a page or a kind of write.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::previews::{Proposed, SessionId};
use crate::audit::{CallId, Client};
use crate::change::{Change, Operation};
use crate::page::Field;
use crate::share::that_goes;

/// The most approvals that stand at a time; then the oldest goes of the owner that has the most.
const MAX_STANDING: usize = 100;
/// How long an approval for a page or a kind of write stands.
const LIFE: Duration = Duration::from_mins(30);
/// How many writes it covers, the one that it was given for among them.
const MAX_WRITES: u8 = 20;

/// For how much a person said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For the one change that was shown.
    Once,
    /// For more writes of this kind to this page.
    Page,
    /// For more writes of this kind to any page.
    Kind,
}

impl Scope {
    /// The word, in questions, answers and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Page => "page",
            Self::Kind => "kind",
        }
    }

    /// What a person may be offered for a change. More than once is neither for deletes,
    /// moves, styles, scripts and the loss of fields, nor for callers without a session.
    #[must_use]
    pub fn offered(session: &SessionId, change: &Change) -> &'static [Self] {
        if !session.lasts() {
            return &[Self::Once];
        }
        match Subject::of(change) {
            None => &[Self::Once],
            Some(Subject { page: None, .. }) => &[Self::Once, Self::Kind],
            Some(Subject { page: Some(_), .. }) => &[Self::Once, Self::Page, Self::Kind],
        }
    }
}

/// What of a change an approval can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Subject {
    operation: Operation,
    page: Option<i64>,
}

impl Subject {
    /// None if only this one change can be approved.
    fn of(change: &Change) -> Option<Self> {
        let operation = change.operation();
        let is_light = match operation {
            Operation::Create | Operation::Update => !change.moves(),
            Operation::Move | Operation::Delete => false,
        };
        let is_code = |field: &Field| field.is_code();
        let is_light = is_light && change.lost().is_empty() && !change.fields().iter().any(is_code);
        is_light.then(|| Self {
            operation,
            page: change.before().and_then(|page| page.id),
        })
    }
}

/// Whose writes are approved: a session, and in it a client as it names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver {
    session: SessionId,
    name: String,
    version: String,
    subject: Option<String>,
}

impl Approver {
    /// The person behind a client of a session.
    #[must_use]
    pub fn new(session: &SessionId, client: &Client) -> Self {
        Self {
            session: session.clone(),
            name: client.name.clone(),
            version: client.version.clone(),
            subject: client.subject.clone(),
        }
    }
}

/// Proof that a person said yes to this very change, or to its page or kind.
///
/// Nothing outside the gates can make one:
///
/// ```compile_fail,E0451
/// use wikijs_mcp::audit::CallId;
/// use wikijs_mcp::gates::{Approved, Proposed};
/// fn forge(proposed: Proposed, approval: CallId) -> Approved {
///     Approved { proposed, approval }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Approved {
    pub(super) proposed: Proposed,
    approval: CallId,
}

impl Approved {
    /// What was approved.
    #[must_use]
    pub const fn proposed(&self) -> &Proposed {
        &self.proposed
    }

    /// The page that it is about; none for a create.
    #[must_use]
    pub fn page(&self) -> Option<i64> {
        self.proposed.page()
    }

    /// The call under which the person said yes.
    #[must_use]
    pub const fn approval(&self) -> CallId {
        self.approval
    }
}

#[derive(Debug)]
struct Standing {
    approver: Approver,
    operation: Operation,
    /// The one page it is for; any if none.
    page: Option<i64>,
    approval: CallId,
    since: Instant,
    writes_left: u8,
}

impl Standing {
    fn covers(&self, approver: &Approver, subject: Subject) -> bool {
        self.approver == *approver
            && self.operation == subject.operation
            && (self.page.is_none() || self.page == subject.page)
    }
}

/// The approvals for a page or a kind of write: in memory, bounded, each for one session and
/// client, for thirty minutes or twenty writes.
#[derive(Debug, Default)]
pub struct Approvals {
    standing: Mutex<Vec<Standing>>,
}

impl Approvals {
    /// A person said yes to a change, under a call.
    ///
    /// Returns nothing if that much was not to be had for it.
    pub fn give(
        &self,
        approver: Approver,
        proposed: Proposed,
        scope: Scope,
        approval: CallId,
    ) -> Option<Approved> {
        self.give_at(Instant::now(), approver, proposed, scope, approval)
    }

    /// Uses one write of an approval that stands, if one covers the change.
    pub fn take(&self, approver: &Approver, proposed: &Proposed) -> Option<Approved> {
        self.take_at(Instant::now(), approver, proposed)
    }

    fn give_at(
        &self,
        now: Instant,
        approver: Approver,
        proposed: Proposed,
        scope: Scope,
        approval: CallId,
    ) -> Option<Approved> {
        if !Scope::offered(&approver.session, &proposed.change).contains(&scope) {
            return None;
        }
        if scope != Scope::Once {
            let subject = Subject::of(&proposed.change)?;
            let mut standing = self.lock(now);
            if standing.len() >= MAX_STANDING {
                let held: Vec<_> = standing
                    .iter()
                    .map(|standing| (standing.approver.session.owner(), 1))
                    .collect();
                if let Some(place) = that_goes(&held, (approver.session.owner(), 1)) {
                    standing.remove(place);
                }
            }
            standing.push(Standing {
                approver,
                operation: subject.operation,
                page: subject.page.filter(|_| scope == Scope::Page),
                approval,
                since: now,
                writes_left: MAX_WRITES - 1,
            });
        }
        Some(Approved { proposed, approval })
    }

    fn take_at(&self, now: Instant, approver: &Approver, proposed: &Proposed) -> Option<Approved> {
        let subject = Subject::of(&proposed.change)?;
        let mut standing = self.lock(now);
        let found = standing
            .iter_mut()
            .find(|standing| standing.covers(approver, subject))?;
        found.writes_left = found.writes_left.checked_sub(1)?;
        Some(Approved {
            proposed: proposed.clone(),
            approval: found.approval,
        })
    }

    /// The approvals that still stand.
    fn lock(&self, now: Instant) -> std::sync::MutexGuard<'_, Vec<Standing>> {
        // A panic elsewhere cannot leave a list of whole entries half-made.
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.retain(|one| one.writes_left > 0 && now.duration_since(one.since) < LIFE);
        standing
    }
}

#[cfg(test)]
mod tests;
