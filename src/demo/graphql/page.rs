//! `Page`, with the gates that its fields have (W2).

use async_graphql::{Object, Result};

use super::errors::missing;
use crate::demo::access::Access;
use crate::demo::clock::Date;
use crate::demo::fault::Fault;
use crate::demo::store::{PageRow, Store, TagRow};
use crate::fields::page_fields;

/// The one user that writes through keys are recorded as.
pub(super) const ADMINISTRATOR: &str = "Administrator";
/// That user's id.
pub(super) const ADMINISTRATOR_ID: i32 = 1;
/// That user's address.
const ADMINISTRATOR_EMAIL: &str = "admin@example.org";

/// A page as one caller sees it.
pub(super) struct Page {
    row: PageRow,
    html: String,
    tags: Vec<TagRow>,
    access: Access,
    /// The answer of a write lacks locale and editor (W6).
    written: bool,
}

impl Page {
    /// A page that was asked for.
    pub(super) fn read(store: &Store, row: &PageRow, access: &Access) -> Self {
        Self {
            row: row.clone(),
            html: store.html(row),
            tags: store.tag_rows(&row.tags),
            access: access.clone(),
            written: false,
        }
    }

    /// A page in the answer of a write.
    pub(super) fn written(store: &Store, row: &PageRow, access: &Access) -> Self {
        Self {
            written: true,
            ..Self::read(store, row, access)
        }
    }

    /// The value, if the caller has one of these permissions on the page.
    fn gate<T>(&self, permissions: &[&str], value: T) -> Result<T> {
        if self.access.may(permissions, &self.row.path) {
            Ok(value)
        } else {
            Err(Fault::forbidden().into())
        }
    }

    fn writers<T>(&self, value: T) -> Result<T> {
        self.gate(&["write:pages"], value)
    }
}

#[Object(rename_fields = "camelCase")]
impl Page {
    async fn id(&self) -> i64 {
        self.row.id
    }

    async fn path(&self) -> &str {
        &self.row.path
    }

    async fn hash(&self) -> String {
        self.row.hash()
    }

    async fn title(&self) -> &str {
        &self.row.title
    }

    async fn description(&self) -> Result<&str> {
        let description = self.row.description.as_deref();
        description.ok_or_else(|| missing("Page.description"))
    }

    async fn is_private(&self) -> Result<bool> {
        self.writers(self.row.is_private)
    }

    async fn is_published(&self) -> Result<bool> {
        self.writers(self.row.is_published)
    }

    #[graphql(name = "privateNS")]
    async fn private_ns(&self) -> Option<String> {
        None
    }

    async fn publish_start_date(&self) -> Result<Date> {
        self.writers(Date::from(&self.row.publish_start_date))
    }

    async fn publish_end_date(&self) -> Result<Date> {
        self.writers(Date::from(&self.row.publish_end_date))
    }

    async fn tags(&self) -> Vec<Option<TagRow>> {
        self.tags.iter().cloned().map(Some).collect()
    }

    async fn content(&self) -> Result<&str> {
        self.gate(&["read:source", "write:pages"], self.row.content.as_str())
    }

    async fn render(&self) -> Option<&str> {
        Some(&self.html)
    }

    async fn toc(&self) -> Option<&str> {
        Some("[]")
    }

    async fn content_type(&self) -> &'static str {
        self.row.content_type()
    }

    async fn created_at(&self) -> Date {
        Date::from(&self.row.created_at)
    }

    async fn updated_at(&self) -> Date {
        Date::from(&self.row.updated_at)
    }

    async fn editor(&self) -> Result<&str> {
        self.writers(())?;
        if self.written {
            return Err(missing("Page.editor"));
        }
        Ok(&self.row.editor)
    }

    async fn locale(&self) -> Result<&str> {
        if self.written {
            return Err(missing("Page.locale"));
        }
        Ok(&self.row.locale)
    }

    async fn script_css(&self) -> Option<&str> {
        Some(&self.row.script_css)
    }

    async fn script_js(&self) -> Option<&str> {
        Some(&self.row.script_js)
    }

    async fn author_id(&self) -> Result<i32> {
        self.writers(self.row.author_id())
    }

    async fn author_name(&self) -> Result<&str> {
        self.writers(&self.row.author)
    }

    async fn author_email(&self) -> Result<&'static str> {
        self.writers(ADMINISTRATOR_EMAIL)
    }

    async fn creator_id(&self) -> Result<i32> {
        self.writers(ADMINISTRATOR_ID)
    }

    async fn creator_name(&self) -> Result<&'static str> {
        self.writers(ADMINISTRATOR)
    }

    async fn creator_email(&self) -> Result<&'static str> {
        self.writers(ADMINISTRATOR_EMAIL)
    }
}

/// Ties the type to the program's list of fields.
macro_rules! has_resolvers {
    ({ $($always:tt)* } { $($allowed:tt)* }) => {
        has_resolvers! { @ $($always)* $($allowed)* }
    };
    (@ $(
        $(#[$doc:meta])* $field:ident, $member:ident: $type:ty = $name:literal,
        $($attribute:ident $value:tt),*;
    )*) => {
        const _: fn() = || {
            $( let _ = Page::$member; )*
        };
    };
}

page_fields!(has_resolvers);
