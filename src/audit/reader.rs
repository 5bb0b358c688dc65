//! Reading the runs of a wiki back, without taking part in the log.
//!
//! Nothing here writes, and no run is disturbed: whether one is locked is asked with a lock
//! that is shared, and only of a file with something in it, since its maker locks it before
//! that and would find no room for its own lock otherwise. All of this works on the disk and
//! belongs apart from the async threads.

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::lines::{Line, next_line};
use super::place::Place;
use super::record::Unreadable;
use super::{AuditError, AuditLog, Record};

/// How much of a file is read at once.
const CHUNK: usize = 64 * 1024;
/// How long an empty file counts as one that is just being made.
const BEING_MADE: Duration = Duration::from_mins(1);

/// The file of a run, as it was when it was listed.
#[derive(Debug, Clone)]
pub struct RunFile {
    pub(super) path: PathBuf,
    name: String,
    pub(super) length: u64,
    pub(super) modified: SystemTime,
    is_locked: bool,
}

impl RunFile {
    /// Its name, which begins with the time of its start.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a living process holds it, or may: one that is empty is not asked for a minute.
    /// Then it may still grow, and what seems to be open in it may be under way.
    #[must_use]
    pub const fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Its records, from the first on. Blocks.
    ///
    /// # Errors
    /// If the file cannot be opened; [`io::ErrorKind::NotFound`] if it was purged meanwhile.
    pub fn records(&self) -> Result<Records, AuditError> {
        let file = File::open(&self.path).map_err(|error| match error.kind() {
            kind @ io::ErrorKind::NotFound => AuditError::Io(kind),
            _ => AuditError::at(&self.path, "read a run", &error),
        })?;
        Ok(Records {
            reader: BufReader::with_capacity(CHUNK, file),
            buffer: Vec::new(),
            line: 0,
            is_over: false,
            is_unfinished: false,
        })
    }
}

/// The records of a run, one after the other, in bounded memory; a line that cannot be read is
/// an item of its own.
///
/// What stands behind the last line end is no record yet and no item. Asked again after the
/// end, this goes on where the run was written on meanwhile. The chain is not checked here
/// (see [`super::chain::verify`]).
#[derive(Debug)]
pub struct Records {
    reader: BufReader<File>,
    buffer: Vec<u8>,
    line: u64,
    is_over: bool,
    is_unfinished: bool,
}

impl Records {
    /// The number of the line that was given last, from 1.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Whether, when the end was reached, there was the beginning of a line behind it.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// The next line without its end, before anybody tries to understand it.
    pub(super) fn next_line(&mut self) -> Option<Result<&[u8], Unreadable>> {
        if self.is_over {
            return None;
        }
        self.is_unfinished = false;
        let read = match next_line(&mut self.reader, &mut self.buffer) {
            Ok(Line::End) => return None,
            Ok(Line::Rest) => {
                self.is_unfinished = true;
                // Back to where the line begins, in case that it gets its end.
                let length = i64::try_from(self.buffer.len()).unwrap_or(i64::MAX);
                return match self.reader.seek_relative(length.saturating_neg()) {
                    Ok(()) => None,
                    Err(error) => Some(Err(self.broken(&error))),
                };
            }
            Ok(Line::Whole) => Ok(()),
            Ok(Line::TooLong) => match self.reader.skip_until(b'\n') {
                Ok(_) => Err(Unreadable::TooLong),
                Err(error) => Err(self.broken(&error)),
            },
            Err(error) => Err(self.broken(&error)),
        };
        self.line = self.line.saturating_add(1);
        Some(read.map(|()| self.buffer.as_slice()))
    }

    fn broken(&mut self, error: &io::Error) -> Unreadable {
        self.is_over = true;
        Unreadable::Io(error.kind())
    }
}

impl Iterator for Records {
    type Item = Result<Record, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().map(|line| line.and_then(Record::parse))
    }
}

impl AuditLog {
    /// The directory of the wiki's records.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.place().wiki
    }

    /// Whether that directory is there: a log that was never begun has none. Blocks.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.place().is_there()
    }

    /// The names of the directories of other wikis beside it. Blocks.
    #[must_use]
    pub fn others(&self) -> Vec<String> {
        self.place().others()
    }

    /// All runs of the wiki, oldest first: by the start in their names. Blocks.
    ///
    /// # Errors
    /// If the directory cannot be read; one that is not there has no runs.
    pub fn runs(&self) -> Result<Vec<RunFile>, AuditError> {
        runs(&self.place())
    }
}

pub(super) fn runs(place: &Place) -> Result<Vec<RunFile>, AuditError> {
    let directory = place.runs();
    let failed = |error: io::Error| AuditError::at(&directory, "list the runs", &error);
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        match look_at(&entry.map_err(failed)?.path()) {
            Ok(run) => runs.extend(run),
            // A purge may take a file between its being listed and its being looked at.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(runs)
}

/// The run of this path; nothing if it is none.
fn look_at(path: &Path) -> io::Result<Option<RunFile>> {
    let is_run = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Ok(None);
    };
    if !is_run {
        return Ok(None);
    }
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    Ok(Some(RunFile {
        name: name.to_owned(),
        length: metadata.len(),
        modified: metadata.modified()?,
        is_locked: is_locked(path, &metadata)?,
        path: path.to_owned(),
    }))
}

fn is_locked(path: &Path, metadata: &Metadata) -> io::Result<bool> {
    if metadata.len() == 0 {
        let age = metadata.modified()?.elapsed().unwrap_or_default();
        return Ok(age < BEING_MADE);
    }
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A line that may tell of what is looked for.
pub(super) struct Told<'a> {
    /// The run, by its place in the list.
    pub(super) index: usize,
    pub(super) run: &'a RunFile,
    /// The number of the line.
    pub(super) line: u64,
    pub(super) record: Result<Record, Unreadable>,
}

/// Reads runs through and gives those lines that have one of these words in them, or all where
/// there are none: most lines need not be understood then. A run that was purged meanwhile has
/// no lines.
pub(super) fn scan<'a>(
    runs: impl IntoIterator<Item = &'a RunFile>,
    words: &[&str],
    mut each: impl FnMut(Told<'a>),
) -> Result<(), AuditError> {
    for (index, run) in runs.into_iter().enumerate() {
        let mut records = match run.records() {
            Ok(records) => records,
            Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
            Err(error) => return Err(error),
        };
        while let Some(line) = records.next_line() {
            let record = match line {
                Ok(line) if !has_one_of(line, words) => continue,
                Ok(line) => Record::parse(line),
                Err(Unreadable::Io(kind)) => {
                    return Err(AuditError::at(&run.path, "read a run", &kind.into()));
                }
                Err(why) => Err(why),
            };
            let line = records.line();
            each(Told {
                index,
                run,
                line,
                record,
            });
        }
    }
    Ok(())
}

fn has_one_of(line: &[u8], words: &[&str]) -> bool {
    match std::str::from_utf8(line) {
        Ok(line) => words.is_empty() || words.iter().any(|word| line.contains(word)),
        // No record; whoever asks shall know of it.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
