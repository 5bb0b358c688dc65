//! A write's turn: whatever else of us could get in its way waits (W19).

use std::time::Instant;

use crate::audit::{AuditError, HeldProposal, PageLock, TreeLock};

use super::writer::Writer;

/// Other writes that could get in the way are kept out while this is held.
pub(super) struct Turn {
    _page: Option<PageLock>,
    _tree: Option<TreeLock>,
    /// The proposal that is applied.
    pub(super) proposal: Option<HeldProposal>,
}

impl Writer {
    /// Waits until no other write can get in the way (W19): creates, moves and deletes go out
    /// one at a time, updates of one page one after another.
    pub(super) async fn turn(
        &self,
        page: Option<i64>,
        rebuilds_tree: bool,
    ) -> Result<Turn, AuditError> {
        let began = Instant::now();
        let page = match page {
            Some(id) => Some(
                tokio::time::timeout(self.patience.queueing, self.audit.lock_page(id))
                    .await
                    .map_err(|_| AuditError::Busy)?,
            ),
            None => None,
        };
        let left = self.patience.queueing.saturating_sub(began.elapsed());
        let tree = if rebuilds_tree {
            Some(self.audit.lock_tree(left).await?)
        } else {
            None
        };
        Ok(Turn {
            _page: page,
            _tree: tree,
            proposal: None,
        })
    }
}
