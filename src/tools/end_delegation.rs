//! `wikijs_end_delegation`: ends a delegate, and says what it did.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::ToolContext;
use super::tool::{Tool, ToolKind};
use crate::audit::{CallHistory, Proposal};
use crate::error::Failure;
use crate::write::{Handed, HandedOver, Handover};

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
    /// Which you get: important is 7 and more.
    #[garde(skip)]
    memories: Option<HandoverChoice>,
    /// Remove the rest for good.
    #[garde(skip)]
    purge: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum HandoverChoice {
    Important,
    All,
    None,
}

impl From<HandoverChoice> for Handed {
    fn from(wanted: HandoverChoice) -> Self {
        match wanted {
            HandoverChoice::Important => Self::Important,
            HandoverChoice::All => Self::All,
            HandoverChoice::None => Self::None,
        }
    }
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    delegate: String,
    id: String,
    ended_at: String,
    why: &'static str,
    /// Number of changes that it used, and that it might have used.
    writes_used: u32,
    writes: u32,
    sets: Vec<Set>,
    /// Number of its calls on record, and the newest of them.
    calls_on_record: i64,
    calls: Vec<DelegateCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memories: Option<MemoryHandover>,
}

/// The memories of the delegate, after its end.
#[derive(Debug, Serialize)]
struct MemoryHandover {
    /// Those that its maker has now.
    handed: Vec<String>,
    /// Number of memories that the operator can restore for 30 days.
    restorable: i64,
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
struct DelegateCall {
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
    const KIND: ToolKind = ToolKind::Aside;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output, Failure> {
        let family = context.caller.maker()?;
        let legacy = Handover {
            handed: input.memories.map(Handed::from).unwrap_or_default(),
            purge: input.purge.unwrap_or_default(),
        };
        let did = family.end(&context.desk, &input.delegate, legacy).await?;
        Ok(Output {
            delegate: did.name,
            id: did.id.to_string(),
            ended_at: did.ended,
            why: did.why,
            writes_used: did.used,
            writes: did.writes,
            sets: did.sets.iter().take(MOST_SETS).map(Set::from).collect(),
            calls_on_record: i64::try_from(did.all_calls).unwrap_or(i64::MAX),
            calls: did.calls.iter().map(DelegateCall::from).collect(),
            memories: MemoryHandover::of(&did.memories),
        })
    }
}

impl MemoryHandover {
    fn of(inherited: &HandedOver) -> Option<Self> {
        (*inherited != HandedOver::default()).then(|| Self {
            handed: inherited.handed.iter().map(ToString::to_string).collect(),
            restorable: i64::try_from(inherited.restorable).unwrap_or(i64::MAX),
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

impl From<&CallHistory> for DelegateCall {
    fn from(call: &CallHistory) -> Self {
        Self {
            id: call.call.to_string(),
            tool: call.latest(|record| record.tool.clone()),
            path: call.place().map(|path| path.to_string()),
            ended: call.ending().as_str(),
        }
    }
}
