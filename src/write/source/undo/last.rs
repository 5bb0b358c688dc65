//! Finds the last write of a session, and says how to redo what was just taken back.

use std::collections::VecDeque;

use time::OffsetDateTime;

use crate::audit::{CallHistory, CallId, Client, Outcome};
use crate::change::Warning;
use crate::error::{Code, Failure, Result};
use crate::write::source::WriteCall;
use crate::write::undo::history::WriteHistory;

use super::{Meant, UndoRequest, check_effect, has_ended, nothing};

/// The session's last write that took effect and was not taken back.
///
/// # Errors
/// Whether its newest write took effect is not known: `last` means no older one then.
pub(super) async fn own_last(
    call: WriteCall<'_>,
    undo: &UndoRequest,
) -> Result<Option<CallHistory>> {
    let Some(session) = &undo.session else {
        return Ok(None);
    };
    let mut own = call.memory.own_writes.of(session).await.into_iter();
    let owner = undo.owner.as_ref();
    // An undo is taken back by its id, so that `last` goes further back each time.
    let is_undo = |story: &CallHistory| !story.undone_calls().is_empty();
    match next_with_effect(call.past, owner, &mut own).await {
        Some((newest, Err(_))) => has_begun(call, newest).await?,
        Some((_, Ok(story))) if story.undone_by.is_none() => {
            check_effect(&story)?;
            if !is_undo(&story) {
                return Ok(Some(story));
            }
        }
        _ => {}
    }
    while let Some((_, story)) = next_with_effect(call.past, owner, &mut own).await {
        if let Some(story) = story.ok().filter(is_in_force)
            && !is_undo(&story)
        {
            return Ok(Some(story));
        }
    }
    Ok(None)
}

/// The next of these writes that had an effect, or may have.
async fn next_with_effect(
    past: &WriteHistory,
    owner: Option<&Client>,
    calls: &mut impl Iterator<Item = CallId>,
) -> Option<(CallId, Result<CallHistory>)> {
    for call in calls {
        let story = past.story(&call.into(), owner).await;
        if !story.as_ref().is_ok_and(had_no_effect) {
            return Some((call, story));
        }
    }
    None
}

/// True if a write is known to have changed nothing.
fn had_no_effect(story: &CallHistory) -> bool {
    match story.outcome {
        Some(Outcome::NotApplied | Outcome::Unchanged) => true,
        Some(_) => false,
        None => story.sent.is_none() && !story.is_open,
    }
}

/// Checks that something of the newest write is on record: a set has no record of its own before its end.
async fn has_begun(call: WriteCall<'_>, newest: CallId) -> Result<()> {
    has_ended(call.past, newest).await?;
    if call.past.audit.calls.of_set(newest).await?.is_empty() {
        let message = "Nothing of this session's last write is on record yet.";
        return Err(nothing(message).hint("Call again in some seconds. If it stays so, the server ended before it sent anything: name the write to take back by its callId."));
    }
    Ok(())
}

/// True if a call was applied and not taken back.
fn is_in_force(story: &CallHistory) -> bool {
    story.outcome == Some(Outcome::Applied) && story.undone_by.is_none()
}

/// The undo after which `last` was asked for: the session's newest write, or without a session the
/// newest on record, unless the write that is meant is newer.
async fn undo_before(
    call: WriteCall<'_>,
    undo: &UndoRequest,
    than: Option<OffsetDateTime>,
) -> Option<CallId> {
    if !undo.call.is_last() {
        return None;
    }
    let (past, owner) = (call.past, undo.owner.as_ref());
    let own = match &undo.session {
        Some(session) => call.memory.own_writes.of(session).await,
        None => VecDeque::new(),
    };
    let mut own = own.into_iter();
    let is_undo = |story: &CallHistory| is_in_force(story) && !story.undone_calls().is_empty();
    if let Some((newest, story)) = next_with_effect(past, owner, &mut own).await {
        return story.ok().filter(is_undo).map(|_| newest);
    }
    let (newest, at) = past.audit.calls.last_undo(owner).await.ok()??;
    if than > at {
        return None;
    }
    let story = past.story(&newest.into(), owner).await.ok()?;
    is_undo(&story).then_some(newest)
}

/// The warning that the last write was an undo, and how to redo what it took back.
pub(super) async fn redo_warning(
    call: WriteCall<'_>,
    undo: &UndoRequest,
    meant: &Meant,
) -> Option<Warning> {
    let written = match meant {
        Meant::One(story) => story.sent,
        Meant::Set(set) => {
            let story = call.past.story(&(*set).into(), undo.owner.as_ref()).await;
            story.ok().and_then(|story| story.records.last()?.instant())
        }
    };
    let redo = undo_before(call, undo, written).await?;
    let message = format!(
        "the last write was an undo, {redo}; this takes back the write before it. To redo what {redo} took back, take {redo} back by its id."
    );
    Some(Warning::new("after_undo", message))
}

/// A failure to find the last write, with how to redo what was just taken back.
pub(super) async fn with_redo(
    call: WriteCall<'_>,
    undo: &UndoRequest,
    failure: Failure,
) -> Failure {
    match undo_before(call, undo, None).await {
        Some(redo) if failure.code == Code::NothingToUndo => failure
            .hint(format!(
                "The last write was an undo, {redo}. To redo what it took back, take it back by its id: callId {redo}."
            ))
            .detail("redo", redo.to_string()),
        _ => failure,
    }
}
