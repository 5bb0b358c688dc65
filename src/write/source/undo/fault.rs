//! Says why a write cannot be taken back, with what was written since.

use crate::audit::Record;
use crate::change::{Change, UndoFault, Warning, cut, merge_marked};
use crate::error::{Code, Failure};
use crate::page::{Field, PageState, unified_diff};
use crate::wiki::WikiError;

use crate::write::faults::with_difference;
use crate::write::undo::history::nothing;

/// The failure for a fault, with the page before the write, as the write left it, and now.
pub(super) fn undo_failure(
    fault: UndoFault,
    [before, left, now]: [Option<PageState>; 3],
) -> Failure {
    match fault {
        UndoFault::Nothing => nothing("That write changed nothing."),
        UndoFault::NotKnown(fields) => {
            let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
            nothing("What that write replaced could not be read then, so nobody knows it.")
                .detail("fields", names)
        }
        UndoFault::Gone => Failure::from(WikiError::NotFound),
        UndoFault::Elsewhere => {
            let failure = Failure::new(
                Code::EditConflict,
                "The page stands elsewhere than where that write created it, so it is not deleted.",
            )
            .hint(
                "It was moved since, or is another page; wikijs_delete_page deletes it by its id.",
            );
            match now {
                Some(now) => failure
                    .detail("id", now.id)
                    .detail("locale", now.locale.as_str())
                    .detail("path", now.path.as_str()),
                None => failure,
            }
        }
        UndoFault::Changed(fields) => {
            let names: Vec<&str> = fields.iter().copied().map(Field::name).collect();
            let failure = Failure::new(
                Code::EditConflict,
                "The page was changed since that write, in fields that the write changed.",
            )
            .hint("Look at details.changes and details.conflict; with force, these fields go back all the same.");
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
            let failure = match conflict {
                Some(conflict) => failure.detail("conflict", conflict),
                None => failure,
            };
            // Of the differing fields, only those that would be taken back.
            failure.detail("fields", names)
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
) -> Result<Warning, Failure> {
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
        Some(now) => failure
            .detail("id", now.id)
            .detail("locale", now.locale.as_str())
            .detail("path", now.path.as_str()),
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

#[cfg(test)]
mod tests {
    use super::both_sides;
    use crate::page::PageState;
    use crate::page::testing::page;

    fn with(content: &str) -> PageState {
        PageState {
            content: content.to_owned(),
            ..page()
        }
    }

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
