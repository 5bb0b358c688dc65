//! The answer to a caller if nothing failed.

use std::mem::take;

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::{CallId, DraftId, DraftName, Outcome, ProposalId};
use crate::change::{BRIEF_DIFF, Change, Operation, Warning, cut_to, short_to};
use crate::error::{Code, Failure};
use crate::gates::{DraftDigest, LeftOut, LinkLeft, Previewed};
use crate::page::{Field, LineCounts, Note, Outline, PageState, escaped};
use crate::view::{ChangeView, WriteTarget};
use crate::words::{and_more, words};

use super::caller::Extent;
use super::stages::outcome::MOVED_TO;

/// The answer to a write that was previewed, applied, or had nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteAnswer {
    /// Nothing was sent; this would be sent.
    Preview(Box<Preview>),
    /// It was sent and the page is as promised, or there was nothing to send.
    Applied(Box<Applied>),
    /// A set of changes was sent, or is being sent.
    Set(Box<SetAnswer>),
}

impl WriteAnswer {
    /// The remarks in it.
    pub(super) const fn notes_mut(&mut self) -> &mut Notes {
        match self {
            Self::Preview(preview) => &mut preview.notes,
            Self::Applied(applied) => &mut applied.notes,
            Self::Set(set) => &mut set.notes,
        }
    }

    /// The set that it left to people, with its notes.
    pub fn left_to_people(&mut self) -> Option<(ProposalId, &mut Notes)> {
        match self {
            Self::Preview(preview) => Some((preview.proposal?, &mut preview.notes)),
            Self::Applied(_) | Self::Set(_) => None,
        }
    }

    /// The part of it that a caller is shown.
    pub(super) fn bounded(self, extent: Extent) -> Self {
        match self {
            Self::Preview(preview) => Self::Preview(Box::new(preview.bounded(extent))),
            answer => answer,
        }
    }
}

/// A page that links to the old place of a moved or deleted page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedFrom {
    /// Its id.
    pub id: i64,
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: String,
}

/// Remarks in an answer, beside the preview or outcome itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// Pages that link to the old places of moved or deleted pages; at most twenty.
    pub linked_from: Vec<LinkedFrom>,
    /// True if the page was compared only with its state in this very call.
    pub is_unchecked: bool,
    /// True if it was compared with its state at the time that the caller named.
    pub is_named: bool,
    /// The call that it takes back, if it is an undo.
    pub undoes: Option<CallId>,
    /// The open proposal that a new one replaced.
    pub replaces: Option<ProposalId>,
    /// The reason for the write, in the caller's own words.
    pub note: Option<Note>,
    /// The draft that it joined.
    pub joined: Option<Joined>,
}

impl Notes {
    /// Notes that the change joined a draft.
    pub(super) fn join(&mut self, joined: Joined) {
        let message = "nothing was sent; wikijs_submit_draft writes the draft.";
        self.warnings.push(Warning::new("drafted", message));
        self.joined = Some(joined);
    }
}

/// A draft that a change joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Its id.
    pub id: DraftId,
    /// Its name.
    pub name: DraftName,
    /// The number of changes in it now.
    pub changes: usize,
    /// The digest of what these do.
    pub digest: DraftDigest,
}

/// The effect of a write, in full; agents get it [bounded](Self::bounded).
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The call, whose id is the set's.
    pub call: CallId,
    /// True if it is a set of changes; else its warnings are in the notes.
    pub is_list: bool,
    /// The number of changes.
    pub pages: usize,
    /// The effect of each change.
    pub changes: Vec<ChangeView>,
    /// The headings of the new content, in place of a difference that its caller wrote.
    pub outline: Option<Vec<String>>,
    /// The pages that were meant and that it does not change.
    pub left_out: Vec<LeftOut>,
    /// The links that lead to what moves and that it does not mend.
    pub links_left: Vec<LinkLeft>,
    /// The digest of what its draft does, as joining showed it, and whether this is the same.
    pub draft: Option<(DraftDigest, bool)>,
    /// The numbers of added and removed lines of content, all changes together.
    pub lines: LineCounts,
    /// Warnings for the operator, and the state with which a page was compared.
    pub notes: Notes,
    /// The token that confirms it, and until when; none in a dry run.
    pub confirm: Option<Previewed>,
    /// The proposal that it is kept as, where a person can apply it later.
    pub proposal: Option<ProposalId>,
}

/// The most changes of a set in an answer; callers ask for the others by number.
pub(super) const MAX_LINES: usize = 100;

/// The most characters of a path in a warning.
const MAX_PATH: usize = 120;

impl Preview {
    /// The part of it that fits into an answer, with a warning about what was cut, or with the
    /// warnings about all of it.
    #[must_use]
    pub fn bounded(mut self, extent: Extent) -> Self {
        let warnings = &mut self.notes.warnings;
        if !self.is_list && extent != Extent::Whole {
            let (of_value, of_diff) = extent.room();
            for change in &mut self.changes {
                change.values = short_to(take(&mut change.values), of_value, warnings);
                change.diff = cut_to(take(&mut change.diff), of_diff, warnings);
            }
        } else if extent == Extent::Bounded && self.changes.len() > MAX_LINES {
            for hidden in self.changes.split_off(MAX_LINES) {
                let path = escaped(&hidden.target.path, MAX_PATH);
                warnings.extend(hidden.warnings.into_iter().map(|warning| Warning {
                    message: format!("{path}: {}", warning.message),
                    ..warning
                }));
            }
            let message = format!(
                "{MAX_LINES} of {} changes are here; wikijs_get_change_set with id (previewId) and offset {MAX_LINES} shows more.",
                self.pages
            );
            warnings.push(Warning::new("changes_not_shown", message));
        }
        self
    }

    /// Its change, if it is no set.
    pub fn take_single(&mut self) -> Option<ChangeView> {
        self.changes.pop_if(|_| !self.is_list)
    }

    /// Shows the outline of a content that came whole from its caller in place of a difference,
    /// unless little of the page changes.
    pub(super) fn outline(&mut self, change: &Change) {
        let is_new = change.operation() == Operation::Create;
        let shown = self.changes.first_mut().filter(|_| !self.is_list);
        if let (Some(shown), Some(after)) = (shown, change.after())
            && (is_new || shown.diff.len() > BRIEF_DIFF)
        {
            self.outline = Some(outline(after));
            shown.diff = String::new();
        }
    }
}

/// The most headings of an outline in a preview.
const MAX_HEADINGS: usize = 40;

/// The first headings of a page, and how many more there are.
fn outline(page: &PageState) -> Vec<String> {
    let mut headings = Outline::in_format(&page.content, page.format()).all_headings();
    let more = headings.split_off(MAX_HEADINGS.min(headings.len())).len();
    headings.extend((more > 0).then(|| and_more(more).trim_start().to_owned()));
    headings
}

/// A write that happened, or had nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The call.
    pub call: CallId,
    /// Its change, with the page as it was found; after a delete, as it was.
    pub change: ChangeView,
    /// The time at which the wiki wrote it, by its own clock.
    pub updated_at: Option<String>,
    /// The fields that this key cannot read back.
    pub unverified: Vec<Field>,
    /// A part that was sent beside fields, and can never be read back.
    pub unreadable: Option<&'static str>,
    /// Warnings for the caller, and the state with which the page was compared.
    pub notes: Notes,
}

impl Applied {
    /// True if nothing had to be sent.
    pub fn is_unchanged(&self) -> bool {
        self.change.outcome == Some(Outcome::Unchanged)
    }
}

/// The state of a set of changes, possibly while it is being sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAnswer {
    /// The call, whose id is the set's.
    pub call: CallId,
    /// The outcome of the whole.
    pub outcome: SetOutcome,
    /// The outcome of each change, in order.
    pub members: Vec<SetMember>,
    /// The pages that were meant and that it does not change.
    pub left_out: Vec<LeftOut>,
    /// The links that lead to what moves and that it does not mend.
    pub links_left: Vec<LinkLeft>,
    /// Warnings for the caller.
    pub notes: Notes,
}

words! {
    /// The outcome of a set as a whole.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SetOutcome: as_str, ALL {
        /// It is being sent.
        Applying = "applying",
        /// All of it is on the wiki.
        Applied = "applied",
        /// There was nothing to send.
        Unchanged = "unchanged",
        /// Nothing of it stays.
        NotApplied = "not_applied",
        /// Some of it stays.
        PartlyApplied = "partly_applied",
        /// The outcome of a change is unknown; nothing more was sent.
        Unknown = "unknown",
        /// The server ended before all of it was sent.
        Interrupted = "interrupted",
    }
}

impl SetOutcome {
    /// The outcome of a set that is on record; without an outcome it is unknown.
    pub(super) const fn of(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Applied) => Self::Applied,
            Some(Outcome::Unchanged) => Self::Unchanged,
            Some(Outcome::NotApplied) => Self::NotApplied,
            Some(Outcome::PartlyApplied) => Self::PartlyApplied,
            Some(Outcome::Unknown) | None => Self::Unknown,
        }
    }
}

/// The outcome of one change of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetMember {
    /// Its call.
    pub call: CallId,
    /// The word for it.
    pub operation: Operation,
    /// The page, as it was found last.
    pub target: WriteTarget,
    /// Its outcome; `None` until it is sent.
    pub outcome: Option<Outcome>,
    /// The call that took it back.
    pub taken_back: Option<CallId>,
    /// The reason why it was not applied, or not in full.
    pub failure: Option<Failure>,
    /// The reason why it is on the wiki although the set was taken back.
    pub not_taken_back: Option<NotTakenBack>,
    /// The temporary path at which its page was left.
    pub stands_at: Option<String>,
    /// True if it is on record that it is sent; its outcome follows.
    pub is_sent: bool,
}

/// The reason why a change is on the wiki although its set was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotTakenBack {
    /// The code of the failure.
    pub code: String,
    /// The failure in a sentence.
    pub message: String,
}

impl From<&Failure> for NotTakenBack {
    fn from(failure: &Failure) -> Self {
        Self {
            code: failure.code.as_str().to_owned(),
            message: failure.message.clone(),
        }
    }
}

impl SetMember {
    /// Notes that it was applied.
    pub(super) fn is_applied(&mut self, applied: &Applied) {
        self.outcome = Some(Outcome::Applied);
        self.target = applied.change.target.clone();
        self.stands_at = None;
    }

    /// Notes that its page went to its temporary place, from where it has yet to go on.
    pub(super) fn is_aside(&mut self, applied: &Applied) {
        self.outcome = Some(Outcome::PartlyApplied);
        self.stands_at = Some(applied.change.target.path.clone());
    }

    /// Notes that it was not applied, or only in part.
    pub(super) fn has_failed(&mut self, failure: Failure) {
        self.outcome = Some(match failure.code {
            Code::OutcomeUnknown => Outcome::Unknown,
            Code::PartlyApplied => Outcome::PartlyApplied,
            _ if self.stands_at.is_some() => Outcome::PartlyApplied,
            _ => Outcome::NotApplied,
        });
        if let Some(path) = failure.details.get(MOVED_TO).and_then(Value::as_str) {
            path.clone_into(&mut self.target.path);
            self.stands_at = None;
        }
        self.failure = Some(failure);
    }

    /// Notes that a call took it back.
    pub(super) fn is_taken_back(&mut self, by: CallId) {
        self.taken_back = Some(by);
        self.stands_at = None;
    }

    /// Notes that it could not be taken back, or is there again.
    pub(super) fn stays(&mut self, failure: &Failure) {
        self.not_taken_back = Some(failure.into());
    }

    /// True if the change or a part of it is on the wiki.
    pub const fn is_there(&self) -> bool {
        matches!(
            self.outcome,
            Some(Outcome::Applied | Outcome::PartlyApplied)
        ) && !self.is_back()
    }

    /// True if it was taken back, and is not there again.
    const fn is_back(&self) -> bool {
        self.taken_back.is_some() && self.not_taken_back.is_none()
    }

    /// Its JSON in an answer, and in the details of a failure.
    pub fn as_detail(&self) -> Value {
        let failure = self.failure.as_ref();
        let mut detail = json!({
            "callId": self.call.to_string(),
            "id": self.target.id,
            "path": self.target.path,
            "outcome": self.word(),
            "code": failure.map(|failure| failure.code.as_str()),
            "why": failure.map(|failure| &failure.message),
            "takenBackBy": self.taken_back.map(|by| by.to_string()),
            "notTakenBack": self.not_taken_back,
            "standsAt": self.stands_at,
        });
        if let Value::Object(members) = &mut detail {
            members.retain(|name, value| name == "id" || !value.is_null());
        }
        detail
    }

    /// The word for its outcome.
    pub const fn word(&self) -> &'static str {
        match (self.is_back(), self.outcome) {
            (true, _) => "taken_back",
            (false, Some(outcome)) => outcome.as_str(),
            (false, None) if self.is_sent => "sent",
            (false, None) => "not_sent",
        }
    }
}
