//! Keeps what a server must not forget: bytes under names. Knows neither pages nor calls nor policy.
//!
//! | part | for |
//! |---|---|
//! | [`Blobs`] | what is named by its content: kept states |
//! | [`Documents`] | what is replaced whole: proposals, drafts, approvals, delegates, the pause |
//! | [`Leases`] | who may do what now |
//! | [`Runs`] | the log, a run for each process that writes |
//!
//! The traits are small and synchronous, and never wait: a lease is given at once or not at all.
//! [`LeaseQueue`] is the one place that waits for one.
//!
//! [`local::LocalStore`] keeps all of it in files; `local/line_index.rs` says where things are in the runs.
//! [`postgres::PostgresStore`] keeps it in a database that servers share. [`StoreHome`] opens the store of each wiki.

mod address;
mod blobs;
mod copy;
mod documents;
mod error;
mod health;
mod home;
mod leases;
pub(crate) mod local;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod queue;
mod runs;
#[cfg(test)]
mod suite;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(crate) use address::DatabaseAddress;
pub(crate) use blobs::Blobs;
pub use copy::{CopyFault, StoreCopied};
pub(crate) use copy::{back_up, copy};
pub(crate) use documents::{DocumentKind, Documents, Fence};
pub(crate) use error::StoreError;
pub use health::StoreHealth;
#[cfg(feature = "postgres")]
pub use home::DatabaseHome;
pub use home::{DatabaseSettings, SecretSource, StoreHome};
pub(crate) use leases::{Lease, LeaseMode, LeaseName, Leases};
#[cfg(feature = "postgres")]
pub(crate) use postgres::Database;
pub use queue::HeldLease;
pub(crate) use queue::{LeaseQueue, wait_for};
pub(crate) use runs::{Durability, ListedRun, RunBytes, RunStream, RunWriter, Runs};

use crate::share::evict_index;

/// The name of the store of a wiki's mirror, below the name of the wiki's own.
pub(crate) const MIRROR: &str = "mirror";
/// The fault of a directory in which no new store is made.
pub(crate) const NOT_EMPTY: &str = "is not an empty directory";

/// All that one wiki's records need.
pub(crate) trait Store: Blobs + Documents + Leases + Runs + Debug + Send + Sync {
    /// True if other servers reach it from elsewhere, so that what one keeps in its memory for a while must
    /// lie here too.
    fn is_remote(&self) -> bool {
        false
    }

    /// Removes what killed processes left half-written an hour ago or earlier; gives its names. `store
    /// check` does.
    fn tidy(&self) -> Result<Vec<String>, StoreError>;

    /// True if something of this wiki may be kept here; if that is unclear, reading it gives the error.
    fn is_there(&self) -> bool;

    /// Checks that this many bytes could be written now, and leaves nothing of them.
    fn probe(&self, size: usize) -> Result<(), StoreError>;

    /// Looks at all files with the eyes of their owner.
    fn health(&self) -> StoreHealth {
        StoreHealth {
            is_writable: true,
            ..StoreHealth::default()
        }
    }

    /// The files that this process needs and cannot open.
    fn closed(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The directories that others than their owner may write.
    fn writable_by_others(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// A name that is kept, and what can be said of it without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The name.
    pub(crate) name: String,
    /// Its length in bytes, as it is kept.
    pub(crate) length: u64,
    /// When it was written or renewed last.
    pub(crate) changed: SystemTime,
}

impl Listed {
    /// Its age, as the store tells it.
    pub(crate) fn age(&self) -> Duration {
        self.changed.elapsed().unwrap_or_default()
    }
}

/// Makes room for a newcomer's document: removes those of the kind that are older than this and, where
/// there are so many, the oldest of the owner who holds the most. `owner` reads the owner in a name.
pub(crate) fn make_room(
    store: &dyn Store,
    kind: DocumentKind,
    (most, oldest): (usize, Duration),
    (newcomer, owner): (&str, fn(&str) -> &str),
) -> Result<(), StoreError> {
    let mut all = store.documents(kind)?;
    all.sort_by_key(|one| one.changed);
    let old = all.partition_point(|one| one.age() > oldest);
    for one in all.drain(..old) {
        store.remove_document(kind, &one.name)?;
    }
    while all.len() >= most {
        let held: Vec<_> = all.iter().map(|one| (owner(&one.name), 1)).collect();
        let place = evict_index(&held, (newcomer, 1)).unwrap_or_default();
        store.remove_document(kind, &all.remove(place).name)?;
    }
    Ok(())
}

/// Runs work on a store on a blocking thread, as [`blocking`] does.
pub(crate) async fn on<T, E>(
    store: &Arc<dyn Store>,
    work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let store = Arc::clone(store);
    blocking(move || work(&*store)).await
}

/// Runs work on the store on a blocking thread; it continues if the caller is gone.
pub(crate) async fn blocking<T, E, W>(work: W) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    W: FnOnce() -> Result<T, E> + Send + 'static,
{
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(StoreError::BrokenOff.into()))
}
