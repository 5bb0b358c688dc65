//! `Page`, with the gates that its fields have (W2).

use async_graphql::{Result, SimpleObject};

use super::errors::{gated, missing};
use crate::demo::access::Access;
use crate::demo::clock::Date;
use crate::demo::store::{PageRow, Store, TagRow};
use crate::fields::page_fields;

/// The id of the one user that writes through keys are recorded as.
pub(super) const ADMINISTRATOR_ID: i32 = 1;
/// That user's address.
const ADMINISTRATOR_EMAIL: &str = "admin@example.org";

/// A page as one caller sees it.
#[derive(SimpleObject)]
pub(super) struct Page {
    id: i64,
    path: String,
    hash: String,
    title: String,
    description: Result<String>,
    is_private: Result<bool>,
    is_published: Result<bool>,
    #[graphql(name = "privateNS")]
    private_ns: Option<String>,
    publish_start_date: Result<Date>,
    publish_end_date: Result<Date>,
    tags: Vec<Option<TagRow>>,
    content: Result<String>,
    render: Option<String>,
    toc: Option<&'static str>,
    content_type: &'static str,
    created_at: Date,
    updated_at: Date,
    editor: Result<String>,
    locale: Result<String>,
    script_css: Option<String>,
    script_js: Option<String>,
    author_id: Result<i32>,
    author_name: Result<String>,
    author_email: Result<&'static str>,
    creator_id: Result<i32>,
    creator_name: Result<&'static str>,
}

impl Page {
    /// A page that was asked for.
    pub(super) fn read(store: &Store, row: &PageRow, access: &Access) -> Self {
        let may_write = access.may(&["write:pages"], &row.path);
        let may_read = access.may(&["read:source", "write:pages"], &row.path);
        let description = row.description.clone();
        Self {
            id: row.id,
            hash: row.hash(),
            path: row.path.clone(),
            title: row.title.clone(),
            description: description.ok_or_else(|| missing("Page.description")),
            is_private: gated(may_write, row.is_private),
            is_published: gated(may_write, row.is_published),
            private_ns: None,
            publish_start_date: gated(may_write, Date::from(&row.publish_start_date)),
            publish_end_date: gated(may_write, Date::from(&row.publish_end_date)),
            tags: { store.tag_rows(&row.tags) }
                .into_iter()
                .map(Some)
                .collect(),
            content: gated(may_read, row.content.clone()),
            render: Some(store.html(row)),
            toc: Some("[]"),
            content_type: row.content_type(),
            created_at: Date::from(&row.created_at),
            updated_at: Date::from(&row.updated_at),
            editor: gated(may_write, row.editor.clone()),
            locale: Ok(row.locale.clone()),
            script_css: Some(row.script_css.clone()),
            script_js: Some(row.script_js.clone()),
            author_id: gated(may_write, row.author_id()),
            author_name: gated(may_write, row.author.clone()),
            author_email: gated(may_write, ADMINISTRATOR_EMAIL),
            creator_id: gated(may_write, ADMINISTRATOR_ID),
            creator_name: gated(may_write, PageRow::ADMINISTRATOR),
        }
    }

    /// A page in the answer of a write, which lacks locale and editor (W6).
    pub(super) fn written(store: &Store, row: &PageRow, access: &Access) -> Self {
        let page = Self::read(store, row, access);
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
