//! One write at a time: to the tree of a wiki, across processes; to a page, in this one.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as PlainMutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout};

use super::log::blocking;
use super::place::Place;
use super::{AuditError, fs};

/// How long to wait before another process is asked again whether it is done.
const POLL: Duration = Duration::from_millis(20);

/// A locked file of a wiki's directory; given back when dropped, or when the process ends,
/// however it ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct FileLock(File);

/// The right to create, move or delete in a wiki; given back when dropped, or when the process
/// ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct TreeLock {
    // Dropped in this order: whoever waits in this process finds the file free.
    _file: FileLock,
    _turn: OwnedMutexGuard<()>,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file would do, but not while a child of this process that is just being
        // started has it too.
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a wiki's tree, at least one try of it, or gives up after `wait`.
pub(super) async fn lock_tree(
    place: &Place,
    turns: &Arc<Mutex<()>>,
    wait: Duration,
) -> Result<TreeLock, AuditError> {
    let asked = Instant::now();
    let turn = timeout(wait, Arc::clone(turns).lock_owned())
        .await
        .map_err(|_| AuditError::Busy)?;
    Ok(TreeLock {
        _file: lock_file(place.tree_lock(), wait.saturating_sub(asked.elapsed())).await?,
        _turn: turn,
    })
}

/// Locks a file, made if it is not there, with at least one try, or gives up after `wait`.
pub(super) async fn lock_file(path: PathBuf, wait: Duration) -> Result<FileLock, AuditError> {
    let asked = Instant::now();
    loop {
        let path = path.clone();
        if let Some(file) = blocking(move || try_lock(&path)).await? {
            return Ok(FileLock(file));
        }
        let left = wait.saturating_sub(asked.elapsed());
        if left.is_zero() {
            return Err(AuditError::Busy);
        }
        sleep(left.min(POLL)).await;
    }
}

/// The locked file, or nothing while another has it.
fn try_lock(path: &Path) -> Result<Option<File>, AuditError> {
    let failed = |error: &std::io::Error| AuditError::at(path, "take a lock", error);
    if let Some(directory) = path.parent() {
        fs::make_dir(directory).map_err(|error| failed(&error))?;
    }
    let file = fs::open_lock_file(path).map_err(|error| failed(&error))?;
    match file.try_lock() {
        // Whoever removed the file meanwhile may have locked a new one.
        Ok(()) => match fs::is_same_file(path, &file) {
            Ok(is_same) => Ok(is_same.then_some(file)),
            Err(error) => Err(failed(&error)),
        },
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

/// The locks of the pages that are being written or waited for; no other page has an entry.
#[derive(Debug, Default)]
pub(super) struct PageLocks {
    locks: PlainMutex<HashMap<i64, Weak<Mutex<()>>>>,
}

/// The right to update a page; given back when dropped.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct PageLock {
    // Dropped in this order: whoever waits goes on before the entry is looked at.
    _turn: OwnedMutexGuard<()>,
    _ticket: Ticket,
}

/// An interest in a page's lock, held or waited for; the last one takes the entry away.
#[derive(Debug)]
struct Ticket {
    id: i64,
    lock: Option<Arc<Mutex<()>>>,
    all: Arc<PageLocks>,
}

impl PageLocks {
    pub(super) async fn lock(self: &Arc<Self>, id: i64) -> PageLock {
        let lock = self.enter(id);
        let ticket = Ticket {
            id,
            lock: Some(Arc::clone(&lock)),
            all: Arc::clone(self),
        };
        PageLock {
            _turn: lock.lock_owned().await,
            _ticket: ticket,
        }
    }

    fn enter(&self, id: i64) -> Arc<Mutex<()>> {
        let mut locks = self.entries();
        let entry = locks.entry(id).or_default();
        entry.upgrade().unwrap_or_else(|| {
            let lock = Arc::default();
            *entry = Arc::downgrade(&lock);
            lock
        })
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<i64, Weak<Mutex<()>>>> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut locks = self.all.entries();
        self.lock = None;
        if locks
            .get(&self.id)
            .is_some_and(|lock| lock.strong_count() == 0)
        {
            locks.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests;
