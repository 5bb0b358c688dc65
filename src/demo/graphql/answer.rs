//! The answer to an operation, in the form that the wiki sends.

use async_graphql::{PathSegment, Response, ServerError};
use serde_json::{Map, Value, json};

/// An answer and its HTTP status.
#[derive(Debug)]
pub(in crate::demo) struct Answer {
    /// The HTTP status.
    pub(in crate::demo) status: u16,
    /// The body.
    pub(in crate::demo) body: Value,
}

impl Answer {
    /// The answer to an operation that was not run.
    pub(super) fn rejection(message: &str) -> Self {
        let extensions = json!({"code": "GRAPHQL_VALIDATION_FAILED", "exception": {}});
        Self {
            status: 400,
            body: json!({"errors": [{"message": message, "extensions": extensions}]}),
        }
    }

    /// The answer for the engine's response to an operation.
    ///
    /// The engine leaves a field out whose value may not be null and yet is.
    /// The wiki, as the GraphQL specification says, makes null of what the
    /// field belongs to, and reports the first such field only.
    pub(in crate::demo) fn from_response(response: Response) -> Self {
        // What the wiki says has a code; the rest is the engine's own, about
        // an operation that the real server would not have begun.
        if let Some(error) = response.errors.iter().find(|e| e.extensions.is_none()) {
            return Self::rejection(&error.message);
        }
        let mut data = response.data.into_json().unwrap_or(Value::Null);
        let mut nulls = Vec::new();
        let errors: Vec<Value> = response
            .errors
            .iter()
            .filter(|error| propagate(&mut nulls, &mut data, &error.path))
            .map(entry)
            .collect();
        let mut body = Map::new();
        if !errors.is_empty() {
            body.insert("errors".to_owned(), Value::Array(errors));
        }
        body.insert("data".to_owned(), data);
        Self {
            status: 200,
            body: Value::Object(body),
        }
    }
}

/// Makes null of what the field at `path` belongs to, if the field is not there; `nulls` are the
/// paths that became null so. Answers whether the error is worth telling: it is not where an
/// earlier one made null of it all already.
fn propagate<'a>(
    nulls: &mut Vec<&'a [PathSegment]>,
    data: &mut Value,
    path: &'a [PathSegment],
) -> bool {
    let Some((field, parents)) = path.split_last() else {
        return true;
    };
    if nulls.iter().any(|null| parents.starts_with(null)) {
        return false;
    }
    let mut parent = data;
    for segment in parents {
        let Some(child) = child(parent, segment) else {
            return true;
        };
        parent = child;
    }
    if child(parent, field).is_none() {
        *parent = Value::Null;
        nulls.push(parents);
    }
    true
}

fn child<'v>(parent: &'v mut Value, segment: &PathSegment) -> Option<&'v mut Value> {
    match segment {
        PathSegment::Field(name) => parent.get_mut(name),
        PathSegment::Index(index) => parent.get_mut(index),
    }
}

fn entry(error: &ServerError) -> Value {
    let extensions = serde_json::to_value(&error.extensions).unwrap_or_default();
    json!({
        "message": error.message,
        "path": error.path,
        "extensions": extensions,
    })
}
