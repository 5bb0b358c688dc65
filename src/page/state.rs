//! All that Wiki.js keeps of a page.

use serde::{Deserialize, Serialize};

use super::{Date, Field, Locale, PagePath, same_css};

/// All that Wiki.js keeps of a page: the thirteen fields that a write must not lose, the id
/// and the time of the last write.
///
/// Its JSON, members in this order, is what the audit log keeps under its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageState {
    /// The page's id; none for a page that is yet to be created.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
    /// See [`Field::Locale`].
    pub locale: Locale,
    /// See [`Field::Path`].
    pub path: PagePath,
    /// See [`Field::Title`].
    pub title: String,
    /// See [`Field::Description`].
    pub description: String,
    /// See [`Field::Content`].
    pub content: String,
    /// See [`Field::Editor`].
    pub editor: String,
    /// See [`Field::Tags`].
    pub tags: Vec<String>,
    /// See [`Field::IsPublished`].
    pub is_published: bool,
    /// See [`Field::IsPrivate`].
    pub is_private: bool,
    /// See [`Field::PublishStartDate`].
    pub publish_start_date: Date,
    /// See [`Field::PublishEndDate`].
    pub publish_end_date: Date,
    /// See [`Field::ScriptCss`].
    pub script_css: String,
    /// See [`Field::ScriptJs`].
    pub script_js: String,
    /// When the wiki last wrote the page; none for a page that is yet to be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updated_at: Option<Date>,
    /// The fields whose values nobody could read: what stands in them here is no value of
    /// theirs. States that were kept before this was said name none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unknown: Vec<Field>,
}

impl PageState {
    /// Whether one field is the same in both: tags as sets, dates as instants, styles by
    /// what they mean (W24), the rest to the letter.
    #[must_use]
    pub fn same(&self, other: &Self, field: Field) -> bool {
        match field {
            Field::Locale => self.locale == other.locale,
            Field::Path => self.path == other.path,
            Field::Title => self.title == other.title,
            Field::Description => self.description == other.description,
            Field::Content => self.content == other.content,
            Field::Editor => self.editor == other.editor,
            Field::Tags => sorted(&self.tags) == sorted(&other.tags),
            Field::IsPublished => self.is_published == other.is_published,
            Field::IsPrivate => self.is_private == other.is_private,
            Field::PublishStartDate => self.publish_start_date.same(&other.publish_start_date),
            Field::PublishEndDate => self.publish_end_date.same(&other.publish_end_date),
            Field::ScriptCss => same_css(&self.script_css, &other.script_css),
            Field::ScriptJs => self.script_js == other.script_js,
        }
    }

    /// Whether the value of a field is known.
    #[must_use]
    pub fn knows(&self, field: Field) -> bool {
        !self.unknown.contains(&field)
    }

    /// Takes one field over from another state, known or not.
    pub fn take(&mut self, field: Field, from: &Self) {
        self.unknown.retain(|unknown| *unknown != field);
        if !from.knows(field) {
            self.unknown.push(field);
        }
        match field {
            Field::Locale => self.locale.clone_from(&from.locale),
            Field::Path => self.path.clone_from(&from.path),
            Field::Title => self.title.clone_from(&from.title),
            Field::Description => self.description.clone_from(&from.description),
            Field::Content => self.content.clone_from(&from.content),
            Field::Editor => self.editor.clone_from(&from.editor),
            Field::Tags => self.tags.clone_from(&from.tags),
            Field::IsPublished => self.is_published = from.is_published,
            Field::IsPrivate => self.is_private = from.is_private,
            Field::PublishStartDate => self.publish_start_date.clone_from(&from.publish_start_date),
            Field::PublishEndDate => self.publish_end_date.clone_from(&from.publish_end_date),
            Field::ScriptCss => self.script_css.clone_from(&from.script_css),
            Field::ScriptJs => self.script_js.clone_from(&from.script_js),
        }
    }

    /// The fields that differ, in order.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Vec<Field> {
        Field::ALL
            .into_iter()
            .filter(|field| !self.same(other, *field))
            .collect()
    }

    /// The value of one field as JSON, as tools and records show it.
    #[must_use]
    pub fn value(&self, field: Field) -> serde_json::Value {
        match field {
            Field::Locale => self.locale.as_str().into(),
            Field::Path => self.path.as_str().into(),
            Field::Title => self.title.as_str().into(),
            Field::Description => self.description.as_str().into(),
            Field::Content => self.content.as_str().into(),
            Field::Editor => self.editor.as_str().into(),
            Field::Tags => self.tags.clone().into(),
            Field::IsPublished => self.is_published.into(),
            Field::IsPrivate => self.is_private.into(),
            Field::PublishStartDate => self.publish_start_date.as_str().into(),
            Field::PublishEndDate => self.publish_end_date.as_str().into(),
            Field::ScriptCss => self.script_css.as_str().into(),
            Field::ScriptJs => self.script_js.as_str().into(),
        }
    }
}

fn sorted(tags: &[String]) -> Vec<&str> {
    let mut tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}
