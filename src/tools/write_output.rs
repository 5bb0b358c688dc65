//! Answers a write: as a preview, or with its outcome.

use serde::Serialize;
use serde_json::Value;

use super::detail::FULL_OF_ONE;
use super::output::{count, is_default};
use super::pending_answer::PendingAnswer;
use super::set_view::{LinksLeft, SetShown, said};
use crate::audit::ProposalId;
use crate::change::{Operation, Warning};
use crate::gates::LeftOut;
use crate::page::Field;
use crate::view::ChangeView;
use crate::write::{
    Applied, Extent, Joined, LinkedFrom, Notes, PendingSet, Preview, SetAnswer, SetMember,
    WriteAnswer,
};

/// [`Write`] in a few words.
pub(super) const WRITE_ANSWER: &str = "Absent: false, 0, none.";

/// The effect of a write: previewed or applied.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Write {
    #[serde(skip_serializing_if = "is_default")]
    preview: bool,
    #[serde(flatten)]
    change: Option<ChangeView>,
    /// The headings of a content that the caller has just sent.
    outline: Option<Vec<String>>,
    /// How to see what is not shown.
    hint: Option<&'static str>,
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unverified: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<LinkedFrom>,
    conflict_check: Option<&'static str>,
    /// The reason given, marked as the words of whoever asked for it.
    note: Option<String>,
    confirm: Option<String>,
    confirm_expires_at: Option<String>,
    proposal: Option<String>,
    replaces: Option<String>,
    undoes: Option<String>,
    draft: Option<InDraft>,
    /// The id of a preview, which no undo takes.
    preview_id: Option<String>,
    call_id: Option<String>,
}

/// The draft that a change joined.
#[derive(Debug, Serialize)]
pub(super) struct InDraft {
    name: String,
    id: String,
    /// Number of changes that the draft has now.
    pages: i64,
    /// Known again when the draft is submitted.
    digest: String,
}

impl Write {
    /// A change with the notes about it.
    fn new(change: ChangeView, notes: Notes) -> Self {
        let in_draft = |joined: Joined| InDraft {
            name: joined.name.to_string(),
            id: joined.id.to_string(),
            pages: count(joined.changes),
            digest: joined.digest.to_string(),
        };
        Self {
            conflict_check: compared(&notes, change.operation),
            replaces: notes.replaces.map(|id| id.to_string()),
            undoes: notes.undoes.map(|id| id.to_string()),
            draft: notes.joined.map(in_draft),
            linked_from: notes.linked_from,
            note: said(notes.note),
            change: Some(ChangeView {
                warnings: notes.warnings,
                ..change
            }),
            ..Self::default()
        }
    }

    /// The preview of one change; a set has a different shape.
    fn preview(preview: Preview, change: ChangeView, extent: Extent) -> Self {
        let hint = hint(&preview, extent);
        let (token, expires) = { preview.confirm }
            .map(|it| (it.token, it.expires_at))
            .unzip();
        let change = ChangeView {
            changed: Vec::new(),
            ..change
        };
        Self {
            hint,
            preview: true,
            outline: preview.outline,
            confirm: token,
            confirm_expires_at: expires,
            proposal: preview.proposal.map(|id| id.to_string()),
            preview_id: Some(preview.call.to_string()),
            ..Self::new(change, preview.notes)
        }
    }

    /// The outcome of one change.
    fn applied(applied: Applied) -> Self {
        let unverified = applied.unverified.into_iter().map(Field::name);
        let notes = Notes {
            note: None,
            ..applied.notes
        };
        Self {
            updated_at: applied.updated_at,
            unverified: unverified.chain(applied.unreadable).collect(),
            call_id: Some(applied.call.to_string()),
            ..Self::new(applied.change, notes)
        }
    }
}

/// Says since when conflicts were looked for, if not since the session's reading or a preview.
fn compared(notes: &Notes, operation: Operation) -> Option<&'static str> {
    match notes.is_unchecked {
        true if operation.is_of_page() => {
            Some("since this call only: ifUpdatedAt checks since your reading")
        }
        true => Some("since this call only"),
        false => notes.is_named.then_some("since ifUpdatedAt"),
    }
}

/// The way to all of a change that is shown in part.
fn hint(preview: &Preview, extent: Extent) -> Option<&'static str> {
    let mut warnings = preview.notes.warnings.iter();
    let is_part = preview.outline.is_some()
        || warnings.any(|warning| ["diff_cut", "value_cut"].contains(&&*warning.code));
    (is_part && extent == Extent::Brief).then_some(FULL_OF_ONE)
}

/// The preview or outcome of a write of one change or of many.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WriteOutput {
    One(Box<Write>),
    Preview(SetShown),
    Set(SetDone),
    /// It was left to people, and is not applied.
    Left(Box<PendingAnswer>),
}

/// The outcome of a set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetDone {
    outcome: &'static str,
    /// Number of changes, and of those that are applied.
    pages: i64,
    applied: i64,
    /// The outcome of each change.
    changes: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
    #[serde(flatten)]
    links_left: LinksLeft,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<LinkedFrom>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    /// The open set that a person applied.
    proposal: Option<String>,
    call_id: String,
}

impl WriteOutput {
    /// The answer, as far as the caller is shown it.
    pub(super) fn new(answer: WriteAnswer, extent: Extent) -> Self {
        match answer {
            WriteAnswer::Preview(mut preview) => match preview.take_single() {
                Some(change) => Self::One(Box::new(Write::preview(*preview, change, extent))),
                None => Self::Preview(SetShown::new(*preview, extent)),
            },
            WriteAnswer::Applied(applied) => Self::One(Box::new(Write::applied(*applied))),
            WriteAnswer::Set(set) => Self::Set(SetDone::new(*set, None)),
        }
    }

    /// The outcome of a set that was left to people.
    pub(super) fn left_open(left: PendingSet, notes: Notes) -> Self {
        let id = left.proposal.id;
        match PendingAnswer::new(left, notes) {
            Ok(left) => Self::Left(Box::new(left)),
            Err(applied) => Self::Set(SetDone::new(applied, Some(id))),
        }
    }
}

impl SetDone {
    fn new(set: SetAnswer, proposal: Option<ProposalId>) -> Self {
        Self {
            outcome: set.outcome.as_str(),
            pages: count(set.members.len()),
            applied: count(set.members.iter().filter(|one| one.is_there()).count()),
            changes: set.members.iter().map(SetMember::as_detail).collect(),
            left_out: set.left_out,
            links_left: LinksLeft::new(set.links_left, Extent::Bounded),
            linked_from: set.notes.linked_from,
            warnings: set.notes.warnings,
            proposal: proposal.map(|id| id.to_string()),
            call_id: set.call.to_string(),
        }
    }
}
