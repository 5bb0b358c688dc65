//! A write's turn: our other writes that could interfere wait (W19).

use std::time::{Duration, Instant};

use crate::audit::{AuditError, AuditLog, HeldProposal, PageLock, TreeLock};
use crate::change::Change;
use crate::gates::{Gate, Refusal, SessionId, TurnOf};

use crate::write::audit_entry::unavailable;
use crate::write::context::WriteContext;
use crate::write::route::Warrant;
use crate::write::source::ChangeSource;

/// While this is held, other writes that could interfere wait.
pub(in crate::write) struct WriteLock {
    _page: Option<PageLock>,
    _tree: Option<TreeLock>,
    /// The proposal that is applied.
    pub(in crate::write) proposal: Option<HeldProposal>,
}

/// Waits until no other write can interfere (W19), of this server or of another that shares its
/// audit directory: creates, moves and deletes are sent one at a time, and so are updates of the
/// same page. Also holds the proposal that is applied.
pub(in crate::write) async fn take(
    desk: &WriteContext,
    session: &SessionId,
    source: &dyn ChangeSource,
    warrant: &Warrant,
) -> Result<Option<WriteLock>, Refusal> {
    // An open attempt of an earlier run may interfere.
    desk.recovered().await;
    if !source.has_turn() {
        return Ok(None);
    }
    let of = match warrant {
        // An invalid token must not wait for a turn. The turn comes from the preview, since the
        // confirming call may leave out what it writes.
        Warrant::Preview(token) => desk
            .memory
            .turn_of(session, token)
            .map_err(|failure| Refusal::at(Gate::Confirm, failure))?,
        Warrant::Person(approved) => approved.set().turn(),
        Warrant::StaticToken => TurnOf {
            page: source.page_of_turn(desk).await,
            rebuilds_tree: source.rebuilds_tree(),
        },
    };
    // Held before the locks: the holder of a proposal of many changes waits for the locks of each.
    let proposal = match source.proposal() {
        Some(id) => {
            let held = desk.proposals.hold_open(id).await;
            Some(held.map_err(|failure| Refusal::at(Gate::Change, failure))?)
        }
        None => None,
    };
    let turn = locks(&desk.audit, of, desk.patience.queueing).await;
    let turn = turn.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
    Ok(Some(WriteLock { proposal, ..turn }))
}

/// The turn of one change of a set; released before the next change.
pub(super) async fn of_change(desk: &WriteContext, change: &Change) -> Result<WriteLock, Refusal> {
    let of = TurnOf {
        page: change.before().and_then(|page| page.id),
        rebuilds_tree: change.rebuilds_tree(),
    };
    let turn = locks(&desk.audit, of, desk.patience.queueing).await;
    turn.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))
}

/// Locks a page and the tree, within this time for both.
async fn locks(
    audit: &AuditLog,
    TurnOf {
        page,
        rebuilds_tree,
    }: TurnOf,
    longest: Duration,
) -> Result<WriteLock, AuditError> {
    let began = Instant::now();
    let page = match page {
        Some(id) => Some(audit.lock_page(id, longest).await?),
        None => None,
    };
    let left = longest.saturating_sub(began.elapsed());
    let tree = if rebuilds_tree {
        Some(audit.lock_tree(left).await?)
    } else {
        None
    };
    Ok(WriteLock {
        _page: page,
        _tree: tree,
        proposal: None,
    })
}

#[cfg(test)]
mod tests;
