//! A value of an answer in one line.

use serde_json::Value;

use crate::cli::print;

/// A value in one line: text as it is, lists with commas, all else as JSON.
pub(super) fn text(value: &Value) -> String {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            items.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    print::harmless(&shown.replace('\n', " "))
}
