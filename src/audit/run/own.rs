//! The file of our own run.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use time::OffsetDateTime;
use time::macros::format_description;
use tracing_appender::rolling::{RollingFileAppender, Rotation};

use super::super::disk::layout::AuditLayout;
use super::super::documents::proposals::is_making_of_other;
use super::super::entry::members::RecordStamp;
use super::super::{AuditEntry, AuditError, AuditEvent, FileHead, LineHash, Record, RunId};
use super::heads;
use super::lines::MAX_LINE;
use super::numbers::RunCounter;
use crate::site::SiteName;
use crate::store::HeldLease;
use crate::store::local::fs;

/// The file of one run, which nobody else writes, and the state of its chain.
///
/// The appender writes. Our own handle on the same file, held since its creation, carries the lock,
/// syncs, and shows whether the writes arrived in the file that the path names.
#[derive(Debug)]
pub(in crate::audit) struct OwnRun {
    run: RunId,
    number: u64,
    name: String,
    path: PathBuf,
    wiki: String,
    site: Option<SiteName>,
    file: File,
    appender: RollingFileAppender,
    length: u64,
    records: u64,
    last: LineHash,
}

impl OwnRun {
    /// Makes the file and locks it; nothing is written yet. `_begins` is the lease to begin a run.
    pub(in crate::audit) fn make(
        place: &AuditLayout,
        wiki: &str,
        site: Option<SiteName>,
        _begins: &HeldLease,
    ) -> Result<Self, AuditError> {
        let runs = place.runs();
        fs::make_dir(&runs).map_err(|error| AuditError::at(&runs, "make directory", &error))?;
        let run = RunId::new()?;
        let count = RunCounter::open(place)?;
        let number = count.next(&runs)?;
        let time = file_time(OffsetDateTime::now_utc());
        let stem = format!("{time}-{number:06}-{run}");
        let name = format!("{stem}.jsonl");
        let path = runs.join(&name);
        let failed = |doing: &str, error: &io::Error| AuditError::at(&path, doing, error);

        let file = fs::make_file(&path).map_err(|error| failed("make a run's file", &error))?;
        file.try_lock()
            .map_err(|error| failed("lock a run's file", &error.into()))?;
        fs::sync_dir(&runs).map_err(|error| failed("keep the name of a run's file", &error))?;
        count.give(number)?;
        let appender = RollingFileAppender::builder()
            .rotation(Rotation::NEVER)
            .filename_prefix(stem)
            .filename_suffix("jsonl")
            .build(&runs)
            .map_err(|error| failed("open a run's file", &io::Error::other(error)))?;
        Ok(Self {
            run,
            number,
            name,
            path,
            wiki: wiki.to_owned(),
            site,
            file,
            appender,
            length: 0,
            records: 0,
            last: LineHash::FIRST,
        })
    }

    /// Writes the first record: which runs were there before, and which of them this one follows; gives
    /// them.
    pub(in crate::audit) fn start(
        &mut self,
        place: &AuditLayout,
        follows: Option<FileHead>,
    ) -> Result<Vec<FileHead>, AuditError> {
        let runs = place.runs();
        let heads = heads::of_runs(&runs, &self.name)
            .map_err(|error| AuditError::at(&runs, "list the runs", &error))?;
        let number = Some(self.number);
        self.append(AuditEvent::Start, |stamp| Record {
            number,
            follows,
            runs: Some(heads.clone()),
            ..Record::bare(AuditEvent::Start, stamp)
        })?;
        Ok(heads)
    }

    pub(in crate::audit) const fn run(&self) -> RunId {
        self.run
    }

    /// The name of its file.
    pub(in crate::audit) fn name(&self) -> &str {
        &self.name
    }

    /// Its head, up to the last line that was written whole.
    pub(in crate::audit) fn head(&self) -> FileHead {
        FileHead {
            file: self.name.clone(),
            length: self.length,
            hash: (self.records > 0).then_some(self.last),
        }
    }

    /// Writes the record of an entry.
    pub(in crate::audit) fn record(&mut self, entry: &AuditEntry) -> Result<(), AuditError> {
        self.append(entry.event, |stamp| Record::new(entry, stamp))
    }

    /// Writes the last record.
    pub(in crate::audit) fn close(&mut self) -> Result<(), AuditError> {
        self.append(AuditEvent::Closed, |stamp| {
            Record::bare(AuditEvent::Closed, stamp)
        })
    }

    fn append(
        &mut self,
        event: AuditEvent,
        record: impl FnOnce(&RecordStamp<'_>) -> Record,
    ) -> Result<(), AuditError> {
        let mut record = record(&RecordStamp {
            seq: self.records.saturating_add(1),
            time: OffsetDateTime::now_utc(),
            run: self.run,
            wiki: &self.wiki,
            site: self.site.as_ref(),
            prev: self.last,
        });
        let mut line = record.seal().map_err(|_| AuditError::BrokenOff)?;
        line.push(b'\n');
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if length > MAX_LINE {
            return Err(AuditError::TooLarge);
        }
        self.check_in_place()?;
        self.appender
            .write_all(&line)
            .map_err(|error| self.failed("write a record", &error))?;
        self.length = self.length.saturating_add(length);
        self.records = record.seq;
        self.last = record.hash;
        self.check_length()?;
        // The preview of a proposal says that the file behind it is ours.
        let is_begun = record.proposal.is_some() && !is_making_of_other(&record);
        if event.is_synced() || is_begun {
            self.file
                .sync_data()
                .map_err(|error| self.failed("sync a record", &error))?;
        }
        Ok(())
    }

    /// Checks that the path still names our file, as we left it: a removed file accepts writes
    /// without an error.
    fn check_in_place(&self) -> Result<(), AuditError> {
        match fs::is_same_file(&self.path, &self.file) {
            Ok(true) => self.check_length(),
            Ok(false) => Err(self.replaced()),
            Err(error) => Err(self.failed("find a run's file", &error)),
        }
    }

    /// Checks that our file holds exactly what was written.
    fn check_length(&self) -> Result<(), AuditError> {
        match self.file.metadata() {
            Ok(metadata) if metadata.len() == self.length => Ok(()),
            Ok(_) => Err(self.replaced()),
            Err(error) => Err(self.failed("find a run's file", &error)),
        }
    }

    fn replaced(&self) -> AuditError {
        tracing::error!(path = %self.path.display(), "audit: a run's file was removed or changed");
        AuditError::Replaced
    }

    fn failed(&self, doing: &str, error: &io::Error) -> AuditError {
        AuditError::at(&self.path, doing, error)
    }
}

/// The time in a file's name: sorts as text, and needs no quoting.
fn file_time(time: OffsetDateTime) -> String {
    let form = format_description!("[year][month][day]T[hour][minute][second]Z");
    // The format is a constant of ours, so this does not fail.
    time.format(form).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::file_time;
    use time::macros::datetime;

    #[test]
    fn the_time_in_a_files_name_sorts_as_text() {
        assert_eq!(
            file_time(datetime!(2030-01-02 03:04:05.678 UTC)),
            "20300102T030405Z"
        );
    }
}
