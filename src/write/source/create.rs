//! Creates a page.

use crate::change::{Change, NewPage};
use crate::gates::ChangeSet;

use super::{Call, Later, Read, Source, Stopped, again, checked};
use crate::write::audit_entry::Docket;
use crate::write::context::Desk;

impl Source for NewPage {
    fn tell<'a>(&'a self, _: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()> {
        docket.creates(&self.locale, self.path.as_path());
        Box::pin(async {})
    }

    fn says_whole_content(&self) -> bool {
        true
    }

    fn made<'a>(&'a self, call: Call<'a>) -> Later<'a, Result<Read, Stopped>> {
        let set = ChangeSet::of(call.id, Change::create(self.clone()));
        Box::pin(async { Ok(checked(set)) })
    }

    fn shown_again<'a>(
        &'a self,
        call: Call<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<Read, Stopped>> {
        let own = ChangeSet::of(call.id, Change::create(self.clone()));
        let agrees = own.is_same_write(&shown) && shown.proposal().is_none();
        Box::pin(again(call, shown, agrees, async |_| Ok(())))
    }
}
