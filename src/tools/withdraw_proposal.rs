//! `wikijs_withdraw_proposal`: takes back one's own open proposal (toolset `proposals`).

use super::get_proposal::Input;
use super::prelude::*;
use super::proposal_view::ProposalView;
use super::task::withdraw;

/// The name of the tool.
pub(crate) const WITHDRAW: &str = "wikijs_withdraw_proposal";

/// The tool.
pub(super) struct WithdrawProposal;

impl Tool for WithdrawProposal {
    const NAME: &'static str = WITHDRAW;
    const DESCRIPTION: &'static str = "Take back an open proposal of yours, so that nobody decides on it any more; on record. The wiki is not touched: wikijs_undo_write undoes an applied one.";
    const ANSWER: &'static str = "The proposal as it ended. Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Change;
    type Input = Input;
    type Output = ProposalView;

    async fn run(context: ToolContext, input: Input) -> Result<ProposalView> {
        let proposal = withdraw(&context.desk, &context.caller, &input.id).await?;
        let has_title = context.desk.past().made(&proposal);
        Ok(ProposalView::new(proposal, has_title))
    }
}
