//! Looks at the files of a wiki: which the server cannot open, others may use, or have no room.

use std::fs::{Metadata, metadata, symlink_metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, accessat, openat, statvfs,
};
use rustix::io::Errno;

use super::fs::{self, WRITE_BY_OTHERS};
use super::{DiskResult as _, LocalStore, if_there};
use crate::private_files::{FileOwner, may_write_directory, nearest_existing};
use crate::store::{Store, StoreHealth, StoreResult};

impl Store for LocalStore {
    #[cfg(any(test, feature = "testing"))]
    fn is_remote(&self) -> bool {
        self.root.join("remote").exists()
    }

    fn tidy(&self) -> StoreResult<Vec<String>> {
        self.tidy_up()
    }

    fn is_there(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        let seen = metadata(&self.wiki);
        !seen.is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
    }

    fn probe(&self, size: usize) -> StoreResult<()> {
        let path = self.wiki.join("probe");
        let write = || -> io::Result<()> {
            fs::make_dir(&self.wiki)?;
            let written = fs::open_lock_file(&path).and_then(|mut file| {
                file.write_all(&vec![b' '; size])
                    .and_then(|()| file.sync_data())
            });
            // Another server or another probe may remove it first.
            let removed = if_there(std::fs::remove_file(&path));
            written.and(removed.map(drop))
        };
        write().at(&path, "write")
    }

    fn health(&self) -> StoreHealth {
        // Checked is the directory of runs, or its nearest existing parent.
        let runs = self.run_directory();
        let owner = self.owner();
        let other = owner.filter(|owner| !owner.is_us());
        let space = statvfs(nearest_existing(&runs)).ok();
        StoreHealth {
            is_read_only: { space.as_ref() }
                .is_some_and(|space| space.f_flag.contains(StatVfsMountFlags::RDONLY)),
            is_writable: may_write_directory(&runs),
            owner: owner.map(|owner| (owner.user, owner.group)),
            closed: self.closed_to(other.map_or(Eyes::Ours, Eyes::Of), None),
            writable_by_others: self.writable_by_others(),
            exposed: exposed(&self.wiki),
            free: space.map(|space| space.f_bavail.saturating_mul(space.f_frsize)),
        }
    }

    /// The directories, locks, runs and proposals; without the kept states, which may be many.
    fn closed(&self) -> Vec<PathBuf> {
        self.closed_to(Eyes::Ours, Some(&self.blob_directory()))
    }

    /// From the one of all wikis down. With such a directory, others could remove or replace the log.
    fn writable_by_others(&self) -> Vec<PathBuf> {
        let below = ["runs", "pages", "proposals", "approvals"];
        [self.root.clone(), self.wiki.clone()]
            .into_iter()
            .chain(below.map(|name| self.wiki.join(name)))
            .filter(|path| {
                let found = metadata(path).ok();
                found.is_some_and(|found| found.is_dir() && found.mode() & WRITE_BY_OTHERS != 0)
            })
            .collect()
    }
}

impl LocalStore {
    /// The files that cannot be opened, in order of name, without those in the directory `but`.
    fn closed_to(&self, eyes: Eyes, but: Option<&Path>) -> Vec<PathBuf> {
        let mut closed = Vec::new();
        if let Ok(found) = metadata(&self.wiki) {
            look(&self.wiki, &found, eyes, but, &mut closed);
        }
        closed.sort();
        closed
    }

    /// The user and group that serve from the directory: those of the root, or of the wiki's
    /// directory in it if the whole belongs to the superuser.
    fn owner(&self) -> Option<FileOwner> {
        let dirs = [&self.root, &self.wiki].into_iter();
        let owners = dirs.filter_map(|dir| Some(FileOwner::new(&metadata(dir).ok()?)));
        owners.reduce(|root, wiki| if root.user == 0 { wiki } else { root })
    }
}

/// The user whose access to the files is checked.
#[derive(Debug, Clone, Copy)]
enum Eyes {
    /// As the user that this process acts as: they are opened.
    Ours,
    /// The owner of the directory: checked by owners and modes.
    Of(FileOwner),
}

/// The access that is needed, as the bits of one of the three groups of a mode: to list, make and remove names in a
/// directory.
const IN_DIRECTORY: u32 = 0o7;
/// To lock a file.
const TO_LOCK: u32 = 0o6;
/// To read a file.
const TO_READ: u32 = 0o4;

impl Eyes {
    fn may(self, path: &Path, found: &Metadata, wanted: u32) -> bool {
        // A file that is gone by now is no obstacle, and a file system that is read-only is one of its own.
        let is_none = |error: Errno| matches!(error, Errno::NOENT | Errno::ROFS);
        match self {
            Self::Of(owner) => is_open_to(owner, found, wanted),
            Self::Ours if wanted == IN_DIRECTORY => {
                let needed = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
                accessat(CWD, path, needed, AtFlags::EACCESS).map_or_else(is_none, |()| true)
            }
            Self::Ours => {
                let how = if wanted == TO_LOCK {
                    OFlags::RDWR
                } else {
                    OFlags::RDONLY
                };
                // A pipe or device that somebody put there must not block this.
                let how = how | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                openat(CWD, path, how, Mode::empty()).map_or_else(is_none, |_| true)
            }
        }
    }
}

/// True if a mode gives a user access; only the owner's own group is known.
fn is_open_to(user: FileOwner, found: &Metadata, wanted: u32) -> bool {
    let shift = if user.user == 0 {
        return true;
    } else if found.uid() == user.user {
        6
    } else if found.gid() == user.group {
        3
    } else {
        0
    };
    (found.mode() >> shift) & wanted == wanted
}

fn look(path: &Path, found: &Metadata, eyes: Eyes, but: Option<&Path>, closed: &mut Vec<PathBuf>) {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let wanted = match ending {
        _ if found.is_dir() => IN_DIRECTORY,
        Some("lock" | "count") => TO_LOCK,
        _ => TO_READ,
    };
    if !eyes.may(path, found, wanted) {
        closed.push(path.to_owned());
    }
    if !found.is_dir() || but == Some(path) {
        return;
    }
    for entry in path.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        // A link's own mode means nothing, and none of our files is a link.
        let found = symlink_metadata(&path).ok();
        if let Some(found) = found.filter(|found| !found.is_symlink()) {
            look(&path, &found, eyes, but, closed);
        }
    }
}

/// Number of entries from here down that give access to others than their owner. Unreadable entries
/// do not count, nor do links, whose mode means nothing.
fn exposed(path: &Path) -> usize {
    let metadata = symlink_metadata(path).ok();
    let Some(metadata) = metadata.filter(|metadata| !metadata.is_symlink()) else {
        return 0;
    };
    let below = if metadata.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten();
        entries.flatten().map(|entry| exposed(&entry.path())).sum()
    } else {
        0
    };
    below + usize::from(metadata.permissions().mode() & 0o077 != 0)
}
