//! `wikijs_delegate`: makes a client for a task that may do no more than the caller.

use secrecy::ExposeSecret as _;

use super::prelude::*;
use crate::write::DelegateSpec;

/// The tool.
pub(super) struct Delegate;

/// The default lifetime of a delegate, in minutes.
const USUAL_MINUTES: u32 = 60;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[garde(length(chars, min = 1, max = 200))]
    task: String,
    // It reads and writes at and below these alone.
    #[garde(inner(length(min = 1, max = 10), inner(length(chars, max = 255))))]
    prefixes: Option<Vec<String>>,
    /// Default all of yours.
    #[garde(inner(length(min = 1, max = 50), inner(length(chars, max = 64))))]
    tools: Option<Vec<String>>,
    /// Most changes; default 0: it reads.
    #[garde(skip)]
    writes: Option<u32>,
    /// Else people decide.
    #[garde(skip)]
    sends: Option<bool>,
    /// Default 60.
    #[garde(range(min = 1, max = 1440))]
    minutes: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    delegate: String,
    token: String,
    server: Option<String>,
    expires_at: String,
    tools: Vec<String>,
    prefixes: Option<Vec<String>>,
    hint: &'static str,
}

impl Tool for Delegate {
    const NAME: &'static str = "wikijs_delegate";
    const DESCRIPTION: &'static str = "Make a token for an agent's task at and below prefixes: never more than you may, counted as you.";
    const ANSWER: &'static str = "Told once.";
    const KIND: ToolKind = ToolKind::Aside;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let (caller, desk) = (&context.caller, &context.desk);
        let wanted = DelegateSpec {
            task: input.task,
            prefixes: input.prefixes,
            tools: input.tools,
            writes: input.writes.unwrap_or_default(),
            sends: input.sends.unwrap_or_default(),
            minutes: input.minutes.unwrap_or(USUAL_MINUTES),
        };
        let made = caller
            .maker()?
            .delegate(&caller.client, desk, wanted)
            .await?;
        Ok(Output {
            delegate: made.name,
            token: made.token.expose_secret().to_owned(),
            server: made.server,
            expires_at: made.expires,
            tools: made.tools,
            prefixes: made.prefixes,
            hint: "Give the token to that agent alone, which sends it as Authorization: Bearer; it is kept nowhere and never told again.",
        })
    }
}
