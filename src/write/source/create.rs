//! Creates a page.

use crate::change::{Change, NewPage};
use crate::gates::ChangeSet;

use super::{ChangeSource, ComparedSet, Later, Stopped, WriteCall, again, checked};
use crate::write::audit_entry::EntryBuilder;
use crate::write::context::WriteContext;

impl ChangeSource for NewPage {
    fn tell<'a>(&'a self, _: &'a WriteContext, docket: &'a mut EntryBuilder) -> Later<'a, ()> {
        docket.creates(&self.locale, self.path.as_path());
        Box::pin(async {})
    }

    fn says_whole_content(&self) -> bool {
        true
    }

    fn made<'a>(&'a self, call: WriteCall<'a>) -> Later<'a, Result<ComparedSet, Stopped>> {
        let set = ChangeSet::single(call.id, Change::create(self.clone()));
        Box::pin(async { Ok(checked(set)) })
    }

    fn shown_again<'a>(
        &'a self,
        call: WriteCall<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<ComparedSet, Stopped>> {
        let own = ChangeSet::single(call.id, Change::create(self.clone()));
        let agrees = own.is_same_write(&shown) && shown.proposal().is_none();
        Box::pin(again(call, shown, agrees, async |_| Ok(())))
    }
}
