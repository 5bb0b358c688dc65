//! A page as the database keeps it.

use sha1::{Digest, Sha1};

use crate::demo::sql::{self, Column};

/// One page, every field of it.
///
/// A test may write anything into one, also what no API call would let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// Its number; 0 lets [`Store::add`](super::Store::add) give the next free one.
    pub id: i64,
    /// Its locale, such as `en`.
    pub locale: String,
    /// Its path, with no slash at either end.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its description; a null is what only old databases hold.
    pub description: Option<String>,
    /// Its source.
    pub content: String,
    /// The editor it was written with, such as `markdown`.
    pub editor: String,
    /// Its tags, in lower case.
    pub tags: Vec<String>,
    /// True if readers see it.
    pub is_published: bool,
    /// True if it is private.
    pub is_private: bool,
    /// From when on readers see it; any text, or empty.
    pub publish_start_date: String,
    /// Until when readers see it; any text, or empty.
    pub publish_end_date: String,
    /// Style sheet of its own.
    pub script_css: String,
    /// Script of its own.
    pub script_js: String,
    /// The name of its last author; a key writes as the administrator.
    pub author: String,
    /// The time of its creation; empty lets [`Store::add`](super::Store::add) fill in the present
    /// time.
    pub created_at: String,
    /// The time of its last write; empty lets [`Store::add`](super::Store::add) fill in the present
    /// time.
    pub updated_at: String,
}

impl Default for PageRow {
    /// A published English markdown page with next to nothing on it.
    fn default() -> Self {
        Self {
            id: 0,
            locale: "en".to_owned(),
            path: String::new(),
            title: String::new(),
            description: Some(String::new()),
            content: String::new(),
            editor: "markdown".to_owned(),
            tags: Vec::new(),
            is_published: true,
            is_private: false,
            publish_start_date: String::new(),
            publish_end_date: String::new(),
            script_css: String::new(),
            script_js: String::new(),
            author: Self::ADMINISTRATOR.to_owned(),
            created_at: String::new(),
            updated_at: String::new(),
        }
    }
}

impl PageRow {
    /// The user that every key writes as.
    pub(in crate::demo) const ADMINISTRATOR: &str = "Administrator";

    /// The id of who wrote it last.
    pub(in crate::demo) fn author_id(&self) -> i32 {
        if self.author == Self::ADMINISTRATOR {
            1
        } else {
            2
        }
    }

    /// The columns that a write checks.
    pub(super) fn columns(&self) -> Vec<Column<'_>> {
        vec![
            ("content", self.content.as_str()),
            (
                "description",
                self.description.as_deref().unwrap_or_default(),
            ),
            ("editorKey", &self.editor),
            ("localeCode", &self.locale),
            ("path", &self.path),
            ("publishEndDate", &self.publish_end_date),
            ("publishStartDate", &self.publish_start_date),
            ("title", &self.title),
            ("scriptCss", &self.script_css),
            ("scriptJs", &self.script_js),
        ]
    }

    /// The type of the content.
    pub(in crate::demo) fn content_type(&self) -> &'static str {
        sql::content_type(&self.editor).unwrap_or("text")
    }

    /// Locale and path, as links name it.
    pub(in crate::demo) fn place(&self) -> String {
        format!("{}/{}", self.locale, self.path)
    }

    /// SHA-1 of locale and path, in hex: the name under which the wiki caches the page.
    pub(in crate::demo) fn hash(&self) -> String {
        let place = format!("{}|{}|", self.locale, self.path);
        let digest = Sha1::digest(place);
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::PageRow;

    #[test]
    fn the_hash_is_of_locale_and_path() {
        let page = PageRow {
            path: "docs/alpha".to_owned(),
            ..PageRow::default()
        };
        assert_eq!(page.hash(), "ca09c487f3cbcec679650fb8b9eeca44753c3b42");
    }
}
