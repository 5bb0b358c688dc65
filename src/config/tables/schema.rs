//! The JSON schemas of the tables. Their properties are the members that a table may have.

use serde_json::{Value, json};

use crate::audit::Role;
use crate::change::Operation;
use crate::notify::Occasion;
use crate::page::Field;
use crate::rules::{BUILT_IN, Then};

/// The largest number that a rule may count to.
pub(super) const LARGEST_COUNT: u64 = 1_000_000;
/// The default time limit of a check or a notification, in seconds.
pub(super) const USUAL_TIMEOUT: u64 = 10;
/// The longest time that can be set.
pub(super) const LONGEST_TIMEOUT: u64 = 60;
/// The roles that a person can have.
pub(super) const ROLES: [(&str, Role); 3] = [
    ("agent", Role::Agent),
    ("reviewer", Role::Reviewer),
    ("auditor", Role::Auditor),
];

/// The schemas, by the names of the tables in the file.
pub(in crate::config) fn schemas() -> [(String, Value); 5] {
    let mut off = words(&BUILT_IN);
    if let Some(members) = off.as_object_mut() {
        let meaning = "The built-in rules that are switched off.";
        members.insert("description".to_owned(), meaning.into());
    }
    [
        ("rules", rules()),
        ("rules_off", off),
        ("checks", checks()),
        ("notify", notify()),
        ("oauth", oauth()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
}

/// Some of these words, or one of them, which needs no brackets.
fn words(words: &[&str]) -> Value {
    json!({
        "anyOf": [
            { "enum": words },
            { "type": "array", "minItems": 1, "items": { "enum": words } },
        ],
    })
}

fn texts() -> Value {
    json!({ "type": ["array", "string"], "minItems": 1, "items": { "type": "string" } })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn name() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,60}$" })
}

fn command() -> Value {
    json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
}

fn environment() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

fn timeout() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": LONGEST_TIMEOUT, "default": USUAL_TIMEOUT })
}

/// The schema of `[[rules]]`.
pub(super) fn rules() -> Value {
    let count = || json!({ "type": "integer", "minimum": 0, "maximum": LARGEST_COUNT });
    json!({
        "type": "array",
        "description": "What needs more than the gates ask for: all that a rule names must hold; then: deny, review, person or preview, the strictest wins.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "then"],
            "properties": {
                "name": name(),
                "then": { "enum": Then::ALL },
                "why": text(),
                "paths": texts(),
                "operations": words(&Operation::ALL.map(Operation::as_str)),
                "fields": words(&Field::ALL.map(Field::name)),
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
    })
}

/// The schema of `[[checks]]`.
pub(super) fn checks() -> Value {
    json!({
        "type": "array",
        "description": "Commands that look at a change before it is made: the change as JSON on standard input; one that does not end with 0 is the warning check:NAME.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "argv"],
            "properties": {
                "name": name(),
                "argv": command(),
                "cwd": text(),
                "env": environment(),
                "paths": texts(),
                "timeout": timeout(),
            },
        },
    })
}

/// The schema of `[[notify]]`.
pub(super) fn notify() -> Value {
    json!({
        "type": "array",
        "description": "Whom to tell what waits for people and what went wrong: JSON with ids, counts and an address, by POST to url or on the standard input of a command.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name"],
            "oneOf": [{ "required": ["url"] }, { "required": ["argv"] }],
            "properties": {
                "name": name(),
                "on": words(&Occasion::ALL.map(Occasion::as_str)),
                "url": text(),
                "argv": command(),
                "cwd": text(),
                "env": environment(),
                "timeout": timeout(),
            },
        },
    })
}

/// The schema of `[oauth]`.
pub(super) fn oauth() -> Value {
    let flag = || json!({ "type": "boolean", "default": false });
    json!({
        "type": "object",
        "description": "People sign in: the issuer that vouches for them, and which of their claims get which grant.",
        "additionalProperties": false,
        "required": ["issuer", "audiences"],
        "properties": {
            "issuer": { "type": "string", "format": "uri" },
            "audiences": texts(),
            "scopes": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "read": { "type": "string", "default": "wiki:read" },
                    "write": { "type": "string", "default": "wiki:write" },
                },
            },
            "groups_claim": { "type": "string", "default": "groups" },
            "review_client_id": text(),
            "review_secret_file": text(),
            "review_key_file": text(),
            "grants": {
                "type": "array",
                "description": "The first that matches holds; all that it names must match.",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["role"],
                    "properties": {
                        "groups": texts(),
                        "subjects": texts(),
                        "email_domains": texts(),
                        "everybody": flag(),
                        "role": { "enum": ROLES.map(|(role, _)| role) },
                        "write": flag(),
                        "decides_own": flag(),
                        "toolsets": texts(),
                        "tools": texts(),
                        "sites": texts(),
                        "prefixes": texts(),
                        "read_prefixes": texts(),
                        "denied_read_prefixes": texts(),
                        "denied_read_tags": texts(),
                        "dry_run": flag(),
                        "confirm": { "enum": ["person"] },
                        "may_apply_in_dry_run": flag(),
                        "rate": { "type": "integer", "minimum": 1 },
                    },
                },
            },
        },
    })
}
