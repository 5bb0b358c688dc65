//! `wikijs_list_proposals`: lists proposals and their state (toolset `proposals`).

use std::time::Instant;

use super::prelude::*;
use super::proposal_view::{ProposalView, may_see};
use crate::audit::Proposal;
use crate::words::words;
use crate::write::MAX_LISTED;

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

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum ProposalStatus: as_str {
        Open = "open",
        Applied = "applied",
        Rejected = "rejected",
        Replaced = "replaced",
        Withdrawn = "withdrawn",
    }
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    proposals: Vec<ProposalView>,
    not_shown: Option<i64>,
}

impl Tool for ListProposals {
    const NAME: &'static str = "wikijs_list_proposals";
    const DESCRIPTION: &'static str = "See what became of proposed writes, newest first, and why one was rejected. Of open ones: outdated, if a page changed since; unchecked, if the list of pages does not show it.";
    const ANSWER: &'static str = "Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let prefix = input::prefix(input.path.as_deref())?;
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
                    .is_none_or(|prefix| prefix.holds(&proposal.first.locale, &proposal.first.path))
                && session
                    .as_ref()
                    .is_none_or(|session| *session == proposal.session)
        });
        let not_shown = some_count(proposals.len().saturating_sub(MAX_LISTED));
        let newest: Vec<Proposal> = proposals.into_iter().rev().take(MAX_LISTED).collect();
        let proposals = context.desk.proposals();
        let standing = proposals.standing(&newest, Instant::now()).await;
        let shown = newest.into_iter().zip(standing).map(|(proposal, now)| {
            // A title is shown to the key that proposed, and to one that the wiki lists the page for.
            let has_title = now.is_listed || context.desk.past().made(&proposal);
            let mut view = ProposalView::new(proposal, has_title);
            view.state = now.state.as_str();
            view
        });
        Ok(Output {
            proposals: shown.collect(),
            not_shown,
        })
    }
}
