//! `wikijs_delegate`: makes a client for a task that may do no more than the caller.

use garde::Validate;
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::tool::{Kind, Tool};
use crate::error::Failure;
use crate::write::{DelegateKind, Sets, Wanted};

/// The tool.
pub(super) struct Delegate;

/// How long a delegate lasts if its maker does not say, in minutes.
const USUAL_MINUTES: u32 = 60;
/// How many changes it makes if its maker does not say.
const USUAL_WRITES: u32 = 20;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[garde(length(chars, min = 1, max = 200))]
    task: String,
    /// What it may: read; and histories; your tools, to propose; those in tools.
    #[garde(skip)]
    kind: DelegateKind,
    /// It works only below these.
    #[garde(inner(length(min = 1, max = 10), inner(length(max = 255))))]
    prefixes: Option<Vec<String>>,
    /// It reads below these, too.
    #[garde(inner(length(max = 10), inner(length(max = 255))))]
    read_prefixes: Option<Vec<String>>,
    #[garde(inner(length(min = 1, max = 50), inner(length(max = 64))))]
    tools: Option<Vec<String>>,
    /// Changes at most; else 20.
    #[garde(range(min = 1, max = 1000))]
    writes: Option<u32>,
    /// Send its writes as yours are, not leave them to people.
    #[garde(skip)]
    sends: Option<bool>,
    /// Else 60.
    #[garde(range(min = 1, max = 1440))]
    minutes: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    delegate: String,
    id: String,
    token: String,
    expires_at: String,
    tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefixes: Option<Vec<String>>,
    hint: &'static str,
}

impl Tool for Delegate {
    const NAME: &'static str = "wikijs_delegate";
    const TITLE: &'static str = "Delegate";
    const DESCRIPTION: &'static str = "Make a token for another agent and a task. It never may more than you, counts as you, and cannot delegate. wikijs_end_delegation ends it.";
    const ANSWER: &'static str = "The token is told this once.";
    const KIND: Kind = Kind::Aside;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let (caller, desk) = (&context.caller, &context.desk);
        let wanted = Wanted {
            task: input.task,
            kind: input.kind,
            prefixes: input.prefixes,
            read_prefixes: input.read_prefixes.unwrap_or_default(),
            tools: input.tools,
            writes: input.writes.unwrap_or(USUAL_WRITES),
            sets: if input.sends == Some(true) {
                Sets::Sent
            } else {
                Sets::LeftOpen
            },
            minutes: input.minutes.unwrap_or(USUAL_MINUTES),
        };
        let made = caller.maker()?.delegate(caller, desk, wanted).await?;
        Ok(Output {
            delegate: made.name,
            id: made.id.to_string(),
            token: made.token.expose_secret().to_owned(),
            expires_at: made.expires,
            tools: made.tools,
            prefixes: made.prefixes,
            hint: "Give the token to that agent alone, which sends it as Authorization: Bearer; it is kept nowhere and never told again.",
        })
    }
}
