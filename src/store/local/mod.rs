//! The store as files: a directory a wiki, below one of all wikis.
//!
//! ```text
//! <root>/PAUSED.json                        the pause of all wikis
//! <root>/PAUSED.lock                        its lease
//! <root>/sessions/<name>.json               sign-ins of people at the review page
//! <root>/delegates/<name>.json              clients that other clients made for a task
//! <root>/servers/<name>.json                servers over HTTP that take delegates
//! <root>/last-uses/<name>.json              empty; the file's time is that of a client's last use
//! <root>/turns/<name>.lock                  leases of these documents
//! <root>/<wiki>/pages/<name>.json.gz        blobs
//! <root>/<wiki>/runs/<name>                 runs, of which each is locked by its writer
//! <root>/<wiki>/runs.count                  the number of the last run
//! <root>/<wiki>/proposals/<name>.json       documents, a directory a kind
//! <root>/<wiki>/drafts/<name>.json
//! <root>/<wiki>/approvals/<name>.json
//! <root>/<wiki>/memory/<name>.jsonl
//! <root>/<wiki>/anchors.fault
//! <root>/<wiki>/mirror/seen/<name>.json    pages that a mirror knows; its blobs and leases beside them
//! <root>/<wiki>/<name>.lock                 leases
//! <root>/<wiki>/turns/<name>.lock           those of pages and documents, while somebody has them
//! ```
//!
//! Beside these `index.sqlite` says where lines are in the runs of a large log.
//!
//! Directories are 0700 and files 0600. Whatever is written is there whole or not at all, and synced before
//! a function returns; what is removed from the blobs, with `sync_removed`. Copies are made in a new directory.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this store keeps files"
)]

mod backup;
mod blobs;
mod documents;
pub mod fs;
mod health;
mod leases;
pub(crate) mod line_index;
mod runs;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::{MIRROR, StoreError, StoreResult};

/// The files of one wiki.
#[derive(Debug, Clone)]
pub struct LocalStore {
    root: PathBuf,
    wiki: PathBuf,
    /// The number of documents that were read.
    #[cfg(any(test, feature = "testing"))]
    pub documents_read: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    /// The number of times that documents were listed.
    #[cfg(any(test, feature = "testing"))]
    pub documents_listed: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl LocalStore {
    /// The files in this directory of a root; without one only what all wikis share. Touches nothing
    /// on the disk.
    pub fn new(root: &Path, wiki: &str) -> Self {
        Self {
            root: root.to_owned(),
            wiki: root.join(wiki),
            #[cfg(any(test, feature = "testing"))]
            documents_read: std::sync::Arc::default(),
            #[cfg(any(test, feature = "testing"))]
            documents_listed: std::sync::Arc::default(),
        }
    }

    /// The files of this wiki's mirror.
    pub(super) fn mirror(&self) -> Self {
        Self {
            wiki: self.wiki.join(MIRROR),
            ..self.clone()
        }
    }

    /// The same, as if other servers reached it and all that lies in its root from elsewhere.
    ///
    /// # Errors
    /// The mark could not be written.
    #[cfg(any(test, feature = "testing"))]
    pub fn remote(self) -> std::io::Result<Self> {
        std::fs::write(self.root.join("remote"), "").map(|()| self)
    }

    /// Says once that others may have what this process held, if a test has left a mark for it.
    #[cfg(any(test, feature = "testing"))]
    fn check_not_overtaken(&self) -> StoreResult<()> {
        match std::fs::remove_file(self.root.join("overtaken")) {
            Ok(()) => Err(StoreError::Overtaken),
            Err(_) => Ok(()),
        }
    }

    /// The names of the directories of a root that hold runs, in order.
    pub(super) fn wikis(root: &Path) -> Vec<String> {
        let entries = root.read_dir().into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path().join("runs").is_dir())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl StoreError {
    /// Turns a disk error into ours, and logs the path in the program's own log.
    pub fn at(path: &Path, doing: &str, error: &io::Error) -> Self {
        tracing::error!(path = %path.display(), %error, "store: cannot {doing}");
        if is_without_locks(error) {
            return Self::NoLocks;
        }
        let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
        match fs::other_owner(path).filter(|_| is_denied) {
            Some(owner) => Self::Foreign(owner),
            None => Self::Io(error.kind()),
        }
    }
}

/// The outcome of work on the disk.
trait DiskResult<T> {
    /// The same, with [`StoreError::at`] in place of a disk error.
    fn at(self, path: &Path, doing: &str) -> StoreResult<T>;
}

impl<T, E: Into<io::Error>> DiskResult<T> for Result<T, E> {
    fn at(self, path: &Path, doing: &str) -> StoreResult<T> {
        self.map_err(|error| StoreError::at(path, doing, &error.into()))
    }
}

/// True if a file system, most often one of a network, refuses to lock files.
fn is_without_locks(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS]
        .iter()
        .any(|refusal| code == Some(refusal.raw_os_error()))
}

/// `None` for what is not there.
fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
