//! Keeps states of pages beside the log, and takes its leases.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::disk::blocking::blocking;
use super::super::disk::kept_states;
use super::super::{AuditError, AuditLog, KeptState};
use super::LONGEST_WAIT;
use crate::page::PageState;
use crate::store::{HeldLease, LeaseName};

impl AuditLog {
    /// Keeps a state of a page: completely on the disk before this returns. Equal states share a
    /// file; a damaged one is written again.
    ///
    /// # Errors
    /// If the state is not surely kept. The log itself stays usable.
    pub async fn keep(&self, state: &PageState) -> Result<KeptState, AuditError> {
        let held = self
            .leases()
            .shared(&LeaseName::BLOBS, LONGEST_WAIT)
            .await?;
        let (shared, state) = (Arc::clone(&self.shared), state.clone());
        blocking(move || {
            let (kept, length) = kept_states::keep(&*shared.place.store, &state, held.lease())?;
            shared.kept_bytes.fetch_add(length, Ordering::Relaxed);
            Ok(kept)
        })
        .await
    }

    /// Number of bytes of states that this process has kept, repeated ones included.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.shared.kept_bytes.load(Ordering::Relaxed)
    }

    /// Reads a kept state back.
    ///
    /// # Errors
    /// [`AuditError::Missing`], or [`AuditError::Damaged`] if it is not what its name says.
    pub async fn kept(&self, name: KeptState) -> Result<PageState, AuditError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || kept_states::kept(&*shared.place.store, name)).await
    }

    /// Size in bytes of kept states once they are loaded.
    ///
    /// # Errors
    /// [`AuditError::BrokenOff`].
    pub async fn bytes_of_states(&self, names: Vec<KeptState>) -> Result<usize, AuditError> {
        let shared = Arc::clone(&self.shared);
        blocking(move || {
            let sizes = names
                .into_iter()
                .map(|name| kept_states::size(&*shared.place.store, name));
            Ok(sizes.fold(0, usize::saturating_add))
        })
        .await
    }

    /// Waits for the right to create, move or delete in this wiki, which only one write has at a
    /// time (W19): in this process first come, first served, and across all processes that share
    /// the audit directory.
    ///
    /// A write that needs both locks takes the page's first.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_tree(&self, wait: Duration) -> Result<HeldLease, AuditError> {
        Ok(self.leases().alone(&LeaseName::TREE, wait).await?)
    }

    /// Waits for the right to settle open attempts, which only one run has at a time among all that
    /// share the audit directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_recovery(&self, wait: Duration) -> Result<HeldLease, AuditError> {
        Ok(self.leases().alone(&LeaseName::RECOVERY, wait).await?)
    }

    /// Waits for the right to update a page, which only one write has at a time: in this process
    /// first come, first served, and across all processes that share the audit directory.
    ///
    /// # Errors
    /// [`AuditError::Busy`] after `wait`.
    pub async fn lock_page(&self, id: i64, wait: Duration) -> Result<HeldLease, AuditError> {
        Ok(self.leases().alone(&LeaseName::page(id), wait).await?)
    }
}
