//! Schemas that every client and model takes.
//!
//! Several refuse `anyOf`, `$ref`, lists as `type`, integer formats and nullable members
//! (see the test that walks all tools). What an optional member can be is said; that it can
//! be left out is said by its absence from `required`.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of arguments.
pub(super) fn of_input<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of(SchemaSettings::draft2020_12(), T::json_schema);
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The schema of an answer: names and types, no more. It is in the context of every client
/// from the first call on, so what a name says already is not said again.
pub(super) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = of(settings, T::json_schema);
    brief(&mut schema);
    schema
}

fn brief(schema: &mut Map<String, Value>) {
    schema.shift_remove("description");
    schema.shift_remove("required");
    if schema.get("additionalProperties") == Some(&true.into()) {
        schema.shift_remove("additionalProperties");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            brief(property);
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        brief(items);
    }
}

fn of(
    mut settings: SchemaSettings,
    make: impl Fn(&mut schemars::SchemaGenerator) -> Schema,
) -> Map<String, Value> {
    settings.inline_subschemas = true;
    let mut schema = make(&mut settings.into_generator());
    RecursiveTransform(plain).transform(&mut schema);
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    for noise in ["$schema", "title", "description"] {
        schema.shift_remove(noise);
    }
    schema
}

/// Takes out of one schema what not every client takes.
fn plain(schema: &mut Schema) {
    for noise in ["format", "title", "writeOnly"] {
        if schema.get(noise).is_some_and(Value::is_string) {
            schema.remove(noise);
        }
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
            schema.insert(name, value);
        }
    }
}
