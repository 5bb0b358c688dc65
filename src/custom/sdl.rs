//! Reads a schema as a file says it.

use std::fmt::Display;
use std::panic::catch_unwind;

use graphql_parser::query as ast;
use graphql_parser::schema::{
    Definition, Document, EnumType, Field as AstField, InputValue, InterfaceType, ObjectType,
    TypeDefinition, TypeExtension, parse_schema,
};

use super::nesting::is_too_deep;
use super::schema::{Of, SchemaMember, SchemaMembers, Type, about};
use crate::custom::{LineColumn, Schema, ToolFileFault};
use crate::words::separated;

type SdlText = String;

/// Reads a schema.
///
/// # Errors
/// What is wrong with the file.
pub fn parse(file: &str, text: &str) -> Result<Schema, ToolFileFault> {
    let document = read(file, text, "GraphQL", parse_schema::<SdlText>)?;
    let schema = parts(document).checked();
    schema.map_err(|fault| ToolFileFault::new(file, format!("the schema {fault}")))
}

/// Reads a text of `what` by this function of the crate, which has asserts that an odd text could meet.
pub(super) fn read<'a, T, E: Display>(
    file: &str,
    text: &'a str,
    what: &str,
    parse: fn(&'a str) -> Result<T, E>,
) -> Result<T, ToolFileFault> {
    if is_too_deep(text) {
        let fault = format!("is nested too deep to be {what}");
        return Err(ToolFileFault::new(file, fault));
    }
    match catch_unwind(|| parse(text).map_err(|error| error.to_string())) {
        Ok(Ok(document)) => Ok(document),
        Ok(Err(error)) => Err(syntax(file, &error)),
        Err(_) => Err(ToolFileFault::new(file, "cannot be read as GraphQL")),
    }
}

/// A fault of the syntax, from the crate's own lines: where, what, and what was expected.
fn syntax(file: &str, error: &str) -> ToolFileFault {
    let (_, told) = error.split_once("Parse error at ").unwrap_or(("", error));
    let mut lines = told.lines();
    let first = lines.next().unwrap_or_default();
    let place = first.split_once(':').and_then(|(line, column)| {
        Some(LineColumn {
            line: line.trim().parse().ok()?,
            column: column.trim().parse().ok()?,
        })
    });
    let rest = lines.map(str::trim).filter(|line| !line.is_empty());
    let said = if place.is_some() {
        separated(rest, "; ")
    } else {
        told.trim().replace('\n', "; ")
    };
    let said: String = said.chars().take(300).collect();
    let mut fault = ToolFileFault::new(file, format!("is no GraphQL: {said}"));
    fault.at = place;
    fault
}

fn parts(document: Document<'_, SdlText>) -> Schema {
    let mut parts = Schema {
        query: "Query".to_owned(),
        writes: ["Mutation", "Subscription"].map(str::to_owned).into(),
        ..Schema::default()
    };
    // The wiki's own files, joined into one, extend `Query` before they define it.
    let is_extension = |one: &Definition<'_, SdlText>| matches!(one, Definition::TypeExtension(_));
    let mut definitions = document.definitions;
    definitions.sort_by_key(is_extension);
    for definition in definitions {
        match definition {
            Definition::SchemaDefinition(schema) => {
                parts.query = schema.query.unwrap_or(parts.query);
                let writes = schema.mutation.into_iter().chain(schema.subscription);
                parts.writes.extend(writes);
            }
            Definition::TypeDefinition(found) => {
                let (name, found) = type_of(found);
                parts.types.insert(name, found);
            }
            Definition::TypeExtension(TypeExtension::Object(more)) => {
                if let Some(Type::Fields(fields)) = parts.types.get_mut(&more.name) {
                    fields.extend(more.fields.into_iter().map(field));
                }
            }
            Definition::TypeExtension(_) | Definition::DirectiveDefinition(_) => {}
        }
    }
    parts
}

fn type_of(definition: TypeDefinition<'_, SdlText>) -> (String, Type) {
    match definition {
        TypeDefinition::Scalar(found) => (found.name, Type::Scalar),
        TypeDefinition::Object(ObjectType { name, fields, .. })
        | TypeDefinition::Interface(InterfaceType { name, fields, .. }) => {
            (name, Type::Fields(fields.into_iter().map(field).collect()))
        }
        TypeDefinition::Union(found) => (found.name, Type::Fields(SchemaMembers::new())),
        TypeDefinition::Enum(EnumType { name, values, .. }) => {
            let values = values.into_iter().map(|value| value.name).collect();
            (name, Type::Enum(values))
        }
        TypeDefinition::InputObject(found) => {
            let fields = found.fields.into_iter().map(input).collect();
            (found.name, Type::Input(fields))
        }
    }
}

fn field(found: AstField<'_, SdlText>) -> (String, SchemaMember) {
    let field = SchemaMember {
        of: type_reference(&found.field_type),
        about: about(found.description.as_deref()),
        arguments: found.arguments.into_iter().map(input).collect(),
        has_default: false,
    };
    (found.name, field)
}

fn input(found: InputValue<'_, SdlText>) -> (String, SchemaMember) {
    let input = SchemaMember {
        of: type_reference(&found.value_type),
        about: about(found.description.as_deref()),
        arguments: SchemaMembers::new(),
        has_default: found.default_value.is_some(),
    };
    (found.name, input)
}

/// The type of a value.
pub(super) fn type_reference(found: &ast::Type<'_, SdlText>) -> Of {
    match found {
        ast::Type::NamedType(name) => Of::Named(name.clone()),
        ast::Type::ListType(inner) => Of::List(Box::new(type_reference(inner))),
        ast::Type::NonNullType(inner) => Of::Some(Box::new(type_reference(inner))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Type, parse};

    #[test]
    fn a_type_may_be_extended_before_it_is_defined() {
        let text =
            "extend type Query { b: Int } type Query { a: Int } extend type Query { c: Int }";
        let schema = parse("schema.graphql", text).unwrap();
        let query = schema.types.get("Query");
        assert!(matches!(query, Some(Type::Fields(fields)) if fields.len() == 3));
    }

    #[test]
    fn a_schema_is_read_or_its_fault_told_with_its_place() {
        let told = |text: &str| match parse("schema.graphql", text) {
            Ok(schema) => format!("{} types", schema.types.len()),
            Err(fault) => fault.to_string(),
        };
        assert_eq!(told("type Query { a(b: [Int!]! = []): String }"), "6 types");
        insta::assert_snapshot!(told("type Query {\n  a: }"), @"schema.graphql:2:6: is no GraphQL: Unexpected `}[Punctuator]`; Expected Name or [");
        insta::assert_snapshot!(told("type Query { a: Gone }"), @"schema.graphql: the schema names the type Gone, which it does not have");
        insta::assert_snapshot!(told("type Other { a: Int }"), @"schema.graphql: the schema has no type where queries begin");
        insta::assert_snapshot!(told("schema { query: Root } type Query { a: Int }"), @"schema.graphql: the schema has no type where queries begin");
        insta::assert_snapshot!(told(""), @"schema.graphql:1:1: is no GraphQL: Unexpected end of input; Expected schema, extend, scalar, type, interface, union, enum, input or directive");
        insta::assert_snapshot!(told(&format!("type Query {{ a: {}Int{} }}", "[".repeat(20), "]".repeat(20))), @"schema.graphql: the schema has lists deeper than 8");
        insta::assert_snapshot!(told(&format!("type Query {{ a: {}Int", "[".repeat(100_000))), @"schema.graphql: is nested too deep to be GraphQL");
    }
}
