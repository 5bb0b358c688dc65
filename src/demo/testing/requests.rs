//! Logs the wiki's requests, for tests that count them.

use std::collections::{BTreeMap, VecDeque};

use async_graphql::parser::types::{OperationDefinition, OperationType, Selection, SelectionSet};
use axum::http::{HeaderMap, header};
use serde_json::{Value, json};

/// The most requests that are remembered.
const MOST: usize = 10_000;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// It reads.
    Query,
    /// It writes.
    Mutation,
}

/// One GraphQL operation that the wiki was sent. The operations of an array
/// are one each.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRequest {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The fields asked for, two levels deep, such as `pages.update`, in the
    /// order of the text and by their own names, not by aliases.
    pub fields: Vec<String>,
    /// Its variables.
    pub variables: Value,
    /// Its headers by name in lower case, without the key.
    pub headers: BTreeMap<String, String>,
}

impl SeenRequest {
    /// An operation with its variables, as they were sent.
    pub(in crate::demo) fn of_operation(
        operation: &OperationDefinition,
        variables: &Value,
    ) -> Self {
        Self {
            kind: match operation.ty {
                OperationType::Mutation => OperationKind::Mutation,
                OperationType::Query | OperationType::Subscription => OperationKind::Query,
            },
            fields: fields(&operation.selection_set.node),
            variables: variables.clone(),
            headers: BTreeMap::new(),
        }
    }

    /// An upload.
    pub(in crate::demo) fn of_upload(folder: i64, name: &str) -> Self {
        Self {
            kind: OperationKind::Mutation,
            fields: vec!["u".to_owned()],
            variables: json!({ "folder": folder, "name": name }),
            headers: BTreeMap::new(),
        }
    }

    /// With the headers that can be read, without the key.
    pub(super) fn with_headers(mut self, headers: &HeaderMap) -> Self {
        self.headers = headers
            .iter()
            .filter(|(name, _)| *name != header::AUTHORIZATION)
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect();
        self
    }

    /// The number of fields that read the content of a page.
    pub(super) fn content_reads(&self) -> usize {
        let is_content = |field: &&String| {
            let field = field.as_str();
            matches!(field, "pages.single" | "pages.conflictLatest")
        };
        self.fields.iter().filter(is_content).count()
    }
}

/// `pages.update` and the like.
fn fields(selection: &SelectionSet) -> Vec<String> {
    let mut found = Vec::new();
    for outer in &selection.items {
        let Selection::Field(outer) = &outer.node else {
            continue;
        };
        for inner in &outer.node.selection_set.node.items {
            if let Selection::Field(inner) = &inner.node {
                found.push(format!("{}.{}", outer.node.name.node, inner.node.name.node));
            }
        }
    }
    found
}

/// The latest requests.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    seen: VecDeque<SeenRequest>,
}

impl RequestLog {
    pub(super) fn push(&mut self, request: SeenRequest) {
        if self.seen.len() == MOST {
            self.seen.pop_front();
        }
        self.seen.push_back(request);
    }

    pub(super) fn all(&self) -> Vec<SeenRequest> {
        self.seen.iter().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
    }
}
