//! A page as far as the key can read it.

use std::collections::BTreeMap;

use super::{Date, Field, Locale, PagePath, PageState};

/// A page as far as the key can read it: what no layer gives is absent, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReading {
    /// The page's id; none where only its place could be read.
    pub id: Option<i64>,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// Its source.
    pub content: Option<String>,
    /// What the source is written in (`markdown`, `html`, …); said by the list alone.
    pub content_type: Option<String>,
    /// Its editor.
    pub editor: Option<String>,
    /// Its tags, all of them.
    pub tags: Option<Vec<String>>,
    /// Whether readers see it.
    pub is_published: Option<bool>,
    /// Whether it is private.
    pub is_private: Option<bool>,
    /// When readers begin to see it.
    pub publish_start_date: Option<Date>,
    /// When readers cease to see it.
    pub publish_end_date: Option<Date>,
    /// Its styles.
    pub script_css: Option<String>,
    /// Its scripts.
    pub script_js: Option<String>,
    /// Who wrote it last.
    pub author_name: Option<String>,
    /// When it was made.
    pub created_at: Option<Date>,
    /// When it was last written.
    pub updated_at: Option<Date>,
    /// Whether the wiki leaves the styles as they are whatever an update by this key says of
    /// them, if the update names the page's place.
    pub keeps_styles: bool,
}

impl PageReading {
    /// A page of which only the place and the title are known.
    #[must_use]
    pub const fn bare(id: Option<i64>, locale: Locale, path: PagePath, title: String) -> Self {
        Self {
            id,
            locale,
            path,
            title,
            description: None,
            content: None,
            content_type: None,
            editor: None,
            tags: None,
            is_published: None,
            is_private: None,
            publish_start_date: None,
            publish_end_date: None,
            script_css: None,
            script_js: None,
            author_name: None,
            created_at: None,
            updated_at: None,
            keeps_styles: false,
        }
    }

    /// The fields that this key could not read, each with the right that it takes.
    #[must_use]
    pub fn unreadable(&self) -> BTreeMap<Field, &'static str> {
        let missing = [
            (Field::Description, self.description.is_none()),
            (Field::Content, self.content.is_none()),
            (Field::Editor, self.editor.is_none()),
            (Field::Tags, self.tags.is_none()),
            (Field::IsPublished, self.is_published.is_none()),
            (Field::IsPrivate, self.is_private.is_none()),
            (Field::PublishStartDate, self.publish_start_date.is_none()),
            (Field::PublishEndDate, self.publish_end_date.is_none()),
            (Field::ScriptCss, self.script_css.is_none()),
            (Field::ScriptJs, self.script_js.is_none()),
        ];
        missing
            .into_iter()
            .filter(|(_, is_missing)| *is_missing)
            .map(|(field, _)| (field, field.right_to_read()))
            .collect()
    }

    /// The whole state of the page, if this key could read all thirteen fields. Styles that it
    /// could not read, but cannot change either, are unknown in it.
    #[must_use]
    pub fn complete(&self) -> Option<PageState> {
        let mut this = self.clone();
        let mut unknown = Vec::new();
        if this.keeps_styles && this.script_css.is_none() {
            this.script_css = Some(String::new());
            unknown.push(Field::ScriptCss);
        }
        Some(PageState {
            unknown,
            id: Some(this.id?),
            locale: this.locale,
            path: this.path,
            title: this.title,
            description: this.description?,
            content: this.content?,
            editor: this.editor?,
            tags: this.tags?,
            is_published: this.is_published?,
            is_private: this.is_private?,
            publish_start_date: this.publish_start_date?,
            publish_end_date: this.publish_end_date?,
            script_css: this.script_css?,
            script_js: this.script_js?,
            updated_at: this.updated_at,
        })
    }

    /// The state of the page as far as an update can write it, if this key could read all but
    /// these fields, which then are empty and unknown. What an update does not write (W13) may be missing.
    #[must_use]
    pub fn complete_but_for(&self, lost: &[Field]) -> Option<PageState> {
        let missing = self.unreadable();
        let mut this = self.clone();
        let text = |field| lost.contains(&field).then(String::new);
        let date = |field| lost.contains(&field).then_some(Date::Unset);
        this.publish_start_date = this
            .publish_start_date
            .or_else(|| date(Field::PublishStartDate));
        this.publish_end_date = this
            .publish_end_date
            .or_else(|| date(Field::PublishEndDate));
        this.script_css = this.script_css.or_else(|| text(Field::ScriptCss));
        this.script_js = this.script_js.or_else(|| text(Field::ScriptJs));
        this.editor.get_or_insert_default();
        this.is_private.get_or_insert_default();
        let mut state = this.complete()?;
        state.unknown = missing.into_keys().collect();
        Some(state)
    }

    /// The state that was promised, with everything that could be read in its place.
    #[must_use]
    pub fn laid_over(&self, promised: &PageState) -> PageState {
        let this = self.clone();
        let promised = promised.clone();
        PageState {
            unknown: promised.unknown,
            id: this.id.or(promised.id),
            locale: this.locale,
            path: this.path,
            title: this.title,
            description: this.description.unwrap_or(promised.description),
            content: this.content.unwrap_or(promised.content),
            editor: this.editor.unwrap_or(promised.editor),
            tags: this.tags.unwrap_or(promised.tags),
            is_published: this.is_published.unwrap_or(promised.is_published),
            is_private: this.is_private.unwrap_or(promised.is_private),
            publish_start_date: this
                .publish_start_date
                .unwrap_or(promised.publish_start_date),
            publish_end_date: this.publish_end_date.unwrap_or(promised.publish_end_date),
            script_css: this.script_css.unwrap_or(promised.script_css),
            script_js: this.script_js.unwrap_or(promised.script_js),
            updated_at: this.updated_at.or(promised.updated_at),
        }
    }
}
