use serde_json::{Map, Value, json};
use time::macros::date;

use super::Recipe;
use crate::words::separated;

const INCIDENT: &str = r#"
name = "custom_report_incident"
description = "Reports an incident: creates a page below incidents/."
tool = "wikijs_create_page"

[arguments.name]
type = "string"
description = "A short name, for the path."
max_length = 60

[arguments.severity]
type = "choice"
choices = ["low", "high"]
default = "low"

[arguments.text]
type = "string"
lines = true

[arguments.hours]
type = "integer"
max = 99
required = false

[values]
path = "incidents/{{year}}/{{date}}-{{name}}"
title = "Incident: {{name}}"
content = "Severity {{severity}}, {{hours}} h, {{date}}\n\n{{text}}\n"
tags = ["incident", "{{severity}}", "{{hours}}"]
isPublished = true
"#;

fn recipe() -> Recipe {
    Recipe::parse("incident.toml", INCIDENT).expect("a recipe")
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn expand(given: Value) -> Result<Value, Vec<(String, String)>> {
    let expanded = recipe().expand(map(given), date!(2026 - 03 - 04));
    expanded.map(Value::Object)
}

fn faults(text: &str) -> String {
    separated(Recipe::parse("r.toml", text).expect_err("faults"), "\n")
}

#[test]
fn a_recipe_becomes_a_call_of_its_tool() {
    let given = json!({ "name": "disk-full", "text": "a\n{{date}} {{name}} }}{{", "confirm": "t" });
    assert_eq!(
        expand(given),
        Ok(json!({
            "path": "incidents/2026/2026-03-04-disk-full",
            "title": "Incident: disk-full",
            "content": "Severity low,  h, 2026-03-04\n\na\n{{date}} {{name}} }}{{\n",
            "tags": ["incident", "low"],
            "isPublished": true,
            "confirm": "t",
        }))
    );
    let given = json!({ "name": "a", "text": "b", "severity": "high", "hours": 7 });
    assert_eq!(
        expand(given).map(|it| it["tags"].clone()),
        Ok(json!(["incident", "high", 7]))
    );
}

#[test]
fn no_argument_leads_out_of_the_recipe() {
    for name in [
        "..",
        "../x",
        "a/b",
        "/a",
        "de:x",
        "a b",
        "a\nb",
        "",
        "\u{bd}",
        &"a".repeat(1 << 20),
    ] {
        let told = expand(json!({ "name": name, "text": "x" })).expect_err("a fault");
        assert_eq!(told.len(), 1, "{name:?}");
        assert_eq!(told[0].0, "name");
    }
    for (argument, value) in [
        ("text", json!("a\u{0}b")),
        ("text", json!("x".repeat(20_001))),
        ("severity", json!("low\"")),
        ("hours", json!(100)),
        ("hours", json!(1.5)),
        ("text", json!(["x"])),
    ] {
        let mut given = map(json!({ "name": "a", "text": "x" }));
        given.insert(argument.to_owned(), value);
        let told = expand(given.into()).expect_err("a fault");
        assert_eq!(told[0].0, argument);
    }
    let told = expand(json!({})).expect_err("faults");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_slash_is_taken_only_where_said() {
    let with = INCIDENT.replace("max_length = 60", "max_length = 60\nslash = true");
    let recipe = Recipe::parse("r.toml", &with).expect("a recipe");
    let expand = |name: &str| {
        let given = map(json!({ "name": name, "text": "x" }));
        recipe
            .expand(given, date!(2026 - 03 - 04))
            .map(|it| it["path"].clone())
    };
    assert_eq!(expand("a/b"), Ok(json!("incidents/2026/2026-03-04-a/b")));
    assert!(expand("a/../../b").is_err() && expand("a//b").is_err());
}

#[test]
fn its_schema_says_types_bounds_and_defaults() {
    let schema = recipe().schema(true);
    let expected = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 60, "description": "A short name, for the path." },
            "severity": { "type": "string", "enum": ["low", "high"], "default": "low" },
            "text": { "type": "string", "minLength": 1, "maxLength": 20000 },
            "hours": { "type": "integer", "minimum": 0, "maximum": 99 },
            "confirm": { "type": "string", "description": "From the preview, or the operator's token." },
        },
        "required": ["name", "text"],
        "additionalProperties": false,
    });
    assert_eq!(Value::Object(schema), expected);
}

#[test]
fn every_fault_has_its_place() {
    insta::assert_snapshot!(faults("name = \"x\"\ntool = 7\ntools = 1\n[arguments.date]\ntype = \"text\"\nlenght = 3\n[values]\npath = \"{{section}}/{{a b}}\"\nconfirm = \"x\"\n"), @r#"
    r.toml:1:1: description is missing: it must be a text in quotes
    r.toml:2:8: tool must be a text in quotes
    r.toml:1:8: name is "x"; it must be custom_ and a small letter, then small letters, digits and _, up to 64 characters
    r.toml:4:1: "date" cannot be an argument's name: letters, digits and _, and none of confirm, date, year, month, day
    r.toml:4:1: arguments.date.type must be string, integer, boolean or choice
    r.toml:6:1: arguments.date.lenght is not known here; there are type, description, required, default
    r.toml:8:8: values.path has {{a b}}, which is no name
    r.toml:9:11: values.confirm cannot be set: the caller confirms
    r.toml:7:1: the argument date is used in no value
    r.toml:3:1: tools is not known here; there are name, description, tool, title, arguments, values
    "#);
    insta::assert_snapshot!(faults("name = \"x\n"), @r#"r.toml:1:10: invalid basic string, expected `"`"#);
    insta::assert_snapshot!(faults("name = \"custom_x\"\ndescription = \"d\"\ntool = \"t\"\n[arguments]\na = { type = \"string\" }\nb = { type = \"string\", required = false }\nc = { type = \"choice\", choices = [\"a b\"] }\nd = { type = \"integer\", default = -1 }\n[values]\npath = \"{{a}}/{{b}}/{{c}}\"\ntitle = \"{{e}}\"\n"), @r#"
    r.toml:8:5: arguments.d.default must be a whole number from 0 to 2147483647
    r.toml:10:8: values.path has {{b}} in a path, so it needs a default or is required
    r.toml:10:8: values.path has {{c}}, whose value "a b" becomes a part of a path: it must have 1 to 200 letters, digits, - or _, with single slashes between segments
    r.toml:10:8: values.path must begin with a folder that callers do not choose, such as `incidents/`
    r.toml:11:9: values.title has {{e}}, which is no argument
    r.toml:9:1: the argument d is used in no value
    "#);
}

/// A recipe whose path is this template.
fn at(path: &str) -> Result<Recipe, String> {
    let text = INCIDENT.replace("incidents/{{year}}/{{date}}-{{name}}", path);
    let with = text.replace("max_length = 60", "max_length = 60\nslash = true");
    Recipe::parse("r.toml", &with).map_err(|faults| separated(faults, "\n"))
}

#[test]
fn a_template_that_leaves_its_first_folder_is_refused_when_it_is_read() {
    for bad in [
        "inc/../{{name}}",
        "./{{name}}",
        "inc/{{name}}/../../x",
        "inc//{{name}}",
        "//inc/{{name}}",
        "inc/%2e%2e/{{name}}",
        "inc/\u{ff0e}\u{ff0e}/{{name}}",
        "inc\u{2215}..\u{2215}x/{{name}}",
        "inc/{{name}}.",
        "inc/.{{name}}./x",
        "en/{{name}}",
        "de:/{{name}}",
        "inc/{{name}}/",
    ] {
        let told = at(bad).expect_err(bad);
        assert!(
            told.contains("values.path could lead out of its first folder"),
            "{bad}: {told}"
        );
    }
    for good in [
        "inc/{{name}}",
        "/inc/{{year}}/{{name}}",
        "de:inc/{{name}}",
        "inc/{{name}}.png",
    ] {
        assert!(at(good).is_ok(), "{good}: {:?}", at(good));
    }
}

#[test]
fn a_file_below_a_folder_is_a_path_and_a_name_alone_is_none() {
    let file = |file: &str| {
        let text = INCIDENT.replace(
            "title = \"Incident: {{name}}\"",
            &format!("file = \"{file}\""),
        );
        Recipe::parse("r.toml", &text).expect("a recipe")
    };
    let expand = |recipe: &Recipe, name: &str| {
        let given = map(json!({ "name": name, "text": "x" }));
        recipe.expand(given, date!(2026 - 03 - 04))
    };
    assert!(expand(&file("reports/{{text}}"), "a").is_ok());
    let climbing = map(json!({ "name": "a", "text": "../secret" }));
    let told = file("reports/{{text}}").expand(climbing.clone(), date!(2026 - 03 - 04));
    assert_eq!(told.expect_err("a fault")[0].0, "text");
    assert!(
        file("{{text}}")
            .expand(climbing, date!(2026 - 03 - 04))
            .is_ok()
    );
}

proptest::proptest! {
    #[test]
    fn no_call_leaves_the_first_folder(
        path in "inc/(\\{\\{name\\}\\}|/|\\.|\\.\\.|%2e|[a-z]|\u{ff0e}|\u{2215}|\u{2025}){0,8}",
        name in "([a-z0-9]|/|\\.\\.|%2f|\u{ff0f}|\u{2024}|-){1,6}",
    ) {
        let Ok(recipe) = at(&path) else { return Ok(()) };
        let given = map(json!({ "name": name, "text": "x" }));
        if let Ok(call) = recipe.expand(given, date!(2026 - 03 - 04)) {
            let told = call["path"].as_str().unwrap_or_default();
            // A path without a value of the caller's is the operator's own.
            if path.contains("{{name}}") {
                let segments: Vec<&str> = told.split('/').collect();
                proptest::prop_assert_eq!(segments[0], "inc");
                let is_plain = |segment: &&str| {
                    !segment.is_empty() && !segment.ends_with('.') && !segment.contains("..")
                };
                proptest::prop_assert!(segments.iter().all(is_plain), "{}", told);
                let has_odd = told.contains(['%', '\\', '\u{ff0e}', '\u{2215}', '\u{2025}']);
                proptest::prop_assert!(!has_odd, "{}", told);
            }
        }
    }
}
