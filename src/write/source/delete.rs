//! A page goes, for good or to the trash.

use serde_json::json;

use crate::change::{Change, Operation};
use crate::error::{Code, Failure};
use crate::gates::ChangeSet;
use crate::page::{Date, PageState, Trash};

use super::conflict::{self, Known};
use super::{Call, Later, Read, Source, Stopped, again, whole_page};
use crate::write::desk::Desk;
use crate::write::docket::Docket;

/// Which page shall go.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The page.
    pub id: i64,
    /// Whether it goes to the trash instead; none where only an id and a preview's token
    /// were given.
    pub trash: Option<bool>,
    /// The time of the page that the caller knows.
    pub if_updated_at: Option<Date>,
}

impl Delete {
    /// The change that it makes of the page as it is.
    fn of(&self, before: PageState, trash: Option<&Trash>) -> Result<Change, Failure> {
        if self.trash != Some(true) {
            return Ok(Change::delete(before));
        }
        if trash.is_some_and(|trash| trash.holds(&before.path)) {
            return Err(in_trash());
        }
        let place = trash.and_then(|trash| trash.place(&before));
        Ok(Change::trash(before, place.ok_or_else(no_trash)?))
    }

    /// Whether it asks for the same as what was shown. Where it does not say whether the page goes
    /// to the trash, the token was given for a page that goes either way.
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
            ChangeSet::of(shown.id(), asked).is_same_write(shown) && shown.proposal().is_none()
        })
    }

    /// What goes is not merged with anything.
    fn known(&self) -> Known<'_> {
        Known {
            if_updated_at: self.if_updated_at.as_ref(),
            concerns: None,
        }
    }
}

impl Source for Delete {
    fn tell<'a>(&'a self, _: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()> {
        docket.names(Operation::Delete, self.id);
        Box::pin(async {})
    }

    fn page_of_turn<'a>(&'a self, _: &'a Desk) -> Later<'a, Option<i64>> {
        Box::pin(async { Some(self.id) })
    }

    fn made<'a>(&'a self, call: Call<'a>) -> Later<'a, Result<Read, Stopped>> {
        Box::pin(async move {
            let trash = call.desk.policy.trash.as_ref();
            let read = whole_page::to_write(&call.desk.wiki, self.id, &[]).await?;
            let conflict = conflict::check(call, self.known(), &read, |_| None).await?;
            let change = self.of(read.page, trash)?.with_loss_of(read.lost);
            let set = ChangeSet::of(call.id, change);
            Ok(Read { set, conflict })
        })
    }

    fn shown_again<'a>(
        &'a self,
        call: Call<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<Read, Stopped>> {
        let agrees = self.agrees_with(&shown, call.desk.policy.trash.as_ref());
        Box::pin(again(call, shown, agrees, async move |read| {
            if self.if_updated_at.is_some() {
                conflict::check(call, self.known(), read, |_| None).await?;
            }
            Ok(())
        }))
    }
}

fn in_trash() -> Failure {
    Failure::new(Code::InvalidInput, "The page lies in the trash already.")
        .hint("wikijs_delete_page without trash deletes it.")
}

fn no_trash() -> Failure {
    let fault = "needs a place to move pages to, which the setting WIKI_TRASH_PREFIX names";
    Failure::new(Code::InvalidInput, format!("The argument trash {fault}."))
        .detail("fields", json!([{ "path": "trash" }]))
        .hint("Ask the operator to set WIKI_TRASH_PREFIX, or leave trash out to delete the page.")
}
