//! Holds the state that the writers of one server share, whatever their keys.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::task::TaskTracker;

use crate::audit::{AuditLog, Keep};
use crate::gates::Policy;
use crate::memory::{MemoryMode, MemoryStore};
use crate::wiki::Wiki;

use super::pending::Waiting;
use super::proposals::ProposalQuota;
use super::timeouts::Timeouts;
use super::upkeep::purge::Purges;
use super::upkeep::recover::Recovery;
use super::upkeep::refusals::Refusals;
use super::upkeep::sets::RecentSets;

/// State shared by the writers of one server. With the server's own key it settles the open
/// attempts of earlier runs; it also has the log purged, and waits at the end for all writes.
#[derive(Debug)]
pub(super) struct WriterShared {
    audit: Arc<AuditLog>,
    pub(super) refusals: Refusals,
    pub(super) recovery: Recovery,
    /// Writes under way, and what else must not be cut short.
    pub(super) tasks: TaskTracker,
    /// The sets that are being sent, and the last ones that were.
    pub(super) sets: RecentSets,
    /// The room that proposals take.
    pub(super) room: Arc<ProposalQuota>,
    /// The calls that wait for people.
    pub(super) waiting: Waiting,
    purges: Purges,
    memories: MemoryStore,
    memory_mode: RwLock<MemoryMode>,
}

/// Time that the end of the server waits for a purge.
const PURGE_AT_THE_END: Duration = Duration::from_secs(5);

impl WriterShared {
    pub(super) fn new(
        wiki: &Arc<Wiki>,
        audit: &Arc<AuditLog>,
        policy: &Policy,
        patience: Timeouts,
        keep: Keep,
    ) -> Self {
        Self {
            audit: Arc::clone(audit),
            refusals: Refusals::default(),
            // A write is settled even if nobody may read its page any more.
            recovery: Recovery::new(
                Arc::new(wiki.unbounded()),
                Arc::clone(audit),
                patience,
                keep,
            ),
            tasks: TaskTracker::new(),
            sets: RecentSets::default(),
            room: Arc::new(ProposalQuota::new(keep)),
            waiting: Waiting::default(),
            purges: Purges::new(Arc::clone(audit), policy, keep),
            memories: MemoryStore::of(audit),
            memory_mode: RwLock::default(),
        }
    }

    pub(super) fn purge_if_due(&self) {
        self.purges.start_if_due();
    }

    /// The room that proposals take.
    pub(super) fn room(&self) -> Arc<ProposalQuota> {
        Arc::clone(&self.room)
    }

    pub(super) fn memories(&self) -> MemoryStore {
        self.memories.clone()
    }

    pub(super) fn memory_mode(&self) -> MemoryMode {
        *self
            .memory_mode
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the sharing mode of memories from now on.
    pub(super) fn remember_by(&self, mode: MemoryMode) {
        *self
            .memory_mode
            .write()
            .unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// The retention settings and the memory mode, in words.
    #[cfg(test)]
    pub(super) fn kept(&self) -> String {
        let mode = self.memory_mode();
        format!("{:?} {} {mode:?}", self.room, self.purges.kept())
    }

    /// Sets the retention from now on.
    pub(super) fn keep(&self, keep: Keep) {
        self.room.keep_to(keep);
        self.purges.keep_to(keep);
    }

    /// Begins no more writes and no more changes of sets under way.
    pub(super) fn close(&self) {
        self.tasks.close();
    }

    /// Waits for writes under way, then closes the log.
    pub(super) async fn finish(&self) {
        self.close();
        self.tasks.wait().await;
        self.purges.end(PURGE_AT_THE_END).await;
        if let Err(error) = self.audit.close().await {
            tracing::error!(%error, "the audit log could not be closed");
        }
    }
}
