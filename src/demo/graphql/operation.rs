//! An operation as it came in, made ready to run.

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Request, Variables};
use serde_json::{Map, Value};

use super::Answer;
use crate::demo::testing::SeenRequest;

/// One operation of a request.
pub(in crate::demo) struct Operation {
    /// The operation as tests see it.
    pub(in crate::demo) seen: SeenRequest,
    /// The request, as the engine runs it.
    pub(in crate::demo) request: Request,
}

impl Operation {
    /// Reads `query`, `variables` and `operationName`; what is no operation is
    /// answered at once.
    pub(in crate::demo) fn parse(body: &Value) -> Result<Self, Answer> {
        let query = body.get("query").and_then(Value::as_str);
        let query = query.ok_or_else(|| Answer::rejection("Must provide query string."))?;
        let name = body.get("operationName").and_then(Value::as_str);
        let variables = body.get("variables").and_then(Value::as_object);
        let mut variables = variables.cloned().unwrap_or_default();

        let mut document =
            parse_query(query).map_err(|error| Answer::rejection(&error.to_string()))?;
        let chosen = document
            .operations
            .iter()
            .find(|(key, _)| name.is_none() || key.map(Name::as_str) == name)
            .map(|(_, operation)| operation.node.clone());
        let operation = chosen.ok_or_else(|| Answer::rejection("Unknown operation."))?;
        let seen = SeenRequest::of_operation(&operation, &Value::Object(variables.clone()));
        let absent = complete(&operation, &mut variables)?;
        forget(&mut document, &absent);

        let variables = Variables::from_json(Value::Object(variables));
        let mut request = Request::new(query).variables(variables);
        if let Some(name) = name {
            request = request.operation_name(name);
        }
        request.set_parsed_query(document);
        Ok(Self { seen, request })
    }
}

/// Adds the defaults of variables, which the engine does not look up for the conditions of
/// `@include` and `@skip`; gives the names of those without one that may be left out and are.
fn complete(
    operation: &OperationDefinition,
    variables: &mut Map<String, Value>,
) -> Result<Vec<String>, Answer> {
    let mut absent = Vec::new();
    for definition in operation.variable_definitions.iter().map(|d| &d.node) {
        let name = definition.name.node.to_string();
        let wanted = &definition.var_type.node;
        if variables.contains_key(&name) {
            continue;
        }
        match &definition.default_value {
            Some(default) => {
                let default = default.node.clone().into_json();
                variables.extend(default.ok().map(|default| (name, default)));
            }
            None if wanted.nullable => absent.push(name),
            None => {
                return Err(Answer::rejection(&format!(
                    "Variable \"${name}\" of required type \"{wanted}\" was not provided."
                )));
            }
        }
    }
    Ok(absent)
}

/// Takes arguments out of the document whose variable was left out.
///
/// The engine would take them for null; for the wiki an argument that is left
/// out and one that is null are two things (W12).
fn forget(document: &mut ExecutableDocument, absent: &[String]) {
    use async_graphql::parser::types::DocumentOperations::{Multiple, Single};
    let operations: Vec<&mut OperationDefinition> = match &mut document.operations {
        Single(operation) => vec![&mut operation.node],
        Multiple(operations) => operations.values_mut().map(|o| &mut o.node).collect(),
    };
    for operation in operations {
        operation
            .variable_definitions
            .retain(|d| !absent.iter().any(|name| d.node.name.node == *name));
        forget_in(&mut operation.selection_set.node, absent);
    }
    for fragment in document.fragments.values_mut() {
        forget_in(&mut fragment.node.selection_set.node, absent);
    }
}

fn forget_in(selection: &mut SelectionSet, absent: &[String]) {
    for item in &mut selection.items {
        match &mut item.node {
            Selection::Field(field) => {
                // No other value is written with a dollar in front.
                field.node.arguments.retain(|(_, value)| {
                    let text = value.node.to_string();
                    let variable = text.strip_prefix('$');
                    variable.is_none_or(|used| !absent.iter().any(|name| used == name))
                });
                forget_in(&mut field.node.selection_set.node, absent);
            }
            Selection::InlineFragment(fragment) => {
                forget_in(&mut fragment.node.selection_set.node, absent);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}
