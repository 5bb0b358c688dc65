//! What is asked for: a new page, or fields of a page to be changed.

use crate::page::{Date, Locale, NewPath, PageState};

/// A page that shall come to be. Its place was checked.
#[derive(Debug, Clone)]
pub struct NewPage {
    /// Its locale.
    pub locale: Locale,
    /// Where it shall stand.
    pub path: NewPath,
    /// Its title.
    pub title: String,
    /// Its description; may be empty.
    pub description: String,
    /// Its source.
    pub content: String,
    /// Its editor.
    pub editor: String,
    /// Its tags, as the wiki stores them.
    pub tags: Vec<String>,
    /// Whether readers see it.
    pub is_published: bool,
    /// Whether it is private.
    pub is_private: bool,
    /// When readers begin to see it.
    pub publish_start_date: Date,
    /// When readers cease to see it.
    pub publish_end_date: Date,
    /// Its styles.
    pub script_css: String,
    /// Its scripts.
    pub script_js: String,
}

impl NewPage {
    pub(super) fn into_state(self) -> PageState {
        PageState {
            id: None,
            locale: self.locale,
            path: self.path.into_path(),
            title: self.title,
            description: self.description,
            content: self.content,
            editor: self.editor,
            tags: self.tags,
            is_published: self.is_published,
            is_private: self.is_private,
            publish_start_date: self.publish_start_date,
            publish_end_date: self.publish_end_date,
            script_css: self.script_css,
            script_js: self.script_js,
            updated_at: None,
        }
    }
}

/// The fields of a page that shall change; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// Where the page shall stand; was checked.
    pub path: Option<NewPath>,
    /// The locale it shall be filed under.
    pub locale: Option<Locale>,
    /// The new title.
    pub title: Option<String>,
    /// The new source.
    pub content: Option<String>,
    /// The new description; empty clears it.
    pub description: Option<String>,
    /// The new tags, all of them; empty clears them.
    pub tags: Option<Vec<String>>,
    /// Whether readers shall see it.
    pub is_published: Option<bool>,
    /// When readers shall begin to see it.
    pub publish_start_date: Option<Date>,
    /// When readers shall cease to see it.
    pub publish_end_date: Option<Date>,
    /// The new styles; empty clears them.
    pub script_css: Option<String>,
    /// The new scripts; empty clears them.
    pub script_js: Option<String>,
}

impl Edits {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The page with these changes made. A field whose new value means the same as the old
    /// keeps the old to the letter, so that it is no change.
    pub(super) fn onto(self, before: &PageState) -> PageState {
        let mut after = before.clone();
        let set = |slot: &mut String, value: Option<String>| {
            if let Some(value) = value {
                *slot = value;
            }
        };
        let set_date = |slot: &mut Date, value: Option<Date>| {
            if let Some(value) = value.filter(|value| !value.same(slot)) {
                *slot = value;
            }
        };
        set(&mut after.title, self.title);
        set(&mut after.content, self.content);
        set(&mut after.description, self.description);
        set(&mut after.script_css, self.script_css);
        set(&mut after.script_js, self.script_js);
        set_date(&mut after.publish_start_date, self.publish_start_date);
        set_date(&mut after.publish_end_date, self.publish_end_date);
        if let Some(path) = self.path {
            after.path = path.into_path();
        }
        if let Some(locale) = self.locale {
            after.locale = locale;
        }
        if let Some(tags) = self.tags {
            after.tags = tags;
            if after.same(before, crate::page::Field::Tags) {
                after.tags.clone_from(&before.tags);
            }
        }
        if let Some(is_published) = self.is_published {
            after.is_published = is_published;
        }
        after.updated_at = None;
        after
    }
}
