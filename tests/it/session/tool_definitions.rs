//! The ten tools as a client is told of them.

use wikijs_gate::tools::{Registry, ToolSelection, Toolset};

use crate::prelude::*;

/// What in an answer does not conform to a schema: names that it does not have, other types.
pub(crate) fn conforms(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if schema["type"] != kind {
        return vec![format!("{at} is of type {kind}, not {}", schema["type"])];
    }
    let mut faults = Vec::new();
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                faults.extend(conforms(&schema["items"], item, &format!("{at}[{index}]")));
            }
        }
        Value::Object(members) => {
            // An object without properties may hold anything, but never null.
            let Some(properties) = schema.get("properties") else {
                let nulls = members.iter().filter(|(_, value)| value.is_null());
                return nulls
                    .map(|(name, _)| format!("{at}.{name} is null"))
                    .collect();
            };
            for (name, member) in members {
                match properties.get(name) {
                    Some(property) => {
                        faults.extend(conforms(property, member, &format!("{at}.{name}")));
                    }
                    // What is said of an answer as a whole stands beside every schema.
                    None if name == "hint" && at.starts_with("wikijs_") && !at.contains('.') => {}
                    None => faults.push(format!("{at}.{name} is not in the schema")),
                }
            }
        }
        _ => {}
    }
    faults
}

async fn served() -> Served {
    of_toolsets("pages").await
}

async fn of_toolsets(toolsets: &str) -> Served {
    // Nothing is asked of a wiki to tell of the tools.
    let check = "[[checks]]\nname = \"words\"\nargv = [\"true\"]\n";
    let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x").with_tables(check);
    setup.toolsets(toolsets).serve().await
}

async fn tools() -> Vec<Value> {
    listed(&served().await).await
}

async fn listed(served: &Served) -> Vec<Value> {
    let listed = served.client.list_tools(None).await.unwrap();
    let listed = serde_json::to_value(listed).unwrap();
    listed["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn the_definitions_are_the_golden_ones() {
    let tools = tools().await;
    insta::with_settings!({
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_json_snapshot!("tools", tools);
    });
}

#[tokio::test]
async fn there_are_exactly_ten_tools_with_their_kinds() {
    let kinds: Vec<(String, Value)> = tools()
        .await
        .into_iter()
        .map(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            let told = |hint: &str| tool["annotations"][hint].as_bool().unwrap();
            let hints = [
                told("readOnlyHint"),
                told("destructiveHint"),
                told("idempotentHint"),
                told("openWorldHint"),
            ];
            (name, json!(hints))
        })
        .collect();
    let read = json!([true, false, true, true]);
    let add = json!([false, false, false, true]);
    let change = json!([false, true, true, true]);
    let wanted = [
        (SEARCH, &read),
        (LIST, &read),
        (BY_PATH, &read),
        (BY_ID, &read),
        (TREE, &read),
        (HISTORY, &read),
        (TAGS, &read),
        (CREATE, &add),
        (UPDATE, &change),
        (DELETE, &change),
    ];
    let wanted: Vec<(String, Value)> = wanted
        .into_iter()
        .map(|(name, hints)| (name.to_owned(), hints.clone()))
        .collect();
    assert_eq!(kinds, wanted);
}

#[tokio::test]
async fn the_tools_of_proposals_read_but_for_the_one_that_withdraws() {
    let tools = listed(&of_toolsets("proposals").await).await;
    assert_eq!(tools.len(), 3);
    for tool in tools {
        let reads = tool["name"] != WITHDRAW;
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
}

#[tokio::test]
async fn the_list_of_tools_stays_within_its_budget() {
    let served = served().await;
    let listed = served.client.list_tools(None).await.unwrap();
    let bytes = serde_json::to_vec(&listed).unwrap().len();
    // The design's budget with change sets.
    assert!(bytes <= 14_500, "tools/list has {bytes} bytes");
    assert_eq!(listed.next_cursor, None);
}

#[tokio::test]
async fn each_further_tool_and_all_together_stay_within_their_budgets() {
    let toolsets = "pages,undo,proposals,drafts,memory,delegate,comments,assets,checks,sites";
    let tools = listed(&of_toolsets(toolsets).await).await;
    let bytes = |tool: &Value| serde_json::to_vec(tool).unwrap().len();
    let all: usize = tools.iter().map(bytes).sum();
    assert!(all <= 38_500, "all toolsets have {all} bytes");
    for tool in tools.iter().skip(10) {
        let bytes = bytes(tool);
        // The types of the arguments of this one alone take more.
        let most = if tool["name"] == BULK { 1_850 } else { 1_200 };
        assert!(bytes <= most, "{} has {bytes} bytes", tool["name"]);
    }
}

/// Everything in a schema that some client or model refuses.
fn refused(schema: &Value, at: &str, is_input: bool) -> Vec<String> {
    let Some(members) = schema.as_object() else {
        return vec![format!("{at} is no object")];
    };
    let mut faults = Vec::new();
    let words = "anyOf oneOf allOf not $ref $defs definitions $schema title format nullable const \
        if patternProperties";
    for word in words.split(' ') {
        if members.contains_key(word) {
            faults.push(format!("{at} has {word}"));
        }
    }
    if members.get("default").is_some_and(Value::is_null) {
        faults.push(format!("{at} has a default of null"));
    }
    let kind = members.get("type").and_then(Value::as_str);
    match kind {
        Some("object") => {
            let closed = members.get("additionalProperties") == Some(&json!(false));
            if is_input && !closed {
                faults.push(format!("{at} is open"));
            }
            for (name, property) in members
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                faults.extend(refused(property, &format!("{at}.{name}"), is_input));
            }
            for name in members
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if schema["properties"].get(name.as_str().unwrap()).is_none() {
                    faults.push(format!("{at} requires {name}, which it does not have"));
                }
            }
        }
        Some("array") => match members.get("items") {
            Some(items) => faults.extend(refused(items, &format!("{at}[]"), is_input)),
            None => faults.push(format!("{at} has no items")),
        },
        Some("string" | "integer" | "boolean") => {
            let kinds = members.get("enum").and_then(Value::as_array);
            if kinds.is_some_and(|kinds| kinds.iter().any(|kind| !kind.is_string())) {
                faults.push(format!("{at} has an enum of something else than strings"));
            }
        }
        _ => faults.push(format!("{at} has the type {:?}", members.get("type"))),
    }
    faults
}

#[tokio::test]
async fn the_schemas_hold_nothing_that_a_client_or_model_refuses() {
    let registry = Registry::new(&ToolSelection::new(&Toolset::ALL)).unwrap();
    for tool in registry.definitions() {
        let name = tool.name;
        for (schema, is_input) in [(&tool.input, true), (&tool.output, false)] {
            let schema = Value::Object(schema.clone());
            assert_eq!(schema["type"], "object");
            let mut refused = refused(&schema, name, is_input);
            // Its keys are those of a page.
            refused.retain(|fault| fault != "wikijs_update_page.frontMatter is open");
            assert_eq!(refused, Vec::<String>::new());
        }
        for text in [&*tool.title, &tool.description] {
            assert!(text.len() > 5, "{name} {text}");
        }
        assert!(name.starts_with("wikijs_") && name.len() <= 64);
    }
}

#[tokio::test]
async fn the_arguments_are_those_of_the_design() {
    let told: Vec<String> = tools()
        .await
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            let required = schema.get("required").cloned().unwrap_or(json!([]));
            let names = schema["properties"].as_object().unwrap();
            let names: Vec<String> = names
                .keys()
                .map(|name| {
                    let is_required = required.as_array().unwrap().contains(&json!(name));
                    format!("{name}{}", if is_required { "!" } else { "" })
                })
                .collect();
            let tool = tool["name"].as_str().unwrap().trim_start_matches("wikijs_");
            format!("{tool}: {}", names.join(" "))
        })
        .collect();
    let expected = [
        "search_pages: query queries locale path limit context in match tags withoutTags updatedSince linksTo relatedTo",
        "list_pages: locale limit tags withoutTags path updatedSince lastAuthorId isPublished linksTo links property fields orderBy direction cursor",
        "get_page_by_path: path paths locale view section lines lineNumbers offset maxBytes version",
        "get_page_by_id: id ids view section lines lineNumbers offset maxBytes version",
        "get_page_tree: mode path locale depth",
        "get_page_history: id page since path offset limit compare detail",
        "list_tags: query orderBy",
        "create_page: confirm path folder title content fromPage section replaceAll outsideCode locale description editor tags isPublished isPrivate publishStartDate publishEndDate scriptCss scriptJs note detail propose",
        "update_page: confirm id page ifUpdatedAt path locale updateLinks title content edits replaceAll outsideCode frontMatter patch section sectionContent sectionMode fromVersion description tags addTags removeTags isPublished publishStartDate publishEndDate scriptCss scriptJs acceptLoss note detail propose",
        "delete_page: confirm id page ifUpdatedAt trash note detail propose",
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_checker_of_answers_sees_what_does_not_conform() {
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "integer" },
        "tags": { "type": "array", "items": { "type": "string" } },
    } });
    let good = json!({ "id": 1, "tags": ["a"] });
    assert_eq!(conforms(&schema, &good, "x"), Vec::<String>::new());
    let bad = json!({ "id": null, "tags": [1], "more": 1 });
    let expected = [
        "x.id is of type null, not \"integer\"",
        "x.tags[0] is of type integer, not \"string\"",
        "x.more is not in the schema",
    ];
    assert_eq!(conforms(&schema, &bad, "x"), expected);
}
