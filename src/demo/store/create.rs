//! `pages.create` (W16, W17, W24).

use super::{PageRow, Store};
use crate::demo::access::Access;
use crate::demo::fault::{Fault, WikiError};
use crate::demo::{css, path, sql};

impl Store {
    /// Makes a page; its tags are written by a step of their own.
    pub(in crate::demo) fn create(&mut self, new: &PageRow, access: &Access) -> Result<i64, Fault> {
        let mut row = new.clone();
        row.tags.clear();
        row.path = path::accept(&row.path)?;
        if !access.may(&["write:pages"], &row.path) {
            // The server's own mistake: the code says delete.
            return Err(WikiError::PageDeleteForbidden.into());
        }
        if self.page_at(&row.locale, &row.path).is_some() {
            return Err(WikiError::PageDuplicateCreate.into());
        }
        if row.content.trim().is_empty() {
            return Err(WikiError::PageEmptyContent.into());
        }
        row.script_css = if access.may(&["write:styles"], &row.path) {
            css::stored(&row.script_css)
        } else {
            String::new()
        };
        if !access.may(&["write:scripts"], &row.path) {
            row.script_js.clear();
        }
        check_row(&row)?;
        Ok(self.add(row))
    }
}

/// Checks that the database takes the row of a new page.
fn check_row(row: &PageRow) -> Result<(), Fault> {
    let columns = [
        sql::long("content", &row.content),
        sql::short(
            "description",
            row.description.as_deref().unwrap_or_default(),
        ),
        sql::short("editorKey", &row.editor),
        sql::short("localeCode", &row.locale),
        sql::short("path", &row.path),
        sql::short("publishEndDate", &row.publish_end_date),
        sql::short("publishStartDate", &row.publish_start_date),
        sql::short("title", &row.title),
        sql::long("scriptCss", &row.script_css),
        sql::long("scriptJs", &row.script_js),
    ];
    sql::check("pages", &columns)?;
    sql::check_locale("pages", &columns, &row.locale)?;
    sql::check_editor("pages", &columns, &row.editor)
}
