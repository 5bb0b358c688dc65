//! `pages.delete` (W18).

use super::{Happened, Store};
use crate::demo::access::Access;
use crate::demo::fault::{Fault, WikiError};

impl Store {
    /// Deletes a page for good. Its versions stay in the table, where no call finds them any more.
    pub(in crate::demo) fn delete(&mut self, id: i64, access: &Access) -> Result<(), Fault> {
        let page = self.existing(id)?;
        if !access.may(&["delete:pages"], &page.path) {
            return Err(WikiError::DeleteForbidden.into());
        }
        let place = page.place();
        self.keep_version(id, "deleted")?;
        self.remove(id);
        self.reconnect(&place, Happened::Deleted);
        Ok(())
    }
}
