//! Copies a wiki's state while servers work on it, and tidies what killed processes left.
//!
//! Documents are copied, then the runs that tell of them: both again if a document changed meanwhile, so
//! that no run tells of one that is not there. The newest run comes first, since a run tells how long
//! the ones before it are. Then come the kept states, which were there before the
//! lines that name them. Whoever copies holds the lease to purge.

use std::fs::Metadata;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{LocalStore, fs, if_there};
use crate::store::{BackedUp, DocumentKind, Documents as _, Listed, MIRROR, StoreError};

/// A temporary file that is older was left behind by a killed process.
const LEFT_BEHIND: Duration = Duration::from_hours(1);
/// The kinds of documents that runs tell of. No run needs an approval, which each write under it changes, or
/// memories, which each recall changes.
const TOLD_BY_RUNS: [DocumentKind; 2] = [DocumentKind::Proposal, DocumentKind::Draft];
/// How often documents and runs are copied if documents change meanwhile.
const TRIES: usize = 8;

impl LocalStore {
    pub(super) fn back_up_to(&self, to: &Path) -> Result<BackedUp, StoreError> {
        let failed = |error: &io::Error| StoreError::at(to, "write a backup", error);
        let there = fs::entries(to).map_err(|error| failed(&error))?.count();
        if there > 0 {
            return Err(StoreError::Unfit("is not an empty directory"));
        }
        let name = self.wiki.file_name().unwrap_or_default();
        // A copy that breaks off does not look like one.
        let of_wiki = to.join(format!(".{}.partial", name.display()));
        fs::make_dir(&of_wiki).map_err(|error| failed(&error))?;
        let mut copied = BackedUp::default();
        copy_into(
            to,
            &self.document_path(DocumentKind::Pause, ""),
            &mut copied,
        )?;
        let documents = DocumentKind::BESIDE_RECORD.map(|kind| self.document_directory(kind));
        // The count of runs must not be ahead of them.
        let others = [
            self.document_path(DocumentKind::AnchorFault, ""),
            self.count_path(),
            self.run_directory(),
        ];
        let mut tries = 0..TRIES;
        loop {
            if tries.next().is_none() {
                return Err(StoreError::Busy);
            }
            let before = self.documents_now()?;
            let mut again = copied;
            for from in documents.iter().chain(&others) {
                copy_into(&of_wiki, from, &mut again)?;
            }
            if self.documents_now()? == before {
                copied = again;
                break;
            }
        }
        copy_into(&of_wiki, &self.blob_directory(), &mut copied)?;
        self.back_up_mirror(&of_wiki, &mut copied)?;
        let ended = || {
            fs::sync_dir(&of_wiki)?;
            std::fs::rename(&of_wiki, to.join(name))?;
            fs::sync_dir(to)
        };
        ended().map_err(|error| failed(&error))?;
        Ok(copied)
    }

    /// Copies the mirror: its pages first, since their states were kept before. A look may go on.
    fn back_up_mirror(&self, to: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
        let mirror = Self::new(&self.wiki, MIRROR);
        if !mirror.wiki.is_dir() {
            return Ok(());
        }
        let to = to.join(MIRROR);
        fs::make_dir(&to).map_err(|error| StoreError::at(&to, "write a backup", &error))?;
        copy_into(
            &to,
            &mirror.document_directory(DocumentKind::Mirror),
            copied,
        )?;
        copy_into(&to, &mirror.blob_directory(), copied)
    }

    /// All documents that runs tell of, with their times.
    fn documents_now(&self) -> Result<[Vec<Listed>; 2], StoreError> {
        let mut all = TOLD_BY_RUNS.map(|_| Vec::new());
        for (listed, kind) in all.iter_mut().zip(TOLD_BY_RUNS) {
            *listed = self.documents(kind)?;
            listed.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(all)
    }

    pub(super) fn tidy_up(&self) -> Result<Vec<String>, StoreError> {
        let mut removed = Vec::new();
        let documents = DocumentKind::BESIDE_RECORD.map(|kind| self.document_directory(kind));
        let others = [self.blob_directory(), self.wiki.clone(), self.root.clone()];
        for directory in documents.iter().chain(&others) {
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

/// Copies a file or directory into a directory, in place of what an earlier try copied.
fn copy_into(to: &Path, from: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
    let to = to.join(from.file_name().unwrap_or_default());
    remove(&to).map_err(|error| StoreError::at(&to, "write a backup", &error))?;
    if from.is_dir() {
        copy_directory(from, &to, copied)
    } else {
        copy(from, &to, copied)
    }
}

fn copy_directory(from: &Path, to: &Path, copied: &mut BackedUp) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::at(from, "copy a directory", &error);
    fs::make_dir(to).map_err(failed)?;
    let mut names = Vec::new();
    for entry in fs::entries(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_half = entry.file_name().to_string_lossy().starts_with('.');
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && !is_half {
            names.push(entry.file_name());
        }
    }
    // The name of a run begins with its start.
    names.sort_unstable_by(|a, b| b.cmp(a));
    for name in names {
        copy(&from.join(&name), &to.join(&name), copied)?;
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
        let end = fs::last_line_end(&mut file, length, u64::MAX).map_err(failed)?;
        length = end.map_or(0, |end| end.saturating_add(1));
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
