//! Anchoring: after what counts is on record, the heads go where those who may write the log cannot
//! change them, to a file or to a command.
//!
//! It happens in a task of its own, at most once a second, and once more at the end of the run. A
//! failure never stops a write; it is told by the server, and left in `anchors.fault` for `doctor`
//! and `verify`. A line holds the heads that changed since the last line of this run. What was
//! there when the run began is not repeated: the run's first record has it, and the run's own head
//! holds that.

use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex as Turn;

use super::super::run::heads;
use super::super::{AuditLayout, FileHead, RunId, SigningKey};
use super::line::{self, Anchor};
use crate::checks::{self, CheckCommand};
use crate::page::Date;
use crate::private_files;
use crate::store::{DocumentKind, Store, StoreResult};

/// The most heads in a line, which stays far below the longest line that is read.
const HEADS_A_LINE: usize = 10_000;
/// The most removed runs that wait for their anchor; a purge on record tells of the others.
const MOST_REMOVED: usize = 100_000;

/// Destination and signing key of anchors.
#[derive(Debug, Clone)]
pub struct AnchorSettings {
    /// Their destination.
    pub to: AnchorsTo,
    /// The key that signs them.
    pub key: Option<Arc<SigningKey>>,
}

/// Destination of anchors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnchorsTo {
    /// To the end of a file.
    File(PathBuf),
    /// To the standard input of a command, which is run for each.
    Command(CheckCommand),
}

/// That anchors cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorFault {
    /// Since when, in RFC 3339.
    pub since: String,
    /// The cause, in our own words.
    pub why: String,
}

impl std::fmt::Display for AnchorFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not anchored since {}: {}", self.since, self.why)
    }
}

/// The anchors of the heads of this process, where heads are anchored.
#[derive(Debug)]
pub struct Anchoring {
    wiki: String,
    place: AuditLayout,
    settings: OnceLock<AnchorSettings>,
    pub(super) made: Arc<Turn<AnchorProgress>>,
    pub(super) is_due: AtomicBool,
    pub(super) is_running: AtomicBool,
    /// True if the log takes no record until a restart.
    pub(super) is_over: AtomicBool,
    /// The heads that the run found when it began, until the first anchor.
    begun: Mutex<Option<(RunId, Vec<FileHead>)>>,
    removed: Mutex<Vec<FileHead>>,
    fault: Mutex<Option<AnchorFault>>,
}

/// The state of this run's anchoring so far.
#[derive(Debug, Default)]
pub(super) struct AnchorProgress {
    run: Option<RunId>,
    seq: u64,
    /// Length of each run's file when it was anchored.
    known: HashMap<String, u64>,
}

impl Anchoring {
    pub(in crate::audit) fn new(wiki: &str, place: &AuditLayout) -> Self {
        Self {
            wiki: wiki.to_owned(),
            place: place.clone(),
            settings: OnceLock::new(),
            made: Arc::default(),
            is_due: AtomicBool::new(false),
            is_running: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            begun: Mutex::default(),
            removed: Mutex::default(),
            fault: Mutex::default(),
        }
    }

    /// Has heads anchored from now on; settings that come later count for nothing.
    pub fn set(&self, settings: AnchorSettings) {
        let _ = self.settings.set(settings);
    }

    /// True if heads are anchored.
    pub(in crate::audit) fn is_set(&self) -> bool {
        self.settings.get().is_some()
    }

    /// The reason the heads of this process are not anchored, where they should be.
    pub fn fault(&self) -> Option<AnchorFault> {
        self.fault.lock().clone()
    }

    /// The anchoring fault that the last process left on disk. Blocks.
    pub fn fault_left(&self) -> Option<AnchorFault> {
        let read = self.place.store.document(DocumentKind::AnchorFault, "");
        serde_json::from_slice(&read.ok().flatten()?).ok()
    }

    /// The run has begun, and found these others.
    pub(in crate::audit) fn begin(&self, run: RunId, heads: Vec<FileHead>) {
        if self.is_set() {
            *self.begun.lock() = Some((run, heads));
        }
    }

    /// These files are about to be removed.
    pub(in crate::audit) fn remove(&self, files: &[FileHead]) {
        if !self.is_set() {
            return;
        }
        let runs = files
            .iter()
            .filter(|head| head.file.strip_suffix(".jsonl").is_some());
        let mut removed = self.removed.lock();
        let room = MOST_REMOVED.saturating_sub(removed.len());
        removed.extend(runs.take(room).cloned());
    }

    /// Makes the anchors that are due. Blocks.
    pub(super) fn make(&self, made: &mut AnchorProgress, most: Duration) -> Result<(), String> {
        let Some(settings) = self.settings.get() else {
            return Ok(());
        };
        if let Some((run, heads)) = self.begun.lock().take() {
            made.run = Some(run);
            made.known = heads.into_iter().map(|it| (it.file, it.length)).collect();
        }
        let Some(run) = made.run else {
            // This run has put nothing on record.
            return Ok(());
        };
        let told = |error| format!("the runs cannot be read: {error}");
        let changed = changed(&*self.place.store, &made.known).map_err(told)?;
        let removed = std::mem::take(&mut *self.removed.lock());
        let result = self.give_all(settings, (made, run), &changed, &removed, most);
        if result.is_err() {
            self.removed.lock().splice(0..0, removed);
        }
        result
    }

    fn give_all(
        &self,
        settings: &AnchorSettings,
        (made, run): (&mut AnchorProgress, RunId),
        mut rest: &[(FileHead, u64)],
        mut removed: &[FileHead],
        most: Duration,
    ) -> Result<(), String> {
        while !rest.is_empty() || !removed.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(HEADS_A_LINE));
            let (gone, still) = removed.split_at(removed.len().min(HEADS_A_LINE));
            let heads = now.iter().map(|(head, _)| head.clone()).collect();
            let anchor = Anchor {
                v: line::VERSION,
                time: Date::now().into(),
                wiki: self.wiki.clone(),
                run,
                seq: made.seq.saturating_add(1),
                heads,
                removed: gone.to_vec(),
                key: None,
            };
            let line = anchor.line(settings.key.as_deref());
            let line = line.map_err(|_| "a line cannot be made".to_owned())?;
            settings.to.give(line, most)?;
            made.seq = made.seq.saturating_add(1);
            let known = now
                .iter()
                .map(|(head, length)| (head.file.clone(), *length));
            made.known.extend(known);
            (rest, removed) = (later, still);
        }
        Ok(())
    }

    /// Keeps what came of a try, for this process and for others.
    pub(super) fn settle(&self, result: &Result<(), String>) {
        let store = &self.place.store;
        let mut fault = self.fault.lock();
        match result {
            Ok(()) => {
                if fault.take().is_some() {
                    tracing::info!("audit: heads are anchored again");
                }
                // There is none, nearly always.
                let _ = store.remove_document(DocumentKind::AnchorFault, "");
            }
            Err(why) => {
                if fault.as_ref().is_none_or(|fault| fault.why != *why) {
                    tracing::error!("audit: heads cannot be anchored: {why}");
                }
                let since = fault.take().map(|fault| fault.since);
                let told = AnchorFault {
                    since: since.unwrap_or_else(|| Date::now().into()),
                    why: why.clone(),
                };
                if let Ok(text) = serde_json::to_vec(&told) {
                    // If it cannot be left, the store has said so.
                    let _ = store.write_document(DocumentKind::AnchorFault, "", &text);
                }
                *fault = Some(told);
            }
        }
    }
}

impl AnchorsTo {
    fn give(&self, mut line: String, most: Duration) -> Result<(), String> {
        line.push('\n');
        match self {
            Self::File(path) => append(path, &line).map_err(|error| {
                format!(
                    "the file of anchors cannot be written: {}",
                    in_words(&error)
                )
            }),
            Self::Command(command) => {
                let ended = checks::carry_out(command, &line.into(), command.timeout.min(most));
                // What it printed may hold anything.
                ended.map_err(|(why, _)| format!("the command for anchors {why}"))
            }
        }
    }
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AlreadyExists => "it is a link".to_owned(),
        io::ErrorKind::InvalidInput => "it is not a file".to_owned(),
        kind => kind.to_string(),
    }
}

/// Adds a line to a file, behind a line end of its own where the last line was broken off. A line
/// is one write, so that several servers may share a file.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = private_files::open_to_append(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut last = [b'\n'];
    if metadata.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all([begin, line].concat().as_bytes())?;
    file.sync_data()
}

/// The runs that are not as long as they were, with that length.
fn changed(store: &dyn Store, known: &HashMap<String, u64>) -> StoreResult<Vec<(FileHead, u64)>> {
    let mut changed = Vec::new();
    for run in store.runs()? {
        if known.get(&run.name) == Some(&run.length) {
            continue;
        }
        // A run may go between being listed and being looked at.
        let Ok((length, hash)) = heads::last_line(store, &run.name) else {
            continue;
        };
        let file = run.name;
        changed.push((FileHead { file, length, hash }, run.length));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests;
