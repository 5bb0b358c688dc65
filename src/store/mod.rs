//! Keeps what a server must not forget: bytes under names. Knows neither pages nor calls nor policy.
//!
//! | part | for |
//! |---|---|
//! | `Blobs` | what is named by its content: kept states |
//! | [`Documents`] | what is replaced whole: proposals, drafts, approvals, delegates, the pause |
//! | [`Leases`] | who may do what now |
//! | [`Runs`] | the log, a run for each process that writes |
//!
//! The traits are small and synchronous, and never wait: a lease is given at once or not at all.
//! [`LeaseQueue`] is the one place that waits for one.
//!
//! [`local::LocalStore`] keeps all of it in files; `local/line_index.rs` says where things are in the runs.
//! `postgres::PostgresStore` keeps it in a database that servers share. [`StoreHome`] opens the store of each wiki.

mod address;
mod blobs;
mod copy;
mod documents;
mod error;
mod health;
mod home;
mod leases;
pub mod local;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queue;
mod runs;
mod secret;
#[cfg(test)]
mod testing;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::hex;
use crate::share::evict_index;

pub use address::DatabaseAddress;
pub(crate) use blobs::Blobs;
pub use copy::{CopyError, CopyFault, StoreCopied, back_up, copy};
pub use documents::{DocumentKind, Documents, Fence};
pub use error::{StoreError, StoreResult};
pub use health::StoreHealth;
pub use home::{DatabaseSettings, StoreHome};
pub use leases::{Lease, LeaseMode, LeaseName, Leases};
#[cfg(feature = "postgres")]
pub use postgres::Database;
pub use queue::HeldLease;
pub use queue::{LeaseQueue, wait_for};
pub use runs::{Durability, ListedRun, RunBytes, RunStream, RunWriter, Runs};
pub use secret::SecretSource;

/// The name of the store of a wiki's mirror, below the name of the wiki's own.
pub(crate) const MIRROR: &str = "mirror";
/// The fault of a directory in which no new store is made.
pub(crate) const NOT_EMPTY: &str = "is not an empty directory";

/// All that one wiki's records need.
pub trait Store: Blobs + Documents + Leases + Runs + Debug + Send + Sync {
    /// True if other servers reach it from elsewhere, so that what one keeps in its memory for a while must
    /// lie here too.
    fn is_remote(&self) -> bool {
        false
    }

    /// Removes what killed processes left half-written an hour ago or earlier; gives its names. `store
    /// check` does.
    fn tidy(&self) -> StoreResult<Vec<String>>;

    /// True if something of this wiki may be kept here; if that is unclear, reading it gives the error.
    fn is_there(&self) -> bool;

    /// Checks that this many bytes could be written now, and leaves nothing of them.
    fn probe(&self, size: usize) -> StoreResult<()>;

    /// The time by the clock that all servers of this store have.
    fn now(&self) -> StoreResult<SystemTime> {
        Ok(SystemTime::now())
    }

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
pub struct Listed {
    /// The name.
    pub name: String,
    /// Its length in bytes, as it is kept.
    pub length: u64,
    /// When it was written or renewed last.
    pub changed: SystemTime,
    /// Another one after each change, of its rights, too.
    pub version: u128,
}

impl Listed {
    /// Its age, as the store tells it.
    pub fn age(&self) -> Duration {
        self.changed.elapsed().unwrap_or_default()
    }
}

/// The word for an owner in names of documents, which end with it and a digest.
pub fn owner_in_name(owner: &str) -> String {
    let digest = hex::encode(&Sha256::digest(owner.as_bytes()));
    digest.chars().take(16).collect()
}

/// The most documents of sessions of all servers together, and the time after which one that nobody changed goes.
pub const SESSION_ROOM: (usize, Duration) = (20_000, Duration::from_hours(24));
/// The number of new documents of sessions after which room is made: a look at all of them takes its time.
pub const PER_SESSION_ROOM: usize = 100;

/// Makes room for one more document of an owner, whose word this is, or which is empty where there are none: those that
/// are older than this go, and of more than so many the oldest of whoever has most. So nobody gives way to somebody who
/// has more. One owner has a tenth at most.
pub fn make_room(
    store: &dyn Store,
    kind: DocumentKind,
    owner: &str,
    (most, oldest): (usize, Duration),
) -> StoreResult<()> {
    let share = if owner.is_empty() { most } else { most / 10 };
    let mut all = store.documents(kind)?;
    all.sort_by_key(|one| one.changed);
    let (mut gone, mut kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| one.age() > oldest);
    loop {
        let owners = kept.iter().map(|one| one.name.rsplit('.').nth(1));
        let held: Vec<_> = owners.map(|of| (of.unwrap_or_default(), 1)).collect();
        let is_own = |(of, _): &(&str, usize)| *of == owner;
        let place = if held.iter().copied().filter(is_own).count() >= share {
            held.iter().position(is_own)
        } else if held.len() >= most {
            evict_index(held, (owner, 1))
        } else {
            break;
        };
        let Some(place) = place else { break };
        gone.push(kept.remove(place));
    }
    for one in &gone {
        store.remove_document(kind, &one.name)?;
    }
    Ok(())
}

/// Runs work on a store on a blocking thread, as [`blocking`] does.
pub async fn on<T, E>(
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
pub async fn blocking<T, E, W>(work: W) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    W: FnOnce() -> Result<T, E> + Send + 'static,
{
    let done = crate::blocking::run(work).await;
    done.unwrap_or(Err(StoreError::BrokenOff.into()))
}
