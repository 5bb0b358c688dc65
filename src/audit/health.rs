//! How the audit directory is doing, without writing anything into it.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};

use super::chain::{self, Broken, Fault};
use super::log::blocking;
use super::open::open_attempts;
use super::place::Place;
use super::reader::runs;
use super::{AuditError, AuditLog};

/// How the audit directory is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The directory of this wiki's records.
    pub directory: PathBuf,
    /// Whether it is there; the first write makes it.
    pub exists: bool,
    /// Whether records can be written there, or the directory be made.
    pub is_writable: bool,
    /// The files and directories that others than their owner may read or write.
    pub exposed: usize,
    /// The free space in bytes, where the system tells it.
    pub free: Option<u64>,
    /// How many runs there are.
    pub runs: usize,
    /// The runs whose chain does not hold, and where it breaks.
    pub broken: Vec<(String, Broken)>,
    /// How many attempts have no outcome, of runs that are no more.
    pub open: usize,
}

impl AuditLog {
    /// Looks at the directory: rights, space, chains, open attempts. Reads every run.
    ///
    /// # Errors
    /// If the runs cannot be listed or read.
    pub async fn health(&self) -> Result<Health, AuditError> {
        let place = self.place();
        blocking(move || health(&place)).await
    }
}

fn health(place: &Place) -> Result<Health, AuditError> {
    // Records go into the directory of runs; where it is not there yet, into the nearest above.
    let runs_dir = place.runs();
    let nearest = runs_dir.ancestors().find(|above| above.exists());
    let nearest = nearest.unwrap_or(Path::new("."));
    let needed = Access::WRITE_OK | Access::EXEC_OK;
    let runs = runs(place)?;
    let mut health = Health {
        directory: place.wiki.clone(),
        exists: place.wiki.exists(),
        is_writable: nearest.is_dir() && access(nearest, needed).is_ok(),
        exposed: exposed(&place.wiki),
        free: statvfs(nearest)
            .ok()
            .map(|space| space.f_bavail.saturating_mul(space.f_frsize)),
        runs: runs.len(),
        broken: Vec::new(),
        open: open_attempts(place, None)?.len(),
    };
    for run in &runs {
        let verified = match File::open(&run.path) {
            Ok(file) => chain::verify(BufReader::new(file)),
            // A purge may have taken it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => Err(Broken {
                line: 1,
                fault: Fault::Io(error.kind()),
            }),
        };
        if let Err(broken) = verified {
            health.broken.push((run.name().to_owned(), broken));
        }
    }
    Ok(health)
}

/// How many entries from here on down let others in than their owner. What cannot be looked at
/// does not count, nor does a link, whose mode says nothing.
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
