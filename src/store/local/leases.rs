//! Gives leases as locked files (`flock`): the kernel gives one back however a process ends, and two
//! openings of a file exclude each other in one process too.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{DiskResult as _, LocalStore, fs, if_there};
use crate::store::leases::{HeldAs, LeaseScope};
use crate::store::{Lease, LeaseMode, LeaseName, Leases, StoreError, StoreResult};

/// A locked file; unlocked when dropped.
#[derive(Debug)]
pub(super) struct LockedFile(pub(super) File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file is not enough while a child process that is just being started shares
        // it.
        let _ = self.0.unlock();
    }
}

/// A locked file that is removed with its lock.
#[derive(Debug)]
struct PassingFile {
    path: PathBuf,
    /// Unlocked after the file is removed.
    #[expect(dead_code, reason = "held for its end alone")]
    file: LockedFile,
}

impl Drop for PassingFile {
    fn drop(&mut self) {
        // Removed while locked: a process that has opened it meanwhile sees that the path no longer
        // names it.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl HeldAs for LockedFile {}

impl HeldAs for PassingFile {}

impl LocalStore {
    fn turns(&self) -> PathBuf {
        self.wiki.join("turns")
    }

    fn lease_path(&self, name: &LeaseName) -> PathBuf {
        let file = format!("{}.lock", name.as_str());
        match name.scope() {
            LeaseScope::Wiki => self.wiki.join(file),
            LeaseScope::AllWikis => self.root.join(file),
            LeaseScope::Passing => self.turns().join(file),
        }
    }
}

impl Leases for LocalStore {
    fn try_lease(&self, name: &LeaseName, mode: LeaseMode) -> StoreResult<Option<Lease>> {
        let path = self.lease_path(name);
        let file = try_lock(&path, mode).at(&path, "take a lease")?;
        Ok(file.map(|file| {
            let file = LockedFile(file);
            if name.scope() == LeaseScope::Passing {
                Lease::new(PassingFile { path, file })
            } else {
                Lease::new(file)
            }
        }))
    }

    fn may_be_held(&self, name: &LeaseName) -> bool {
        self.lease_path(name).exists()
    }

    fn sweep_leases(&self) -> StoreResult<()> {
        let directory = self.turns();
        let doing = "tidy the leases";
        for entry in fs::entries(&directory).at(&directory, doing)? {
            let path = entry.at(&directory, doing)?.path();
            match try_lock(&path, LeaseMode::Alone) {
                Ok(Some(file)) => {
                    let file = LockedFile(file);
                    drop(PassingFile { path, file });
                }
                Ok(None) => {}
                // Something else that was put there; it is in the way of its own name alone.
                Err(error) => drop(StoreError::at(&path, "tidy a lease", &error)),
            }
        }
        Ok(())
    }
}

/// The locked file, made if it is not there; `None` while somebody else holds it.
fn try_lock(path: &Path, mode: LeaseMode) -> io::Result<Option<File>> {
    let file = match (if_there(fs::open_lock_file(path))?, path.parent()) {
        (None, Some(directory)) => {
            fs::make_dir(directory)?;
            fs::open_lock_file(path)?
        }
        (None, None) => return Err(io::ErrorKind::NotFound.into()),
        (Some(file), _) => file,
    };
    let locked = match mode {
        LeaseMode::Shared => file.try_lock_shared(),
        LeaseMode::Alone => file.try_lock(),
    };
    match locked {
        // The file may have been removed meanwhile, and a new one locked.
        Ok(()) => Ok(fs::is_same_file(path, &file)?.then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
