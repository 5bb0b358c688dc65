//! The variables of a query as arguments of a tool.

use graphql_parser::query::{Value as AstValue, VariableDefinition};
use serde_json::{Map, Value, json};

use super::schema::{Of, Type};
use super::sdl::type_reference;
use crate::custom::Schema;

/// The longest text that a variable takes, in characters.
const MOST_TEXT: u32 = 2_000;
/// The most items of a list.
const MOST_ITEMS: u32 = 100;
/// The most values of an enum that become words of a schema.
const MOST_WORDS: usize = 100;

/// The schema of the arguments for these variables.
pub(super) fn input(
    schema: &Schema,
    variables: &[VariableDefinition<'_, String>],
) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for variable in variables {
        let of = type_reference(&variable.var_type);
        let default = variable.default_value.as_ref().and_then(json_of);
        if matches!(of, Of::Some(_)) && default.is_none() {
            required.push(&variable.name);
        }
        let mut property = schema_of(schema, &of).unwrap_or_default();
        property.extend(default.map(|value| ("default".to_owned(), value)));
        properties.insert(variable.name.clone(), property.into());
    }
    schema_of_object(properties, &required)
}

/// The schema of an object with these members and no others.
pub(super) fn schema_of_object(
    properties: Map<String, Value>,
    required: &[&str],
) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The schema of a variable's values; `None` if it is no scalar, enum, or list of them.
pub(super) fn schema_of(schema: &Schema, of: &Of) -> Option<Map<String, Value>> {
    let property = match of {
        Of::Some(inner) => return schema_of(schema, inner),
        Of::List(inner) => {
            let is_flat = !matches!(&**inner, Of::List(_))
                && !matches!(&**inner, Of::Some(it) if matches!(**it, Of::List(_)));
            let items = schema_of(schema, inner).filter(|_| is_flat)?;
            json!({ "type": "array", "items": items, "maxItems": MOST_ITEMS })
        }
        Of::Named(name) => match (name.as_str(), schema.types.get(name)?) {
            ("Int", _) => json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }),
            ("Float", _) => json!({ "type": "number" }),
            ("Boolean", _) => json!({ "type": "boolean" }),
            (_, Type::Scalar) => json!({ "type": "string", "maxLength": MOST_TEXT }),
            (_, Type::Enum(words)) if words.len() <= MOST_WORDS => {
                json!({ "type": "string", "enum": words })
            }
            _ => return None,
        },
    };
    match property {
        Value::Object(property) => Some(property),
        _ => None,
    }
}

/// The JSON of a literal; `None` for what is no value of its own.
fn json_of(value: &AstValue<'_, String>) -> Option<Value> {
    Some(match value {
        AstValue::Int(number) => number.as_i64()?.into(),
        AstValue::Float(number) => json!(number),
        AstValue::String(text) | AstValue::Enum(text) => text.as_str().into(),
        AstValue::Boolean(is) => (*is).into(),
        AstValue::List(items) => {
            let items: Option<Vec<Value>> = items.iter().map(json_of).collect();
            items?.into()
        }
        AstValue::Null | AstValue::Variable(_) | AstValue::Object(_) => return None,
    })
}
