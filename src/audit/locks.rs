//! One write at a time, to the tree of a wiki and to a page, in this process and across all that
//! share the audit directory.
//!
//! In a process, writes take turns first come, first served. Among processes a locked file
//! decides (`flock`: the kernel gives it back however a process ends, and two openings of a file
//! exclude each other in one process too). Whoever finds it locked locks a second file beside it,
//! `….next`, and has the first when it comes free: whoever comes later, the next write of the
//! process that just had the turn among them, queues behind. So no process starves another.
//!
//! Locks are taken in one order, a page's before the tree's, and never two of a kind, so nobody
//! waits in a ring. The files of pages are removed by whoever holds them; what a killed process
//! leaves, [`sweep`] removes.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as PlainMutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout};

use super::blocking::blocking;
use super::place::Place;
use super::{AuditError, fs};

/// How long to wait before another process is asked again whether it is done.
const POLL: Duration = Duration::from_millis(20);

/// A locked file of a wiki's directory; given back when dropped, or when the process ends,
/// however it ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct FileLock(File);

/// A locked file that goes with its lock.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
struct PassingLock {
    path: PathBuf,
    _file: FileLock,
}

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

impl Drop for PassingLock {
    fn drop(&mut self) {
        // Still locked: whoever has opened it meanwhile finds that the path names it no more.
        let _ = std::fs::remove_file(&self.path);
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
        _file: lock_in_line(place.tree_lock(), wait.saturating_sub(asked.elapsed())).await?,
        _turn: turn,
    })
}

/// Takes the lock of a page, at least one try of it, or gives up after `wait`.
pub(super) async fn lock_page(
    place: &Place,
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

/// Locks a file behind all who wait for it, with at least one try, or gives up after `wait`.
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
pub(super) fn sweep(place: &Place) -> Result<(), AuditError> {
    let directory = place.turns();
    let failed = |error: &std::io::Error| AuditError::at(&directory, "tidy the turns", error);
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    for entry in entries {
        let path = entry.map_err(|error| failed(&error))?.path();
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
    let opened = match (fs::open_lock_file(path), path.parent()) {
        (Err(error), Some(directory)) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::make_dir(directory).and_then(|()| fs::open_lock_file(path))
        }
        (opened, _) => opened,
    };
    let file = opened.map_err(|error| failed(&error))?;
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

/// The turns of the pages that this process writes or waits for; no other page has an entry.
#[derive(Debug, Default)]
pub(super) struct PageLocks {
    locks: PlainMutex<HashMap<i64, Weak<Mutex<()>>>>,
}

/// The right to update a page; given back when dropped, or when the process ends.
#[derive(Debug)]
#[must_use = "the lock is held only as long as this lives"]
pub struct PageLock {
    // Dropped in this order: whoever waits in this process finds the file free.
    _file: PassingLock,
    _turn: PageTurn,
}

/// A page's turn in this process; given back when dropped.
#[derive(Debug)]
#[must_use = "the turn is held only as long as this lives"]
pub(super) struct PageTurn {
    // Dropped in this order: whoever waits goes on before the entry is looked at.
    _turn: OwnedMutexGuard<()>,
    _ticket: Ticket,
}

/// An interest in a page's turn, held or waited for; the last one takes the entry away.
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
