//! `wikijs_get_proposal`: one proposal, and whether it still fits (toolset `proposals`).

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::ToolContext;
use super::input;
use super::proposal_view::{ProposalView, may_see};
use super::tool::{TEXT_BYTES, Tool, ToolKind};
use crate::audit::ProposalId;
use crate::change::{Warning, cut, short};
use crate::error::{Code, Failure};
use crate::render_budget;

/// The tool.
pub(super) struct GetProposal;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// proposal of the write's answer.
    #[garde(length(chars, max = 16))]
    id: String,
}

/// Its answer.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    #[serde(flatten)]
    proposal: ProposalView,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Changes on the page since, and both merged if they do not overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

impl Tool for GetProposal {
    const NAME: &'static str = "wikijs_get_proposal";
    const TITLE: &'static str = "Get proposal";
    const DESCRIPTION: &'static str = "See what a proposed write changes and what became of it: open, outdated (with what changed since), applied, rejected with a reason, or replaced.";
    const ANSWER: &'static str = "Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Read;
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output, Failure> {
        render_budget::within(shown(context, input)).await
    }
}

async fn shown(context: ToolContext, input: Input) -> Result<Output, Failure> {
    let none = || input::invalid_argument("id", "names no proposal of this client");
    let id: ProposalId = input.id.parse().map_err(|_| none())?;
    let review = match Box::pin(context.desk.review(id)).await {
        Ok(review) if may_see(&context.caller, &review.proposal) => review,
        Ok(_) => return Err(none()),
        Err(failure) if failure.code == Code::InvalidInput => return Err(none()),
        Err(failure) => return Err(failure),
    };
    let has_title = review.is_readable || context.desk.past().made(&review.proposal);
    let mut proposal = ProposalView::new(review.proposal, has_title);
    let mut warnings = Vec::new();
    if let Some(failure) = &review.unseen {
        warnings.push(Warning::new("not_shown", failure.message.clone()));
    }
    let mut since = None;
    match review.hindrance {
        Some(failure) if failure.code == Code::ProposalOutdated => {
            proposal.state = "outdated";
            warnings.push(Warning::new("outdated", failure.message.clone()));
            since = Some(failure.details).filter(|_| review.is_readable);
        }
        Some(failure) => warnings.push(Warning::new("not_compared", failure.message.clone())),
        None => {}
    }
    let (mut changes, mut diff) = (None, None);
    if review.is_readable {
        changes = Some(short(review.change.changes, &mut warnings));
        diff = Some(cut(review.change.diff, &mut warnings));
        proposal.show(review.others, &mut warnings);
    }
    Ok(Output {
        proposal,
        changes,
        diff,
        since,
        warnings,
    })
}
