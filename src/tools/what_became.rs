//! Answers calls that ask what became of a write that was left to people.

use serde_json::Value;

use super::confirm_args::CONFIRM;
use super::proposal_view::may_see;
use super::write_output::WriteOutput;
use super::{Arguments, ToolContext, input};
use crate::audit::{CallId, Proposal, ProposalId};
use crate::error::{Code, Failure, Result};
use crate::gates::Asked;
use crate::page::PagePath;
use crate::write::Notes;

/// The fewest characters of a call's id that can stand for it.
const MIN_PREFIX: usize = 4;

/// The answer to a call whose `confirm` is the id of a set that was left to people; `None` if it
/// means something else.
///
/// # Errors
/// The set is not this caller's, where nothing else could be meant; `CONFIRM_MISMATCH` if another
/// call made it, whatever became of it.
pub(super) async fn what_became(
    context: &ToolContext,
    arguments: &Arguments,
) -> Result<Option<WriteOutput>> {
    let desk = &context.desk;
    let confirm = arguments.members.get(CONFIRM).and_then(Value::as_str);
    let id = confirm.and_then(|text| text.parse::<ProposalId>().ok());
    let Some(id) = id else {
        return Ok(None);
    };
    let limit = desk.waiting(&context.caller);
    let proposal = match desk.proposals().one(id).await {
        Ok(proposal) => Some(proposal),
        Err(failure) if failure.code == Code::InvalidInput => None,
        Err(failure) => return Err(failure),
    };
    if let Some(proposal) = proposal.filter(|one| may_see(&context.caller, one)) {
        if let Some(failure) = mismatch(context.caller.asked.as_ref(), &proposal) {
            let refused = desk.refuse_input(&context.caller, None, failure);
            return Err(refused.await);
        }
        let left = context.became_of(id, limit).await?;
        return Ok(Some(WriteOutput::left_open(left, Notes::default())));
    }
    match limit {
        Some(_) => input::refuse(CONFIRM, "names no set of this client; it may have expired"),
        None => Ok(None),
    }
}

/// The failure if a call asks for something else than the set was made for.
fn mismatch(asked: Option<&Asked>, proposal: &Proposal) -> Option<Failure> {
    let asked = asked?;
    if asked.tool != proposal.tool {
        let message = "This set was made by a call of another tool.";
        let failure = Failure::new(Code::ConfirmMismatch, message)
            .hint("To hear what became of the set, call details.tool; for another write, leave confirm out.")
            .detail("differing", ["tool"])
            .detail("tool", proposal.tool.clone());
        return Some(failure);
    }
    let given = asked.digests();
    let differs = |(name, digest): &(&String, &_)| {
        let value = asked.arguments.get(*name);
        proposal.arguments.get(*name) != Some(*digest)
            && !value.is_some_and(|value| names_the_same(name, value, proposal))
    };
    let differing: Vec<String> = given
        .iter()
        .filter(differs)
        .map(|(name, _)| name.clone())
        .collect();
    let message = "This call asks for something else than the call that this set was made for.";
    (!differing.is_empty()).then(|| {
        Failure::new(Code::ConfirmMismatch, message)
            .hint("To hear what became of the set, leave out details.differing; for another write, leave confirm out.")
            .detail("differing", differing)
    })
}

/// True if an argument names the page, or the call to take back, that the set is about, in whatever
/// form.
fn names_the_same(name: &str, value: &Value, proposal: &Proposal) -> bool {
    let text = value.as_str();
    match name {
        "id" => {
            let id = value.as_i64().or_else(|| text?.parse().ok());
            id.is_some() && id == proposal.first.page
        }
        "path" => text.is_some_and(|text| {
            let path = PagePath::new(text);
            let new_path = proposal.first.new_path.as_ref();
            path == *new_path.unwrap_or(&proposal.first.path)
        }),
        "locale" => text == Some(proposal.first.locale.as_str()),
        "callId" => {
            let undone = proposal.first.undoes.as_ref().map(CallId::to_string);
            let is_it = |text: &str| {
                text.len() >= MIN_PREFIX && undone.is_some_and(|undone| undone.starts_with(text))
            };
            text.is_some_and(is_it)
        }
        _ => false,
    }
}
