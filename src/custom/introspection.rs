//! A schema as the wiki tells it.

use serde::Deserialize;

use super::schema::{Of, SchemaMember, SchemaMembers, Type, about};
use crate::custom::Schema;

/// The query for a wiki's schema: names, types and descriptions, lists up to three deep.
pub const QUESTION: &str = "query CustomToolsSchema { __schema { queryType { name } mutationType { name } subscriptionType { name } types { kind name fields(includeDeprecated: true) { name description args { ...Input } type { ...Of } } inputFields { ...Input } enumValues(includeDeprecated: true) { name } } } } fragment Input on __InputValue { name description defaultValue type { ...Of } } fragment Of on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } }";

/// The data of an answer to [`QUESTION`].
#[derive(Debug, Deserialize)]
struct IntrospectionData {
    #[serde(rename = "__schema")]
    schema: IntrospectedSchema,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntrospectedSchema {
    query_type: Option<IntrospectedName>,
    mutation_type: Option<IntrospectedName>,
    subscription_type: Option<IntrospectedName>,
    types: Vec<ToldType>,
}

#[derive(Debug, Deserialize)]
struct IntrospectedName {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldType {
    kind: String,
    name: Option<String>,
    fields: Option<Vec<ToldMember>>,
    input_fields: Option<Vec<ToldMember>>,
    enum_values: Option<Vec<IntrospectedName>>,
}

/// A field, which has arguments; or an input, which may have a default.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldMember {
    name: String,
    description: Option<String>,
    #[serde(default)]
    args: Vec<ToldMember>,
    default_value: Option<String>,
    #[serde(rename = "type")]
    of: ToldOf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldOf {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<ToldOf>>,
}

/// The schema of an answer's data.
///
/// # Errors
/// A sentence without a subject.
pub fn of_answer(data: &str) -> Result<Schema, String> {
    let answer: IntrospectionData =
        serde_json::from_str(data).map_err(|_| "is none that GraphQL has".to_owned())?;
    let IntrospectedSchema {
        query_type,
        mutation_type,
        subscription_type,
        types,
    } = answer.schema;
    let writes = mutation_type.into_iter().chain(subscription_type);
    let mut parts = Schema {
        query: query_type.map(|it| it.name).unwrap_or_default(),
        writes: writes.map(|it| it.name).collect(),
        ..Schema::default()
    };
    for told in types {
        let Some(name) = told.name else {
            return Err("has a type without a name".to_owned());
        };
        // Those of introspection itself are never asked for.
        if name.starts_with("__") {
            continue;
        }
        let found = match told.kind.as_str() {
            "SCALAR" => Type::Scalar,
            "ENUM" => {
                let values = told.enum_values.unwrap_or_default().into_iter();
                Type::Enum(values.map(|value| value.name).collect())
            }
            "INPUT_OBJECT" => Type::Input(members(told.input_fields.unwrap_or_default())?),
            // A union has no fields of its own.
            "OBJECT" | "INTERFACE" | "UNION" => {
                Type::Fields(members(told.fields.unwrap_or_default())?)
            }
            _ => return Err("has a type of an unknown kind".to_owned()),
        };
        if parts.types.insert(name, found).is_some() {
            return Err("has two types of one name".to_owned());
        }
    }
    parts.checked()
}

fn members(told: Vec<ToldMember>) -> Result<SchemaMembers, String> {
    let member = |told: ToldMember| {
        let found = SchemaMember {
            of: type_from(&told.of)?,
            about: about(told.description.as_deref()),
            arguments: members(told.args)?,
            has_default: told.default_value.is_some(),
        };
        Ok((told.name, found))
    };
    // A name of introspection has no place in a type.
    let own = told.into_iter().filter(|it| !it.name.starts_with("__"));
    own.map(member).collect()
}

fn type_from(told: &ToldOf) -> Result<Of, String> {
    let inner = || match &told.of_type {
        Some(inner) => type_from(inner).map(Box::new),
        None => Err("has a type that is not told to its end".to_owned()),
    };
    match told.kind.as_str() {
        "NON_NULL" => inner().map(Of::Some),
        "LIST" => inner().map(Of::List),
        _ => (told.name.clone())
            .map(Of::Named)
            .ok_or_else(|| "has a type without a name".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::of_answer;

    fn told(types: &Value) -> Result<usize, String> {
        let data = json!({ "__schema": { "queryType": { "name": "Query" }, "types": types } });
        of_answer(&data.to_string()).map(|schema| schema.types.len())
    }

    #[expect(clippy::needless_pass_by_value, reason = "calls read better so")]
    fn type_from(kind: &str, name: &str, inner: Value) -> Value {
        let name = (!name.is_empty()).then_some(name);
        json!({ "kind": kind, "name": name, "ofType": inner })
    }

    #[test]
    fn what_the_wiki_tells_is_a_schema_or_is_refused() {
        let int = || type_from("SCALAR", "Int", Value::Null);
        let query =
            |field: Value| json!([{ "kind": "OBJECT", "name": "Query", "fields": [field] }]);
        let good = json!({ "name": "a", "args": [{ "name": "b", "type": type_from("LIST", "", int()) }], "type": int() });
        assert_eq!(told(&query(good)), Ok(6));
        let list = type_from("LIST", "", Value::Null);
        let gone = type_from("OBJECT", "Gone", Value::Null);
        let bad_name = type_from("OBJECT", "a b", Value::Null);
        for (types, fault) in [
            (json!([]), "has no type where queries begin"),
            (
                query(json!({ "name": "a", "type": list })),
                "has a type that is not told to its end",
            ),
            (
                query(json!({ "name": "a", "type": gone })),
                "names the type Gone",
            ),
            (
                query(json!({ "name": "a b", "type": int() })),
                "has a name that is none",
            ),
            (
                query(json!({ "name": "a", "type": bad_name })),
                "has a name that is none",
            ),
            (
                json!([{ "kind": "ODD", "name": "Query" }]),
                "has a type of an unknown kind",
            ),
            (
                json!([{ "kind": "SCALAR", "name": null }]),
                "has a type without a name",
            ),
            (
                json!([{ "kind": "SCALAR", "name": "A" }, { "kind": "SCALAR", "name": "A" }]),
                "has two types",
            ),
            (json!([{ "kind": "SCALAR" }, 1]), "is none that GraphQL has"),
        ] {
            let told = told(&types).expect_err(fault);
            assert!(told.starts_with(fault), "{told}");
        }
    }

    #[test]
    fn a_huge_a_deep_and_a_cyclic_answer_end() {
        let many: Vec<Value> = (0..4_000)
            .map(|n| json!({ "kind": "SCALAR", "name": format!("T{n}") }))
            .collect();
        assert!(told(&many.into()).expect_err("too many").contains("types"));
        let fields: Vec<Value> = (0..40_000)
            .map(|n| json!({ "name": format!("f{n}"), "type": type_from("OBJECT", "Query", Value::Null) }))
            .collect();
        let wide = json!([{ "kind": "OBJECT", "name": "Query", "fields": fields }]);
        assert!(told(&wide).expect_err("too many").contains("fields"));
        let mut deep = type_from("SCALAR", "Int", Value::Null);
        for _ in 0..20 {
            deep = type_from("LIST", "", deep);
        }
        let deep = json!([{ "kind": "OBJECT", "name": "Query", "fields": [{ "name": "a", "type": deep }] }]);
        assert!(told(&deep).is_err());
        let deeper = "{\"ofType\":".repeat(1 << 18);
        assert!(of_answer(&deeper).is_err());
        let cyclic = json!([{ "kind": "OBJECT", "name": "Query", "fields": [
            { "name": "self", "type": type_from("OBJECT", "Query", Value::Null) }] }]);
        assert_eq!(told(&cyclic), Ok(6));
    }
}
