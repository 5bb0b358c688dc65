//! Delegates: clients that another one makes for a task, and that may do no more than it.

use std::fmt::Debug;

use secrecy::SecretString;
use serde::Serialize;

use super::context::WriteContext;
use crate::audit::Client;
use crate::error::{Code, Failure, Result};

/// A delegate as its maker wants it.
#[derive(Debug, Clone)]
pub struct DelegateSpec {
    /// Its task, in its maker's words.
    pub task: String,
    /// The only prefixes below which it reads and writes.
    pub prefixes: Option<Vec<String>>,
    /// The only tools that it is offered.
    pub tools: Option<Vec<String>>,
    /// The most changes that it may make or propose; without any it reads.
    pub writes: u32,
    /// True if its changes are sent as its maker's are; otherwise they are left open, as in a dry
    /// run.
    pub sends: bool,
    /// After how many minutes it ends.
    pub minutes: u32,
}

/// A delegate that was made.
#[derive(Debug)]
pub struct Delegated {
    /// Its name, after that of its maker.
    pub name: String,
    /// Its token, which is shown this once and kept nowhere.
    pub token: SecretString,
    /// The address that takes it, if not that of the call.
    pub server: Option<String>,
    /// The time of its end, in RFC 3339.
    pub expires: String,
    /// The tools that it is offered now.
    pub tools: Vec<String>,
    /// The prefixes below which it reads and writes; everywhere if none.
    pub prefixes: Option<Vec<String>>,
}

/// A delegate that its maker ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedDelegate {
    /// Its name.
    pub delegate: String,
    /// The number of changes that it made or proposed.
    pub writes_used: u32,
    /// The number of its memories that became its maker's.
    pub memories: u32,
}

/// A delegate, as its maker may know it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// Its name.
    pub delegate: String,
    /// Its task.
    pub task: String,
    /// The time of its end.
    pub expires_at: String,
    /// The number of changes that it made or proposed.
    pub writes_used: u32,
    /// The most of them.
    pub writes: u32,
}

/// The family of a client: what it hands on, and what holds for it as a delegate.
#[async_trait::async_trait]
pub trait Family: Debug + Send + Sync {
    /// True if the client is itself a delegate.
    fn is_delegate(&self) -> bool;

    /// The number of changes that a delegate may make still; `None` for others.
    async fn left(&self) -> Option<u32>;

    /// The delegates of the client that last.
    async fn children(&self) -> Vec<Child>;

    /// Takes so many of a delegate's changes, and only if it and its maker may still write. To be
    /// asked right before something is sent or left open. Others take none, and have to be known still.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    async fn take(&self, changes: usize) -> Result<()>;

    /// Makes a delegate for a call of this client; on record.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`, `INVALID_INPUT`, `AUDIT_UNAVAILABLE`.
    async fn delegate(
        &self,
        client: &Client,
        desk: &WriteContext,
        wanted: DelegateSpec,
    ) -> Result<Delegated>;

    /// Ends a delegate of this client, by its name; on record.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is none; `DELEGATION_DENIED`.
    async fn end(&self, desk: &WriteContext, delegate: &str) -> Result<EndedDelegate>;
}

/// A refusal, with a word for its reason.
pub fn denied(message: &str, reason: &str) -> Failure {
    Failure::new(Code::DelegationDenied, message).detail("reason", reason)
}
