//! The changes that are decided as one.

use std::iter;

use crate::audit::{CallId, ProposalId};
use crate::change::Change;
use crate::page::PageState;

/// A change of a set, and the call that it takes back, if it is an undo.
#[derive(Debug, Clone)]
pub struct SetChange {
    /// The change.
    pub change: Change,
    /// The call that it takes back.
    pub undoes: Option<CallId>,
}

impl SetChange {
    /// Whether both make the same change of the same page, and take the same call back.
    #[must_use]
    pub fn is_same_write(&self, other: &Self) -> bool {
        self.undoes == other.undoes && self.change.is_same_write(&other.change)
    }
}

impl From<Change> for SetChange {
    fn from(change: Change) -> Self {
        Self {
            change,
            undoes: None,
        }
    }
}

/// An ordered list of changes with one id, shown, confirmed and put on record as one. A single
/// write is a set of one, under the id of its call. No set is empty.
#[derive(Debug, Clone)]
pub struct ChangeSet {
    id: CallId,
    first: SetChange,
    others: Vec<SetChange>,
    proposal: Option<ProposalId>,
}

impl ChangeSet {
    /// The set of one change.
    #[must_use]
    pub fn of(id: CallId, change: impl Into<SetChange>) -> Self {
        Self {
            id,
            first: change.into(),
            others: Vec::new(),
            proposal: None,
        }
    }

    /// The same set, which applies a proposal.
    #[must_use]
    pub fn of_proposal(self, proposal: Option<ProposalId>) -> Self {
        Self { proposal, ..self }
    }

    /// The same set under the id of another call.
    #[must_use]
    pub fn under(self, id: CallId) -> Self {
        Self { id, ..self }
    }

    /// The same set, whose first change is made of the page as it was just read.
    #[must_use]
    pub fn on(mut self, fresh: PageState) -> Self {
        self.first.change = self.first.change.on(fresh);
        self
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// The proposal that it applies, if it is one.
    #[must_use]
    pub const fn proposal(&self) -> Option<ProposalId> {
        self.proposal
    }

    /// Its first change; of a single write, the only one.
    #[must_use]
    pub const fn first(&self) -> &SetChange {
        &self.first
    }

    /// Its changes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SetChange> {
        iter::once(&self.first).chain(&self.others)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.iter().all(|one| one.change.is_empty())
    }

    /// Whether both make the same changes of the same pages, in the same order, and take the same
    /// calls back.
    #[must_use]
    pub fn is_same_write(&self, other: &Self) -> bool {
        self.others.len() == other.others.len()
            && self
                .iter()
                .zip(other.iter())
                .all(|(ours, theirs)| ours.is_same_write(theirs))
    }

    /// About how much memory it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.iter().map(|one| one.change.bytes()).sum()
    }

    /// The page that a write of one change is of; none for a create.
    #[must_use]
    pub fn page(&self) -> Option<i64> {
        self.first.change.before().and_then(|page| page.id)
    }
}
