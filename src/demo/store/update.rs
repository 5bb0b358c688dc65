//! `pages.create` (W16, W17, W24), and `pages.update`: no patch, whatever it looks like (W12, W13).

use async_graphql::MaybeUndefined;

use super::Store;
use super::page::PageRow;
use crate::demo::{Access, Fault, WikiError, css, path, sql};

/// The fields of an update.
#[derive(Debug, Clone, Default)]
pub(in crate::demo) struct PageChange {
    pub(in crate::demo) content: MaybeUndefined<String>,
    pub(in crate::demo) title: MaybeUndefined<String>,
    pub(in crate::demo) description: MaybeUndefined<String>,
    pub(in crate::demo) is_published: bool,
    pub(in crate::demo) publish_start_date: String,
    pub(in crate::demo) publish_end_date: String,
    pub(in crate::demo) script_css: MaybeUndefined<String>,
    pub(in crate::demo) script_js: MaybeUndefined<String>,
    pub(in crate::demo) tags: MaybeUndefined<Vec<String>>,
    pub(in crate::demo) locale: MaybeUndefined<String>,
    pub(in crate::demo) path: MaybeUndefined<String>,
}

impl Store {
    /// Makes a page; its tags are written by a step of their own.
    pub(in crate::demo) fn create(&mut self, new: &PageRow, access: &Access) -> Result<i64, Fault> {
        let mut row = new.clone();
        row.tags.clear();
        row.path = path::accept(&row.path)?;
        // The server's own mistake: the code says delete.
        access.demand("write:pages", &row.path, WikiError::PageDeleteForbidden)?;
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
        let columns = row.columns();
        sql::check("pages", &columns)?;
        sql::check_locale("pages", &columns, &row.locale)?;
        sql::check_editor("pages", &columns, &row.editor)?;
        Ok(self.add(row))
    }

    /// Before an update writes anything: the page is kept as a version.
    pub(in crate::demo) fn begin_update(
        &mut self,
        id: i64,
        change: &PageChange,
        action: &'static str,
        access: &Access,
    ) -> Result<(), Fault> {
        let page = self.page(id);
        let page = page.ok_or_else(|| Fault::error("Invalid Page Id"))?;
        access.demand("write:pages", &page.path, WikiError::PageUpdateForbidden)?;
        if text(&change.content).trim().is_empty() {
            return Err(WikiError::PageEmptyContent.into());
        }
        // The version is kept before anything is checked: a failed update
        // leaves one behind too.
        self.keep_version(id, action)
    }

    /// First step of an update: everything but tags and place is written.
    pub(in crate::demo) fn update_fields(
        &mut self,
        id: i64,
        change: &PageChange,
        access: &Access,
    ) -> Result<(), Fault> {
        let mut new = self.existing(id)?.clone();
        check_null("title", &change.title)?;
        check_null("description", &change.description)?;
        new.content = text(&change.content);
        if let Some(title) = change.title.value() {
            new.title.clone_from(title);
        }
        if let Some(description) = change.description.value() {
            new.description = Some(description.clone());
        }
        new.is_published = change.is_published;
        new.publish_start_date
            .clone_from(&change.publish_start_date);
        new.publish_end_date.clone_from(&change.publish_end_date);
        // Those two are looked up at the place that the update names, without tags; without a
        // path, at one that is called so.
        let place = change.path.value().map_or("undefined", String::as_str);
        if access.may(&["write:styles"], place) {
            new.script_css = css::stored(&text(&change.script_css));
        }
        if access.may(&["write:scripts"], place) {
            new.script_js = text(&change.script_js);
        }
        let mut columns = new.columns();
        columns.retain(|column| !["editorKey", "localeCode", "path"].contains(&column.0));
        sql::check("pages", &columns)?;
        new.updated_at = self.clock.now();
        PageRow::ADMINISTRATOR.clone_into(&mut new.author);
        self.pages.insert(id, new);
        Ok(())
    }

    /// Second step of an update: the tags. Left out they are a crash, after
    /// the first step was written.
    pub(in crate::demo) fn update_tags(
        &mut self,
        id: i64,
        tags: &MaybeUndefined<Vec<String>>,
    ) -> Result<(), Fault> {
        match tags {
            MaybeUndefined::Value(tags) => {
                self.write_tags(id, tags)?;
                self.render(id);
                Ok(())
            }
            MaybeUndefined::Null => Err(Fault::type_error("null", "map")),
            MaybeUndefined::Undefined => Err(Fault::type_error("undefined", "map")),
        }
    }

    /// Third step of an update: the move, if another place is asked for (W14).
    /// Answers whether there was one.
    pub(in crate::demo) fn update_place(
        &mut self,
        id: i64,
        change: &PageChange,
        access: &Access,
    ) -> Result<bool, Fault> {
        let page = self.existing(id)?;
        let wanted =
            |field: &MaybeUndefined<String>| field.value().filter(|v| !v.is_empty()).cloned();
        let (locale, path) = (wanted(&change.locale), wanted(&change.path));
        let stays = locale.as_ref().is_none_or(|locale| *locale == page.locale)
            && path.as_ref().is_none_or(|path| *path == page.path);
        if stays {
            return Ok(false);
        }
        let Some(path) = path else {
            return Err(Fault::type_error("undefined", "includes"));
        };
        self.move_page(id, &path, locale.as_deref(), access)?;
        Ok(true)
    }
}

/// The text of an argument, empty where there is none.
fn text(argument: &MaybeUndefined<String>) -> String {
    argument.value().cloned().unwrap_or_default()
}

fn check_null(name: &str, argument: &MaybeUndefined<String>) -> Result<(), Fault> {
    if argument.is_null() {
        return Err(Fault::Internal {
            slug: "ValidationError",
            message: format!("{name}: should be string"),
        });
    }
    Ok(())
}
