//! `wikijs_end_delegation`: ends a delegate, and says what it did.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::tool::{Kind, Tool};
use crate::audit::{CallStory, Proposal};
use crate::error::Failure;

/// The tool.
pub(super) struct EndDelegation;

/// The most sets that are told one by one.
const MOST_SETS: usize = 50;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Its name or id.
    #[garde(length(min = 1, max = 160))]
    delegate: String,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    delegate: String,
    id: String,
    ended_at: String,
    why: &'static str,
    /// How many of its changes it used, and might have used.
    writes_used: u32,
    writes: u32,
    sets: Vec<Set>,
    /// How many calls of it are on record, and the newest of them.
    calls_on_record: i64,
    calls: Vec<Call>,
}

/// A set that it left open.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    proposal: String,
    state: &'static str,
    operation: &'static str,
    locale: String,
    path: String,
    pages: i64,
}

/// A call of its.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    #[serde(rename = "callId")]
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    ended: &'static str,
}

impl Tool for EndDelegation {
    const NAME: &'static str = "wikijs_end_delegation";
    const TITLE: &'static str = "End delegation";
    const DESCRIPTION: &'static str =
        "End a delegate of yours; its token counts for nothing then. Tells what it did.";
    const ANSWER: &'static str = "Its sets and newest calls; open sets wait on.";
    const KIND: Kind = Kind::Aside;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output, Failure> {
        let family = context.caller.maker()?;
        let did = family.end(&context.desk, &input.delegate).await?;
        Ok(Output {
            delegate: did.name,
            id: did.id.to_string(),
            ended_at: did.ended,
            why: did.why,
            writes_used: did.used,
            writes: did.writes,
            sets: did.sets.iter().take(MOST_SETS).map(Set::from).collect(),
            calls_on_record: i64::try_from(did.all_calls).unwrap_or(i64::MAX),
            calls: did.calls.iter().map(Call::from).collect(),
        })
    }
}

impl From<&Proposal> for Set {
    fn from(proposal: &Proposal) -> Self {
        Self {
            proposal: proposal.id.to_string(),
            state: proposal.state.as_str(),
            operation: proposal.operation.as_str(),
            locale: proposal.locale.to_string(),
            path: proposal.path.to_string(),
            pages: i64::try_from(proposal.changes().count()).unwrap_or(i64::MAX),
        }
    }
}

impl From<&CallStory> for Call {
    fn from(call: &CallStory) -> Self {
        Self {
            id: call.call.to_string(),
            tool: call.latest(|record| record.tool.clone()),
            path: call.place().map(|path| path.to_string()),
            ended: call.ending().as_str(),
        }
    }
}
