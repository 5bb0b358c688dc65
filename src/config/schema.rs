//! The JSON schema of the settings file.

use serde_json::{Map, Value, json};

use super::defaults::SETTINGS;
use super::setting::{InSite, Setting, SettingKind};
use super::tables::{LARGEST_COUNT, LONGEST_TIMEOUT, USUAL_TIMEOUT, oauth};
use crate::change::Operation;
use crate::notify::Occasion;
use crate::page::Field;
use crate::rules::{BUILT_IN, Then};

/// The schema, for editors that check TOML against one (draft 2020-12).
pub fn schema() -> Value {
    let mut properties: Map<String, Value> = SETTINGS
        .iter()
        .map(|setting| (setting.file_name(), property(setting)))
        .collect();
    properties.extend(tables());
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

/// The tables of rules and checks.
fn tables() -> [(String, Value); 5] {
    // A single word needs no brackets.
    let words = |words: &[&str]| {
        json!({
            "anyOf": [
                { "enum": words },
                { "type": "array", "minItems": 1, "items": { "enum": words } },
            ],
        })
    };
    let texts =
        || json!({ "type": ["array", "string"], "minItems": 1, "items": { "type": "string" } });
    let count = || json!({ "type": "integer", "minimum": 0, "maximum": LARGEST_COUNT });
    let text = || json!({ "type": "string" });
    let name = json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,60}$" });
    let fields = Field::ALL.map(Field::name);
    let rules = json!({
        "type": "array",
        "description": "What needs more than the gates ask for: all that a rule names must hold; then: deny, review, person or preview, the strictest wins.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "then"],
            "properties": {
                "name": name,
                "then": { "enum": Then::ALL },
                "why": text(),
                "paths": texts(),
                "operations": words(&Operation::ALL.map(Operation::as_str)),
                "fields": words(&fields),
                "tags": texts(),
                "clients": texts(),
                "people": texts(),
                "warnings": texts(),
                "lines_removed_over": count(),
                "pages_over": count(),
                "deletes_over": count(),
                "writes_per_day_over": count(),
            },
        },
    });
    let checks = json!({
        "type": "array",
        "description": "Commands that look at a change before it is made: the change as JSON on standard input; one that does not end with 0 is the warning check:NAME.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "argv"],
            "properties": {
                "name": name,
                "argv": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                "cwd": text(),
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "paths": texts(),
                "timeout": { "type": "integer", "minimum": 1, "maximum": LONGEST_TIMEOUT, "default": USUAL_TIMEOUT },
            },
        },
    });
    let notify = json!({
        "type": "array",
        "description": "Whom to tell what waits for people and what went wrong: JSON with ids, counts and an address, by POST to url or on the standard input of a command.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name"],
            "oneOf": [{ "required": ["url"] }, { "required": ["argv"] }],
            "properties": {
                "name": name,
                "on": words(&Occasion::ALL.map(Occasion::as_str)),
                "url": text(),
                "argv": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                "cwd": text(),
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "timeout": { "type": "integer", "minimum": 1, "maximum": LONGEST_TIMEOUT, "default": USUAL_TIMEOUT },
            },
        },
    });
    let mut off = words(&BUILT_IN);
    if let Some(members) = off.as_object_mut() {
        let meaning = "The built-in rules that are switched off.";
        members.insert("description".to_owned(), meaning.into());
    }
    [
        ("rules".to_owned(), rules),
        ("rules_off".to_owned(), off),
        ("checks".to_owned(), checks),
        ("notify".to_owned(), notify),
        ("oauth".to_owned(), oauth::schema()),
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
