//! Says what an undo does to what was written since, and why a write cannot be taken back.

use crate::audit::{CallHistory, Record};
use crate::change::{Change, UndoFault, UndoneWrite, Warning, cut, merge_marked};
use crate::error::{Code, Failure, Result};
use crate::page::{Field, PageState, unified_diff};
use crate::wiki::WikiError;

use super::MOST_NAMED;
use crate::write::faults::{with_difference, with_page};
use crate::write::undo::history::{WriteHistory, nothing};

/// The failure for a fault, with the page before the write, as the write left it, and now.
pub(super) fn undo_failure(
    fault: UndoFault,
    [before, left, now]: [Option<PageState>; 3],
) -> Failure {
    let what = now.as_ref().map_or("page", PageState::word);
    match fault {
        UndoFault::Nothing => nothing("That write changed nothing."),
        UndoFault::NotKnown(fields) => {
            nothing("What that write replaced could not be read then, so nobody knows it.")
                .detail("fields", Field::names(&fields))
        }
        UndoFault::Gone => Failure::from(WikiError::NotFound),
        UndoFault::Elsewhere => {
            let message = format!(
                "The {what} stands elsewhere than where that write created it, so it is not deleted."
            );
            let hint = format!(
                "It was moved since, or is another {what}; wikijs_delete_{what} deletes it."
            );
            let failure = Failure::new(Code::EditConflict, message).hint(hint);
            match now {
                Some(now) => with_page(failure, &now),
                None => failure,
            }
        }
        UndoFault::Changed(fields) => {
            let message = format!(
                "The {what} was changed since that write, in fields that the write changed."
            );
            let failure = Failure::new(Code::EditConflict, message)
            .hint("Look at details.changes, and at details.conflict if it is there; with force, these fields go back all the same.");
            let conflict = match (&before, &left, &now) {
                (Some(before), Some(left), Some(now)) if fields.contains(&Field::Content) => {
                    Some(both_sides(before, left, now))
                }
                _ => None,
            };
            let failure = match (left, now) {
                (Some(left), Some(now)) => with_difference(failure, &Change::between(left, now)),
                _ => failure,
            };
            let failure = failure.detail_if("conflict", conflict);
            // Of the differing fields, only those that would be taken back.
            failure.detail("fields", Field::names(&fields))
        }
    }
}

/// The warning that force deletes a page whose creation the wiki refused.
///
/// # Errors
/// Without force the page is not deleted: it may be somebody else's.
pub(super) fn maybe_theirs(
    refused: &Record,
    now: Option<&PageState>,
    force: bool,
) -> Result<Warning> {
    let code = refused.code.as_deref().unwrap_or_default();
    if force {
        let message = format!(
            "force also deletes a page that may be somebody else's: the wiki refused to create it ({code})."
        );
        return Ok(Warning::new("takes_along", message));
    }
    let message = format!(
        "The wiki refused to create that page ({code}), and a page with the same content was there: it may be somebody else's, so it is not deleted."
    );
    let failure = Failure::new(Code::EditConflict, message)
        .hint("Look who wrote the page (view metadata); with force it is deleted all the same.")
        .detail("refusal", code);
    Err(match now {
        Some(now) => with_page(failure, now),
        None => failure,
    })
}

/// The places at which an undo and what was written since touch, with both texts between markers:
/// the difference from the page as it is.
fn both_sides(before: &PageState, left: &PageState, now: &PageState) -> String {
    let marked = merge_marked(
        &left.content,
        ("as before that write", &before.content),
        ("as it is now", &now.content),
    );
    cut(unified_diff(&now.content, &marked.text).0, &mut Vec::new())
}

/// The warnings of an undo: what stays of the later changes, and what force takes along.
pub(super) async fn said_of(
    past: &WriteHistory,
    story: &CallHistory,
    undone: &UndoneWrite,
    (left, now): (Option<&PageState>, Option<&PageState>),
) -> Result<Vec<Warning>> {
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
    let ids: Vec<i64> = [story.id, now.and_then(|now| now.id)]
        .into_iter()
        .flatten()
        .collect();
    let later = past.audit.calls.of_pages(ids, story.sent).await?;
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

#[cfg(test)]
mod tests {
    use super::both_sides;
    use crate::page::testing::with_content as with;

    #[test]
    fn a_conflict_shows_both_texts() {
        let told = both_sides(&with("a\nb\n"), &with("A\nb\n"), &with("A\nB\n"));
        for line in ["<<<<<<< as before that write", "+a", "+=======", " A", " B"] {
            assert!(
                told.lines().any(|one| one.ends_with(line)),
                "{line}: {told}"
            );
        }
    }
}
