//! The JSON schema of the settings file.

use serde_json::{Map, Value, json};

use super::names::SETTINGS;
use super::setting::{Kind, Setting};

/// The schema, for editors that check TOML against one (draft 2020-12).
#[must_use]
pub fn schema() -> Value {
    let properties: Map<String, Value> = SETTINGS
        .iter()
        .map(|setting| (setting.file_name(), property(setting)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The settings file of wikijs-mcp",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(setting: &Setting) -> Value {
    let mut property = match setting.kind {
        Kind::Text | Kind::Secret | Kind::Path => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::List => json!({
            "type": ["array", "string"],
            "items": { "type": "string", "pattern": "^[^,]+$" },
            "minItems": 1,
        }),
        Kind::Command => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
        }
    };
    if let Some(members) = property.as_object_mut() {
        members.insert("description".to_owned(), json!(setting.meaning));
        if let Some(default) = setting.default_value() {
            // A number or true and false are JSON as they stand; a text is not.
            let default = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            members.insert("default".to_owned(), default);
        }
    }
    property
}
