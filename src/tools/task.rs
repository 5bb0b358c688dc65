//! Tells a client that polls what became of a write that was left to people.

use serde_json::Value;

use super::get_proposal::none;
use super::output::written;
use super::pending_answer::UNDECIDED;
use super::proposal_view::may_see;
use super::write_output::WriteOutput;
use crate::audit::{MAX_WHY, Proposal, ProposalId};
use crate::error::{Code, Result};
use crate::page::escaped;
use crate::write::{Became, Caller, Notes, WriteContext};

/// A write that was left to people.
#[derive(Debug)]
pub(crate) struct WriteTask {
    /// Its set.
    pub(crate) proposal: Proposal,
    /// Its state, in a sentence.
    pub(crate) message: String,
    /// Its state.
    pub(crate) state: TaskState,
}

/// The state of such a write.
#[derive(Debug)]
pub(crate) enum TaskState {
    /// Nobody has decided yet.
    Waiting,
    /// It is being applied.
    Applying,
    /// Its client took it back.
    Withdrawn,
    /// It has ended otherwise; the answer of a call that waited until then.
    Ended(Value),
}

/// A caller's own write by its set's id; `None` if the caller has none of this id.
///
/// # Errors
/// What the record or the wiki says.
pub(crate) async fn task(
    desk: &WriteContext,
    caller: &Caller,
    id: &str,
) -> Result<Option<WriteTask>> {
    let Ok(id) = id.parse::<ProposalId>() else {
        return Ok(None);
    };
    let Some(left) = desk.polled(caller, id, |one| may_see(caller, one)).await? else {
        return Ok(None);
    };
    let undecided = || format!("{UNDECIDED} People decide here: {}", left.review);
    let message = match &left.became {
        Became::Waiting(None) => undecided(),
        Became::Waiting(Some(last)) => format!("{} Last, {}", undecided(), last.message),
        Became::Applying { made } => {
            let all = left.proposal.changes().count();
            format!("It is being applied: {made} of {all} changes are made.")
        }
        Became::Applied(_) => "A person applied it.".to_owned(),
        Became::Rejected { reason, .. } => {
            format!("A person said no: {}", escaped(reason, MAX_WHY))
        }
        Became::Replaced(by) => format!("A later write of the same page took its place: {by}."),
        Became::Withdrawn(_) => "This client took it back; nothing was written.".to_owned(),
    };
    let proposal = left.proposal.clone();
    let state = match &left.became {
        Became::Waiting(_) => TaskState::Waiting,
        Became::Applying { .. } => TaskState::Applying,
        Became::Withdrawn(_) => TaskState::Withdrawn,
        Became::Applied(_) | Became::Rejected { .. } | Became::Replaced(_) => {
            TaskState::Ended(written(WriteOutput::left_open(left, Notes::default()))?)
        }
    };
    Ok(Some(WriteTask {
        proposal,
        message,
        state,
    }))
}

/// Takes back a proposal of the caller's own, so that nobody decides on it any more.
///
/// # Errors
/// `INVALID_INPUT` if the caller has none of this id; `PROPOSAL_OUTDATED` if it was decided before.
pub(crate) async fn withdraw(desk: &WriteContext, caller: &Caller, id: &str) -> Result<Proposal> {
    let id: ProposalId = id.parse().map_err(|_| none())?;
    let session = desk.proposals().session_word(&caller.session);
    // Clients without names may have the same one: only their session tells them apart.
    let is_own = |proposal: &Proposal| {
        may_see(caller, proposal) && (caller.client.is_known() || proposal.session == session)
    };
    let withdrawn = desk.proposals().withdraw(caller, id, is_own).await;
    withdrawn.map_err(|failure| match failure.code {
        Code::InvalidInput => none(),
        _ => failure,
    })
}
