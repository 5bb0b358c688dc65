//! `pages.move` and `pages.delete` (W14, W18, W21).

use super::{Happened, Store};
use crate::demo::{Access, Fault, WikiError, path, sql};

impl Store {
    /// Gives a page another place. A destination without a locale is an
    /// exception of the server, met only after the permissions.
    pub(in crate::demo) fn move_page(
        &mut self,
        id: i64,
        to_path: &str,
        to_locale: Option<&str>,
        access: &Access,
    ) -> Result<(), Fault> {
        let page = self.existing(id)?;
        let to_path = path::accept(to_path)?;
        access.demand("manage:pages", &page.path, WikiError::PageMoveForbidden)?;
        access.demand("write:pages", &to_path, WikiError::PageMoveForbidden)?;
        let Some(to_locale) = to_locale else {
            return Err(Fault::error(
                "undefined passed as a property in argument #0 for 'where' operation. \
                 Call skipUndefined() method to ignore the undefined values.",
            ));
        };
        if self.page_at(to_locale, &to_path).is_some() {
            return Err(WikiError::PagePathCollision.into());
        }
        self.keep_version(id, "moved")?;
        let columns = [("path", to_path.as_str()), ("localeCode", to_locale)];
        sql::check("pages", &columns)?;
        sql::check_locale("pages", &columns, to_locale)?;
        let old = self.existing(id)?.place();
        self.keep_shown(id);
        if let Some(page) = self.page_mut(id) {
            if page.title == path::last_segment(&page.path) {
                path::last_segment(&to_path).clone_into(&mut page.title);
            }
            page.path = to_path;
            to_locale.clone_into(&mut page.locale);
        }
        self.touch(id);
        let new = self.existing(id)?.place();
        self.reconnect(&new, Happened::MovedFrom(&old));
        self.reconnect(&new, Happened::Created);
        Ok(())
    }

    /// Deletes a page for good. Its versions stay in the table, where no call finds them any more.
    pub(in crate::demo) fn delete(&mut self, id: i64, access: &Access) -> Result<(), Fault> {
        let page = self.existing(id)?;
        access.demand("delete:pages", &page.path, WikiError::PageDeleteForbidden)?;
        let place = page.place();
        self.keep_version(id, "deleted")?;
        self.remove(id);
        self.reconnect(&place, Happened::Deleted);
        Ok(())
    }
}
