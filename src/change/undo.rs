//! Takes a write back: a change like any other, made from kept states.

use super::{Change, merge};
use crate::page::{Field, PageState};

/// The reason why a write cannot be undone now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoFault {
    /// The write changed nothing.
    Nothing,
    /// The old values of these fields are unknown, and the write changed no others.
    NotKnown(Vec<Field>),
    /// The page does not exist any more.
    Gone,
    /// The created page is not at the place of the create.
    Elsewhere,
    /// Fields of the write were changed since, in the text at the same lines or beside them.
    Changed(Vec<Field>),
}

/// The change that takes a write back, and what it does to what was written since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneWrite {
    /// The change.
    pub change: Change,
    /// True if the text was changed elsewhere since, and that change stays.
    pub is_merged: bool,
    /// The fields of the write that were changed since; these later changes are lost.
    pub loses: Vec<Field>,
}

impl UndoneWrite {
    fn new(change: Change, loses: Vec<Field>) -> Self {
        Self {
            change,
            is_merged: false,
            loses,
        }
    }
}

impl Change {
    /// The change that takes a write back, from the page before the write, the page as the write
    /// left it, and the page now.
    ///
    /// Only the fields that the write changed are restored, if they are still as the write left
    /// them; what was changed since elsewhere in the text stays ([`merge`]). What is already as
    /// before the write stays, too. `force` restores the other fields in any case. Old values are
    /// written back unchecked; unknown ones are not. A created page is deleted, unless it is at
    /// another place now, since that may be another page.
    ///
    /// # Errors
    /// See [`UndoFault`].
    pub fn undo(
        before: Option<PageState>,
        after: Option<PageState>,
        now: Option<PageState>,
        force: bool,
    ) -> Result<UndoneWrite, UndoFault> {
        match (before, after) {
            (None, Some(after)) => {
                let now = now.ok_or(UndoFault::Gone)?;
                let changed: Vec<Field> = after
                    .own_fields()
                    .filter(|field| !after.same(&now, *field))
                    .collect();
                let loses = given_up(changed, force)?;
                // What belongs to a page follows it wherever it goes.
                let is_there = |field| after.thing.is_some() || after.same(&now, field);
                if is_there(Field::Locale) && is_there(Field::Path) {
                    Ok(UndoneWrite::new(Self::delete(now), loses))
                } else {
                    Err(UndoFault::Elsewhere)
                }
            }
            (Some(before), None) => Ok(UndoneWrite::new(Self::recreate(before), Vec::new())),
            (Some(before), Some(after)) => {
                let now = now.ok_or(UndoFault::Gone)?;
                let fields = before.difference(&after);
                if fields.is_empty() {
                    return Err(UndoFault::Nothing);
                }
                let (fields, left_alone): (Vec<Field>, Vec<Field>) =
                    fields.into_iter().partition(|field| before.knows(*field));
                if fields.is_empty() {
                    return Err(UndoFault::NotKnown(left_alone));
                }
                let mut back = now.clone();
                let (mut changed, mut is_merged) = (Vec::new(), false);
                for field in fields {
                    if after.same(&now, field) {
                        back.take(field, &before);
                    } else if before.same(&now, field) {
                        // Somebody took it back already.
                    } else if let Some(text) = merged(field, &before, &after, &now) {
                        back.content = text;
                        is_merged = true;
                    } else {
                        back.take(field, &before);
                        changed.push(field);
                    }
                }
                let loses = given_up(changed, force)?;
                back.updated_at = None;
                Ok(UndoneWrite {
                    change: Self::between(now, back).without(left_alone),
                    is_merged,
                    loses,
                })
            }
            (None, None) => Err(UndoFault::Nothing),
        }
    }
}

/// The text without the write's changes but with the later ones; `None` if they touch, or for other
/// fields.
fn merged(field: Field, before: &PageState, after: &PageState, now: &PageState) -> Option<String> {
    let is_text = field == Field::Content && now.thing.is_none();
    let is_same_kind = before.same(after, Field::Editor) && after.same(now, Field::Editor);
    (is_text && is_same_kind)
        .then(|| merge(&after.content, &before.content, &now.content))
        .flatten()
}

/// The fields whose later changes are given up by force; a fault without it.
fn given_up(changed: Vec<Field>, force: bool) -> Result<Vec<Field>, UndoFault> {
    if force || changed.is_empty() {
        Ok(changed)
    } else {
        Err(UndoFault::Changed(changed))
    }
}

#[cfg(test)]
mod tests {
    use crate::page::testing::But as _;
    use proptest::prelude::*;

    use super::UndoFault;
    use crate::change::{Change, Operation};
    use crate::page::{Field, Locale, PagePath, PageReading, PageState};

    fn page(seed: u8) -> PageState {
        let text = |name: &str| format!("{name}{}", seed % 3);
        PageState {
            description: text("d"),
            content: text("content\n"),
            editor: "markdown".to_owned(),
            tags: vec![text("tag")],
            is_published: seed.is_multiple_of(2),
            publish_start_date: text("").into(),
            script_css: text("css"),
            ..PageReading::bare(
                Some(7),
                Locale::as_stored(if seed.is_multiple_of(2) { "en" } else { "de" }),
                PagePath::as_stored(text("docs/p")),
                text("title"),
            )
            .or_blank()
        }
    }

    proptest! {
        #[test]
        fn undoing_an_update_restores_what_it_changed_and_keeps_the_rest(a: u8, b: u8, later: u8) {
            let (before, after) = (page(a), page(b));
            // Somebody changed other fields since.
            let mut now = after.clone();
            for field in Field::ALL.into_iter().filter(|field| before.same(&after, *field)) {
                now.take(field, &page(later));
            }
            match Change::undo(Some(before.clone()), Some(after.clone()), Some(now.clone()), false) {
                Err(fault) => prop_assert_eq!((fault, before.difference(&after)), (UndoFault::Nothing, vec![])),
                Ok(undone) => {
                    prop_assert_eq!(undone.loses, Vec::new());
                    let back = undone.change.after().expect("an update");
                    for field in Field::ALL {
                        let wanted = if before.same(&after, field) { &now } else { &before };
                        prop_assert!(back.same(wanted, field), "{field}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_field_that_changed_since_is_a_conflict_unless_forced() {
        let (before, after) = (page(0), page(0).but(|it| it.title = "new".to_owned()));
        let now = page(0).but(|it| it.title = "newer".to_owned());
        let undo = |force| {
            Change::undo(
                Some(before.clone()),
                Some(after.clone()),
                Some(now.clone()),
                force,
            )
        };
        assert_eq!(undo(false), Err(UndoFault::Changed(vec![Field::Title])));
        let forced = undo(true).expect("forced");
        assert_eq!(forced.change.after(), Some(&before));
        assert_eq!(forced.loses, [Field::Title]);
    }

    #[test]
    fn what_was_written_elsewhere_in_the_text_since_stays_and_beside_it_is_a_conflict() {
        let with = |content: &str| page(0).but(|it| it.content = content.to_owned());
        let (before, after) = (with("a\nb\nc\nd\n"), with("A\nb\nc\nd\n"));
        let undo = |now: &str, force| {
            let (before, after) = (Some(before.clone()), Some(after.clone()));
            Change::undo(before, after, Some(with(now)), force)
        };
        let content = |undone: &super::UndoneWrite| {
            let after = undone.change.after().expect("an update");
            after.content.clone()
        };
        let merged = undo("A\nb\nc\nD\n", false).expect("a merge");
        assert_eq!(content(&merged), "a\nb\nc\nD\n");
        assert!(merged.is_merged && merged.loses.is_empty());
        // Force loses nothing that a merge can keep.
        assert_eq!(undo("A\nb\nc\nD\n", true), Ok(merged));
        for beside in ["A\nB\nc\nd\n", "AA\nb\nc\nd\n"] {
            let conflict = Err(UndoFault::Changed(vec![Field::Content]));
            assert_eq!(undo(beside, false), conflict, "{beside}");
            let forced = undo(beside, true).expect("forced");
            assert_eq!(content(&forced), before.content);
            assert_eq!(forced.loses, [Field::Content]);
        }
        let gone = undo("a\nb\nc\nD\n", false).expect("nothing to do");
        assert!(gone.change.is_empty());
        let other = with("A\nb\nc\nD\n").but(|it| it.editor = "code".to_owned());
        let undone = Change::undo(Some(before), Some(after), Some(other), false);
        assert_eq!(undone, Err(UndoFault::Changed(vec![Field::Content])));
    }

    #[test]
    fn the_page_of_a_create_goes_only_where_the_create_put_it() {
        let there = page(1);
        for elsewhere in [
            page(1).but(|it| it.path = PagePath::as_stored("docs/other")),
            page(1).but(|it| it.locale = Locale::as_stored("en")),
        ] {
            let undo = |force| {
                let now = Some(elsewhere.clone());
                Change::undo(None, Some(there.clone()), now, force)
            };
            assert!(matches!(undo(false), Err(UndoFault::Changed(_))));
            assert_eq!(undo(true), Err(UndoFault::Elsewhere));
        }
    }

    #[test]
    fn what_nobody_knew_is_not_written_back() {
        let before = PageState {
            script_css: String::new(),
            unknown: vec![Field::ScriptCss],
            ..page(0)
        };
        let after = |title: &str| PageState {
            title: title.to_owned(),
            script_css: "new".to_owned(),
            unknown: Vec::new(),
            ..page(0)
        };
        let undo = |after: PageState| {
            Change::undo(
                Some(before.clone()),
                Some(after.clone()),
                Some(after),
                false,
            )
        };
        let change = undo(after("new")).expect("a change").change;
        assert_eq!(change.fields(), [Field::Title]);
        assert_eq!(change.left_alone(), [Field::ScriptCss]);
        let only = undo(after(&before.title));
        assert_eq!(only, Err(UndoFault::NotKnown(vec![Field::ScriptCss])));
    }

    #[test]
    fn a_create_is_deleted_and_a_delete_created_again_with_every_field() {
        let gone = Change::undo(None, Some(page(1)), Some(page(1)), false).expect("a change");
        assert_eq!(gone.change.operation(), Operation::Delete);
        assert_eq!(
            Change::undo(None, Some(page(1)), None, false),
            Err(UndoFault::Gone)
        );
        let again = Change::undo(Some(page(1)), None, None, false).expect("a change");
        let again = again.change;
        assert_eq!(again.steps(), [Operation::Create]);
        assert_eq!(again.after(), Some(&page(1).but(|it| it.id = None)));
    }
}
