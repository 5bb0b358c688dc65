//! Makes the approvals of people: for one write, or for a while for a page or a kind of write.

mod standing;

use super::{ChangeSet, SessionId};
use crate::audit::{CallId, Client, LineHash};
use crate::change::Operation;
use crate::page::Field;
use crate::words::words;

pub use standing::Approvals;
use standing::LIFE;
pub use standing::StandingApproval;

words! {
    /// The scope of a person's approval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ApprovalScope: as_str, ALL {
        /// For the one change that was shown.
        Once = "once",
        /// For more writes of this kind to this page.
        Page = "page",
        /// For more writes of this kind to any page.
        Kind = "kind",
    }
}

impl ApprovalScope {
    /// The scopes that a person may be offered for a set. Only `Once` is offered for deletes,
    /// moves, styles, scripts and the loss of fields, for several changes, and for callers without
    /// a session or a name.
    pub fn offered(approver: &Approver, set: &ChangeSet) -> &'static [Self] {
        match ApprovalSubject::new(set).filter(|_| approver.lasts()) {
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
        // What belongs to a page is approved by itself, as moves and deletes are.
        let is_light = matches!(operation, Operation::Create | Operation::Update)
            && !change.moves()
            && change.lost().is_empty()
            && !change.fields().into_iter().any(Field::is_code);
        is_light.then(|| Self {
            operation,
            page: change.before().and_then(|page| page.id),
        })
    }
}

/// The person whose yes counts, known by a session and a client of it, and the gates that it has now.
#[derive(Debug, Clone)]
pub struct Approver {
    session: SessionId,
    client: Client,
    gates: LineHash,
}

impl Approver {
    /// The person behind a client of a session, wherever it calls from, under gates of this digest.
    pub fn new(session: &SessionId, client: &Client, gates: LineHash) -> Self {
        Self {
            session: session.clone(),
            client: Client {
                address: None,
                ..client.clone()
            },
            gates,
        }
    }

    /// True if the client can be told from others in a later call, so that a yes may stand for it.
    fn lasts(&self) -> bool {
        self.session.lasts() && !self.client.shown().is_empty()
    }
}

/// Proof that a person said yes to this very set, or to its page or kind.
///
/// [`Approvals`] alone make one. Calling [`Approvals::give`] claims that a person answered; only
/// `write/stages/ask.rs` calls it, of approvals that only `write/shared.rs` makes
/// (`tests/it/house/promises.rs`). Nothing else can make a proof:
///
/// ```compile_fail,E0451
/// use wikijs_gate_core::{audit::CallId, gates::{Approved, ChangeSet}};
/// fn forge(set: ChangeSet, approval: CallId) -> Approved {
///     Approved { set, approval, standing: None }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Approved {
    set: ChangeSet,
    approval: CallId,
    standing: Option<ApprovalScope>,
}

impl Approved {
    /// The approved set.
    pub const fn set(&self) -> &ChangeSet {
        &self.set
    }

    /// The call in which the person said yes.
    pub const fn approval(&self) -> CallId {
        self.approval
    }

    /// The scope of an earlier yes that covers this write; `None` for a yes to this very write.
    pub const fn standing(&self) -> Option<ApprovalScope> {
        self.standing
    }
}

impl Approvals {
    /// Records that a person said yes to a set in a call. `None` if this scope is not allowed for
    /// the set. What cannot be kept for later writes counts for this one alone.
    pub async fn give(
        &self,
        approver: &Approver,
        set: ChangeSet,
        scope: ApprovalScope,
        approval: CallId,
    ) -> Option<Approved> {
        if !ApprovalScope::offered(approver, &set).contains(&scope) {
            return None;
        }
        if scope != ApprovalScope::Once {
            let (subject, change) = (ApprovalSubject::new(&set)?, &set.first().change);
            let page = change.before().filter(|_| scope == ApprovalScope::Page);
            let now = standing::now();
            let new = StandingApproval::new(now, approver, (subject.operation, page), approval);
            self.end_after(LIFE, approval);
            if let Err(error) = self.add(now, new).await {
                tracing::error!(%error, call = %approval, "an approval could not be kept for later writes");
            }
        }
        Some(Approved {
            set,
            approval,
            standing: None,
        })
    }

    /// Uses up one write of a standing approval, if one covers the change.
    pub async fn take(&self, approver: &Approver, set: &ChangeSet) -> Option<Approved> {
        let subject = ApprovalSubject::new(set).filter(|_| approver.lasts())?;
        let now = standing::now();
        let taken = self.spend(now, approver, subject).await;
        let taken = taken.unwrap_or_else(|error| {
            tracing::error!(%error, "the standing approvals cannot be used");
            None
        })?;
        Some(Approved {
            set: set.clone(),
            approval: taken.id,
            standing: Some(taken.scope()),
        })
    }
}

#[cfg(any(test, feature = "testing"))]
impl Approved {
    /// A yes to a set, or an earlier one of this scope.
    pub const fn of(set: ChangeSet, approval: CallId, standing: Option<ApprovalScope>) -> Self {
        Self {
            set,
            approval,
            standing,
        }
    }
}

#[cfg(test)]
mod tests;
