//! All calls, each from its attempt to its outcome, in one reading of the log and in bounded
//! memory.
//!
//! In memory are only the calls that may not be complete yet: those of the last few thousand lines
//! of a run, and those whose attempt or outcome is in another run, which happens only after a
//! killed run.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use time::OffsetDateTime;

use super::super::run::indexed::{IndexedRuns, Subject, nanoseconds};
use super::super::run::parsed::for_each_record;
use super::super::{
    AuditEvent, AuditResult, CallFilter, CallHistory, CallHistoryError, CallId, CallReader,
    CallStats, Record, blocking,
};
use super::call::story_of;
use super::call_history::{CallRecords, CallSortKey, sort_key};
use super::filter::is_about;
use super::steps::StepOutcomes;
use super::undo_index::UndoIndex;
use crate::store::local::line_index::CallRange;

/// A call counts as complete after this many more lines of its run.
const AT_REST: u64 = 4096;

/// Number of calls whose lines are read at once.
const AT_ONCE: usize = 256;

/// The newest of some calls, as many as there is room for.
#[derive(Debug)]
pub struct Latest {
    room: usize,
    calls: BTreeMap<CallSortKey, CallHistory>,
    /// Number of calls that were dropped.
    pub older: u64,
}

impl Latest {
    /// Room for as many.
    pub const fn new(room: usize) -> Self {
        Self {
            room,
            calls: BTreeMap::new(),
            older: 0,
        }
    }

    /// Adds a call; the oldest is dropped if there is no room.
    pub fn add(&mut self, call: CallHistory) {
        self.calls.insert(sort_key(&call), call);
        if self.calls.len() > self.room {
            self.calls.pop_first();
            self.older = self.older.saturating_add(1);
        }
    }

    /// The calls, the newest first.
    pub fn into_calls(self) -> Vec<CallHistory> {
        self.calls.into_values().rev().collect()
    }
}

impl CallReader {
    /// Passes every recorded call to `each`, roughly in order of their ends; returns how many lines
    /// could not be read. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn each(&self, each: impl FnMut(CallHistory)) -> AuditResult<u64> {
        let all = self.indexed()?;
        let undone = UndoIndex::read(&all)?;
        let runs = &all.runs;
        let mut gathering = Gathering {
            live: HashMap::new(),
            order: VecDeque::new(),
            undone,
            each,
        };
        let mut unreadable = 0_u64;
        for (index, run) in runs.iter().enumerate() {
            for_each_record(run, |line, record| match record {
                Ok(record) => gathering.take(index, line, record),
                Err(_) => unreadable = unreadable.saturating_add(1),
            })?;
            gathering.end_of_run();
        }
        gathering.end();
        Ok(unreadable)
    }

    /// Counts the calls that a filter selects; also says how many lines could not be read. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn stats(&self, filter: &CallFilter) -> AuditResult<(CallStats, u64)> {
        if let Some(range) = filter.range() {
            let runs = self.indexed()?;
            let labels = runs
                .index
                .as_ref()
                .and_then(|index| index.labels(range).ok());
            let stats = labels.and_then(CallStats::of_labels);
            if let (Some(stats), Some(unreadable)) = (stats, runs.unreadable()) {
                return Ok((stats, unreadable));
            }
        }
        let mut stats = CallStats::default();
        let unreadable = each_selected(self, filter, |call| stats.count(&call))?;
        Ok((stats, unreadable))
    }

    /// The calls of a set of changes, about in order of their ends.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn of_set(&self, set: CallId) -> AuditResult<Vec<CallHistory>> {
        let reader = self.clone();
        blocking(move || {
            let mut calls = Vec::new();
            reader.about(&[Subject::Set(set)], |call| {
                let is_of = |record: &Record| record.set == Some(set);
                if call.call != set && call.records.iter().any(is_of) {
                    calls.push(call);
                }
            })?;
            Ok(calls)
        })
        .await
    }

    /// The writes of a client, or of a user of the machine, that were sent since a time and may
    /// have left something on the wiki, the last sent first; `None` if there are more than `most`.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn of_client(
        &self,
        client: &str,
        since: OffsetDateTime,
        most: usize,
    ) -> AuditResult<Option<Vec<CallHistory>>> {
        let (reader, client) = (self.clone(), client.to_owned());
        blocking(move || {
            let (mut writes, mut has_more) = (Vec::new(), false);
            reader.each(|call| {
                let caller = call.caller();
                let is_by = match caller.actor {
                    Some(actor) => actor.is_called(&client),
                    None => caller.client.is_some_and(|own| own.is_called(&client)),
                };
                let is_sent = call.sent >= Some(since) && call.ending.is_write();
                if !(is_by && is_sent) {
                    return;
                }
                has_more |= writes.len() >= most;
                if !has_more {
                    writes.push(call);
                }
            })?;
            writes.sort_by_key(|call| std::cmp::Reverse(call.sent));
            Ok((!has_more).then_some(writes))
        })
        .await
    }

    /// The applied writes of some pages that were sent after a time, about in order of their ends.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn of_pages(
        &self,
        pages: Vec<i64>,
        after: Option<OffsetDateTime>,
    ) -> AuditResult<Vec<CallHistory>> {
        let reader = self.clone();
        blocking(move || {
            let mut writes = Vec::new();
            let mut take = |call: CallHistory| {
                let is_of = call.id.is_some_and(|id| pages.contains(&id));
                if is_of && call.sent > after && call.last_applied().is_some() {
                    writes.push(call);
                }
            };
            match pages.as_slice() {
                [page] => drop(reader.about(&[Subject::Page(*page)], take)?),
                _ => drop(reader.each(&mut take)?),
            }
            Ok(writes)
        })
        .await
    }

    /// The newest calls that a filter selects, at most `room`, begun before another call if one is
    /// given; and how many lines could not be read. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub fn latest(
        &self,
        filter: &CallFilter,
        before: Option<&CallHistory>,
        room: usize,
    ) -> AuditResult<(Latest, u64)> {
        let before = before.map(sort_key);
        if let Some(range) = filter.range() {
            let place = |(began, call): CallSortKey| (nanoseconds(began), call.as_number());
            let before = before.map_or(range.before, place);
            let range = CallRange { before, ..range };
            if let Some(found) = latest_indexed(&self.indexed()?, range, room)? {
                return Ok(found);
            }
        }
        let mut latest = Latest::new(room);
        let unreadable = each_selected(self, filter, |call| {
            if before.is_none_or(|before| sort_key(&call) < before) {
                latest.add(call);
            }
        })?;
        Ok((latest, unreadable))
    }

    /// Passes the calls with a line about one of these to `each`, and maybe others, about in order of
    /// their ends; returns how many lines could not be read.
    pub(super) fn about(
        &self,
        subjects: &[Subject<'_>],
        mut each: impl FnMut(CallHistory),
    ) -> AuditResult<u64> {
        let runs = self.indexed()?;
        let Some(unreadable) = runs.unreadable() else {
            return self.each(each);
        };
        let undone = UndoIndex::read(&runs)?;
        let (mut known, mut calls) = (HashSet::new(), Vec::new());
        for subject in subjects {
            runs.find(subject, |record, _| {
                calls.extend(record.call.filter(|call| known.insert(*call)));
            })?;
        }
        for some in calls.chunks(AT_ONCE) {
            histories_of(&runs, some, &undone)?
                .into_iter()
                .for_each(&mut each);
        }
        Ok(unreadable)
    }
}

/// Passes the calls that a filter selects to `each`; returns how many lines could not be read.
fn each_selected(
    reader: &CallReader,
    filter: &CallFilter,
    mut each: impl FnMut(CallHistory),
) -> AuditResult<u64> {
    let take = |call: CallHistory| {
        if filter.takes(&call) {
            each(call);
        }
    };
    match filter.page {
        Some(page) => reader.about(&[Subject::Page(page)], take),
        None => reader.each(take),
    }
}

/// The newest of all calls of some time, by the index; `None` if that cannot tell.
fn latest_indexed(
    runs: &IndexedRuns,
    range: CallRange,
    room: usize,
) -> AuditResult<Option<(Latest, u64)>> {
    let found = runs.index.as_ref().map(|index| index.calls(range, room));
    let (Some(Ok((newest, count))), Some(unreadable)) = (found, runs.unreadable()) else {
        return Ok(None);
    };
    let undone = UndoIndex::read(runs)?;
    let mut latest = Latest::new(room);
    for some in newest.chunks(AT_ONCE) {
        let calls = some.iter().map(|(_, call)| CallId::from_number(*call));
        let calls: Vec<CallId> = calls.collect();
        let told = histories_of(runs, &calls, &undone)?;
        let is_so = |(call, (began, id)): (&CallHistory, &(i64, i64))| {
            let is_of = range.page.is_none_or(|page| is_about(call, page));
            is_of && call.call.as_number() == *id && nanoseconds(call.began) == *began
        };
        if told.len() < some.len() || !told.iter().zip(some).all(is_so) {
            tracing::warn!("audit: the index does not say what the log says");
            return Ok(None);
        }
        for call in told {
            latest.add(call);
        }
    }
    let shown = u64::try_from(latest.calls.len()).unwrap_or(u64::MAX);
    latest.older = count.saturating_sub(shown);
    Ok(Some((latest, unreadable)))
}

/// Calls by their lines, as [`CallReader`] gives them; those of which no line is there are left out.
fn histories_of(
    runs: &IndexedRuns,
    calls: &[CallId],
    undone: &UndoIndex,
) -> AuditResult<Vec<CallHistory>> {
    let mut records = runs.records_of(&calls.iter().copied().collect())?;
    let told = calls.iter().filter_map(|call| {
        let history = match &mut records {
            Some(records) => records.remove(call)?.history(*call),
            None => match story_of(runs, *call, undone) {
                Ok(story) => story,
                Err(CallHistoryError::Audit(error)) => return Some(Err(error)),
                Err(_) => return None,
            },
        };
        Some(Ok(CallHistory {
            undone_by: undone.by.get(call).copied(),
            spent_by: Vec::new(),
            has_unreadable: undone.has_unreadable,
            ..history
        }))
    });
    told.collect()
}

struct Gathering<F> {
    live: HashMap<CallId, Live>,
    /// The calls of this run by their lines, oldest first.
    order: VecDeque<(u64, CallId)>,
    undone: UndoIndex,
    each: F,
}

#[derive(Default)]
struct Live {
    records: CallRecords,
    /// Its last line in this run.
    line: u64,
}

impl<F: FnMut(CallHistory)> Gathering<F> {
    fn take(&mut self, run: usize, line: u64, record: Record) {
        if let Some(call) = record.call {
            let held = self.live.entry(call).or_default();
            held.line = line;
            held.records.add(run, line, record);
            self.order.push_back((line, call));
        }
        while let Some((old, call)) = self.order.front().copied()
            && old.saturating_add(AT_REST) < line
        {
            self.order.pop_front();
            if self.live.get(&call).is_some_and(|live| live.line == old) {
                self.give(call, false);
            }
        }
    }

    fn end_of_run(&mut self) {
        for (_, call) in std::mem::take(&mut self.order) {
            self.give(call, false);
        }
    }

    fn end(&mut self) {
        let left: Vec<CallId> = self.live.keys().copied().collect();
        for call in left {
            self.give(call, true);
        }
    }

    /// Passes a call on, unless more of it may follow.
    fn give(&mut self, call: CallId, is_end: bool) {
        let is_over = |live: &Live| is_end || !live.may_go_on();
        if let Entry::Occupied(entry) = self.live.entry(call)
            && is_over(entry.get())
        {
            (self.each)(CallHistory {
                undone_by: self.undone.by.get(&call).copied(),
                has_unreadable: self.undone.has_unreadable,
                ..entry.remove().records.history(call)
            });
        }
    }
}

impl Live {
    /// True if an attempt has no outcome yet, or an outcome no attempt because a run with an
    /// earlier file settled it.
    fn may_go_on(&self) -> bool {
        let mut steps = StepOutcomes::default();
        let (mut is_attempted, mut is_settled) = (false, false);
        for record in self.records.iter() {
            steps.tell(record);
            is_attempted |= record.event == AuditEvent::Attempt;
            is_settled |= record.event == AuditEvent::Outcome && record.step.is_some();
        }
        steps.is_open() || is_settled && !is_attempted
    }
}

#[cfg(test)]
mod tests;
