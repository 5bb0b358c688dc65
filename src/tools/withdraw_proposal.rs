//! `wikijs_withdraw_proposal`: takes back one's own open proposal (toolset `proposals`).

use super::context::ToolContext;
use super::get_proposal::{Input, none};
use super::proposal_view::{ProposalView, may_see};
use super::tool::{Tool, ToolKind};
use crate::audit::{Proposal, ProposalId};
use crate::error::{Code, Failure};

/// The tool.
pub(super) struct WithdrawProposal;

impl Tool for WithdrawProposal {
    const NAME: &'static str = "wikijs_withdraw_proposal";
    const TITLE: &'static str = "Withdraw proposal";
    const DESCRIPTION: &'static str = "Take back an open proposal of yours, so that nobody decides on it any more; on record. The wiki is not touched: wikijs_undo_write undoes an applied one.";
    const ANSWER: &'static str = "The proposal as it ended. Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Change;
    type Input = Input;
    type Output = ProposalView;

    async fn run(context: ToolContext, input: Input) -> Result<ProposalView, Failure> {
        let id: ProposalId = input.id.parse().map_err(|_| none())?;
        let proposals = context.desk.proposals();
        let (caller, session) = (
            &context.caller,
            proposals.session_word(&context.caller.session),
        );
        // Clients without names may have the same one: only their session tells them apart.
        let is_own = |proposal: &Proposal| {
            may_see(caller, proposal) && (caller.client.is_known() || proposal.session == session)
        };
        match proposals.withdraw(&context.caller, id, is_own).await {
            Ok(proposal) => {
                let has_title = context.desk.past().made(&proposal);
                Ok(ProposalView::new(proposal, has_title))
            }
            Err(failure) if failure.code == Code::InvalidInput => Err(none()),
            Err(failure) => Err(failure),
        }
    }
}
