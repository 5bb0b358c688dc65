//! Delegates: clients that a named client makes for a task, and that may do no more than it.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::super::context::WriteContext;
use super::handover::Handover;
use super::report::DelegateReport;
use crate::audit::{Client, ClientId};
use crate::error::{Code, Failure};

/// The purpose of a delegate: a preset of its rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DelegateKind {
    /// It reads.
    Researcher,
    /// It reads, and reads histories.
    Analyst,
    /// It has its maker's tools, and proposes.
    Writer,
    /// It has the tools that are named.
    Custom,
}

impl DelegateKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Researcher => "researcher",
            Self::Analyst => "analyst",
            Self::Writer => "writer",
            Self::Custom => "custom",
        }
    }
}

/// The handling of a delegate's writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelegateWrites {
    /// They are left open, as in a dry run.
    LeftOpen,
    /// They are sent as its maker's are.
    Sent,
}

/// A delegate as its maker wants it.
#[derive(Debug, Clone)]
pub struct DelegateSpec {
    /// Its task, in its maker's words.
    pub task: String,
    /// Its purpose.
    pub kind: DelegateKind,
    /// The only prefixes below which it reads and writes.
    pub prefixes: Option<Vec<String>>,
    /// The only tools that it is offered.
    pub tools: Option<Vec<String>>,
    /// The most changes that it may make or propose.
    pub writes: u32,
    /// The handling of its changes.
    pub sets: DelegateWrites,
    /// After how many minutes it ends.
    pub minutes: u32,
}

/// A delegate that was made.
#[derive(Debug)]
pub struct Delegated {
    /// Its id.
    pub id: ClientId,
    /// Its name, after that of its maker.
    pub name: String,
    /// Its token, which is shown this once and kept nowhere.
    pub token: SecretString,
    /// The time of its end, in RFC 3339.
    pub expires: String,
    /// The tools that it is offered now.
    pub tools: Vec<String>,
    /// The prefixes below which it writes; everywhere if none.
    pub prefixes: Option<Vec<String>>,
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

/// The family of a named client: what it hands on, and what holds for it as a delegate.
pub trait Family: Debug + Send + Sync {
    /// True if the client is itself a delegate.
    fn is_delegate(&self) -> bool;

    /// The number of changes that a delegate may make still; `None` for others.
    fn left(&self) -> Option<u32>;

    /// The delegates of the client that last.
    fn children(&self) -> Vec<Child>;

    /// Takes so many of a delegate's changes, and only if it and its maker may still write. To be
    /// asked right before something is sent or left open. Others take none.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`.
    fn take(&self, changes: usize) -> BoxFuture<'_, Result<(), Failure>>;

    /// Makes a delegate for a call of this client; on record.
    ///
    /// # Errors
    /// `DELEGATION_DENIED`, `INVALID_INPUT`, `AUDIT_UNAVAILABLE`.
    fn delegate<'a>(
        &'a self,
        client: &'a Client,
        desk: &'a WriteContext,
        wanted: DelegateSpec,
    ) -> BoxFuture<'a, Result<Delegated, Failure>>;

    /// Ends a delegate of this client, by its id or name; on record. One that has ended is told of
    /// again, and so much of its legacy is settled as is left.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is none; `AUDIT_UNAVAILABLE`.
    fn end<'a>(
        &'a self,
        desk: &'a WriteContext,
        delegate: &'a str,
        legacy: Handover,
    ) -> BoxFuture<'a, Result<DelegateReport, Failure>>;
}

/// A refusal, with a word for its reason.
#[must_use]
pub fn denied(message: &str, reason: &str) -> Failure {
    Failure::new(Code::DelegationDenied, message).detail("reason", reason)
}
