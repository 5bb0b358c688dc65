//! Takes a set back: its applied changes, the last first.

use std::collections::HashSet;

use serde_json::json;

use crate::audit::{CallHistory, CallId, Outcome};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, LeftOut, SetChange};
use crate::page::PagePath;

use super::{MOST_NAMED, UndoRequest, change_of, is_there, names_around, stays};
use crate::write::source::WriteCall;
use crate::write::source::order::in_order;
use crate::write::stages::rights::hindrance;
use crate::write::undo::history::{NOT_ON_RECORD, WriteHistory, nothing};

/// The reason for leaving out a change.
pub(super) const UNKNOWN: &str = "whether it was applied is not known; look at its page";

/// The applied changes of a set that were not taken back yet, the last first; and those of which nobody knows
/// whether they were applied.
pub(super) async fn left_of_set(
    past: &WriteHistory,
    undo: &UndoRequest,
    set: CallId,
) -> Result<(Vec<CallHistory>, Vec<CallHistory>)> {
    let calls = past.audit.calls.of_set(set).await?;
    for call in &calls {
        if !past.admits(call).await? {
            return Err(nothing(NOT_ON_RECORD));
        }
    }
    let own: HashSet<CallId> = calls.iter().map(|call| call.call).collect();
    // The undos of a failed set are not changes of the set.
    let is_change = |call: &CallHistory| {
        let mut undoes = call.records.iter().filter_map(|record| record.undoes);
        !undoes.any(|undone| own.contains(&undone))
    };
    let is_unknown = |call: &CallHistory| match call.outcome {
        Some(Outcome::Unknown) => !is_there(call),
        None => call.is_open,
        Some(_) => false,
    };
    let changes: Vec<CallHistory> = calls.into_iter().filter(is_change).collect();
    let (unknown, mut left): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_unknown);
    if let Some(first) = unknown.first().filter(|_| !undo.force && !undo.skips) {
        return Err(nothing(
            "Whether a change of that set was applied is not known; look at its page.",
        )
        .hint("With onConflict: \"skip\" (undo --on-conflict skip) the others are taken back.")
        .detail("call", first.call.to_string())
        .detail("id", first.id));
    }
    left.retain(|call| is_there(call) && call.undone_by.is_none());
    left.reverse();
    Ok((left, unknown))
}

/// The set that takes a set back.
pub(super) async fn of_set(
    call: WriteCall<'_>,
    undo: &UndoRequest,
    set: CallId,
) -> Result<ChangeSet> {
    if undo.path.is_some() {
        return Err(stays());
    }
    let (mut changes, mut left_out, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    let (left, unknown) = left_of_set(call.past, undo, set).await?;
    let unknown = unknown.iter().filter(|_| undo.skips);
    left_out.extend(unknown.map(|one| LeftOut::at(one.id, one.place(), UNKNOWN.to_owned())));
    if left.is_empty() {
        return Err(nothing(
            "Nothing of that set is left that can be taken back.",
        ));
    }
    let states = left.iter().flat_map(names_around);
    call.past.hold(states.flatten().collect()).await?;
    for story in left {
        match Box::pin(back(call, undo, story)).await {
            Ok(Ok(change)) => changes.push(change),
            Ok(Err(page)) => left_out.push(page),
            Err(failure) if concerns_page(failure.code) => faults.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    if let Some(failure) = first_of(faults) {
        return Err(failure);
    }
    if undo.skips {
        let (ordered, taken) = in_order(call.wiki(), changes).await?;
        changes = ordered;
        left_out.extend(taken);
    }
    let Some(back) = ChangeSet::list(call.id, changes) else {
        let named: Vec<_> = left_out.iter().map(LeftOut::as_detail).collect();
        let failure = nothing("Nothing of that set is left that can be taken back.");
        return Err(failure
            .hint("details.leftOut names the pages and the reasons. With a key that has the missing rights, the same call takes the rest back.")
            .detail("leftOut", named));
    };
    Ok(back.with(|batch| {
        batch.undoes = Some(set);
        batch.goes_on = undo.skips;
        batch.left_out = left_out;
    }))
}

/// The undo of one change of a set, or why it is left out.
async fn back(
    call: WriteCall<'_>,
    undo: &UndoRequest,
    story: CallHistory,
) -> Result<Result<SetChange, LeftOut>> {
    let (undone, id, path) = (story.call, story.id, story.place());
    match change_of(call.past, undo, story).await {
        Ok(change) if undo.skips => Ok(match hindrance(call.wiki(), &change).await {
            Some(why) => Err(LeftOut::new(change.change.target(), why)),
            None => Ok(change),
        }),
        Ok(change) => Ok(Ok(change)),
        Err(failure) if undo.skips && concerns_page(failure.code) => {
            Ok(Err(LeftOut::at(id, path, failure.message)))
        }
        Err(failure) => {
            let failure = failure.detail("call", undone.to_string()).detail("id", id);
            Err(failure.detail_if("path", path.as_ref().map(PagePath::as_str)))
        }
    }
}

/// True if a change of a set cannot be taken back for its page's sake, so that the others still
/// can.
const fn concerns_page(code: Code) -> bool {
    matches!(
        code,
        Code::EditConflict
            | Code::PageNotFound
            | Code::NothingToUndo
            | Code::FieldUnreadable
            | Code::PermissionDenied
            | Code::InvalidInput
    )
}

/// The first failure, which names all pages that cannot be taken back.
fn first_of(faults: Vec<Failure>) -> Option<Failure> {
    let named = |failure: &Failure| {
        let member = |name: &str| failure.details.get(name).cloned().unwrap_or_default();
        json!({
            "call": member("call"),
            "id": member("id"),
            "path": member("path"),
            "code": failure.code.as_str(),
            "message": failure.message,
        })
    };
    let all: Vec<_> = faults.iter().take(MOST_NAMED).map(named).collect();
    let count = faults.len();
    let first = faults.into_iter().next()?;
    Some(
        Failure {
            message: format!(
                "{count} of the set's changes cannot be taken back, so nothing was sent. {}",
                first.message
            ),
            ..first
        }
        .hint("details.failed names the pages and the reasons. With onConflict \"skip\" (--on-conflict skip) the other changes are taken back; with force the fields that were changed since go back, too.")
        .detail("failed", all),
    )
}
