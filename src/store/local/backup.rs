//! Copies a wiki's state while servers work on it, and tidies what killed processes left.
//!
//! Documents are copied, then the runs that tell of them: both again if a document changed meanwhile, so
//! that no run tells of one that is not there. Then come the kept states, which were there before the
//! lines that name them. Whoever copies holds the lease to purge.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{LocalStore, fs, if_there};
use crate::store::{BackedUp, StoreError};

/// A temporary file that is older was left behind by a killed process.
const LEFT_BEHIND: Duration = Duration::from_hours(1);
/// What is replaced whole, in a wiki's directory.
const DOCUMENTS: [&str; 4] = ["proposals", "drafts", "memory", "anchors.fault"];
/// The runs: their count first, which must not be ahead of them.
const RUNS: [&str; 2] = ["runs.count", "runs"];
/// The kept states.
const STATES: &str = "pages";
/// How often documents and runs are copied if documents change meanwhile.
const TRIES: usize = 8;
/// Number of bytes read at once while the end of a last line is looked for.
const CHUNK: u64 = 8 * 1024;

impl LocalStore {
    pub(super) fn back_up_to(&self, to: &Path) -> Result<BackedUp, StoreError> {
        let failed = |error: &io::Error| StoreError::at(to, "write a backup", error);
        let there = fs::entries(to).map_err(|error| failed(&error))?.count();
        if there > 0 {
            return Err(StoreError::Unfit("is not an empty directory"));
        }
        let name = self.wiki.file_name().unwrap_or_default();
        let of_wiki = to.join(name);
        fs::make_dir(&of_wiki).map_err(|error| failed(&error))?;
        let mut copied = BackedUp::default();
        let paused = "PAUSED.json";
        copy(&self.root.join(paused), &to.join(paused), &mut copied)?;
        let mut tries = 0..TRIES;
        loop {
            if tries.next().is_none() {
                return Err(StoreError::Busy);
            }
            let before = self.documents_now()?;
            let mut again = copied;
            for name in DOCUMENTS.into_iter().chain(RUNS) {
                let to = of_wiki.join(name);
                remove(&to).map_err(|error| failed(&error))?;
                copy_either(&self.wiki.join(name), &to, &mut again)?;
            }
            if self.documents_now()? == before {
                copied = again;
                break;
            }
        }
        copy_either(&self.wiki.join(STATES), &of_wiki.join(STATES), &mut copied)?;
        for directory in [&of_wiki, to] {
            fs::sync_dir(directory).map_err(|error| failed(&error))?;
        }
        Ok(copied)
    }

    /// All documents, with their times.
    fn documents_now(&self) -> Result<Vec<(PathBuf, SystemTime)>, StoreError> {
        let mut all = Vec::new();
        for name in DOCUMENTS {
            let directory = self.wiki.join(name);
            let failed = |error: io::Error| StoreError::at(&directory, "list a directory", &error);
            if !directory.is_dir() {
                continue;
            }
            for entry in fs::entries(&directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                // One that is gone by now is not in the next list either.
                let changed = entry.metadata().and_then(|found| found.modified());
                all.extend(changed.ok().map(|changed| (entry.path(), changed)));
            }
        }
        all.sort();
        Ok(all)
    }

    pub(super) fn tidy_up(&self) -> Result<Vec<String>, StoreError> {
        let mut removed = Vec::new();
        let below = ["", "proposals", "drafts", "memory", "pages"].map(|name| self.wiki.join(name));
        for directory in below.iter().chain([&self.root]) {
            let failed = |error: io::Error| StoreError::at(directory, "tidy a directory", &error);
            for entry in fs::entries(directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let file = entry.file_name().to_string_lossy().into_owned();
                let found = entry.metadata().ok().filter(Metadata::is_file);
                let changed = found.and_then(|found| found.modified().ok());
                let is_old = changed.is_some_and(|changed| {
                    SystemTime::now()
                        .duration_since(changed)
                        .is_ok_and(|age| age > LEFT_BEHIND)
                });
                let is_ours = file.starts_with('.')
                    && Path::new(&file).extension().is_some_and(|it| it == "tmp");
                if is_old && is_ours {
                    if_there(std::fs::remove_file(entry.path())).map_err(failed)?;
                    let name = entry.path();
                    let name = name.strip_prefix(&self.root).unwrap_or(&name);
                    removed.push(name.display().to_string());
                }
            }
        }
        Ok(removed)
    }
}

/// Removes what an earlier try copied.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    if_there(removed).map(drop)
}

fn copy_either(from: &Path, to: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
    if from.is_dir() {
        copy_directory(from, to, copied)
    } else {
        copy(from, to, copied)
    }
}

fn copy_directory(from: &Path, to: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::at(from, "copy a directory", &error);
    fs::make_dir(to).map_err(failed)?;
    for entry in fs::entries(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_half = name.to_string_lossy().starts_with('.');
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && !is_half {
            copy(&entry.path(), &to.join(name), copied)?;
        }
    }
    fs::sync_dir(to).map_err(failed)
}

/// Copies a file, one of lines up to the end of its last whole line; one that is gone is passed over.
fn copy(from: &Path, to: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::at(from, "copy a file", &error);
    let Some(mut file) = if_there(fs::open_file(from)).map_err(failed)? else {
        return Ok(());
    };
    let mut length = file.metadata().map_err(failed)?.len();
    if from.extension().is_some_and(|ending| ending == "jsonl") {
        length = whole_lines(&mut file, length).map_err(failed)?;
    }
    let write = || -> io::Result<u64> {
        file.seek(SeekFrom::Start(0))?;
        let mut new = fs::make_file(to)?;
        let bytes = io::copy(&mut file.take(length), &mut new)?;
        new.sync_all()?;
        Ok(bytes)
    };
    let bytes = write().map_err(|error| StoreError::at(to, "write a backup", &error))?;
    copied.files = copied.files.saturating_add(1);
    copied.bytes = copied.bytes.saturating_add(bytes);
    Ok(())
}

/// The end of the last whole line.
fn whole_lines(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut chunk = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        chunk.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start
                .saturating_add(u64::try_from(at).unwrap_or(u64::MAX))
                .saturating_add(1));
        }
        end = start;
    }
    Ok(0)
}
