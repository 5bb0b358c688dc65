//! `wikijs-gate tool list` and `tool show`: what the tools are, from their own definitions.

use serde_json::Map;

use super::examples;
use crate::cli::prelude::*;
use crate::tools::{Registry, ToolDefinition, ToolKind};

/// All tools, a line each.
///
/// `queries` are those that only the wiki's schema can tell.
pub(super) fn list(registry: &Registry, queries: &[String], is_json: bool) {
    if is_json {
        let tools: Vec<Value> = registry.definitions().map(as_json).collect();
        let more = (!queries.is_empty()).then(|| json!({ "needSchema": queries }));
        print::value(&extended(json!({ "tools": tools }), more));
        return;
    }
    let has_customs =
        !queries.is_empty() || registry.definitions().any(|tool| tool.custom.is_some());
    let mut table = Table::new(if has_customs {
        "tool | kind | title | from"
    } else {
        "tool | kind | title"
    });
    for tool in registry.definitions() {
        let mut row = vec![
            Cell::painted(tool.name, Paint::Bold),
            kind(tool).into(),
            tool.title.clone().into(),
        ];
        if has_customs {
            row.push(from(tool).as_str().into());
        }
        table.row(row);
    }
    for name in queries {
        let file = format!("{}.graphql", name.trim_start_matches("custom_"));
        table.row(vec![
            Cell::painted(name.as_str(), Paint::Bold),
            "read".into(),
            "held against the wiki's schema when served".into(),
            file.into(),
        ]);
    }
    table.print();
}

/// One tool.
pub(super) fn one(tool: &ToolDefinition, is_json: bool) {
    if is_json {
        print::value(&as_json(tool));
        return;
    }
    let name = print::painted(tool.name, Paint::Bold);
    say!("{name} ({})", kind(tool));
    print::line(&tool.description);
    if let Some(custom) = &tool.custom {
        say!("from {}", custom.file);
    }
    print::line("");
    let mut table = Table::new("argument | type | meaning");
    rows(&tool.input, "", &mut table);
    table.print();
    print::line("");
    say!(
        "wikijs-gate tool call {} --args '{}'",
        tool.name,
        example(tool)
    );
}

/// The origin of a tool.
fn from(tool: &ToolDefinition) -> String {
    match &tool.custom {
        None => "wikijs-gate".to_owned(),
        Some(custom) => match custom.calls {
            None => custom.file.clone(),
            Some(calls) => format!("{}, over {calls}", custom.file),
        },
    }
}

const fn kind(tool: &ToolDefinition) -> &'static str {
    match tool.kind {
        ToolKind::Read => "read",
        ToolKind::Aside => "aside",
        ToolKind::Add | ToolKind::Change => "write",
    }
}

fn as_json(tool: &ToolDefinition) -> Value {
    let told = json!({
        "name": tool.name,
        "title": tool.title,
        "kind": kind(tool),
        "description": tool.description,
        "inputSchema": tool.input,
        "outputSchema": tool.output,
        "example": serde_json::from_str::<Value>(&example(tool)).unwrap_or_default(),
    });
    let from = { tool.custom.as_ref() }.map(|custom| json!({ "from": custom.file }));
    extended(told, from)
}

/// An example of a tool's arguments; of an operator's own, those that are required.
fn example(tool: &ToolDefinition) -> String {
    if tool.custom.is_none() {
        return examples::example(tool.name).to_owned();
    }
    let required = tool.input.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let property = tool.input.get("properties")?.get(name)?;
        let first = property.get("enum").and_then(|words| words.get(0));
        Some(match property.get("type").and_then(Value::as_str) {
            _ if first.is_some() => first?.clone(),
            Some("integer" | "number") => property.get("minimum").cloned().unwrap_or(json!(1)),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            _ => json!("..."),
        })
    };
    let members = names.filter_map(|name| Some((name.to_owned(), value(name)?)));
    Value::Object(members.collect()).to_string()
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
