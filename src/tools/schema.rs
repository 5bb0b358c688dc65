//! Schemas that every client and model takes.
//!
//! Several clients refuse `anyOf`, `$ref`, lists as `type`, integer formats and nullable members
//! (see the test that walks all tools). An optional member has its plain type and is simply not in
//! `required`.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of arguments.
pub(super) fn of_input<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = T::json_schema(&mut settings.into_generator());
    RecursiveTransform(plain).transform(&mut schema);
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    for noise in ["$schema", "title", "description"] {
        schema.shift_remove(noise);
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The schema of arguments as clients see it. The optional ones are not required, and obvious bounds are left out: the whole schema is in every client's
/// context from the first call on, and a call that exceeds a bound gets an error naming it. A brief
/// schema has no descriptions.
pub(super) fn shown(
    schema: &Map<String, Value>,
    optional: &[&str],
    is_brief: bool,
) -> Map<String, Value> {
    let mut shown = schema.clone();
    if let Some(Value::Array(required)) = shown.get_mut("required") {
        required.retain(|name| !optional.iter().any(|other| name == other));
        if required.is_empty() {
            shown.shift_remove("required");
        }
    }
    let mut noise = vec!["minimum", "minLength", "minItems", "maxLength"];
    if is_brief {
        noise.push("description");
    }
    without(&noise, &mut shown);
    shown
}

fn without(noise: &[&str], schema: &mut Map<String, Value>) {
    for word in noise {
        schema.shift_remove(*word);
    }
    let is_telling = |most: &Value| most.as_i64().is_some_and(|most| most < MOST_TELLING);
    if !schema.get("maximum").is_some_and(is_telling) {
        schema.shift_remove("maximum");
    }
    let is_short = |most: &Value| most.as_i64().is_some_and(|most| most < LONG_LIST);
    if !schema.get("maxItems").is_some_and(is_short) {
        schema.shift_remove("maxItems");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            without(noise, property);
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        without(noise, items);
    }
}

/// True if a schema has an argument.
pub(super) fn has_member(schema: &Map<String, Value>, name: &str) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|known| known.contains_key(name))
}

/// Adds an argument to a schema; false if an argument of that name is there.
pub(super) fn add_member(schema: &mut Map<String, Value>, name: &str, told: Value) -> bool {
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut();
    let Some(properties) = properties.filter(|known| !known.contains_key(name)) else {
        return false;
    };
    properties.insert(name.to_owned(), told);
    true
}

/// Removes an argument from a schema, unless it is required.
pub(super) fn without_member(schema: &mut Map<String, Value>, name: &str) {
    let required = schema.get("required").and_then(Value::as_array);
    if required.is_some_and(|required| required.iter().any(|it| it == name)) {
        return;
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_remove(name);
    }
}

/// A maximum from here on is never reached in practice.
const MOST_TELLING: i64 = 1_000_000;
/// A list that may have so many items is seldom too long.
const LONG_LIST: i64 = 100;

/// The schema of an answer: an object, and what absent members mean. The members' names explain
/// themselves, and listing them all would make up a tenth of the definitions.
pub(super) fn of_answer(told: &str) -> Map<String, Value> {
    let members = [("type", "object"), ("description", told)];
    let members = members.map(|(name, value)| (name.to_owned(), value.into()));
    members.into_iter().collect()
}

/// Removes from a schema whatever some clients refuse.
fn plain(schema: &mut Schema) {
    for noise in ["format", "title", "writeOnly"] {
        if schema.get(noise).is_some_and(Value::is_string) {
            schema.remove(noise);
        }
    }
    // An object with names of its own is open, and need not say so.
    if schema.get("additionalProperties") == Some(&true.into()) {
        schema.remove("additionalProperties");
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get("type")
        && let Some(kept) = types.iter().find(|kind| *kind != "null").cloned()
    {
        schema.insert("type".to_owned(), kept);
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("enum") {
        kinds.retain(|kind| !kind.is_null());
    }
    if let Some(Value::Array(choices)) = schema.remove("anyOf")
        && let Some(Value::Object(kept)) = choices
            .into_iter()
            .find(|choice| choice.get("type") != Some(&"null".into()))
    {
        for (name, value) in kept {
            // What is said of the argument counts more than what is said of its type.
            if name != "description" || schema.get(&name).is_none() {
                schema.insert(name, value);
            }
        }
    }
    // One of several words, each with a description.
    if let Some(Value::Array(choices)) = schema.remove("oneOf") {
        let words = choices.iter().filter_map(|choice| choice.get("const"));
        let words: Vec<Value> = words.cloned().collect();
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), words.into());
    }
}
