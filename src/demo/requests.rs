//! Logs the wiki's requests, for tests that count them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// The most requests that are remembered.
pub(super) const MOST: usize = 10_000;

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
