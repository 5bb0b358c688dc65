//! Writes our own run.

use time::OffsetDateTime;
use time::macros::format_description;

use super::super::documents::proposals::is_making_of_other;
use super::super::entry::members::RecordStamp;
use super::super::{
    AuditEntry, AuditError, AuditEvent, AuditResult, FileHead, LineHash, Record, RunId,
};
use super::lines::MAX_LINE;
use super::{heads, numbers};
use crate::site::SiteName;
use crate::store::{Durability, HeldLease, RunWriter, Store};

/// One run, which nobody else writes, and the state of its chain.
#[derive(Debug)]
pub(in crate::audit) struct OwnRun {
    pub(in crate::audit) run: RunId,
    number: u64,
    pub(in crate::audit) name: String,
    wiki: String,
    site: Option<SiteName>,
    /// True if no attempt is recorded in a pause.
    heeds_pauses: bool,
    writer: Box<dyn RunWriter>,
    length: u64,
    records: u64,
    last: LineHash,
}

impl OwnRun {
    /// Makes the run and holds it; nothing is written yet. `_begins` is the lease to begin a run.
    pub(in crate::audit) fn make(
        store: &dyn Store,
        wiki: &str,
        site: Option<SiteName>,
        heeds_pauses: bool,
        _begins: &HeldLease,
    ) -> AuditResult<Self> {
        let run = RunId::new()?;
        let number = numbers::next(store)?;
        let time = file_time(OffsetDateTime::now_utc());
        let name = format!("{time}-{number:06}-{run}.jsonl");
        let writer = store.begin_run(&name, &numbers::count_of(number))?;
        Ok(Self {
            run,
            number,
            name,
            wiki: wiki.to_owned(),
            site,
            heeds_pauses,
            writer,
            length: 0,
            records: 0,
            last: LineHash::FIRST,
        })
    }

    /// Writes the first record: which runs were there before, and which of them this one follows; gives
    /// them.
    pub(in crate::audit) fn start(
        &mut self,
        store: &dyn Store,
        follows: Option<FileHead>,
    ) -> AuditResult<Vec<FileHead>> {
        let heads = heads::of_runs(store, &self.name)?;
        let number = Some(self.number);
        self.append(AuditEvent::Start, |stamp| Record {
            number,
            follows,
            runs: Some(heads.clone()),
            ..Record::bare(AuditEvent::Start, stamp)
        })?;
        Ok(heads)
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
    pub(in crate::audit) fn record(&mut self, entry: &AuditEntry) -> AuditResult<()> {
        self.append(entry.event, |stamp| Record::new(entry, stamp))
    }

    /// Writes the last record.
    pub(in crate::audit) fn close(&mut self) -> AuditResult<()> {
        self.append(AuditEvent::Closed, |stamp| {
            Record::bare(AuditEvent::Closed, stamp)
        })
    }

    fn append(
        &mut self,
        event: AuditEvent,
        record: impl FnOnce(&RecordStamp<'_>) -> Record,
    ) -> AuditResult<()> {
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
        // The preview of a proposal says that the file behind it is ours.
        let is_begun = record.proposal.is_some() && !is_making_of_other(&record);
        let until = if event == AuditEvent::Attempt && self.heeds_pauses {
            Durability::SyncedUnlessPaused
        } else if event.is_synced() || is_begun {
            Durability::Synced
        } else {
            Durability::Soon
        };
        self.writer.append(&line, until)?;
        self.length = self.length.saturating_add(length);
        self.records = record.seq;
        self.last = record.hash;
        Ok(())
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
