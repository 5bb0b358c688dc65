//! Checks the audit directory without writing into it.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};

use super::super::disk::blocking::blocking;
use super::super::disk::layout::AuditLayout;
use super::super::entry::chain::{self, ChainBreak, ChainFault};
use super::super::run::open_attempts::open_attempts;
use super::super::run::reader::runs;
use super::super::{AuditError, LogUpkeep};
use super::permissions::{Eyes, closed, writable_by_others};
use crate::private_files::FileOwner;

/// The state of the audit directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The directory of this wiki's records.
    pub directory: PathBuf,
    /// True if the directory exists; the first write makes it.
    pub exists: bool,
    /// True if records can be written there, or the directory can be made.
    pub is_writable: bool,
    /// The user and group that own the directory and serve from it.
    pub owner: Option<(u32, u32)>,
    /// Files that this user cannot open; if there are any, chains and attempts are not checked.
    pub closed: Vec<PathBuf>,
    /// The directories that others than their owner may write.
    pub writable_by_others: Vec<PathBuf>,
    /// The files and directories that others than their owner may read or write.
    pub exposed: usize,
    /// The free space in bytes, if known.
    pub free: Option<u64>,
    /// Number of runs.
    pub runs: usize,
    /// The runs whose chain does not hold, and where it breaks.
    pub broken: Vec<(String, ChainBreak)>,
    /// Number of attempts of ended runs without an outcome.
    pub open: usize,
}

impl LogUpkeep {
    /// Checks the directory: rights, space, chains, open attempts. Reads every run.
    ///
    /// # Errors
    /// If the runs cannot be listed or read.
    pub async fn health(&self) -> Result<Health, AuditError> {
        let place = self.place.clone();
        blocking(move || health(&place)).await
    }
}

fn health(place: &AuditLayout) -> Result<Health, AuditError> {
    // Checked is the directory of runs, or its nearest existing parent.
    let runs_dir = place.runs();
    let nearest = runs_dir.ancestors().find(|above| above.exists());
    let nearest = nearest.unwrap_or(Path::new("."));
    let needed = Access::WRITE_OK | Access::EXEC_OK;
    let owner = owner(place);
    let other = owner.filter(|owner| !owner.is_us());
    let eyes = other.map_or(Eyes::Ours, Eyes::Of);
    let mut health = Health {
        directory: place.wiki.clone(),
        exists: place.is_there(),
        is_writable: nearest.is_dir() && accessat(CWD, nearest, needed, AtFlags::EACCESS).is_ok(),
        owner: owner.map(|owner| (owner.user, owner.group)),
        closed: closed(place, eyes, true),
        writable_by_others: writable_by_others(place),
        exposed: exposed(&place.wiki),
        free: statvfs(nearest)
            .ok()
            .map(|space| space.f_bavail.saturating_mul(space.f_frsize)),
        runs: 0,
        broken: Vec::new(),
        open: 0,
    };
    if !health.closed.is_empty() {
        return Ok(health);
    }
    let runs = runs(place)?;
    health.runs = runs.len();
    health.open = open_attempts(place, None)?.len();
    for run in &runs {
        let verified = match File::open(&run.path) {
            Ok(file) => chain::verify(BufReader::new(file)),
            // A purge may have removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => Err(ChainBreak {
                line: 1,
                fault: ChainFault::Io(error.kind()),
            }),
        };
        if let Err(broken) = verified {
            health.broken.push((run.name().to_owned(), broken));
        }
    }
    Ok(health)
}

/// The user and group that serve from the directory: those of the audit directory, or of the wiki's
/// directory in it if the whole belongs to root.
fn owner(place: &AuditLayout) -> Option<FileOwner> {
    let dirs = place.wiki.parent().into_iter().chain([&*place.wiki]);
    let owners = dirs.filter_map(|dir| Some(FileOwner::new(&std::fs::metadata(dir).ok()?)));
    owners.reduce(|root, wiki| if root.user == 0 { wiki } else { root })
}

/// Number of entries from here down that give access to others than their owner. Unreadable entries
/// do not count, nor do links, whose mode means nothing.
fn exposed(path: &Path) -> usize {
    let metadata = std::fs::symlink_metadata(path).ok();
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
