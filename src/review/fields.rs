//! Fields that are no long texts, before and after.

use maud::{Markup, html};
use serde_json::Value;

use super::markup::text;

/// A field's name with its values before and after.
type FieldChange<'a> = (&'a str, Option<&'a Value>, Option<&'a Value>);

/// The fields as a table.
pub(super) fn table(values: &[FieldChange]) -> Markup {
    html! {
        table.fields {
            @for (name, before, after) in values {
                tr {
                    th scope="row" { (name) }
                    td { (value(*before, *after)) }
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
