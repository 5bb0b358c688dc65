//! The story of one call, across all runs.
//!
//! **Undone.** A call is undone if an applied call that is not undone itself names it in `undoes`
//! or `alsoUndoes`. So the undo of an undo restores the first write, and the undo of that one takes
//! it back again. Undos that name each other in a ring, which no honest log has, undo nothing.
//!
//! **Last** is the applied write that is not undone and whose outcome is the newest. It is never an
//! undo, so repeated undos of `last` take back one write after another. An undo is taken back by
//! its id.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::str::FromStr;

use time::OffsetDateTime;

use super::super::run::indexed::{IndexedRuns, Subject, applied_before, read_lines};
use super::super::{
    AuditError, AuditEvent, AuditResult, CallHistory, CallId, CallReader, Client, Outcome, Record,
    blocking, scan,
};
use super::call_history::{CallRecords, RecordClock, RecordPosition};
use super::spent_approval::SpendingCalls;
use super::undo_index::UndoIndex;
use crate::store::local::line_index::LineIndex;

/// The most candidates that are named for an ambiguous prefix.
const MAX_CANDIDATES: usize = 8;
/// The most of the newest writes held while `last` is searched for.
const MAX_NEWEST: usize = 64;
/// The number of applied steps that are looked up at once while `last` is searched for.
const STEPS_AT_ONCE: u32 = 64;
/// The fewest characters of a call's id that can stand for it.
const MIN_PREFIX: usize = 4;

/// Selects a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallSelector {
    /// By its id.
    Call(CallId),
    /// By the beginning of its id.
    Prefix(String),
    /// The newest applied write that is not undone.
    Last,
}

/// A text that names no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a call's name, its first four or more lower-case hex characters, or `last`")]
pub struct NotASelector;

impl CallSelector {
    /// True for `last`.
    pub const fn is_last(&self) -> bool {
        matches!(self, Self::Last)
    }

    /// The call, if it is given by its whole id.
    pub const fn named(&self) -> Option<CallId> {
        match self {
            Self::Call(call) => Some(*call),
            Self::Prefix(_) | Self::Last => None,
        }
    }
}

impl From<CallId> for CallSelector {
    fn from(call: CallId) -> Self {
        Self::Call(call)
    }
}

/// Reads what somebody typed.
///
/// ```
/// use wikijs_gate_core::audit::CallSelector;
///
/// assert_eq!("last".parse::<CallSelector>(), Ok(CallSelector::Last));
/// assert!("01ab".parse::<CallSelector>().is_ok());
/// assert!("01a".parse::<CallSelector>().is_err());
/// ```
impl FromStr for CallSelector {
    type Err = NotASelector;

    fn from_str(text: &str) -> Result<Self, NotASelector> {
        if text == "last" {
            return Ok(Self::Last);
        }
        if let Ok(call) = text.parse() {
            return Ok(Self::Call(call));
        }
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        if (MIN_PREFIX..16).contains(&text.len()) && text.chars().all(is_hex) {
            return Ok(Self::Prefix(text.to_owned()));
        }
        Err(NotASelector)
    }
}

/// The reason a call's history cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallHistoryError {
    /// No record is of such a call.
    #[error("no such call is on record")]
    NotFound,
    /// `last` was asked for, and there is no such write.
    #[error("no applied write is on record that is not undone")]
    NoneLeft,
    /// Several calls begin like this.
    #[error("several calls begin like this")]
    Ambiguous {
        /// The first eight of them, in order of their ids.
        candidates: Vec<CallId>,
        /// True if there are more.
        has_more: bool,
    },
    /// The log could not be read.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl CallReader {
    /// Finds a call and its records, whoever made it. Memory holds these records and a few words
    /// for each undo on record.
    ///
    /// # Errors
    /// If there is no such call, or several are meant, or the runs cannot be read.
    pub async fn story(&self, call: &CallSelector) -> Result<CallHistory, CallHistoryError> {
        self.story_for(None, call).await
    }

    /// The same among only the calls of one client, as if there were no others; among all calls if
    /// no client is given.
    ///
    /// # Errors
    /// As [`CallReader::story`].
    pub async fn story_for(
        &self,
        owner: Option<&Client>,
        call: &CallSelector,
    ) -> Result<CallHistory, CallHistoryError> {
        let (reader, call) = (self.clone(), call.clone());
        let owner = owner.cloned();
        blocking(move || Ok(story(&reader, &call, owner.as_ref()))).await?
    }

    /// The newest applied undo that was not taken back itself, with its time: of a write or of a
    /// whole set, of this client, or of anybody if no client is given.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn last_undo(
        &self,
        owner: Option<&Client>,
    ) -> AuditResult<Option<(CallId, Option<OffsetDateTime>)>> {
        let (reader, owner) = (self.clone(), owner.cloned());
        blocking(move || {
            let runs = reader.indexed()?;
            let undone = UndoIndex::read(&runs)?;
            let mut newest: Option<(RecordPosition, CallId)> = None;
            let mut clock = RecordClock::default();
            runs.find(&Subject::Undoes, |record, at| {
                let moment = clock.read(at.run_number, at.line, &record);
                let is_applied =
                    record.event == AuditEvent::Outcome && record.outcome == Some(Outcome::Applied);
                // A change of a set is taken back with its set.
                let is_whole = record.set.is_none() || record.set == record.call;
                let call = record.call.filter(|call| !undone.by.contains_key(call));
                let is_meant = is_applied && is_whole && is_of(&record, owner.as_ref());
                if let (true, Some(call)) = (is_meant, call) {
                    newest = newest.max(Some((moment, call)));
                }
            })?;
            Ok(newest.map(|((at, ..), call)| (call, at)))
        })
        .await
    }
}

fn story(
    reader: &CallReader,
    selector: &CallSelector,
    owner: Option<&Client>,
) -> Result<CallHistory, CallHistoryError> {
    let runs = reader.indexed()?;
    let undone = UndoIndex::read(&runs)?;
    let call = match selector {
        CallSelector::Call(call) => *call,
        CallSelector::Prefix(prefix) => only(&runs, prefix, owner)?,
        CallSelector::Last => return last(&runs, &undone, owner),
    };
    let story = story_of(&runs, call, &undone)?;
    if story.is_made_by(owner) {
        Ok(story)
    } else {
        Err(CallHistoryError::NotFound)
    }
}

impl CallHistory {
    /// True if this client made the call; `None` accepts every call.
    pub fn is_made_by(&self, owner: Option<&Client>) -> bool {
        let first = self.records.iter().find(|record| record.client.is_some());
        owner.is_none() || first.is_some_and(|record| is_of(record, owner))
    }
}

/// True if a record is of this client's call; `None` accepts every call.
fn is_of(record: &Record, owner: Option<&Client>) -> bool {
    let is_made_by = |owner: &Client| {
        let maker = record.client.as_ref();
        maker.is_some_and(|maker| owner.is_same_owner(maker))
    };
    owner.is_none_or(is_made_by)
}

/// The one call that begins like this.
fn only(
    runs: &IndexedRuns,
    prefix: &str,
    owner: Option<&Client>,
) -> Result<CallId, CallHistoryError> {
    let mut found = BTreeSet::new();
    let mut has_more = false;
    runs.find(&Subject::CallsBeginning(prefix), |record, _| {
        let call = record.call.filter(|_| is_of(&record, owner));
        found.extend(call.filter(|call| call.to_string().starts_with(prefix)));
        if found.len() > MAX_CANDIDATES {
            has_more = true;
            found.pop_last();
        }
    })?;
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Err(CallHistoryError::NotFound),
        (Some(call), None) => Ok(call),
        (Some(first), Some(second)) => Err(CallHistoryError::Ambiguous {
            candidates: [first, second].into_iter().chain(found).collect(),
            has_more,
        }),
    }
}

pub(super) fn story_of(
    runs: &IndexedRuns,
    call: CallId,
    undone: &UndoIndex,
) -> Result<CallHistory, CallHistoryError> {
    let mut records = CallRecords::default();
    let mut spent = SpendingCalls::default();
    let has_unreadable = runs.find(&Subject::Call(call), |record, at| {
        if !spent.read(call, &record) && record.call == Some(call) {
            records.add(at.run_number, at.line, record);
        }
    })?;
    if records.iter().next().is_none() {
        return Err(CallHistoryError::NotFound);
    }
    Ok(CallHistory {
        undone_by: undone.by.get(&call).copied(),
        spent_by: spent.0,
        has_unreadable: has_unreadable || undone.has_unreadable,
        ..records.history(call)
    })
}

fn last(
    runs: &IndexedRuns,
    undone: &UndoIndex,
    owner: Option<&Client>,
) -> Result<CallHistory, CallHistoryError> {
    let mut passed: HashSet<CallId> = undone.by.keys().copied().collect();
    if let Some(index) = &runs.index {
        match last_indexed(runs, index, undone, owner) {
            // The runs are read, then.
            Err(CallHistoryError::NotFound) => {}
            found => return found,
        }
    }
    loop {
        let newest = newest(runs, &passed, owner)?;
        if newest.is_empty() {
            return Err(CallHistoryError::NoneLeft);
        }
        for call in newest {
            match story_of(runs, call, undone) {
                Ok(story) if story.outcome == Some(Outcome::Applied) && story.is_made_by(owner) => {
                    return Ok(story);
                }
                // Purged meanwhile, not wholly applied, or another client's.
                Ok(_) | Err(CallHistoryError::NotFound) => passed.insert(call),
                Err(error) => return Err(error),
            };
        }
    }
}

/// The same by the index, from the newest applied step on; [`CallHistoryError::NotFound`] if the index
/// cannot tell.
fn last_indexed(
    runs: &IndexedRuns,
    index: &LineIndex,
    undone: &UndoIndex,
    owner: Option<&Client>,
) -> Result<CallHistory, CallHistoryError> {
    let mut passed: HashSet<CallId> = undone.by.keys().copied().collect();
    let mut before = None;
    loop {
        let some = applied_before(index, before.as_ref(), STEPS_AT_ONCE);
        let some = some.ok_or(CallHistoryError::NotFound)?;
        if some.is_empty() {
            return Err(CallHistoryError::NoneLeft);
        }
        for (_, place) in &some {
            let mut step = None;
            read_lines(&runs.runs, std::slice::from_ref(place), "", |record, _| {
                step = Some(record);
            })?;
            let Some(step) = step.filter(|step| step.event == AuditEvent::Outcome) else {
                continue;
            };
            let call = step.call.filter(|call| passed.insert(*call));
            if let Some(call) = call
                && let Ok(story) = story_of(runs, call, undone)
                && story.outcome == Some(Outcome::Applied)
                && story.is_made_by(owner)
                && !takes_back(runs, &story)?
            {
                return Ok(story);
            }
        }
        before = some.into_iter().next_back();
    }
}

/// True if a call takes something back, or is a set of such calls.
fn takes_back(runs: &IndexedRuns, call: &CallHistory) -> AuditResult<bool> {
    let mut takes_back = call.records.iter().any(|record| record.undoes.is_some());
    runs.find(&Subject::Set(call.call), |record, _| {
        takes_back |= record.set == Some(call.call) && record.undoes.is_some();
    })?;
    Ok(takes_back)
}

/// The newest calls with an applied step, the newest first, without those already passed over.
/// Whether a call was wholly applied only its story shows; nearly always it was.
fn newest(
    runs: &IndexedRuns,
    passed: &HashSet<CallId>,
    owner: Option<&Client>,
) -> AuditResult<Vec<CallId>> {
    let mut newest: BTreeMap<RecordPosition, CallId> = BTreeMap::new();
    let mut undoing: HashSet<CallId> = HashSet::new();
    let mut clock = RecordClock::default();
    scan(&runs.runs, &["\"applied\""], |record, at| {
        let mut moment = clock.read(at.run_number, at.line, &record);
        let is_applied = record.outcome == Some(Outcome::Applied);
        let Some(call) = record.call.filter(|call| !passed.contains(call)) else {
            return;
        };
        // An outcome from recovery has no client; its story shows whose it is.
        if record.client.is_some() && !is_of(&record, owner) {
            return;
        }
        // `last` is never an undo, since taking it back would restore the write. Nor is it a set of
        // undos, whose end is recorded after them.
        if record.undoes.is_some() {
            undoing.extend(record.set);
        }
        let is_undo = record.undoes.is_some() || undoing.contains(&call);
        if record.event != AuditEvent::Outcome || !is_applied || is_undo {
            return;
        }
        // Of several steps the last counts, even if it is in an earlier file.
        newest.retain(|other, of| {
            let is_same = *of == call;
            if is_same {
                moment = moment.max(*other);
            }
            !is_same
        });
        newest.insert(moment, call);
        if newest.len() > MAX_NEWEST {
            newest.pop_first();
        }
    })?;
    Ok(newest.into_values().rev().collect())
}

#[cfg(test)]
mod tests;
