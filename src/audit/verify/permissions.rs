//! Finds parts of the audit directory that the server cannot open, or that others may write.

use std::fs::{Metadata, metadata, symlink_metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, openat};
use rustix::io::Errno;

use super::super::disk::blocking::blocking;
use super::super::disk::layout::AuditLayout;
use super::super::{AuditError, LogUpkeep};
use crate::private_files::FileOwner;

/// Bits of a mode: others than the owner may write.
const WRITE_BY_OTHERS: u32 = 0o022;

impl LogUpkeep {
    /// The directories that others than their owner may write, from the audit directory down. With
    /// such a directory, others could remove or replace the log. Blocks.
    #[must_use]
    pub fn writable_by_others(&self) -> Vec<PathBuf> {
        writable_by_others(&self.place)
    }

    /// Checks that this process, with its user, can open all that a server needs.
    ///
    /// # Errors
    /// [`AuditError::Exposed`], [`AuditError::Closed`].
    pub(in crate::audit) async fn check_open(&self) -> Result<(), AuditError> {
        let place = self.place.clone();
        blocking(move || {
            if !writable_by_others(&place).is_empty() {
                return Err(AuditError::Exposed);
            }
            let closed = closed(&place, Eyes::Ours, false);
            let Some(first) = closed.first() else {
                return Ok(());
            };
            tracing::error!(path = %first.display(), count = closed.len(), "audit: cannot open what others made");
            Err(AuditError::Closed(closed.len()))
        })
        .await
    }
}

/// The user whose access to the files is checked.
#[derive(Debug, Clone, Copy)]
pub(in crate::audit) enum Eyes {
    /// As the user that this process acts as: they are opened.
    Ours,
    /// The owner of the directory: checked by owners and modes.
    Of(FileOwner),
}

/// The access that is needed.
#[derive(Debug, Clone, Copy)]
enum RequiredAccess {
    /// To list, make and remove names in a directory.
    Directory,
    /// To lock a file.
    Lock,
    /// To read a file.
    Text,
}

impl RequiredAccess {
    /// The bits of one of the three groups of a mode.
    const fn bits(self) -> u32 {
        match self {
            Self::Directory => 0o7,
            Self::Lock => 0o6,
            Self::Text => 0o4,
        }
    }
}

impl Eyes {
    fn may(self, path: &Path, found: &Metadata, wanted: RequiredAccess) -> bool {
        match (self, wanted) {
            (Self::Ours, RequiredAccess::Directory) => {
                let needed = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
                accessat(CWD, path, needed, AtFlags::EACCESS).is_ok()
            }
            (Self::Ours, RequiredAccess::Lock | RequiredAccess::Text) => {
                let how = match wanted {
                    RequiredAccess::Lock => OFlags::RDWR,
                    RequiredAccess::Directory | RequiredAccess::Text => OFlags::RDONLY,
                };
                // A pipe or device that somebody put there must not block this.
                let how = how | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                // A file that is gone by now is no obstacle.
                let opened = openat(CWD, path, how, Mode::empty());
                opened.map_or_else(|error| error == Errno::NOENT, |_| true)
            }
            (Self::Of(owner), _) => is_open_to(owner, found, wanted),
        }
    }
}

/// True if a mode gives a user access; only the owner's own group is known.
fn is_open_to(user: FileOwner, found: &Metadata, wanted: RequiredAccess) -> bool {
    let shift = if user.user == 0 {
        return true;
    } else if found.uid() == user.user {
        6
    } else if found.gid() == user.group {
        3
    } else {
        0
    };
    (found.mode() >> shift) & wanted.bits() == wanted.bits()
}

/// The directories, locks, runs and proposals that cannot be opened, in order of name; with `all`
/// also the kept states, which may be many.
pub(in crate::audit) fn closed(place: &AuditLayout, eyes: Eyes, all: bool) -> Vec<PathBuf> {
    let mut closed = Vec::new();
    let pages = place.wiki.join("pages");
    let but = (!all).then_some(&*pages);
    if let Ok(found) = metadata(&place.wiki) {
        look(&place.wiki, &found, eyes, but, &mut closed);
    }
    closed.sort();
    closed
}

fn look(path: &Path, found: &Metadata, eyes: Eyes, but: Option<&Path>, closed: &mut Vec<PathBuf>) {
    let wanted = if found.is_dir() {
        RequiredAccess::Directory
    } else if path
        .extension()
        .is_some_and(|ending| ending == "lock" || ending == "count")
    {
        RequiredAccess::Lock
    } else {
        RequiredAccess::Text
    };
    let is_open = eyes.may(path, found, wanted);
    if !is_open {
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

pub(in crate::audit) fn writable_by_others(place: &AuditLayout) -> Vec<PathBuf> {
    let root = place.wiki.parent().map(Path::to_owned);
    let below = [
        place.wiki.clone(),
        place.runs(),
        place.wiki.join("pages"),
        place.wiki.join("proposals"),
        place.wiki.join("approvals"),
    ];
    root.into_iter()
        .chain(below)
        .filter(|path| {
            let found = metadata(path).ok();
            found.is_some_and(|found| found.is_dir() && found.mode() & WRITE_BY_OTHERS != 0)
        })
        .collect()
}
