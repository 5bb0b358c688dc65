//! Runs for tests: at any time, ended in any way.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::macros::format_description;

use super::disk::layout::AuditLayout;
use super::entry::members::RecordStamp;
use super::{
    AuditEntry, AuditEvent, AuditLog, CallId, FileHead, KeptState, LineHash, Proposal, ProposalId,
    Record, RunFile, RunId,
};
use crate::page::{PageState, testing};

/// A run written record by record, as the log would have written it at these times; no process
/// holds it.
pub(super) struct Script {
    path: PathBuf,
    file: BufWriter<File>,
    run: RunId,
    seq: u64,
    prev: LineHash,
}

impl Script {
    /// Begins at `start` with a record that names these runs.
    pub(super) fn begin(dir: &Path, start: OffsetDateTime, seen: Vec<FileHead>) -> Self {
        let runs = dir.join("docs/runs");
        fs::create_dir_all(&runs).unwrap();
        let run = RunId::new().unwrap();
        let form = format_description!("[year][month][day]T[hour][minute][second]Z");
        let path = runs.join(format!("{}-{run}.jsonl", start.format(form).unwrap()));
        let mut script = Self {
            file: BufWriter::new(File::create_new(&path).unwrap()),
            path,
            run,
            seq: 0,
            prev: LineHash::FIRST,
        };
        script.add(start, |stamp| Record {
            runs: Some(seen),
            ..Record::bare(AuditEvent::Start, stamp)
        });
        script
    }

    pub(super) fn entry(&mut self, time: OffsetDateTime, entry: &AuditEntry) {
        self.add(time, |stamp| Record::new(entry, stamp));
    }

    pub(super) fn close(mut self, time: OffsetDateTime) -> PathBuf {
        self.add(time, |stamp| Record::bare(AuditEvent::Closed, stamp));
        self.kill()
    }

    /// Ends like a killed process.
    pub(super) fn kill(mut self) -> PathBuf {
        self.file.flush().unwrap();
        self.path
    }

    /// Flushes, without an end.
    pub(super) fn flush(&mut self) -> &Path {
        self.file.flush().unwrap();
        &self.path
    }

    fn add(&mut self, time: OffsetDateTime, record: impl FnOnce(&RecordStamp<'_>) -> Record) {
        self.seq += 1;
        let mut record = record(&RecordStamp {
            seq: self.seq,
            time,
            run: self.run,
            wiki: "docs",
            site: None,
            prev: self.prev,
        });
        let line = record.seal().unwrap();
        self.prev = record.hash;
        self.file.write_all(&line).unwrap();
        self.file.write_all(b"\n").unwrap();
    }
}

pub(super) fn page(title: &str) -> PageState {
    PageState {
        id: Some(7),
        title: title.to_owned(),
        content: "Text\n".to_owned(),
        ..testing::page()
    }
}

/// An open proposal to delete a page, of which nothing is on record or on the disk.
pub(super) fn open_proposal() -> Proposal {
    let json = serde_json::json!({
        "v": 1,
        "id": ProposalId::new().unwrap(),
        "state": "open",
        "created": "2030-01-02T09:00:00.000Z",
        "call": CallId::new().unwrap(),
        "tool": "wikijs_delete_page",
        "client": { "name": "a", "version": "1" },
        "session": "s",
        "operation": "delete",
        "page": 7,
        "locale": "en",
        "path": "docs/a",
        "title": "A",
        "fields": [],
        "linesAdded": 0,
        "linesRemoved": 0,
    });
    serde_json::from_value(json).unwrap()
}

/// Keeps a page, long ago as far as its file can tell.
pub(super) async fn keep_long_ago(log: &AuditLog, title: &str) -> KeptState {
    let name = log.states.keep(&page(title)).await.unwrap();
    let long_ago = SystemTime::now() - Duration::from_hours(10 * 365 * 24);
    let file = File::open(kept_path(&log.place, name)).unwrap();
    file.set_modified(long_ago).unwrap();
    name
}

/// The file of a kept state.
pub(super) fn kept_path(place: &AuditLayout, name: KeptState) -> PathBuf {
    place.directory().join(format!("pages/{name}.json.gz"))
}

/// The file of a run.
pub(super) fn run_path(place: &AuditLayout, run: &RunFile) -> PathBuf {
    place.directory().join("runs").join(run.name())
}
