//! Explains a used token: names the call that used it up, and that call's outcome.

use crate::audit::Outcome;
use crate::error::{Code, Failure};
use crate::gates::SessionId;

use super::memory::SessionStore;
use super::undo::history::WriteHistory;

/// Adds to a token's failure which call used it up, and that call's outcome.
pub(super) async fn of_used(
    (memory, past): (&dyn SessionStore, &WriteHistory),
    session: &SessionId,
    token: &str,
    failure: Failure,
) -> Failure {
    let used_by = memory.used_by(session, token);
    let Some(call) = used_by.filter(|_| failure.code == Code::ConfirmExpired) else {
        return failure;
    };
    let is_set = matches!(past.audit.calls_of_set(call).await, Ok(calls) if !calls.is_empty());
    let outcome = match past.story(&call.into(), None).await {
        Ok(story) => story.outcome(),
        Err(_) => Some(Outcome::Unknown),
    };
    let told = outcome.map_or("under way", Outcome::as_str);
    let hint = match outcome {
        Some(Outcome::Applied | Outcome::Unchanged) => {
            "Nothing was sent now: the write is done, do not repeat it. To change more, call with all arguments, without confirm."
        }
        Some(Outcome::NotApplied) => {
            "Nothing was sent now. Call again with all arguments, without confirm, for a new preview and its token."
        }
        Some(Outcome::PartlyApplied) if is_set => {
            "Nothing was sent now. Call again with all arguments, without confirm, for a preview of what is left of the set: what is done is left out. Or have the set taken back by details.usedBy."
        }
        Some(Outcome::PartlyApplied | Outcome::Unknown) | None => {
            "Nothing was sent now. Do not repeat the write: read the page first to see what became of it."
        }
    };
    Failure::new(
        Code::ConfirmExpired,
        format!("This token was already used by the call {call}: {told}."),
    )
    .hint(hint)
    .detail("usedBy", call.to_string())
    .detail("outcome", told)
}
