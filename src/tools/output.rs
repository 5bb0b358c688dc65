//! The shapes of answers that several tools share.
//!
//! A member without a value is absent, never null. Default values (published, not private, empty,
//! false) are left out too. Whatever could not be read is named in `unavailable`, so an absent
//! member never means "unknown".

use serde::Serialize;
use serde_json::Value;

use crate::error::{Code, Failure, Result};
use crate::page::{Date, PageReading, escape_hidden};
use crate::wiki::Wiki;

/// The member that says who wrote a page last.
pub(super) const AUTHOR: &str = "lastAuthor";

/// An answer as JSON, without members that have no value.
pub(super) fn written(answer: impl Serialize) -> Result<Value> {
    let value = serde_json::to_value(answer);
    let unwritten = |_| Failure::new(Code::InternalError, "The answer could not be written.");
    value.map(without_nulls).map_err(unwritten)
}

/// A value without members that are null, and so on below it.
pub(crate) fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => members.retain(|_, member| {
            *member = without_nulls(member.take());
            !member.is_null()
        }),
        Value::Array(items) => {
            for item in items {
                *item = without_nulls(item.take());
            }
        }
        _ => {}
    }
    value
}

/// An object with the members of another, if there is one, after its own.
pub(crate) fn extended(mut value: Value, more: impl Into<Value>) -> Value {
    if let (Value::Object(own), Value::Object(more)) = (&mut value, more.into()) {
        own.extend(more);
    }
    value
}

/// A page, flattened, without default values. Members that the key cannot read are absent and named
/// in `unavailable`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageSummary {
    pub(super) id: Option<i64>,
    pub(super) locale: String,
    pub(super) path: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) is_published: Option<bool>,
    pub(super) is_private: Option<bool>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
}

/// A page with its content and everything else that the key can read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholePage {
    #[serde(flatten)]
    pub(super) page: PageSummary,
    pub(super) last_author: Option<String>,
    pub(super) editor: Option<String>,
    pub(super) publish_start_date: Option<String>,
    pub(super) publish_end_date: Option<String>,
    pub(super) script_css: Option<String>,
    pub(super) script_js: Option<String>,
    pub(super) content: Option<String>,
}

/// True if a member has its default value and is therefore left out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A count, absent if it is zero.
pub(super) fn some_count(number: usize) -> Option<i64> {
    (number > 0).then(|| count(number))
}
/// A count as JSON has it.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl PageSummary {
    pub(super) fn new(wiki: &Wiki, page: PageReading) -> Self {
        let PageReading {
            id,
            locale,
            path,
            title,
            description,
            tags,
            is_published,
            is_private,
            created_at,
            updated_at,
            // The following apply only to a whole page, or to no page.
            content: _,
            content_type: _,
            editor: _,
            publish_start_date: _,
            publish_end_date: _,
            script_css: _,
            script_js: _,
            author_name: _,
            keeps_styles: _,
        } = page;
        Self {
            url: Some(wiki.page_url(&locale, &path)),
            id,
            locale: locale.as_str().to_owned(),
            path: path.as_str().to_owned(),
            title: escape_hidden(&title),
            // As they are: a write may give them back.
            description: description.filter(|text| !text.is_empty()),
            tags: tags.filter(|tags| !tags.is_empty()),
            is_published: is_published.filter(|is_published| !is_published),
            is_private: is_private.filter(|is_private| *is_private),
            created_at: created_at.map(String::from),
            updated_at: updated_at.map(String::from),
        }
    }
}

impl WholePage {
    pub(super) fn new(wiki: &Wiki, mut page: PageReading) -> Self {
        let text = |date: Option<Date>| date.filter(Date::is_set).map(String::from);
        let code = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            last_author: page.author_name.take().map(|name| escape_hidden(&name)),
            editor: page.editor.take(),
            publish_start_date: text(page.publish_start_date.take()),
            publish_end_date: text(page.publish_end_date.take()),
            script_css: code(page.script_css.take()),
            script_js: code(page.script_js.take()),
            content: page.content.take(),
            page: PageSummary::new(wiki, page),
        }
    }
}
