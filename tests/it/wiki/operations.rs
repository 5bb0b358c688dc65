//! The operations and the part of the schema that they use.

use graphql_parser::query::{Definition, OperationDefinition, Selection, SelectionSet};
use graphql_parser::schema::{Definition as Defined, Document, Field, Type, TypeDefinition};

use crate::prelude::*;

/// All files of operations by name.
fn files() -> BTreeMap<String, String> {
    fs::read_dir(root().join("graphql"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn schema_text() -> String {
    fs::read_to_string(root().join("schema.graphql")).unwrap()
}

fn named<'a>(kind: &'a Type<'a, String>) -> &'a str {
    match kind {
        Type::NamedType(name) => name,
        Type::ListType(inner) | Type::NonNullType(inner) => named(inner),
    }
}

/// What of a schema operations use: types, `Type.field`, `Type.field(argument)`.
#[derive(Default)]
struct Used {
    names: BTreeSet<String>,
    missing: Vec<String>,
}

struct Schema<'a> {
    fields: BTreeMap<&'a str, &'a [Field<'a, String>]>,
    all: BTreeSet<String>,
}

impl<'a> Schema<'a> {
    fn of(document: &'a Document<'a, String>) -> Self {
        let mut fields = BTreeMap::new();
        let mut all = BTreeSet::new();
        for definition in &document.definitions {
            let Defined::TypeDefinition(definition) = definition else {
                continue;
            };
            match definition {
                TypeDefinition::Object(object) => {
                    all.insert(object.name.clone());
                    for field in &object.fields {
                        all.insert(format!("{}.{}", object.name, field.name));
                        for argument in &field.arguments {
                            let place = format!("{}.{}", object.name, field.name);
                            all.insert(format!("{place}({})", argument.name));
                        }
                    }
                    fields.insert(object.name.as_str(), &object.fields[..]);
                }
                TypeDefinition::Scalar(scalar) => {
                    all.insert(scalar.name.clone());
                }
                TypeDefinition::Enum(kinds) => {
                    all.insert(kinds.name.clone());
                }
                other => panic!("a definition that is not looked at: {other}"),
            }
        }
        Self { fields, all }
    }

    fn walk(&self, kind: &str, selected: &SelectionSet<'_, String>, used: &mut Used) {
        used.names.insert(kind.to_owned());
        for item in &selected.items {
            let Selection::Field(item) = item else {
                panic!("a fragment");
            };
            let place = format!("{kind}.{}", item.name);
            let fields = self.fields.get(kind).copied().unwrap_or_default();
            let Some(field) = fields.iter().find(|field| field.name == item.name) else {
                used.missing.push(place);
                continue;
            };
            for (name, _) in &item.arguments {
                match field
                    .arguments
                    .iter()
                    .find(|argument| argument.name == *name)
                {
                    Some(argument) => {
                        used.names.insert(named(&argument.value_type).to_owned());
                        used.names.insert(format!("{place}({name})"));
                    }
                    None => used.missing.push(format!("{place}({name})")),
                }
            }
            used.names.insert(place);
            let below = named(&field.field_type);
            used.names.insert(below.to_owned());
            if self.fields.contains_key(below) {
                assert!(!item.selection_set.items.is_empty());
                self.walk(below, &item.selection_set, used);
            }
        }
    }
}

#[test]
fn the_schema_is_just_what_the_operations_use() {
    let text = schema_text();
    let document = graphql_parser::parse_schema::<String>(&text).unwrap();
    let schema = Schema::of(&document);
    let mut used = Used::default();
    for (name, text) in &files() {
        let operations = graphql_parser::parse_query::<String>(text)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for definition in &operations.definitions {
            match definition {
                Definition::Operation(OperationDefinition::Query(query)) => {
                    schema.walk("Query", &query.selection_set, &mut used);
                }
                Definition::Operation(OperationDefinition::Mutation(mutation)) => {
                    schema.walk("Mutation", &mutation.selection_set, &mut used);
                }
                other => panic!("{name}: {other}"),
            }
        }
    }
    assert_eq!(used.missing, Vec::<String>::new(), "used and not there");
    let unused: Vec<&String> = schema.all.difference(&used.names).collect();
    assert_eq!(unused, Vec::<&String>::new(), "there and not used");
    let builtin = ["Int", "String", "Boolean"].map(str::to_owned).into();
    let unknown: BTreeSet<String> = &(&used.names - &schema.all) - &builtin;
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn a_file_holds_one_operation_and_is_named_like_it() {
    for (name, text) in &files() {
        let operations = graphql_parser::parse_query::<String>(text).unwrap();
        let [Definition::Operation(operation)] = &operations.definitions[..] else {
            panic!("{name} does not hold one operation");
        };
        let operation = match operation {
            OperationDefinition::Query(query) => query.name.clone(),
            OperationDefinition::Mutation(mutation) => mutation.name.clone(),
            _ => None,
        };
        let snake: String = operation
            .unwrap()
            .chars()
            .flat_map(|c| {
                let is_upper = c.is_ascii_uppercase();
                is_upper
                    .then_some('_')
                    .into_iter()
                    .chain([c.to_ascii_lowercase()])
            })
            .collect();
        assert_eq!(*name, format!("{}.graphql", snake.trim_start_matches('_')));
    }
}

#[test]
fn no_file_of_an_operation_is_unused() {
    let source = fs::read_to_string(root().join("src/wiki/operations/generated.rs")).unwrap();
    for name in files().keys() {
        let count = source.matches(&format!("\"../graphql/{name}\"")).count();
        assert_eq!(count, 1, "{name}");
    }
    assert_eq!(source.matches("\"../graphql/").count(), files().len());
}

#[tokio::test]
async fn variables_that_are_not_set_are_left_out_of_requests() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let id = id_of(&wiki, "docs/configuration");
    for key in [&keys.readonly, &keys.scripter] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for (tool, arguments) in [
            (SEARCH, json!({ "query": "a" })),
            (LIST, json!({})),
            (LIST, json!({ "tags": [] })),
            (BY_PATH, json!({ "path": "docs" })),
            (BY_ID, json!({ "id": id })),
            (TREE, json!({ "depth": 2 })),
            (HISTORY, json!({ "id": id })),
            (TAGS, json!({})),
        ] {
            served.call(tool, arguments).await.unwrap();
        }
        if key == &keys.scripter {
            confirmed_ok(&served, CREATE, new_page("new/page")).await;
            let update = json!({ "id": id, "title": "Settings" });
            served.confirmed(UPDATE, update).await.unwrap();
            let update = json!({ "id": id, "path": "docs/settings" });
            served.confirmed(UPDATE, update).await.unwrap();
            served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
        }
    }
    let requests = wiki.requests();
    let mutations = requests
        .iter()
        .filter(|seen| seen.kind == OperationKind::Mutation);
    assert!(mutations.count() >= 4);
    for request in &requests {
        if let Value::Object(variables) = &request.variables {
            for (name, value) in variables {
                assert!(!value.is_null(), "{:?}: {name} is null", request.fields);
            }
        }
    }
    let variables = |field: &str| {
        let seen = requests
            .iter()
            .find(|seen| seen.fields.iter().any(|f| f == field));
        let variables = seen.unwrap().variables.as_object().unwrap();
        variables.keys().cloned().collect::<Vec<String>>()
    };
    assert_eq!(variables("pages.search"), ["query", "locale"]);
    let expected = ["limit", "orderBy", "orderByDirection", "locale"];
    assert_eq!(variables("pages.list"), expected);
    assert_eq!(variables("pages.tree"), ["path", "mode", "locale"]);
    // An update of the title alone sends no path, which could move the page (W14).
    let update = variables("pages.update");
    assert!(!update.contains(&"path".to_owned()) && !update.contains(&"locale".to_owned()));
}
