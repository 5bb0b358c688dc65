//! One write at a time for a wiki's tree and for each page, in this process and across all
//! processes that share the audit directory.
//!
//! In a process, writes take turns first come, first served. Among processes a locked file decides
//! (`flock`: the kernel gives it back however a process ends, and two openings of a file exclude
//! each other in one process too). A process that finds it locked locks a second file beside it,
//! `….next`, and gets the first file when it becomes free. Later writes queue behind it, including
//! the next write of the process that just had the turn. So no process starves another.
//!
//! Locks are taken in one order, a page's before the tree's, and never two of a kind, so there is
//! no deadlock. The holder removes a page's files; [`sweep`] removes those of a killed process.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as PlainMutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout};

use super::super::AuditError;
use super::blocking::blocking;
use super::fs;
use super::layout::AuditLayout;

/// Time between attempts to take the lock.
const POLL: Duration = Duration::from_millis(20);

/// A locked file of a wiki's directory; released when dropped, or when the process ends in any way.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct FileLock(File);

/// A locked file that is removed with its lock.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
struct PassingLock {
    path: PathBuf,
    _file: FileLock,
}

/// The right to create, move or delete in a wiki; released when dropped, or when the process ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct TreeLock {
    // Dropped in this order: whoever waits in this process finds the file free.
    _file: FileLock,
    _turn: OwnedMutexGuard<()>,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough while a child process that is just being started shares
        // it.
        let _ = self.0.unlock();
    }
}

impl Drop for PassingLock {
    fn drop(&mut self) {
        // Removed while locked: a process that has opened it meanwhile sees that the path no longer
        // names it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the lock of a wiki's tree, at least one try of it, or gives up after `wait`.
pub(in crate::audit) async fn lock_tree(
    place: &AuditLayout,
    turns: &Arc<Mutex<()>>,
    wait: Duration,
) -> Result<TreeLock, AuditError> {
    let asked = Instant::now();
    let turn = timeout(wait, Arc::clone(turns).lock_owned())
        .await
        .map_err(|_| AuditError::Busy)?;
    Ok(TreeLock {
        _file: lock_in_line(place.tree_lock(), wait.saturating_sub(asked.elapsed())).await?,
        _turn: turn,
    })
}

/// Takes the lock of a page, at least one try of it, or gives up after `wait`.
pub(in crate::audit) async fn lock_page(
    place: &AuditLayout,
    pages: &Arc<PageLocks>,
    id: i64,
    wait: Duration,
) -> Result<PageLock, AuditError> {
    let asked = Instant::now();
    let turn = timeout(wait, pages.lock(id))
        .await
        .map_err(|_| AuditError::Busy)?;
    let path = place.page_turn(id);
    let file = lock_in_line(path.clone(), wait.saturating_sub(asked.elapsed())).await?;
    Ok(PageLock {
        _file: PassingLock { path, _file: file },
        _turn: turn,
    })
}

/// Locks a file after all that already wait for it, with at least one try, or gives up after
/// `wait`.
async fn lock_in_line(path: PathBuf, wait: Duration) -> Result<FileLock, AuditError> {
    let asked = Instant::now();
    let mut next = path.clone().into_os_string();
    next.push(".next");
    let next = PathBuf::from(next);
    let (file, line) = (path.clone(), next.clone());
    let at_once = move || {
        if line.exists() {
            Ok(None)
        } else {
            try_lock(&file)
        }
    };
    if let Some(file) = blocking(at_once).await? {
        return Ok(FileLock(file));
    }
    let left = || wait.saturating_sub(asked.elapsed());
    let _next = PassingLock {
        _file: lock_file(next.clone(), left()).await?,
        path: next,
    };
    lock_file(path, left()).await
}

/// Removes the files of turns that no living process holds.
pub(in crate::audit) fn sweep(place: &AuditLayout) -> Result<(), AuditError> {
    let directory = place.turns();
    let failed = |error: std::io::Error| AuditError::at(&directory, "tidy the turns", &error);
    for entry in super::fs::entries(&directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(file) = try_lock(&path)? {
            drop(PassingLock {
                path,
                _file: FileLock(file),
            });
        }
    }
    Ok(())
}

/// Locks a file, made if it is not there, with at least one try, or gives up after `wait`.
pub(in crate::audit) async fn lock_file(
    path: PathBuf,
    wait: Duration,
) -> Result<FileLock, AuditError> {
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

/// The locked file; `None` while another process holds it.
fn try_lock(path: &Path) -> Result<Option<File>, AuditError> {
    let failed = |error: &std::io::Error| AuditError::at(path, "take a lock", error);
    let opened = match (fs::open_lock_file(path), path.parent()) {
        (Err(error), Some(directory)) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::make_dir(directory).and_then(|()| fs::open_lock_file(path))
        }
        (opened, _) => opened,
    };
    let file = opened.map_err(|error| failed(&error))?;
    match file.try_lock() {
        // The file may have been removed meanwhile, and a new one locked.
        Ok(()) => match fs::is_same_file(path, &file) {
            Ok(is_same) => Ok(is_same.then_some(file)),
            Err(error) => Err(failed(&error)),
        },
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

/// The turns of pages that this process writes or waits for; other pages have no entry.
#[derive(Debug, Default)]
pub(in crate::audit) struct PageLocks {
    locks: PlainMutex<HashMap<i64, Weak<Mutex<()>>>>,
}

/// The right to update a page; released when dropped, or when the process ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct PageLock {
    // Dropped in this order: whoever waits in this process finds the file free.
    _file: PassingLock,
    _turn: PageTurn,
}

/// A page's turn in this process; released when dropped.
#[derive(Debug)]
#[must_use = "the turn is held only as long as this lives"]
pub(in crate::audit) struct PageTurn {
    // Dropped in this order: a waiting write continues before the entry is checked.
    _turn: OwnedMutexGuard<()>,
    _ticket: Ticket,
}

/// An interest in a page's turn, held or waited for; the last one removes the entry.
#[derive(Debug)]
struct Ticket {
    id: i64,
    lock: Option<Arc<Mutex<()>>>,
    all: Arc<PageLocks>,
}

impl PageLocks {
    async fn lock(self: &Arc<Self>, id: i64) -> PageTurn {
        let lock = self.enter(id);
        let ticket = Ticket {
            id,
            lock: Some(Arc::clone(&lock)),
            all: Arc::clone(self),
        };
        PageTurn {
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
