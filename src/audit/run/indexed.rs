//! Finds lines by what they are about: by the index where there is one, else by reading every run.
//!
//! What is found is the same either way: lines that may be about it, in the order of the runs. Whoever
//! asks looks at the records themselves. Only a log that was made to ([`super::super::AuditLog::by_index`]) asks the
//! index: commands that show what is on record. Nothing that decides on a write does.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom};

use time::OffsetDateTime;

use super::super::entry::chain::VERSION;
use super::super::history::call_history::CallRecords;
use super::super::history::stats::CallLabel;
use super::super::{
    ApprovalId, AuditError, AuditLayout, AuditResult, CallId, Outcome, Record, Unreadable, blocking,
};
use super::reader::{RecordOrigin, RunFile, RunReader, pass_on, runs, scan};
use crate::store::local::line_index::{
    self, IndexedBatch, IndexedCall, IndexedLine, IndexedRun, LineIndex, LineKey, LinePlace,
};
use crate::store::{Lease, LeaseMode, LeaseName};

/// The least bytes of runs of which an index is made: fewer are read as fast.
const WORTH_IT: u64 = 16 << 20;
/// The most bytes that a question adds to the index; if it is further behind, the runs are read.
const MOST_BEHIND: u64 = 16 << 20;
/// Number of lines that are added at once, and are all in memory meanwhile.
const BATCH: usize = 4_000;
/// Lines of a newer record would have to be read again.
const _: () = assert!(VERSION == 1, "raise the version of the index, too");
/// Number of bytes before a place that show whether a run is still the one that was read.
const WITNESS: u64 = 96;

/// The subjects of lines.
#[derive(Debug, Clone)]
pub(in crate::audit) enum Subject<'a> {
    /// A call, or a write that spent its approval.
    Call(CallId),
    /// The calls whose ids begin so.
    CallsBeginning(&'a str),
    /// The changes of a set, and the set.
    Set(CallId),
    /// A proposal, by its id.
    Proposal(&'a str),
    /// A page.
    Page(i64),
    /// Anything taken back.
    Undoes,
}

/// The kinds of keys in the index.
mod kind {
    pub(super) const CALL: u8 = 1;
    pub(super) const CONFIRMS: u8 = 2;
    pub(super) const SET: u8 = 3;
    pub(super) const PAGE: u8 = 4;
    pub(super) const UNDOES: u8 = 5;
    /// By their positions in time.
    pub(super) const APPLIED: u8 = 6;
    pub(super) const UNREADABLE: u8 = 7;
    pub(super) const PROPOSAL: u8 = 8;
}

/// The most calls that are told apart by the beginnings of their ids.
const MOST_CALLS: u32 = 64;

/// The runs of a log, with their index where it is up to them.
#[derive(Debug)]
pub(in crate::audit) struct IndexedRuns {
    pub(in crate::audit) runs: Vec<RunFile>,
    /// The index, for questions that have no other answer.
    pub(in crate::audit) index: Option<LineIndex>,
}

impl RunReader {
    /// Makes the index of a large log, or brings it up to the runs; `progress` is told of the bytes that
    /// were read and that there are to read. Without the right to write there is none. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn bring_index_up(&self, progress: impl FnMut(u64, u64)) -> AuditResult<()> {
        let place = self.place.clone();
        let runs = runs(&place)?;
        let all = runs
            .iter()
            .map(|run| run.length)
            .fold(0, u64::saturating_add);
        if all < WORTH_IT {
            return Ok(());
        }
        let Some(_lease) = lease(&place)? else {
            // Somebody else is at it.
            return Ok(());
        };
        let path = place.line_index();
        let index = LineIndex::open(&path).or_else(|| LineIndex::make(&path));
        let Some(index) = index else {
            return Ok(());
        };
        if let CatchUp::Wrong = bring_up(index, &runs, u64::MAX, progress)? {
            // Once more, from nothing.
            if let Some(index) = LineIndex::make(&path) {
                bring_up(index, &runs, u64::MAX, |_, _| ())?;
            }
        }
        Ok(())
    }

    /// The same on a blocking thread, for a server.
    pub async fn keep_index_up(&self) -> AuditResult<()> {
        let runs = self.clone();
        blocking(move || runs.bring_index_up(|_, _| ())).await
    }
}

impl IndexedRuns {
    /// The runs of a log. An index that is missing, damaged or far behind is not used.
    pub(in crate::audit) fn read(place: &AuditLayout, asked: bool) -> AuditResult<Self> {
        let runs = runs(place)?;
        let index = asked
            .then(|| LineIndex::open(&place.line_index()))
            .flatten();
        // Who may not add to it uses an index that is not behind.
        let lease = index.as_ref().and_then(|_| lease(place).ok()?);
        let most = lease.as_ref().map_or(0, |_| MOST_BEHIND);
        let index = match index.map(|index| bring_up(index, &runs, most, |_, _| ())) {
            Some(Ok(CatchUp::Up(index))) => Some(index),
            Some(Err(error)) => return Err(error),
            Some(Ok(CatchUp::Wrong | CatchUp::Not)) | None => None,
        };
        Ok(Self { runs, index })
    }

    /// The number of lines that cannot be read, if the index tells.
    pub(in crate::audit) fn unreadable(&self) -> Option<u64> {
        let runs = self.index.as_ref()?.runs().ok()?;
        Some(
            runs.values()
                .map(|run| run.unreadable)
                .fold(0, u64::saturating_add),
        )
    }

    /// The records of some calls; `None` if no index tells.
    pub(in crate::audit) fn records_of(
        &self,
        calls: &HashSet<CallId>,
    ) -> AuditResult<Option<HashMap<CallId, CallRecords>>> {
        let of = |index| records_of(index, &self.runs, calls, Vec::new());
        self.index.as_ref().map_or(Ok(None), of)
    }

    /// Passes on the records that may be about something, in the order of the runs. True if there are
    /// lines that cannot be read.
    pub(in crate::audit) fn find<'a>(
        &'a self,
        subject: &Subject<'_>,
        each: impl FnMut(Record, RecordOrigin<'a>),
    ) -> AuditResult<bool> {
        let word = subject.word();
        let index = self.index.as_ref();
        match index.and_then(|index| subject.places(index)) {
            Some(places) => read_lines(&self.runs, &places, &word, each),
            None => scan(&self.runs, &[&word], each),
        }
    }
}

impl Subject<'_> {
    /// A word that is in every line about it.
    fn word(&self) -> String {
        match self {
            Self::Call(call) | Self::Set(call) => format!("\"{call}\""),
            Self::CallsBeginning(prefix) => format!("\"{prefix}"),
            Self::Proposal(id) => format!("\"proposal\":\"{id}\""),
            Self::Page(id) => format!("\"id\":{id},"),
            Self::Undoes => "\"undoes\"".to_owned(),
        }
    }

    /// Where the lines are; `None` if the index cannot tell.
    fn places(&self, index: &LineIndex) -> Option<Vec<LinePlace>> {
        let mut keys = match self {
            Self::Call(call) => vec![
                (kind::CALL, call.as_number()),
                (kind::CONFIRMS, call.as_number()),
            ],
            Self::CallsBeginning(prefix) => {
                let bound = |fill: char| -> Option<i64> {
                    let id: String = prefix
                        .chars()
                        .chain(std::iter::repeat(fill))
                        .take(16)
                        .collect();
                    number_of(&id)
                };
                let calls = index
                    .calls_between(bound('0')?, bound('f')?, MOST_CALLS)
                    .ok()?;
                if u32::try_from(calls.len()).is_ok_and(|count| count == MOST_CALLS) {
                    // There may be more.
                    return None;
                }
                let calls = calls.into_iter();
                calls.map(|call| (kind::CALL, call)).collect()
            }
            Self::Set(set) => vec![(kind::SET, set.as_number())],
            Self::Proposal(id) => vec![(kind::PROPOSAL, number_of(id)?)],
            Self::Page(id) => vec![(kind::PAGE, *id)],
            Self::Undoes => vec![(kind::UNDOES, 0)],
        };
        keys.push((kind::UNREADABLE, 0));
        index.lines(&keys).ok()
    }
}

/// Reads lines; one that does not contain the word is passed over. True if some cannot be read.
pub(in crate::audit) fn read_lines<'a>(
    runs: &'a [RunFile],
    places: &[LinePlace],
    word: &str,
    mut each: impl FnMut(Record, RecordOrigin<'a>),
) -> AuditResult<bool> {
    let mut rest = places;
    let mut has_unreadable = false;
    for (run_number, run) in runs.iter().enumerate() {
        let until = rest.partition_point(|place| place.run.as_str() <= run.name());
        let (own, later) = rest.split_at(until);
        rest = later;
        let own = own.iter().filter(|place| place.run == run.name());
        let mut own = own.peekable();
        if own.peek().is_none() {
            continue;
        }
        let mut records = match run.records() {
            Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
            records => records?,
        };
        for place in own {
            records
                .move_to(place.start, place.number)
                .map_err(|error| run.unread(&error))?;
            let origin = RecordOrigin {
                run_number,
                run,
                line: place.number,
            };
            if let Some(read) = records.next_line() {
                has_unreadable |= !pass_on(read, &[word], origin, &mut each);
            }
        }
    }
    Ok(has_unreadable)
}

/// The applied steps from the newest on, before another one; `None` if the index cannot tell.
pub(in crate::audit) fn applied_before(
    index: &LineIndex,
    before: Option<&(i64, LinePlace)>,
    most: u32,
) -> Option<Vec<(i64, LinePlace)>> {
    index.downwards(kind::APPLIED, before, most).ok()
}

/// A time in nanoseconds; the least for none.
pub(in crate::audit) fn nanoseconds(time: Option<OffsetDateTime>) -> i64 {
    let nanoseconds = time.map(OffsetDateTime::unix_timestamp_nanos);
    nanoseconds.map_or(i64::MIN, |time| i64::try_from(time).unwrap_or(i64::MAX))
}

/// The lease to change the index; `None` while somebody else has it.
fn lease(place: &AuditLayout) -> AuditResult<Option<Lease>> {
    Ok(place.store.try_lease(&LeaseName::INDEX, LeaseMode::Alone)?)
}

/// Removes an index that is not one, or not of these runs; says whether it did.
pub(in crate::audit) fn remove_if_wrong(place: &AuditLayout) -> AuditResult<bool> {
    let path = place.line_index();
    let Some(_lease) = lease(place)?.filter(|_| path.exists()) else {
        return Ok(false);
    };
    let all = runs(place)?;
    let is_wrong = match LineIndex::open(&path) {
        None => true,
        Some(index) => matches!(bring_up(index, &all, 0, |_, _| ())?, CatchUp::Wrong),
    };
    if is_wrong {
        line_index::remove(&path);
    }
    Ok(is_wrong)
}

/// The result of bringing an index up to the runs.
enum CatchUp {
    /// It is.
    Up(LineIndex),
    /// It is further behind than was allowed, or somebody else is at work.
    Not,
    /// It is not of these runs, or is damaged.
    Wrong,
}

fn bring_up(
    mut index: LineIndex,
    all: &[RunFile],
    most: u64,
    mut progress: impl FnMut(u64, u64),
) -> AuditResult<CatchUp> {
    let Ok(mut known) = index.runs() else {
        return Ok(CatchUp::Wrong);
    };
    let mut behind = Vec::new();
    let mut whole = 0_u64;
    for (place, run) in all.iter().enumerate() {
        let before = known.remove(run.name());
        if before.as_ref().is_some_and(|before| !is_still(run, before)) {
            return Ok(CatchUp::Wrong);
        }
        let done = before.as_ref().map_or(0, |before| before.length);
        if run.length > done {
            whole = whole.saturating_add(run.length.saturating_sub(done));
            behind.push((place, run, before));
        }
    }
    // Lines of runs that were purged would be named for ever.
    if !known.is_empty() {
        return Ok(CatchUp::Wrong);
    }
    if whole > most {
        return Ok(CatchUp::Not);
    }
    let mut done = 0;
    for (place, run, mut before) in behind {
        loop {
            let from = before.as_ref().map_or(0, |before| before.length);
            let (after, mut batch, records) = match next_lines(run, before.as_ref()) {
                Err(AuditError::Io(io::ErrorKind::NotFound)) => return Ok(CatchUp::Wrong),
                read => read?,
            };
            if batch.lines.is_empty() {
                break;
            }
            match calls(&index, all, place, records)? {
                Some(calls) => batch.calls = calls,
                None => return Ok(CatchUp::Wrong),
            }
            match index.add(run.name(), before.as_ref(), &after, &batch) {
                Ok(true) => {}
                Ok(false) => return Ok(CatchUp::Not),
                Err(error) => {
                    tracing::info!(%error, "audit: the index cannot be written");
                    return Ok(CatchUp::Not);
                }
            }
            done += after.length.saturating_sub(from);
            progress(done, whole);
            before = Some(after);
        }
    }
    Ok(CatchUp::Up(index))
}

/// True if a run still holds what was read of it.
fn is_still(run: &RunFile, before: &IndexedRun) -> bool {
    witness(run, before.length).is_some_and(|now| now == before.hash)
}

/// The bytes of a run right before a place; `None` if it is not as long now.
fn witness(run: &RunFile, end: u64) -> Option<Vec<u8>> {
    let start = end.saturating_sub(WITNESS);
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).ok()?];
    // It is read in one go.
    let mut reader = run.reader(0).ok()?;
    reader.seek(SeekFrom::Start(start)).ok()?;
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// The calls of new lines of a run, each as all its lines so far tell it: with those that the index knows.
/// `None` if the index cannot be read.
fn calls(
    index: &LineIndex,
    all: &[RunFile],
    run: usize,
    new: Vec<(u64, Record)>,
) -> AuditResult<Option<Vec<IndexedCall>>> {
    let of = new.iter().filter_map(|(_, record)| record.call).collect();
    let new = new.into_iter();
    let new = new.map(|(line, record)| (run, line, record)).collect();
    let Some(calls) = records_of(index, all, &of, new)? else {
        return Ok(None);
    };
    let calls = calls.into_iter().map(|(call, records)| {
        let history = records.history(call);
        IndexedCall {
            call: call.as_number(),
            began: nanoseconds(history.began),
            label: serde_json::to_string(&CallLabel::new(&history)).unwrap_or_default(),
            pages: history.page_ids().into_iter().collect(),
        }
    });
    Ok(Some(calls.collect()))
}

/// The records of some calls that the index knows, and those of new lines: of each the run, the number of its line
/// and what it says. `None` if the index cannot be read.
fn records_of(
    index: &LineIndex,
    all: &[RunFile],
    of: &HashSet<CallId>,
    new: Vec<(usize, u64, Record)>,
) -> AuditResult<Option<HashMap<CallId, CallRecords>>> {
    let key = |call: &CallId| (kind::CALL, call.as_number());
    let Ok(places) = index.lines(&of.iter().map(key).collect::<Vec<_>>()) else {
        return Ok(None);
    };
    let mut records = new;
    read_lines(all, &places, "", |record, at| {
        records.push((at.run_number, at.line, record));
    })?;
    records.sort_by_key(|(run, line, _)| (*run, *line));
    let mut calls: HashMap<CallId, CallRecords> = HashMap::new();
    for (run, line, record) in records {
        if let Some(call) = record.call.filter(|call| of.contains(call)) {
            calls.entry(call).or_default().add(run, line, record);
        }
    }
    Ok(Some(calls))
}

/// Records of a run, each with the number of its line.
type NumberedRecords = Vec<(u64, Record)>;

/// The next lines of a run, at most a batch of them, with their records, and how far it is read then.
fn next_lines(
    run: &RunFile,
    before: Option<&IndexedRun>,
) -> AuditResult<(IndexedRun, IndexedBatch, NumberedRecords)> {
    let none = IndexedRun {
        length: 0,
        hash: Vec::new(),
        lines: 0,
        unreadable: 0,
        latest: i64::MIN,
    };
    let mut after = before.cloned().unwrap_or(none);
    let mut records = run.records_from(after.length, after.lines)?;
    let (mut batch, mut read) = (IndexedBatch::default(), Vec::new());
    while batch.lines.len() < BATCH {
        let start = after.length;
        let (length, record) = match records.next_line() {
            None => break,
            Some(Err(Unreadable::Io(kind))) => {
                return Err(run.unread(&kind.into()));
            }
            Some(Err(error)) => (None, Err(error)),
            Some(Ok(text)) => (Some(text.len()), Record::parse(text)),
        };
        after.length = match length {
            Some(length) => start
                .saturating_add(u64::try_from(length).unwrap_or(u64::MAX))
                .saturating_add(1),
            None => records.position().map_err(|error| run.unread(&error))?,
        };
        after.lines = records.line;
        let mut line = IndexedLine {
            start,
            number: after.lines,
            keys: Vec::new(),
        };
        if let Ok(record) = record {
            after.latest = after.latest.max(nanoseconds(record.instant()));
            line.keys = keys(&record, after.latest);
            read.push((after.lines, record));
        } else {
            after.unreadable = after.unreadable.saturating_add(1);
            line.keys.push((kind::UNREADABLE, 0));
        }
        batch.lines.push(line);
    }
    after.hash = witness(run, after.length).unwrap_or_default();
    Ok((after, batch, read))
}

/// The number of an id of sixteen digits.
fn number_of(id: &str) -> Option<i64> {
    Some(id.parse::<CallId>().ok()?.as_number())
}

/// The subject of a line.
fn keys(record: &Record, position: i64) -> Vec<LineKey> {
    let confirms = record.confirms.map(ApprovalId::call);
    let is_applied = record.outcome == Some(Outcome::Applied);
    let keys = [
        (kind::CALL, record.call.map(CallId::as_number)),
        (kind::CONFIRMS, confirms.map(CallId::as_number)),
        (kind::SET, record.set.map(CallId::as_number)),
        (
            kind::PROPOSAL,
            record.proposal.as_deref().and_then(number_of),
        ),
        (kind::PAGE, record.id),
        (kind::UNDOES, record.undoes.map(|_| 0)),
        (kind::APPLIED, is_applied.then_some(position)),
    ];
    let keys = keys.into_iter();
    keys.filter_map(|(kind, value)| Some((kind, value?)))
        .collect()
}

#[cfg(test)]
pub(in crate::audit) mod tests;
