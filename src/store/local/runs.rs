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
use super::{DiskResult as _, LocalStore, fs, if_there};
use crate::store::{
    DocumentKind, Documents as _, Durability, Lease, LeaseMode, LeaseName, Leases as _, ListedRun,
    RunBytes, RunWriter, Runs, StoreError, StoreResult,
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
    fn unpaused(&self) -> StoreResult<Option<Lease>> {
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
    fn begin_run(&self, name: &str, count: &str) -> StoreResult<Box<dyn RunWriter>> {
        let (directory, counted) = (self.run_directory(), self.count_path());
        fs::make_dir(&directory).at(&directory, "make directory")?;
        // No file is left of a run that could not be counted.
        let count_file = fs::open_lock_file(&counted).at(&counted, "open the count of runs")?;
        let path = directory.join(name);
        let file = fs::make_file(&path).at(&path, "make a run's file")?;
        file.try_lock().at(&path, "lock a run's file")?;
        let file = LockedFile(file);
        fcntl_setfl(&file.0, OFlags::APPEND).at(&path, "open a run's file")?;
        fs::sync_dir(&directory).at(&path, "keep the name of a run's file")?;
        let written = write_count(&count_file, &counted, count);
        written.at(&counted, "write the count of runs")?;
        Ok(Box::new(OwnFile {
            store: self.clone(),
            path,
            file,
            length: 0,
        }))
    }

    fn runs(&self) -> StoreResult<Vec<ListedRun>> {
        let directory = self.run_directory();
        let doing = "list the runs";
        let mut runs = Vec::new();
        for entry in fs::entries(&directory).at(&directory, doing)? {
            let path = entry.at(&directory, doing)?.path();
            // A purge may remove a file after it was listed.
            let looked_at = if_there(look_at(&path)).at(&directory, doing)?;
            runs.extend(looked_at.flatten());
        }
        runs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(runs)
    }

    fn open_run(&self, name: &str) -> StoreResult<Option<Box<dyn RunBytes>>> {
        let path = self.run_directory().join(name);
        let opened = if_there(File::open(&path)).at(&path, "read a run")?;
        Ok(opened.map(|file| -> Box<dyn RunBytes> { Box::new(file) }))
    }

    fn remove_run(&self, name: &str) -> StoreResult<bool> {
        let path = self.run_directory().join(name);
        let removed = File::open(&path).and_then(|file| match file.try_lock() {
            Ok(()) => std::fs::remove_file(&path).map(|()| true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        });
        let removed = if_there(removed).at(&path, "remove a run")?;
        Ok(removed.unwrap_or(false))
    }

    fn run_count(&self) -> StoreResult<Option<String>> {
        let path = self.count_path();
        let read = || {
            let (file, mut bytes) = (fs::open_file(&path)?, [0; MOST_COUNT]);
            let length = file.read_at(&mut bytes, 0)?;
            let bytes = bytes.get(..length).unwrap_or_default();
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        if_there(read()).at(&path, "read the count of runs")
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
            is_locked => is_locked.at(path, "look at a run's lock"),
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
    fn append(&mut self, lines: &[u8], until: Durability) -> StoreResult<()> {
        let is_unpaused = until == Durability::SyncedUnlessPaused;
        let _held = is_unpaused.then(|| self.store.unpaused()).transpose()?;
        self.check_in_place()?;
        #[cfg(any(test, feature = "testing"))]
        self.store.check_not_overtaken()?;
        let written = self.file.0.write_all(lines);
        written.at(&self.path, "write a record")?;
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        self.length = self.length.saturating_add(length);
        self.check_length()?;
        if until != Durability::Soon {
            self.file.0.sync_data().at(&self.path, "sync a record")?;
        }
        Ok(())
    }
}

impl OwnFile {
    /// Checks that the path still names our file, as we left it: a removed file accepts writes
    /// without an error.
    fn check_in_place(&self) -> StoreResult<()> {
        let is_same = fs::is_same_file(&self.path, &self.file.0);
        self.check_ours(is_same.at(&self.path, "find a run's file")?)?;
        self.check_length()
    }

    /// Checks that our file holds exactly what was written.
    fn check_length(&self) -> StoreResult<()> {
        let found = self.file.0.metadata().at(&self.path, "find a run's file")?;
        self.check_ours(found.len() == self.length)
    }

    /// The error if the file is not ours, as we left it.
    fn check_ours(&self, is_ours: bool) -> StoreResult<()> {
        if is_ours {
            return Ok(());
        }
        tracing::error!(path = %self.path.display(), "store: a run's file was removed or changed");
        Err(StoreError::Replaced)
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
