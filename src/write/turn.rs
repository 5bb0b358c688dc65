//! A write's turn: whatever else of us could get in its way waits (W19).

use std::time::Instant;

use crate::audit::{AuditError, HeldProposal, PageLock, TreeLock};
use crate::gates::{Gate, Refusal};

use super::docket::unavailable;
use super::plan::Plan;
use super::writer::Writer;

/// Other writes that could get in the way are kept out while this is held.
pub(super) struct Turn {
    _page: Option<PageLock>,
    _tree: Option<TreeLock>,
    /// The proposal that is applied.
    pub(super) proposal: Option<HeldProposal>,
}

impl Writer {
    /// Waits until no other write can get in the way (W19), of this server or of another that
    /// shares its audit directory: creates, moves and deletes go out one at a time, updates of one
    /// page one after another. A proposal that is applied is held.
    pub(super) async fn turn(&self, page: Option<i64>, plan: &Plan) -> Result<Turn, Refusal> {
        let turn = self.locks(page, plan.may_rebuild_tree()).await;
        let mut turn = turn.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
        if let Some(id) = plan.proposal() {
            let held = self.hold_open(id, self.patience.queueing).await;
            turn.proposal = Some(held.map_err(|failure| Refusal::at(Gate::Change, failure))?);
        }
        Ok(turn)
    }

    async fn locks(&self, page: Option<i64>, rebuilds_tree: bool) -> Result<Turn, AuditError> {
        let began = Instant::now();
        let page = match page {
            Some(id) => Some(self.audit.lock_page(id, self.patience.queueing).await?),
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
