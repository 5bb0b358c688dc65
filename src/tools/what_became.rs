//! Calls that ask what became of a write that was left to people.

use serde_json::Value;

use super::arguments::Arguments;
use super::confirmed::CONFIRM;
use super::context::Context;
use super::input;
use super::output::Written;
use super::proposal_view::may_see;
use crate::audit::ProposalId;
use crate::error::{Code, Failure};
use crate::write::Notes;

/// The answer to a call whose `confirm` is the id of a set that was left to people; `None` if it
/// means something else.
///
/// # Errors
/// The set is not this caller's, where nothing else could be meant.
pub(super) async fn what_became(
    context: &Context,
    arguments: &Arguments,
) -> Result<Option<Written>, Failure> {
    let desk = &context.desk;
    let confirm = arguments.members().get(CONFIRM).and_then(Value::as_str);
    let id = confirm.and_then(|text| text.parse::<ProposalId>().ok());
    let Some(id) = id.filter(|_| desk.leaves_open()) else {
        return Ok(None);
    };
    let limit = desk.waiting(&context.caller);
    let is_own = match desk.became_of(id, None).await {
        Ok(left) => may_see(&context.caller, &left.proposal),
        Err(failure) if failure.code == Code::InvalidInput => false,
        Err(failure) => return Err(failure),
    };
    if is_own {
        let left = desk.became_of(id, limit).await?;
        return Ok(Some(Written::left_open(left, Notes::default())));
    }
    match limit {
        Some(_) => Err(input::invalid_argument(
            CONFIRM,
            "names no set of this client; it may have expired",
        )),
        None => Ok(None),
    }
}
