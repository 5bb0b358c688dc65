//! What a caller is answered where nothing went wrong.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::{CallId, ProposalId};
use crate::change::{Operation, Warning, cut, short};
use crate::page::{Field, LineCounts};

/// The answer to a write that was previewed, applied, or had nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Nothing was sent; this is what would be.
    Preview(Box<Preview>),
    /// It was sent and the page is as promised, or there was nothing to send.
    Applied(Box<Applied>),
}

/// The page that a write is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Its id; none for a page that is yet to be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Its locale.
    pub locale: String,
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Where a person sees it.
    pub url: String,
}

/// A page that links to one which shall go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedFrom {
    /// Its id.
    pub id: i64,
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: String,
}

/// What is to be said beside a preview or an outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// What to know of it.
    pub warnings: Vec<Warning>,
    /// Whether the page was held against nothing but its state in this very call.
    pub is_unchecked: bool,
    /// The call that it takes back, if it is an undo.
    pub undoes: Option<CallId>,
    /// The open proposal that a new one took the place of.
    pub replaces: Option<ProposalId>,
}

/// What a write would do, whole: an answer to an agent holds it [bounded](Self::bounded).
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The call.
    pub call: CallId,
    /// The word for it.
    pub operation: Operation,
    /// The page as it is, or as it shall be created.
    pub target: Target,
    /// Each changed field with its values before and after, or their difference; the content
    /// left out.
    pub changes: Map<String, Value>,
    /// The difference of the content.
    pub diff: String,
    /// How many lines of it are added and removed.
    pub lines: LineCounts,
    /// Pages that link to one which shall go; at most twenty.
    pub linked_from: Vec<LinkedFrom>,
    /// What the operator should know, and what the page was held against.
    pub notes: Notes,
    /// The token that confirms it, and until when; none in a dry run.
    pub confirm: Option<crate::gates::Previewed>,
    /// The proposal that it is kept as, where a person can apply it later.
    pub proposal: Option<ProposalId>,
}

impl Preview {
    /// As much of it as an answer holds, with a warning of what was cut.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let warnings = &mut self.notes.warnings;
        self.changes = short(self.changes, warnings);
        self.diff = cut(self.diff, warnings);
        self
    }
}

/// A write that happened, or had nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The call.
    pub call: CallId,
    /// The word for it.
    pub operation: Operation,
    /// Whether anything had to be sent.
    pub is_unchanged: bool,
    /// The page as it was found; after a delete, as it was.
    pub target: Target,
    /// The fields that changed.
    pub changed: Vec<Field>,
    /// How many lines of content were added and removed.
    pub lines: LineCounts,
    /// When the wiki wrote it, by its own clock.
    pub updated_at: Option<String>,
    /// The fields that this key cannot read back.
    pub unverified: Vec<Field>,
    /// What the caller should know, and what the page was held against.
    pub notes: Notes,
}
