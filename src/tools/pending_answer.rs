//! Answers a write that was left to people, until it is applied.

use serde::Serialize;

use crate::audit::MAX_WHY;
use crate::change::Warning;
use crate::page::escaped;
use crate::write::{Became, LinkedFrom, Notes, PROPOSED, PendingSet, SetAnswer, WAITS};

/// The words for a set that nobody has decided on.
pub(super) const UNDECIDED: &str =
    "Nobody has decided yet. Tell the user where to decide, and do not ask for this write anew.";

/// The state of a write that was left to people and not applied.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingAnswer {
    outcome: &'static str,
    /// The set's id.
    proposal: String,
    /// The address where a person decides on it.
    review: Option<String>,
    /// Number of its changes, if there are several.
    pages: Option<i64>,
    /// The reason why a person said no.
    reason: Option<String>,
    replaced_by: Option<String>,
    decided_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<LinkedFrom>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    replaces: Option<String>,
    hint: String,
    call_id: String,
}

impl PendingAnswer {
    /// A set that is not applied, with what is known of it since its call; otherwise how it was
    /// applied.
    pub(super) fn new(left: PendingSet, notes: Notes) -> Result<Self, SetAnswer> {
        let PendingSet {
            proposal,
            review,
            became,
        } = left;
        let id = proposal.id;
        let base = Self {
            proposal: id.to_string(),
            pages: pages(proposal.others.len()),
            call_id: proposal.call.to_string(),
            ..Self::default()
        };
        let mut warnings = notes.warnings;
        // What else its answer says.
        warnings.retain(|warning| warning.code != PROPOSED && warning.code != WAITS);
        if let Became::Waiting(attempt) = &became {
            warnings.extend(attempt.clone());
        }
        Ok(match became {
            Became::Applied(set) => return Err(*set),
            Became::Waiting(_) | Became::Applying { .. } => Self {
                outcome: "waiting",
                review: Some(review),
                linked_from: notes.linked_from,
                warnings,
                replaces: notes.replaces.map(|id| id.to_string()),
                hint: format!(
                    "{UNDECIDED} To hear what became of it, call again with confirm {id}."
                ),
                ..base
            },
            Became::Rejected {
                decided,
                reason,
                made,
            } => Self {
                outcome: "rejected",
                reason: Some(escaped(&reason, MAX_WHY)),
                decided_at: Some(decided.into()),
                hint: format!(
                    "Nothing {}was written. Do what the reason asks for, or tell the user; a changed write is a new call without confirm.",
                    made.as_ref().map_or("", |_| "more ")
                ),
                warnings: made.into_iter().collect(),
                ..base
            },
            Became::Withdrawn(decided) => Self {
                outcome: "withdrawn",
                decided_at: Some(decided.into()),
                hint: "Nothing was written: this client took the proposal back. A new call without confirm makes the change anew.".to_owned(),
                ..base
            },
            Became::Replaced(by) => Self {
                outcome: "replaced",
                replaced_by: Some(by.to_string()),
                hint: format!("A later write of the same page took its place; ask with confirm {by}."),
                ..base
            },
        })
    }
}

/// Number of changes in a set, if there are others beside the first.
fn pages(others: usize) -> Option<i64> {
    (others > 0).then(|| i64::try_from(others).map_or(i64::MAX, |others| others.saturating_add(1)))
}
