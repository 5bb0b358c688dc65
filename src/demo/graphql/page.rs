//! `Page`, with the gates that its fields have (W2).

use async_graphql::Result;

use super::errors::{gated, missing};
use crate::demo::store::{PageRow, Store, TagRow};
use crate::demo::{Access, Date, shape};
use crate::fields::page_fields;

/// The id of the one user that writes through keys are recorded as.
pub(super) const ADMINISTRATOR_ID: i32 = 1;
/// That user's address.
const ADMINISTRATOR_EMAIL: &str = "admin@example.org";

/// A page, and what else decides how a caller sees it.
pub(super) struct SeenPage<'a> {
    pub(super) store: &'a Store,
    pub(super) row: &'a PageRow,
    pub(super) access: &'a Access,
}

impl SeenPage<'_> {
    /// The value of a field for those who may write the page.
    fn gated<T>(&self, value: T) -> Result<T> {
        gated(self.access.may(&["write:pages"], &self.row.path), value)
    }

    fn content(&self) -> Result<String> {
        let readers = ["read:source", "write:pages"];
        let may_read = self.access.may(&readers, &self.row.path);
        gated(may_read, self.row.content.clone())
    }

    fn tags(&self) -> Vec<Option<TagRow>> {
        let tags = self.store.tag_rows(&self.row.tags);
        tags.into_iter().map(Some).collect()
    }
}

shape! {
    /// A page as one caller sees it.
    Page of seen: SeenPage<'_> {
        id: i64 = seen.row.id;
        path: String = seen.row.path.clone();
        hash: String = seen.row.hash();
        title: String = seen.row.title.clone();
        description: Result<String> = { seen.row.description.clone() }
            .ok_or_else(|| missing("Page.description"));
        is_private: Result<bool> = seen.gated(seen.row.is_private);
        is_published: Result<bool> = seen.gated(seen.row.is_published);
        #[graphql(name = "privateNS")]
        private_ns: Option<String> = None;
        publish_start_date: Result<Date> = seen.gated(Date::from(&seen.row.publish_start_date));
        publish_end_date: Result<Date> = seen.gated(Date::from(&seen.row.publish_end_date));
        tags: Vec<Option<TagRow>> = seen.tags();
        content: Result<String> = seen.content();
        render: Option<String> = Some(seen.store.html(seen.row));
        toc: Option<&'static str> = Some("[]");
        content_type: &'static str = seen.row.content_type();
        created_at: Date = Date::from(&seen.row.created_at);
        updated_at: Date = Date::from(&seen.row.updated_at);
        editor: Result<String> = seen.gated(seen.row.editor.clone());
        locale: Result<String> = Ok(seen.row.locale.clone());
        script_css: Option<String> = Some(seen.row.script_css.clone());
        script_js: Option<String> = Some(seen.row.script_js.clone());
        author_id: Result<i32> = seen.gated(seen.row.author_id());
        author_name: Result<String> = seen.gated(seen.row.author.clone());
        author_email: Result<&'static str> = seen.gated(ADMINISTRATOR_EMAIL);
        creator_id: Result<i32> = seen.gated(ADMINISTRATOR_ID);
        creator_name: Result<&'static str> = seen.gated(PageRow::ADMINISTRATOR);
    }
}

impl Page {
    /// A page in the answer of a write, which lacks locale and editor (W6).
    pub(super) fn written(seen: SeenPage<'_>) -> Self {
        let page = Self::from(seen);
        Self {
            editor: page.editor.and(Err(missing("Page.editor"))),
            locale: Err(missing("Page.locale")),
            ..page
        }
    }
}

/// Ties the type and the row to the program's list of fields.
macro_rules! has_resolvers {
    ({ $($always:tt)* } { $($allowed:tt)* }) => {
        has_resolvers! { @ $($always)* $($allowed)* }
    };
    (@ $(
        $(#[$doc:meta])* $field:ident, $member:ident: $type:ty = $name:literal,
        $($attribute:ident $value:tt),*;
    )*) => {
        const _: fn(&Page, &PageRow) = |page, row| {
            $( let _ = (&page.$member, &row.$member); )*
        };
    };
}

page_fields!(has_resolvers);
