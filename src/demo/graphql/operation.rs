//! An operation as it came in, made ready to run.

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Request, Variables};
use serde_json::Value;

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
        let variables = body.get("variables").filter(|v| v.is_object()).cloned();
        let variables = variables.unwrap_or_else(|| serde_json::json!({}));

        let mut document =
            parse_query(query).map_err(|error| Answer::rejection(&error.to_string()))?;
        let chosen = document
            .operations
            .iter()
            .find(|(key, _)| name.is_none() || key.map(Name::as_str) == name)
            .map(|(_, operation)| operation.node.clone());
        let operation = chosen.ok_or_else(|| Answer::rejection("Unknown operation."))?;
        let absent = absent_variables(&operation, &variables)?;
        forget(&mut document, &absent);

        let seen = SeenRequest::of_operation(&operation, &variables);
        let all = with_defaults(&operation, variables);
        let mut request = Request::new(query).variables(Variables::from_json(all));
        if let Some(name) = name {
            request = request.operation_name(name);
        }
        request.set_parsed_query(document);
        Ok(Self { seen, request })
    }
}

/// The variables that may be left out and are.
fn absent_variables(
    operation: &OperationDefinition,
    variables: &Value,
) -> Result<Vec<String>, Answer> {
    let mut absent = Vec::new();
    for definition in operation.variable_definitions.iter().map(|d| &d.node) {
        let name = definition.name.node.as_str();
        if variables.get(name).is_some() || definition.default_value.is_some() {
            continue;
        }
        if !definition.var_type.node.nullable {
            let wanted = &definition.var_type.node;
            return Err(Answer::rejection(&format!(
                "Variable \"${name}\" of required type \"{wanted}\" was not provided."
            )));
        }
        absent.push(name.to_owned());
    }
    Ok(absent)
}

/// The variables with their defaults, which the engine does not look up for
/// the conditions of `@include` and `@skip`.
fn with_defaults(operation: &OperationDefinition, mut variables: Value) -> Value {
    if let Some(members) = variables.as_object_mut() {
        for definition in operation.variable_definitions.iter().map(|d| &d.node) {
            let default = definition.default_value.as_ref();
            if let Some(Ok(default)) = default.map(|value| value.node.clone().into_json()) {
                let name = definition.name.node.to_string();
                members.entry(name).or_insert(default);
            }
        }
    }
    variables
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
