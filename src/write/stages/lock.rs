//! A write's turn: our other writes that could interfere wait (W19).

use std::time::{Duration, Instant};

use crate::audit::{AuditError, AuditLog, HeldLease};
use crate::gates::TurnOf;

/// While this is held, other writes that could interfere wait.
#[derive(Default)]
pub(in crate::write) struct WriteLock {
    page: Option<HeldLease>,
    tree: Option<HeldLease>,
}

impl WriteLock {
    /// Its leases.
    pub(super) fn leases(&self) -> Vec<&HeldLease> {
        [&self.page, &self.tree].into_iter().flatten().collect()
    }

    /// The lock of a page, of a lease.
    #[cfg(test)]
    pub(super) fn of_page(held: HeldLease) -> Self {
        Self {
            page: Some(held),
            tree: None,
        }
    }
}

/// Waits until no other write can interfere (W19), of this server or of another that shares its
/// audit directory: creates, moves and deletes are sent one at a time, and so are updates of the
/// same page. `longest` is the time for both locks.
pub(in crate::write) async fn take(
    audit: &AuditLog,
    turn: TurnOf,
    longest: Duration,
) -> Result<WriteLock, AuditError> {
    let began = Instant::now();
    let page = match turn.page {
        Some(id) => Some(audit.lock_page(id, longest).await?),
        None => None,
    };
    let left = longest.saturating_sub(began.elapsed());
    let tree = if turn.rebuilds_tree {
        Some(audit.lock_tree(left).await?)
    } else {
        None
    };
    Ok(WriteLock { page, tree })
}

#[cfg(test)]
mod tests;
