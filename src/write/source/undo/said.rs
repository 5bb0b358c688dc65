//! Says what an undo does to what was written since.

use crate::audit::{CallHistory, Record};
use crate::change::{UndoneWrite, Warning};
use crate::error::Failure;
use crate::page::{Field, PageState, unified_diff};

use super::MOST_NAMED;
use crate::write::audit_entry::unavailable;
use crate::write::context::WriteContext;

/// The warnings of an undo: what stays of the later changes, and what force takes along.
pub(super) async fn said_of(
    desk: &WriteContext,
    story: &CallHistory,
    undone: &UndoneWrite,
    (left, now): (Option<&PageState>, Option<&PageState>),
) -> Result<Vec<Warning>, Failure> {
    let mut warnings = Vec::new();
    if undone.is_merged {
        let message = "the text was changed since that write, at other lines; these changes stay.";
        warnings.push(Warning::new("undo_merged", message));
    }
    if undone.loses.is_empty() {
        return Ok(warnings);
    }
    let names: Vec<String> = undone
        .loses
        .iter()
        .map(|field| match (field, left.zip(now)) {
            (Field::Content, Some((left, now))) => {
                let (_, lines) = unified_diff(&left.content, &now.content);
                format!("content (+{} \u{2212}{} lines)", lines.added, lines.removed)
            }
            _ => field.name().to_owned(),
        })
        .collect();
    let ids: Vec<i64> = [story.id(), now.and_then(|now| now.id)]
        .into_iter()
        .flatten()
        .collect();
    let later = desk.audit.writes_of_pages(ids, story.sent()).await;
    let later = later.map_err(|error| unavailable(&error))?;
    let loses = |record: &Record| {
        record
            .fields
            .iter()
            .any(|field| undone.loses.contains(field))
    };
    let calls: Vec<String> = later
        .iter()
        .filter(|call| call.call != story.call && call.undone_by.is_none())
        .filter(|call| call.records.iter().any(loses))
        .take(MOST_NAMED)
        .map(|call| call.call.to_string())
        .collect();
    let by = if calls.is_empty() {
        "no call on record made these changes".to_owned()
    } else {
        format!("calls on record that made them: {}", calls.join(", "))
    };
    let message = format!(
        "force also takes back what was written since in {}; {by}.",
        names.join(", ")
    );
    warnings.push(Warning::new("takes_along", message));
    Ok(warnings)
}
