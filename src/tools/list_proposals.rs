//! `wikijs_list_proposals`: lists proposals and their state (toolset `proposals`).

use std::collections::HashSet;

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::ToolContext;
use super::input;
use super::output::some_count;
use super::proposal_view::{ProposalView, may_see};
use super::tool::{Tool, ToolKind};
use crate::audit::Proposal;
use crate::error::Failure;
use crate::page::Prefix;

/// The most proposals that one answer holds.
const MAX_PROPOSALS: usize = 100;

/// The tool.
pub(super) struct ListProposals;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[garde(skip)]
    state: Option<ProposalStatus>,
    /// Only pages at or below it; de:docs for one locale.
    #[garde(length(chars, max = 255))]
    path: Option<String>,
    /// Only those of this session.
    #[garde(skip)]
    mine: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum ProposalStatus {
    Open,
    Applied,
    Rejected,
    Replaced,
}

impl ProposalStatus {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Replaced => "replaced",
        }
    }
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    proposals: Vec<ProposalView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_shown: Option<i64>,
}

impl Tool for ListProposals {
    const NAME: &'static str = "wikijs_list_proposals";
    const TITLE: &'static str = "List proposals";
    const DESCRIPTION: &'static str = "See what became of proposed writes, newest first, and why one was rejected. wikijs_get_proposal says whether an open one still fits its page.";
    const ANSWER: &'static str = "Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output, Failure> {
        let prefix = input.path.as_deref().map(Prefix::sought).transpose();
        let prefix = prefix.map_err(|fault| input::invalid_argument("path", fault))?;
        let session = input.mine.unwrap_or(false).then(|| {
            context
                .desk
                .proposals()
                .session_word(&context.caller.session)
        });
        let mut proposals = context.desk.proposals().all().await?;
        proposals.retain(|proposal| {
            may_see(&context.caller, proposal)
                && input
                    .state
                    .is_none_or(|state| state.as_str() == proposal.state.as_str())
                && prefix
                    .as_ref()
                    .is_none_or(|prefix| prefix.holds(&proposal.locale, &proposal.path))
                && session
                    .as_ref()
                    .is_none_or(|session| *session == proposal.session)
        });
        let not_shown = some_count(proposals.len().saturating_sub(MAX_PROPOSALS));
        let newest: Vec<Proposal> = proposals.into_iter().rev().take(MAX_PROPOSALS).collect();
        let titled = titled(&context, &newest).await;
        let newest = newest.into_iter().zip(titled);
        Ok(Output {
            proposals: newest
                .map(|(proposal, has_title)| ProposalView::new(proposal, has_title))
                .collect(),
            not_shown,
        })
    }
}

/// The proposals that are shown with the page's title: those made with this key, and those on pages
/// that the wiki lists for it.
async fn titled(context: &ToolContext, proposals: &[Proposal]) -> Vec<bool> {
    let made = |proposal: &Proposal| context.desk.past().made(proposal);
    if proposals.iter().all(made) {
        return vec![true; proposals.len()];
    }
    let listed = context.wiki.pages_lately().await;
    let listed =
        listed.inspect_err(|error| tracing::warn!(%error, "the pages could not be listed"));
    let listed = listed.ok();
    let pages = listed.iter().flat_map(|listed| listed.iter());
    let places: HashSet<_> = pages.map(|page| (&page.locale, &page.path)).collect();
    let is_listed = |proposal: &Proposal| places.contains(&(&proposal.locale, &proposal.path));
    let titled = proposals.iter();
    titled
        .map(|proposal| made(proposal) || is_listed(proposal))
        .collect()
}
