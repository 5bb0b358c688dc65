//! Change sets: changes that are decided as one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::{fmt, iter};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::{CallId, DraftId, Exclusions, ProposalId};
use crate::change::{Change, Warning};
use crate::hex;
use crate::page::{LinkedSite, Note, PagePath, PagePlace, PageState};

/// A change of a set, and the call that it takes back, if it is an undo.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[must_use]
pub struct SetChange {
    /// The change.
    pub change: Change,
    /// The call that it takes back.
    pub undoes: Option<CallId>,
    /// The other calls that it takes back, if it takes back several writes of one page.
    pub also_undoes: Vec<CallId>,
    /// The warnings of its maker.
    pub warnings: Vec<Warning>,
}

impl SetChange {
    /// True if both make the same change of the same page, and undo the same call.
    pub fn is_same_write(&self, other: &Self) -> bool {
        self.undoes == other.undoes
            && self.also_undoes == other.also_undoes
            && self.change.is_same_write(&other.change)
    }

    /// The same as the undo of this call, if it is one.
    pub fn undoing(self, undoes: Option<CallId>) -> Self {
        Self { undoes, ..self }
    }

    /// The same, with something more to say of it.
    pub fn warned(mut self, warnings: impl IntoIterator<Item = Warning>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

impl From<Change> for SetChange {
    fn from(change: Change) -> Self {
        Self {
            change,
            undoes: None,
            also_undoes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A page that was asked for and that the set does not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its id; `None` of a page that is not there.
    pub id: Option<i64>,
    /// Its path, where it is known.
    pub path: Option<PagePath>,
    /// The reason, in words of our own.
    pub why: Cow<'static, str>,
}

impl LeftOut {
    /// A page that was read.
    pub fn new(page: &PageState, why: impl Into<Cow<'static, str>>) -> Self {
        Self::at(page.id, Some(page.path.clone()), why)
    }

    /// A page of this id and path, as far as they are known.
    pub fn at(id: Option<i64>, path: Option<PagePath>, why: impl Into<Cow<'static, str>>) -> Self {
        let why = why.into();
        Self { id, path, why }
    }

    /// Its JSON in the details of a failure.
    pub fn as_detail(&self) -> Value {
        let path = self.path.as_ref().map(PagePath::as_str);
        json!({ "id": self.id, "path": path, "message": self.why })
    }
}

/// A link to the old place of a moved page that the set does not mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkLeft {
    /// The page that holds it.
    pub id: i64,
    /// The place of this page before the set.
    pub place: PagePlace,
    /// The link and its line; `None` if the page could not be read.
    pub link: Option<(String, usize)>,
    /// The reason, as a fragment.
    pub why: Cow<'static, str>,
}

/// The plan by which a set mends the links to the pages that it moves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mending {
    /// The wiki's settings that decide where links lead.
    pub site: LinkedSite,
    /// The pages in which only links change, and how many links.
    pub alone: HashMap<i64, usize>,
    /// The links that it does not mend.
    pub left: Vec<LinkLeft>,
}

/// An ordered list of changes with one id, shown, confirmed and put on record as one. A single
/// write is a set of one, under the id of its call. No set is empty.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[must_use]
pub struct ChangeSet {
    id: CallId,
    first: Box<SetChange>,
    others: Vec<SetChange>,
    proposal: Option<ProposalId>,
    /// The reason for it, in the caller's own words.
    note: Option<Note>,
    /// Present if it was asked for as a list, even a list of one change.
    list: Option<BatchDetails>,
}

/// The locks of a write's turn; empty if each change of the set takes its own turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnOf {
    /// The page; `None` for a create.
    pub page: Option<i64>,
    /// True if the wiki rebuilds its tree for it (W19).
    pub rebuilds_tree: bool,
}

impl TurnOf {
    /// The turn of a write of this page, or of one that makes a page.
    pub const fn new(page: Option<i64>, rebuilds_tree: bool) -> Self {
        Self {
            page,
            rebuilds_tree,
        }
    }

    /// The turn of one change.
    pub fn of(change: &Change) -> Self {
        let page = change.before().and_then(|page| page.id);
        Self::new(page, change.rebuilds_tree())
    }
}

/// The details that only a list has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BatchDetails {
    /// The pages that were asked for and that it does not change.
    pub left_out: Vec<LeftOut>,
    /// True if applied changes stay if a later one fails.
    pub keeps_on_failure: bool,
    /// True if it goes on after a change that does not fit its page any more; what is applied stays then.
    pub goes_on: bool,
    /// The set that it takes back, if it is the undo of a set.
    pub undoes: Option<CallId>,
    /// The plan by which it mends the links to the pages that it moves, if it does.
    pub mending: Option<Mending>,
    /// The draft that it submits, if it does.
    pub draft: Option<DraftMark>,
    /// The changes that a person left out of it.
    pub omitted: Option<Omission>,
    /// Links that lead nowhere because a person left changes out.
    pub links_left: Vec<LinkLeft>,
}

/// The changes that a person left out of a proposed set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omission {
    /// The changes that the person named, by their numbers from 0, in order.
    pub asked: Vec<usize>,
    /// These, and what depends on them.
    pub all: Exclusions,
}

/// A draft at the time when a set was made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftMark {
    /// The draft.
    pub id: DraftId,
    /// The number of changes made to it before.
    pub revision: u64,
    /// The digest of its changes.
    pub digest: DraftDigest,
}

/// The beginning of the digest of what a draft's changes do: two that differ show at a glance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftDigest(pub [u8; 6]);

impl fmt::Display for DraftDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl ChangeSet {
    /// The set of one change.
    pub fn single(id: CallId, change: impl Into<SetChange>) -> Self {
        Self {
            id,
            first: Box::new(change.into()),
            others: Vec::new(),
            proposal: None,
            note: None,
            list: None,
        }
    }

    /// A set that was asked for as a list; `None` if that is empty.
    pub fn list(id: CallId, changes: Vec<SetChange>) -> Option<Self> {
        let mut changes = changes.into_iter();
        let first = changes.next()?;
        Some(Self {
            others: changes.collect(),
            list: Some(BatchDetails::default()),
            ..Self::single(id, first)
        })
    }

    /// The same list with other details; a set of one stays as it is.
    pub fn with(mut self, set: impl FnOnce(&mut BatchDetails)) -> Self {
        self.list.as_mut().map(set);
        self
    }

    /// The details that it has as a list; a single write has none.
    pub fn batch(&self) -> &BatchDetails {
        static OF_ONE: LazyLock<BatchDetails> = LazyLock::new(BatchDetails::default);
        self.list.as_ref().unwrap_or(&OF_ONE)
    }

    /// The links to old places that it does not mend, in order of their pages as far as it mends any.
    pub fn links_left(&self) -> impl Iterator<Item = &LinkLeft> {
        let batch = self.batch();
        let mending = batch.mending.iter().flat_map(|mending| &mending.left);
        mending.chain(&batch.links_left)
    }

    /// The number of links that one of its changes mends, if it does nothing else; such a change
    /// was not asked for itself.
    pub fn only_mends(&self, one: &SetChange) -> Option<usize> {
        let page = one.change.before()?.id?;
        self.batch().mending.as_ref()?.alone.get(&page).copied()
    }

    /// The same set with its changes made again, each from the page as it was just read.
    pub fn with_changes(self, changes: Vec<SetChange>) -> Self {
        match Self::list(self.id, changes) {
            Some(anew) => Self {
                proposal: self.proposal,
                note: self.note,
                list: self.list,
                ..anew
            },
            None => self,
        }
    }

    /// True if it was asked for as a list: it is shown, sent and answered as a set, even with a
    /// single change.
    pub const fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The same set, as the one that applies a proposal.
    pub fn of_proposal(self, proposal: Option<ProposalId>) -> Self {
        Self { proposal, ..self }
    }

    /// The same set with a note that says why it is wanted.
    pub fn noted(self, note: Option<Note>) -> Self {
        Self { note, ..self }
    }

    /// The reason for it, in the caller's own words.
    pub const fn note(&self) -> Option<&Note> {
        self.note.as_ref()
    }

    /// The same set under the id of another call.
    pub fn under(self, id: CallId) -> Self {
        Self { id, ..self }
    }

    /// The same set, with its first change made from the page as it was just read.
    pub fn on(mut self, fresh: PageState) -> Self {
        self.first.change = self.first.change.on(fresh);
        self
    }

    /// The same set, with something to say of its first change.
    pub fn warned(mut self, warnings: impl IntoIterator<Item = Warning>) -> Self {
        self.first.warnings.extend(warnings);
        self
    }

    /// The same set, each change with the warnings of its maker.
    pub fn warned_each(mut self, of: impl Fn(&Change) -> Vec<Warning>) -> Self {
        for one in std::iter::once(&mut *self.first).chain(&mut self.others) {
            one.warnings.extend(of(&one.change));
        }
        self
    }

    /// The same set, with another first change.
    pub fn with_first(mut self, change: Change) -> Self {
        self.first.change = change;
        self
    }

    /// Its id.
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// The proposal that it applies, if it applies one.
    pub const fn proposal(&self) -> Option<ProposalId> {
        self.proposal
    }

    /// Its first change; of a single write, the only one.
    pub fn first(&self) -> &SetChange {
        &self.first
    }

    /// Its changes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SetChange> {
        iter::once(&*self.first).chain(&self.others)
    }

    /// True if there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.iter().all(|one| one.change.is_empty())
    }

    /// True if both make the same changes of the same pages, in the same order, and undo the same
    /// calls.
    pub fn is_same_write(&self, other: &Self) -> bool {
        self.others.len() == other.others.len()
            && self.is_list() == other.is_list()
            && self.batch().keeps_on_failure == other.batch().keeps_on_failure
            && self.batch().goes_on == other.batch().goes_on
            && self
                .iter()
                .zip(other.iter())
                .all(|(ours, theirs)| ours.is_same_write(theirs))
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.iter().map(|one| one.change.bytes()).sum()
    }

    /// The page of a write of one change; `None` for a create.
    pub fn page(&self) -> Option<i64> {
        self.first.change.before().and_then(|page| page.id)
    }

    /// The turn that it takes before its pages are read.
    pub fn turn(&self) -> TurnOf {
        if self.is_list() {
            return TurnOf::default();
        }
        TurnOf::of(&self.first.change)
    }
}

#[cfg(test)]
mod tests;
