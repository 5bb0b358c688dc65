//! Finds the last write of a session, and says how to redo what was just taken back.

use time::OffsetDateTime;

use crate::audit::{CallHistory, CallId, Outcome};
use crate::change::Warning;
use crate::error::{Code, Failure};
use crate::write::source::WriteCall;

use super::{Meant, UndoRequest};

/// The session's last applied write that was not taken back.
pub(super) async fn own_last(call: WriteCall<'_>, undo: &UndoRequest) -> Option<CallHistory> {
    for own in call.memory.own_writes.of(undo.session.as_ref()?).await {
        let story = call.past.story(&own.into(), undo.owner.as_ref()).await;
        // An undo is taken back by its id, so that `last` goes further back each time.
        let is_meant = |story: &CallHistory| is_in_force(story) && story.undone_calls().is_empty();
        if let Some(story) = story.ok().filter(is_meant) {
            return Some(story);
        }
    }
    None
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
    let own = undo.session.as_ref();
    let own = own.map(|own| call.memory.own_writes.here(own));
    let newest = if let Some(newest) = own.as_ref().and_then(|own| own.front()) {
        *newest
    } else {
        let (newest, at) = past.audit.calls.last_undo(owner).await.ok()??;
        if than > at {
            return None;
        }
        newest
    };
    let story = past.story(&newest.into(), owner).await;
    let story = story.ok().filter(is_in_force)?;
    (!story.undone_calls().is_empty()).then_some(newest)
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
