//! Reads the runs of a wiki back, without taking part in the log.
//!
//! Nothing here writes or disturbs a run. All of this is disk work for blocking threads.

use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::super::{AuditError, AuditLayout, AuditResult, Record, Unreadable};
use super::lines::{LineStatus, next_line};
use crate::store::{RunStream, Store};

/// Number of bytes of a run read at once.
const CHUNK: usize = 64 * 1024;

/// A run, at the time of listing.
#[derive(Debug, Clone)]
pub struct RunFile {
    store: Arc<dyn Store>,
    name: String,
    /// Its length in bytes.
    pub length: u64,
    pub(in crate::audit) modified: SystemTime,
    /// True if a living process holds it, or may hold it: an empty file counts as held for a
    /// minute. A held run may still grow, and its open attempts may be under way.
    pub is_locked: bool,
}

impl RunFile {
    /// Its name, which begins with its start time.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its records, from the first. Blocks.
    ///
    /// # Errors
    /// If it cannot be opened; [`io::ErrorKind::NotFound`] if it was purged meanwhile.
    pub fn records(&self) -> AuditResult<Records> {
        self.records_from(0, 0)
    }

    /// Its records from a byte on, before which there are so many lines. Blocks.
    pub(in crate::audit) fn records_from(&self, start: u64, line: u64) -> AuditResult<Records> {
        let mut reader = self.reader(CHUNK)?;
        let sought = reader.seek(SeekFrom::Start(start));
        sought.map_err(|error| self.unread(&error))?;
        Ok(Records {
            reader,
            buffer: Vec::new(),
            line,
            is_over: false,
        })
    }

    /// Its bytes, so many read at once; [`io::ErrorKind::NotFound`] if it was purged meanwhile.
    pub(in crate::audit) fn reader(&self, at_once: usize) -> AuditResult<BufReader<RunStream>> {
        let stream = stream(&*self.store, &self.name)?;
        Ok(BufReader::with_capacity(at_once, stream))
    }

    /// The error if it cannot be read on.
    pub(in crate::audit) fn unread(&self, error: &io::Error) -> AuditError {
        unread(&self.name, error)
    }
}

/// The bytes of a run; [`io::ErrorKind::NotFound`] if it was purged meanwhile.
pub(in crate::audit) fn stream(store: &dyn Store, name: &str) -> AuditResult<RunStream> {
    let bytes = store.open_run(name)?;
    let bytes = bytes.ok_or(AuditError::Io(io::ErrorKind::NotFound))?;
    Ok(RunStream::new(bytes))
}

/// Notes why a run cannot be read on.
pub(in crate::audit) fn unread(name: &str, error: &io::Error) -> AuditError {
    tracing::error!(run = name, %error, "audit: cannot read a run");
    AuditError::Io(error.kind())
}

/// The records of a run, one after another, in bounded memory; an unreadable line is an item of its
/// own.
///
/// Text after the last line end is not a record yet and gives no item. If the run was continued,
/// iterating after the end gives its new records. The chain is not checked here (see
/// [`super::super::entry::chain::verify`]).
#[derive(Debug)]
pub struct Records {
    reader: BufReader<RunStream>,
    buffer: Vec<u8>,
    /// The number of the line that was given last, from 1.
    pub(in crate::audit) line: u64,
    is_over: bool,
}

impl Records {
    /// The byte at which the next line begins.
    pub(in crate::audit) fn position(&mut self) -> io::Result<u64> {
        self.reader.stream_position()
    }

    /// Moves to a line that begins at this byte, and has this number.
    pub(in crate::audit) fn move_to(&mut self, start: u64, line: u64) -> io::Result<()> {
        let at = self.reader.stream_position()?;
        let by = i128::from(start) - i128::from(at);
        match i64::try_from(by) {
            Ok(by) => self.reader.seek_relative(by)?,
            Err(_) => drop(self.reader.seek(SeekFrom::Start(start))?),
        }
        (self.line, self.is_over) = (line.saturating_sub(1), false);
        Ok(())
    }

    /// The next line without its end, not parsed yet.
    pub(in crate::audit) fn next_line(&mut self) -> Option<Result<&[u8], Unreadable>> {
        if self.is_over {
            return None;
        }
        let read = match next_line(&mut self.reader, &mut self.buffer) {
            Ok(LineStatus::End) => return None,
            Ok(LineStatus::Rest) => {
                // Back to the beginning of the line, in case it is finished later.
                let length = i64::try_from(self.buffer.len()).unwrap_or(i64::MAX);
                return match self.reader.seek_relative(length.saturating_neg()) {
                    Ok(()) => None,
                    Err(error) => Some(Err(self.broken(&error))),
                };
            }
            Ok(LineStatus::Whole) => Ok(()),
            Ok(LineStatus::TooLong) => match self.reader.skip_until(b'\n') {
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

/// The runs of a log.
#[derive(Debug, Clone)]
pub struct RunReader {
    pub(in crate::audit) place: AuditLayout,
}

impl RunReader {
    /// The directory of the wiki's records.
    pub fn dir(&self) -> PathBuf {
        self.place.directory()
    }

    /// True if there may be records: a log that was never begun has none. Blocks.
    pub fn is_there(&self) -> bool {
        self.place.store.is_there()
    }

    /// The names of the directories of other wikis beside it; none if they cannot be listed. Blocks.
    pub fn others(&self) -> Vec<String> {
        self.place.others().unwrap_or_default()
    }

    /// All runs of the wiki, oldest first: by the start in their names. Blocks.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn all(&self) -> AuditResult<Vec<RunFile>> {
        runs(&self.place)
    }
}

pub(in crate::audit) fn runs(place: &AuditLayout) -> AuditResult<Vec<RunFile>> {
    let listed = place.store.runs()?.into_iter();
    let runs = listed.map(|run| {
        Ok(RunFile {
            store: Arc::clone(&place.store),
            name: run.name,
            length: run.length,
            modified: run.changed,
            is_locked: run.is_held?,
        })
    });
    runs.collect()
}

/// The line that a record stands in.
pub(in crate::audit) struct RecordOrigin<'a> {
    /// The number of the run in the list, from 0.
    pub(in crate::audit) run_number: usize,
    pub(in crate::audit) run: &'a RunFile,
    /// The number of the line.
    pub(in crate::audit) line: u64,
}

/// Reads runs and passes on the records whose lines contain one of these words, or all records without
/// words, so that most lines need not be parsed. A run that was purged meanwhile has no lines. True if
/// there are lines that cannot be read.
pub(in crate::audit) fn scan<'a>(
    runs: impl IntoIterator<Item = &'a RunFile>,
    words: &[&str],
    mut each: impl FnMut(Record, RecordOrigin<'a>),
) -> AuditResult<bool> {
    let mut has_unreadable = false;
    for (run_number, run) in runs.into_iter().enumerate() {
        for_each_line(run, |line, read| {
            let origin = RecordOrigin {
                run_number,
                run,
                line,
            };
            has_unreadable |= !pass_on(read, words, origin, &mut each);
        })?;
    }
    Ok(has_unreadable)
}

/// Passes on the record of a line that contains one of these words, or of any line without words; false
/// if the line cannot be read.
pub(in crate::audit) fn pass_on<'a>(
    read: Result<&[u8], Unreadable>,
    words: &[&str],
    origin: RecordOrigin<'a>,
    each: &mut impl FnMut(Record, RecordOrigin<'a>),
) -> bool {
    if read.is_ok_and(|text| !has_one_of(text, words)) {
        return true;
    }
    let record = read.and_then(Record::parse);
    record.map(|record| each(record, origin)).is_ok()
}

/// Passes on each line of a run with its number, not parsed yet. A run that was purged meanwhile
/// has no lines.
///
/// # Errors
/// If it cannot be read to its end.
pub(in crate::audit) fn for_each_line(
    run: &RunFile,
    mut each: impl FnMut(u64, Result<&[u8], Unreadable>),
) -> AuditResult<()> {
    let mut records = match run.records() {
        Ok(records) => records,
        Err(AuditError::Io(io::ErrorKind::NotFound)) => return Ok(()),
        Err(error) => return Err(error),
    };
    loop {
        let number = records.line.saturating_add(1);
        match records.next_line() {
            None => return Ok(()),
            Some(Err(Unreadable::Io(kind))) => {
                return Err(run.unread(&kind.into()));
            }
            Some(line) => each(number, line),
        }
    }
}

fn has_one_of(line: &[u8], words: &[&str]) -> bool {
    match std::str::from_utf8(line) {
        Ok(line) => words.is_empty() || words.iter().any(|word| line.contains(word)),
        // An unreadable line is passed on as well.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
