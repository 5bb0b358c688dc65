//! Keeps runs as files that are appended to, locked while their writer lives; `runs.count` counts them.
//!
//! Whether a run is locked is asked with a shared lock, and only for a file that is not empty: its maker
//! locks it before writing, and our lock could otherwise be in its way.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};

use super::leases::LockedFile;
use super::{LocalStore, fs, if_there};
use crate::store::{
    DocumentKind, Documents as _, Durability, Lease, LeaseMode, LeaseName, Leases as _, ListedRun,
    RunBytes, RunWriter, Runs, StoreError,
};

/// Time for which an empty file counts as just being made.
const BEING_MADE: Duration = Duration::from_mins(1);
/// Time after which the system itself has written a file to the disk: half a minute is usual.
const WRITTEN_BACK: Duration = Duration::from_mins(10);
/// The most bytes of the text that counts runs.
const MOST_COUNT: usize = 64;

impl LocalStore {
    pub(super) fn run_directory(&self) -> PathBuf {
        self.wiki.join("runs")
    }

    pub(super) fn count_path(&self) -> PathBuf {
        self.wiki.join("runs.count")
    }

    /// Finds no pause; none is done while the lease is held. Where this process may not take the lease, the look
    /// alone counts.
    fn unpaused(&self) -> Result<Option<Lease>, StoreError> {
        let look = || match self.document(DocumentKind::Pause, "") {
            Ok(None) => Ok(()),
            _ => Err(StoreError::Paused),
        };
        // Whoever is refused already keeps no pause waiting.
        look()?;
        let held = match self.try_lease(&LeaseName::PAUSE, LeaseMode::Shared) {
            Err(StoreError::Foreign(_) | StoreError::Io(io::ErrorKind::PermissionDenied)) => None,
            // Whoever pauses holds it after the pause was written.
            held => Some(held?.ok_or(StoreError::Paused)?),
        };
        look().map(|()| held)
    }
}

impl Runs for LocalStore {
    fn begin_run(&self, name: &str, count: &str) -> Result<Box<dyn RunWriter>, StoreError> {
        let (directory, counted) = (self.run_directory(), self.count_path());
        fs::make_dir(&directory)
            .map_err(|error| StoreError::at(&directory, "make directory", &error))?;
        // No file is left of a run that could not be counted.
        let count_file = fs::open_lock_file(&counted)
            .map_err(|error| StoreError::at(&counted, "open the count of runs", &error))?;
        let path = directory.join(name);
        let failed = |doing: &str, error: &io::Error| StoreError::at(&path, doing, error);
        let file = fs::make_file(&path).map_err(|error| failed("make a run's file", &error))?;
        file.try_lock()
            .map_err(|error| failed("lock a run's file", &error.into()))?;
        let file = LockedFile(file);
        fcntl_setfl(&file.0, OFlags::APPEND)
            .map_err(|error| failed("open a run's file", &error.into()))?;
        fs::sync_dir(&directory)
            .map_err(|error| failed("keep the name of a run's file", &error))?;
        write_count(&count_file, &counted, count)
            .map_err(|error| StoreError::at(&counted, "write the count of runs", &error))?;
        Ok(Box::new(OwnFile {
            store: self.clone(),
            path,
            file,
            length: 0,
        }))
    }

    fn runs(&self) -> Result<Vec<ListedRun>, StoreError> {
        let directory = self.run_directory();
        let failed = |error: io::Error| StoreError::at(&directory, "list the runs", &error);
        let mut runs = Vec::new();
        for entry in fs::entries(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // A purge may remove a file after it was listed.
            let looked_at = if_there(look_at(&path)).map_err(failed)?;
            runs.extend(looked_at.flatten());
        }
        runs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(runs)
    }

    fn open_run(&self, name: &str) -> Result<Option<Box<dyn RunBytes>>, StoreError> {
        let path = self.run_directory().join(name);
        let opened = if_there(File::open(&path));
        let opened = opened.map_err(|error| StoreError::at(&path, "read a run", &error))?;
        Ok(opened.map(|file| -> Box<dyn RunBytes> { Box::new(file) }))
    }

    fn remove_run(&self, name: &str) -> Result<bool, StoreError> {
        let path = self.run_directory().join(name);
        let removed = File::open(&path).and_then(|file| match file.try_lock() {
            Ok(()) => std::fs::remove_file(&path).map(|()| true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        });
        let removed =
            if_there(removed).map_err(|error| StoreError::at(&path, "remove a run", &error))?;
        Ok(removed.unwrap_or(false))
    }

    fn run_count(&self) -> Result<Option<String>, StoreError> {
        let path = self.count_path();
        let read = || {
            let (file, mut bytes) = (File::open(&path)?, [0; MOST_COUNT]);
            let length = file.read_at(&mut bytes, 0)?;
            let bytes = bytes.get(..length).unwrap_or_default();
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        if_there(read()).map_err(|error| StoreError::at(&path, "read the count of runs", &error))
    }
}

/// Writes the count, of the same length each time, so that whoever reads it meanwhile finds one; a new
/// count is on the disk before the first run has a record.
fn write_count(file: &File, path: &Path, count: &str) -> io::Result<()> {
    let is_new = file.metadata()?.len() == 0;
    file.write_all_at(count.as_bytes(), 0)?;
    if is_new {
        file.sync_all()?;
        path.parent().map_or(Ok(()), fs::sync_dir)?;
    }
    Ok(())
}

/// The run at this path; `None` if it is not a run.
fn look_at(path: &Path) -> io::Result<Option<ListedRun>> {
    let is_run = path.extension().is_some_and(|ending| ending == "jsonl");
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| is_run) else {
        return Ok(None);
    };
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Ok(None);
    }
    let (length, changed) = (found.len(), found.modified()?);
    let is_held = if length == 0 {
        Ok(changed.elapsed().unwrap_or_default() < BEING_MADE)
    } else {
        match is_locked(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            is_locked => {
                is_locked.map_err(|error| StoreError::at(path, "look at a run's lock", &error))
            }
        }
    };
    Ok(Some(ListedRun {
        name: name.to_owned(),
        length,
        changed,
        is_held,
    }))
}

fn is_locked(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The file of a run that this process writes, held since it was made.
#[derive(Debug)]
struct OwnFile {
    store: LocalStore,
    path: PathBuf,
    file: LockedFile,
    length: u64,
}

impl RunWriter for OwnFile {
    fn append(&mut self, lines: &[u8], until: Durability) -> Result<(), StoreError> {
        let is_unpaused = until == Durability::SyncedUnlessPaused;
        let _held = is_unpaused.then(|| self.store.unpaused()).transpose()?;
        self.check_in_place()?;
        let written = self.file.0.write_all(lines);
        written.map_err(|error| self.failed("write a record", &error))?;
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        self.length = self.length.saturating_add(length);
        self.check_length()?;
        if until != Durability::Soon {
            let synced = self.file.0.sync_data();
            synced.map_err(|error| self.failed("sync a record", &error))?;
        }
        Ok(())
    }
}

impl OwnFile {
    /// Checks that the path still names our file, as we left it: a removed file accepts writes
    /// without an error.
    fn check_in_place(&self) -> Result<(), StoreError> {
        match fs::is_same_file(&self.path, &self.file.0) {
            Ok(true) => self.check_length(),
            Ok(false) => Err(self.replaced()),
            Err(error) => Err(self.failed("find a run's file", &error)),
        }
    }

    /// Checks that our file holds exactly what was written.
    fn check_length(&self) -> Result<(), StoreError> {
        match self.file.0.metadata() {
            Ok(found) if found.len() == self.length => Ok(()),
            Ok(_) => Err(self.replaced()),
            Err(error) => Err(self.failed("find a run's file", &error)),
        }
    }

    fn replaced(&self) -> StoreError {
        tracing::error!(path = %self.path.display(), "store: a run's file was removed or changed");
        StoreError::Replaced
    }

    fn failed(&self, doing: &str, error: &io::Error) -> StoreError {
        StoreError::at(&self.path, doing, error)
    }
}

impl RunBytes for File {
    fn read_at(&mut self, start: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, into, start)
    }

    fn synced_length(&mut self) -> io::Result<u64> {
        let found = self.metadata()?;
        let age = found.modified()?.elapsed().unwrap_or_default();
        // A system without such a call, as of a copy that may only be read, has nothing to write.
        if age < WRITTEN_BACK
            && let Err(error) = self.sync_data()
            && !matches!(
                error.kind(),
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::InvalidInput
            )
        {
            return Err(error);
        }
        Ok(found.len())
    }
}
