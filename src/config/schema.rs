//! The JSON schema of the settings file.

use serde_json::{Map, Value, json};

use super::setting::{InSite, Setting, SettingKind};
use super::{SETTINGS, tables};

/// The schema, for editors that check TOML against one (draft 2020-12).
pub fn schema() -> Value {
    let mut properties: Map<String, Value> = SETTINGS
        .iter()
        .map(|setting| (setting.file_name(), property(setting)))
        .collect();
    properties.extend(tables::schemas());
    properties.extend(sites());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The settings file of wikijs-gate",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The tables of sites.
fn sites() -> [(String, Value); 2] {
    let of_site = SETTINGS
        .iter()
        .filter(|setting| setting.in_site != InSite::Server);
    let mut members: Map<String, Value> = of_site
        .map(|setting| (setting.file_name(), property(setting)))
        .collect();
    for member in members.values_mut().filter_map(Value::as_object_mut) {
        // Without a value, the server's setting holds.
        member.remove("default");
    }
    let pattern = "^[a-z0-9][a-z0-9-]{0,31}$";
    let sites = json!({
        "type": "object",
        "description": "Several wikis, each with an address and a key of its own; its gates can only be narrower than the server's.",
        "propertyNames": { "type": "string", "pattern": pattern },
        "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "required": ["base_url"],
            "properties": members,
        },
    });
    let default = json!({
        "type": "string",
        "pattern": pattern,
        "description": "The site that is meant where none is named, as at /mcp.",
    });
    [
        ("sites".to_owned(), sites),
        ("default_site".to_owned(), default),
    ]
}

fn property(setting: &Setting) -> Value {
    let mut property = match setting.kind {
        SettingKind::Text | SettingKind::Secret | SettingKind::Path => json!({ "type": "string" }),
        SettingKind::Flag => json!({ "type": "boolean" }),
        SettingKind::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        SettingKind::Choice(words) => json!({ "type": "string", "enum": words }),
        SettingKind::List => json!({
            "type": ["array", "string"],
            "items": { "type": "string", "pattern": "^[^,]+$" },
            "minItems": 1,
        }),
        SettingKind::PathOrCommand => json!({
            "type": ["string", "array"],
            "items": { "type": "string" },
            "minItems": 1,
        }),
        SettingKind::Command => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
        }
    };
    if let Some(members) = property.as_object_mut() {
        members.insert("description".to_owned(), json!(setting.meaning));
        if let Some(default) = setting.default_value() {
            // Numbers, true and false are JSON already; a text is not.
            let default = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            members.insert("default".to_owned(), default);
        }
    }
    property
}
