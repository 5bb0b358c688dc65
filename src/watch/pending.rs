//! Holds the changed pages that a watcher has yet to take.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::looks::WatchedPath;
use crate::wiki::WikiError;

/// The reason why a page cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotWatch {
    /// The key sees no such page.
    #[error("there is no such page that the key may read")]
    NoPage,
    /// No more pages can be watched.
    #[error("no more pages can be watched")]
    Full,
    /// The wiki could not be asked.
    #[error(transparent)]
    Wiki(#[from] WikiError),
}

/// The changed pages that a watcher has yet to take. Each is there once, so the set is bounded even
/// if the watcher takes nothing.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    changed: Mutex<BTreeSet<WatchedPath>>,
    wake: Notify,
}

impl PendingChanges {
    pub(super) fn tell(&self, place: &WatchedPath) {
        self.changed().insert(place.clone());
        self.wake.notify_one();
    }

    pub(super) async fn next(&self) -> WatchedPath {
        loop {
            if let Some(place) = self.changed().pop_first() {
                return place;
            }
            self.wake.notified().await;
        }
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<WatchedPath>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
