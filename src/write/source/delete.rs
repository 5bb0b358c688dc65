//! Deletes a page, for good or to the trash.

use crate::change::{Change, Operation};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::page::{Date, PageState, Trash};
use crate::wiki::Wiki;

use super::conflict::{self, ConflictCheck};
use super::whole_page::{self, ToWrite};
use super::{Agreed, ChangeSource, ComparedSet, Made, Stopped, WriteCall};
use crate::write::audit_entry::EntryBuilder;

/// A request to delete a page.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The page.
    pub id: i64,
    /// True if it is moved to the trash instead; `None` if only an id and a preview's token were
    /// given.
    pub trash: Option<bool>,
    /// The time of the page that the caller knows.
    pub if_updated_at: Option<Date>,
}

impl Delete {
    /// The change of the page as it is.
    fn of(&self, before: PageState, trash: Option<&Trash>) -> Result<Change> {
        if self.trash != Some(true) {
            return Ok(Change::delete(before));
        }
        if trash.is_some_and(|trash| trash.holds(&before.path)) {
            return Err(in_trash());
        }
        let place = trash.and_then(|trash| trash.place(&before));
        Ok(Change::trash(before, place.ok_or_else(no_trash)?))
    }

    /// True if this call asks for the change that was shown. A call that leaves `trash` out agrees
    /// with both previews: the delete and the move to the trash.
    fn agrees_with(&self, shown: &ChangeSet, trash: Option<&Trash>) -> bool {
        let shown_change = &shown.first().change;
        let Some(before) = shown_change
            .before()
            .filter(|page| page.id == Some(self.id))
        else {
            return false;
        };
        let asked = Self {
            trash: self.trash.or(shown_change.after().map(|_| true)),
            ..self.clone()
        };
        let asked = asked.of(before.clone(), trash);
        let asked = asked.map(|asked| asked.with_loss_of(shown_change.lost().to_vec()));
        asked.is_ok_and(|asked| {
            ChangeSet::single(shown.id(), asked).is_same_write(shown) && shown.proposal().is_none()
        })
    }

    /// A delete changes no content, so only `ifUpdatedAt` can conflict.
    async fn check(&self, call: WriteCall<'_>, read: &ToWrite) -> Result<ConflictCheck, Stopped> {
        let known = (self.if_updated_at.as_ref(), None);
        let checked = conflict::check(call, known, read, |_| None).await;
        checked.map_err(of_delete)
    }
}

impl ChangeSource for Delete {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.names(Operation::Delete, self.id);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        TurnOf::new(Some(self.id), true)
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let trash = call.policy.trash.as_ref();
        let read = whole_page::to_delete(call.wiki(), self.id).await?;
        let conflict = self.check(call, &read).await?;
        let change = match call.base(&read.page).await? {
            // A page with a base (as a draft has it) goes to the trash as that base.
            Some(base) if self.trash == Some(true) => self.of(base, trash)?.on(read.page),
            _ => self.of(read.page, trash)?,
        };
        let change = change.with_loss_of(read.lost);
        let set = ChangeSet::single(call.id, change);
        Ok(ComparedSet::of(set, conflict))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        Ok(self.agrees_with(shown, call.policy.trash.as_ref()))
    }

    async fn look_again(&self, call: WriteCall<'_>, read: &ToWrite) -> Result<(), Stopped> {
        self.check(call, read).await.map(drop)
    }
}

/// The conflict with the hint for a page that shall go.
fn of_delete(mut stopped: Stopped) -> Stopped {
    if stopped.failure.code == Code::EditConflict {
        let hint = "Read the page again, and let the user decide whether it still shall go; then call again with ifUpdatedAt from details.updatedAt.";
        stopped.failure = stopped.failure.hint(hint);
    }
    stopped
}

fn in_trash() -> Failure {
    Failure::new(Code::InvalidInput, "The page lies in the trash already.")
        .hint("wikijs_delete_page without trash deletes it.")
}

fn no_trash() -> Failure {
    let fault = "needs a place to move pages to, which the setting WIKI_TRASH_PREFIX names";
    Failure::of_argument("trash", format!("The argument trash {fault}."))
        .hint("Ask the operator to set WIKI_TRASH_PREFIX, or leave trash out to delete the page.")
}

#[cfg(test)]
mod tests {
    use super::Delete;
    use crate::audit::CallId;
    use crate::change::Change;
    use crate::error::Code;
    use crate::gates::SetChange;
    use crate::page::testing::page;
    use crate::page::{Field, Trash};
    use crate::write::testing::set;

    fn delete(id: i64, trash: Option<bool>) -> Delete {
        Delete {
            id,
            trash,
            if_updated_at: None,
        }
    }

    fn trash() -> Trash {
        Trash::parse("trash").unwrap()
    }

    #[test]
    fn a_token_counts_for_the_end_of_the_page_that_was_shown_and_for_the_same_end() {
        let trash = trash();
        let trash = Some(&trash);
        let gone = set(Change::delete(page()));
        let trashed = delete(1, Some(true)).of(page(), trash).unwrap();
        let trashed = set(trashed);
        for (own, of_gone, of_trashed) in [
            (delete(1, None), true, true),
            (delete(1, Some(false)), true, false),
            (delete(1, Some(true)), false, true),
            (delete(2, None), false, false),
        ] {
            assert_eq!(own.agrees_with(&gone, trash), of_gone, "{own:?}");
            assert_eq!(own.agrees_with(&trashed, trash), of_trashed, "{own:?}");
        }
        let plain = delete(1, None);
        // Sets that are not a delete by this call: an undo, a proposal, a new page.
        let undoes = Some(CallId::new().unwrap());
        let change = Change::delete(page());
        assert!(!plain.agrees_with(&set(SetChange::from(change).undoing(undoes)), trash));
        let id = "00000000000000aa".parse().unwrap();
        assert!(!plain.agrees_with(&gone.clone().of_proposal(Some(id)), trash));
        assert!(!plain.agrees_with(&set(Change::recreate(page())), trash));
        // A loss that the preview accepted need not be named again.
        let lossy = set(Change::delete(page()).with_loss_of(vec![Field::ScriptJs]));
        assert!(plain.agrees_with(&lossy, trash));
    }

    #[test]
    fn what_lies_in_the_trash_goes_no_further_and_without_one_nothing_goes_there() {
        let own = delete(1, Some(true));
        let code = |page, trash: Option<&Trash>| own.of(page, trash).unwrap_err();
        assert_eq!(code(page(), None).code, Code::InvalidInput);
        let trashed = own.of(page(), Some(&trash())).unwrap();
        let there = trashed.after().unwrap().clone();
        let again = code(there, Some(&trash()));
        assert_eq!(again.message, "The page lies in the trash already.");
    }
}
