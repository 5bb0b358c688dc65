//! Renders changed fields, before and after: values as a table, long texts as differences.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::markup::text;
use super::rows::whole;

/// A field's name with its values before and after.
pub(super) type FieldChange<'a> = (&'a str, Option<&'a Value>, Option<&'a Value>);
/// The name of a long text, such as the content or styles, with its difference.
pub(super) type FieldDiff<'a> = (&'a str, &'a str);

/// Changed fields, as values and as long texts.
pub(super) fn split(changes: &Map<String, Value>) -> (Vec<FieldChange<'_>>, Vec<FieldDiff<'_>>) {
    let (mut values, mut texts) = (Vec::new(), Vec::new());
    for (name, states) in changes {
        match states.get("diff").and_then(Value::as_str) {
            Some(diff) => texts.push((&**name, diff)),
            None => values.push((&**name, states.get("before"), states.get("after"))),
        }
    }
    (values, texts)
}

/// The differences of long texts and of the content.
pub(super) fn differences(texts: &[FieldDiff], content: &str) -> Markup {
    let content = Some(("content", content)).filter(|(_, diff)| !diff.is_empty());
    html! {
        @for (name, diff) in texts.iter().copied().chain(content) {
            div.text { h4 { (name) } (whole(diff)) }
        }
    }
}

/// The fields as a table.
pub(super) fn table<'a>(values: impl Iterator<Item = FieldChange<'a>>) -> Markup {
    html! {
        table.fields {
            @for (name, before, after) in values {
                tr {
                    th scope="row" { (name) }
                    td { (value(before, after)) }
                }
            }
        }
    }
}

fn value(before: Option<&Value>, after: Option<&Value>) -> Markup {
    if let (Some(Value::Array(before)), Some(Value::Array(after))) = (before, after) {
        return tags(before, after);
    }
    html! {
        @if let Some(before) = before { del { (words(before)) } }
        @if before.is_some() && after.is_some() { " → " }
        @if let Some(after) = after { ins { (words(after)) } }
    }
}

/// Each tag once: what goes, what stays, what comes.
fn tags(before: &[Value], after: &[Value]) -> Markup {
    html! {
        ul.tags {
            @for tag in before {
                @if after.contains(tag) { li { (words(tag)) } } @else { li { del { (words(tag)) } } }
            }
            @for tag in after.iter().filter(|tag| !before.contains(tag)) {
                li { ins { (words(tag)) } }
            }
        }
    }
}

/// A value as a person reads it.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(own) if own.is_empty() => "empty".to_owned(),
        Value::String(own) => text(own),
        Value::Array(all) => all.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{tags, value, words};

    #[test]
    fn values_are_words_and_hostile_text_is_text() {
        assert_eq!(words(&json!(true)), "yes");
        assert_eq!(words(&json!("")), "empty");
        assert_eq!(words(&json!(["a", "b"])), "a, b");
        let shown = value(Some(&json!("a")), Some(&json!("<script>\u{202e}"))).into_string();
        assert_eq!(shown, "<del>a</del> → <ins>&lt;script&gt;\\u{202e}</ins>");
    }

    #[test]
    fn tags_that_stay_stand_once() {
        let shown = tags(&[json!("a"), json!("b")], &[json!("b"), json!("c")]).into_string();
        assert_eq!(
            shown,
            "<ul class=\"tags\"><li><del>a</del></li><li>b</li><li><ins>c</ins></li></ul>"
        );
    }
}
