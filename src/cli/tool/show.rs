//! `wikijs-mcp tool list` and `tool show`: what the tools are, from their own definitions.

use serde_json::{Map, Value, json};

use super::examples;
use crate::cli::print::{self, Paint};
use crate::cli::table::{Cell, Table};
use crate::tools::{Definition, Kind, Registry};

/// All tools, a line each.
pub(super) fn list(registry: &Registry, is_json: bool) {
    if is_json {
        let tools: Vec<Value> = registry.definitions().map(as_json).collect();
        print::line(&json!({ "tools": tools }).to_string());
        return;
    }
    let mut table = Table::new(&["tool", "kind", "title"]);
    for tool in registry.definitions() {
        table.row(vec![
            Cell::painted(tool.name, Paint::Bold),
            kind(tool).into(),
            tool.title.into(),
        ]);
    }
    table.print();
}

/// One tool.
pub(super) fn one(tool: &Definition, is_json: bool) {
    if is_json {
        print::line(&as_json(tool).to_string());
        return;
    }
    let name = print::painted(tool.name, Paint::Bold);
    print::line(&format!("{name} ({})", kind(tool)));
    print::line(&tool.description);
    print::line("");
    let mut table = Table::new(&["argument", "type", "meaning"]);
    rows(&tool.input, "", &mut table);
    table.print();
    print::line("");
    print::line(&format!(
        "wikijs-mcp tool call {} --args '{}'",
        tool.name,
        examples::of(tool.name)
    ));
}

const fn kind(tool: &Definition) -> &'static str {
    match tool.kind {
        Kind::Read => "read",
        Kind::Aside => "aside",
        Kind::Add | Kind::Change => "write",
    }
}

fn as_json(tool: &Definition) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "kind": kind(tool),
        "description": tool.description,
        "inputSchema": tool.input,
        "outputSchema": tool.output,
        "example": serde_json::from_str::<Value>(examples::of(tool.name)).unwrap_or_default(),
    })
}

/// The members of an object's schema, and of the objects in it.
fn rows(schema: &Map<String, Value>, above: &str, table: &mut Table) {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object() else {
            continue;
        };
        let is_required =
            required.is_some_and(|required| required.iter().any(|other| other == name.as_str()));
        let described = property.get("description").and_then(Value::as_str);
        let mut meaning: Vec<&str> = described.into_iter().collect();
        if is_required {
            meaning.insert(0, "Required.");
        }
        let meaning = meaning.join(" ").replace('\n', " ");
        let path = format!("{above}{name}");
        table.row(vec![
            path.as_str().into(),
            type_of(property).into(),
            meaning.into(),
        ]);
        let items = property.get("items").and_then(Value::as_object);
        rows(property, &format!("{path}."), table);
        if let Some(items) = items {
            rows(items, &format!("{path}[]."), table);
        }
    }
}

fn type_of(property: &Map<String, Value>) -> String {
    let items = property.get("items").and_then(Value::as_object);
    let name = property
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("any");
    match (property.get("enum").and_then(Value::as_array), items) {
        (Some(values), _) => {
            let values = values.iter().filter_map(Value::as_str);
            values.collect::<Vec<_>>().join(" | ")
        }
        (None, Some(items)) => format!("list of {}", type_of(items)),
        (None, None) => name.to_owned(),
    }
}
