//! A write's turn: our other writes that could interfere wait (W19).

use std::time::{Duration, Instant};

use crate::audit::{AuditLog, AuditResult, HeldLease};
use crate::gates::TurnOf;

/// While this is held, other writes that could interfere wait.
#[derive(Default)]
pub(crate) struct WriteLock(pub(super) Vec<HeldLease>);

/// Waits until no other write can interfere (W19), of this server or of another that shares its
/// audit directory: creates, moves and deletes are sent one at a time, and so are updates of the
/// same page. `longest` is the time for both locks.
pub(crate) async fn take(
    audit: &AuditLog,
    turn: TurnOf,
    longest: Duration,
) -> AuditResult<WriteLock> {
    let began = Instant::now();
    let mut lock = WriteLock::default();
    if let Some(id) = turn.page {
        lock.0.push(audit.lock_page(id, longest).await?);
    }
    if turn.rebuilds_tree {
        let left = longest.saturating_sub(began.elapsed());
        lock.0.push(audit.lock_tree(left).await?);
    }
    Ok(lock)
}

#[cfg(test)]
mod tests;
