//! Keeps states of pages beside the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::disk::blocking::{LONGEST_WAIT, blocking};
use super::super::{AuditResult, KeptState, kept_states};
use crate::page::PageState;
use crate::store::{LeaseName, LeaseQueue, Store};

/// The states of pages that are kept.
#[derive(Debug, Clone)]
pub struct StateStore {
    store: Arc<dyn Store>,
    leases: LeaseQueue,
    /// Bytes of states that this process has kept.
    bytes: Arc<AtomicU64>,
}

impl StateStore {
    pub(in crate::audit) fn new(store: &Arc<dyn Store>, leases: &LeaseQueue) -> Self {
        Self {
            store: Arc::clone(store),
            leases: leases.clone(),
            bytes: Arc::default(),
        }
    }

    /// Keeps a state of a page: completely on the disk before this returns. Equal states share a
    /// file; a damaged one is written again.
    ///
    /// # Errors
    /// If the state is not surely kept. The log itself stays usable.
    pub async fn keep(&self, state: &PageState) -> AuditResult<KeptState> {
        let held = self.leases.shared(&LeaseName::BLOBS, LONGEST_WAIT).await?;
        let (own, state) = (self.clone(), state.clone());
        blocking(move || {
            let (kept, length) = kept_states::keep(&*own.store, &state, held.lease())?;
            own.bytes.fetch_add(length, Ordering::Relaxed);
            Ok(kept)
        })
        .await
    }

    /// Number of bytes of states that this process has kept, repeated ones included.
    pub fn kept_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Reads a kept state back.
    ///
    /// # Errors
    /// [`Missing`](crate::audit::AuditError::Missing), or
    /// [`Damaged`](crate::audit::AuditError::Damaged) if it is not what its name says.
    pub async fn get(&self, name: KeptState) -> AuditResult<PageState> {
        let own = self.clone();
        blocking(move || kept_states::kept(&*own.store, name)).await
    }

    /// Size in bytes of kept states once they are loaded.
    ///
    /// # Errors
    /// [`BrokenOff`](crate::audit::AuditError::BrokenOff).
    pub async fn bytes_of(&self, names: Vec<KeptState>) -> AuditResult<usize> {
        let own = self.clone();
        blocking(move || {
            let sizes = names
                .into_iter()
                .map(|name| kept_states::size(&*own.store, name));
            Ok(sizes.fold(0, usize::saturating_add))
        })
        .await
    }
}
