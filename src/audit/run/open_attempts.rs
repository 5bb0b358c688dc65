//! Open attempts: those of killed runs, whose outcome is unknown.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;

use super::super::{
    AuditEntry, AuditEvent, AuditLayout, AuditResult, CallId, Outcome, Record, RunFile, RunId,
    RunReader, runs, scan,
};
use super::unsettled::{Unsettled, UnsettledWrites};
use crate::change::Operation;
use crate::page::Date;

/// An attempt without an outcome, of an ended run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAttempt {
    /// The run that recorded it.
    pub run: RunId,
    /// Time at which it was recorded: UTC, in milliseconds.
    pub time: String,
    /// The attempt as it was recorded.
    pub entry: AuditEntry,
    /// True if it may have been sent; false if its own record could not be written.
    pub may_be_sent: bool,
}

impl OpenAttempt {
    fn new(call: CallId, record: Record) -> Self {
        Self {
            run: record.run,
            time: record.time.clone(),
            entry: AuditEntry::given(call, record),
            may_be_sent: true,
        }
    }

    /// Time since it was recorded; zero if the clock was set back since.
    pub fn age(&self) -> Duration {
        Date::from(self.time.clone())
            .instant()
            .and_then(|at| (OffsetDateTime::now_utc() - at).try_into().ok())
            .unwrap_or_default()
    }

    /// The entry that settles it in our run: its outcome under its own call.
    pub fn outcome(&self, outcome: Outcome) -> AuditEntry {
        AuditEntry {
            event: AuditEvent::Outcome,
            outcome: Some(outcome),
            key: None,
            gate: None,
            decision: None,
            reason: None,
            warnings: Vec::new(),
            ms: 0,
            ..self.entry.clone()
        }
    }
}

/// A set of an ended run with an attempted change and without an end on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSet {
    /// The set.
    pub set: CallId,
    /// The last of its changes that was attempted.
    pub last: OpenAttempt,
}

impl OpenSet {
    /// The entry that ends it in our run, under its own call.
    pub fn outcome(&self, outcome: Outcome) -> AuditEntry {
        let last = &self.last.entry;
        AuditEntry {
            client: last.client.clone(),
            tool: last.tool.clone(),
            operation: Some(Operation::Update),
            proposal: last.proposal.clone(),
            confirms: last.confirms,
            note: last.note.clone(),
            set: Some(self.set),
            outcome: Some(outcome),
            ..AuditEntry::new(self.set, AuditEvent::Outcome)
        }
    }
}

/// Attempts and sets that ended runs left open.
#[derive(Debug, Default)]
pub struct UnfinishedWrites {
    /// Attempts without an outcome, oldest first.
    pub attempts: Vec<OpenAttempt>,
    /// Sets without an end, oldest first.
    pub sets: Vec<OpenSet>,
}

impl UnfinishedWrites {
    /// True if nothing is open.
    pub const fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.sets.is_empty()
    }
}

impl RunReader {
    /// The open attempts, oldest first: of runs that no living process holds, without an outcome of
    /// the same call and step in any run.
    ///
    /// With `days`, runs that were last written before that are skipped. Memory holds what killed
    /// runs left open, settled later or not.
    ///
    /// # Errors
    /// If the runs cannot be read. Invalid lines are skipped: an attempt that cannot be understood
    /// cannot be settled either.
    pub async fn open_attempts(&self, days: Option<u32>) -> AuditResult<Vec<OpenAttempt>> {
        self.place.on(move |place| open_attempts(place, days)).await
    }
}

impl UnsettledWrites {
    /// Attempts and sets that ended runs, all or these, left open; see [`RunReader::open_attempts`].
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn left_open(
        &self,
        days: Option<u32>,
        among: Option<HashSet<String>>,
    ) -> AuditResult<UnfinishedWrites> {
        let own = self.settling();
        self.place
            .on(move |place| left_open(place, days, among.as_ref(), &own))
            .await
    }

    /// Forgets what of this process is settled by now.
    ///
    /// # Errors
    /// If the runs cannot be read.
    pub async fn forget_settled(&self) -> AuditResult<()> {
        let open = self.left_open(None, None).await?;
        let attempts = open.attempts.iter().map(|attempt| attempt.entry.call);
        let sets = open.sets.iter().map(|open| open.set);
        let open: HashSet<CallId> = attempts.chain(sets).collect();
        let mut left = self.left.lock();
        left.unsettled.retain(|(call, _), _| open.contains(call));
        Ok(())
    }
}

pub(in crate::audit) fn open_attempts(
    place: &AuditLayout,
    days: Option<u32>,
) -> AuditResult<Vec<OpenAttempt>> {
    Ok(left_open(place, days, None, &Unsettled::default())?.attempts)
}

/// Finds attempts and sets that ended runs, all or these, left open, or that this process could not record.
fn left_open(
    place: &AuditLayout,
    days: Option<u32>,
    among: Option<&HashSet<String>>,
    own: &Unsettled,
) -> AuditResult<UnfinishedWrites> {
    let since = days.and_then(|days| {
        let age = Duration::from_secs(u64::from(days).saturating_mul(24 * 60 * 60));
        SystemTime::now().checked_sub(age)
    });
    // The locks were checked before the files are read, so an unlocked run is read in full.
    let runs: Vec<RunFile> = runs(place)?
        .into_iter()
        .filter(|run| since.is_none_or(|since| run.modified >= since))
        .collect();
    // Within a run an outcome follows its attempt; a step may be attempted again after it.
    let mut open: HashMap<(CallId, Option<String>), (String, OpenAttempt)> = HashMap::new();
    let mut sets: HashMap<CallId, OpenSet> = HashMap::new();
    let is_own = |run: &RunFile| own.runs.contains(run.name());
    let is_among = |run: &RunFile| among.is_none_or(|among| among.contains(run.name()));
    let ended = |run: &&RunFile| (!run.is_locked && is_among(run)) || is_own(run);
    for run in runs.iter().filter(ended) {
        scan([run], &["\"attempt\"", "\"outcome\""], |record, _| {
            let Some(call) = record.call else { return };
            let key = (call, record.step.clone());
            if record.event == AuditEvent::Attempt {
                let mut attempt = OpenAttempt::new(call, record);
                if let Some(may_be_sent) = own.steps.get(&key) {
                    attempt.may_be_sent = *may_be_sent;
                }
                if let Some(set) = attempt.entry.set.filter(|set| *set != call) {
                    let last = attempt.clone();
                    sets.insert(set, OpenSet { set, last });
                }
                open.insert(key, (run.name().to_owned(), attempt));
            } else if record.event == AuditEvent::Outcome {
                // The end of a set is recorded under its own call.
                sets.remove(&call);
                if open.get(&key).is_some_and(|(of, _)| of == run.name()) {
                    open.remove(&key);
                }
            }
        })?;
    }
    if !open.is_empty() || !sets.is_empty() {
        scan(&runs, &["\"outcome\""], |record, at| {
            let Some(call) = record.call else { return };
            if record.event == AuditEvent::Outcome {
                sets.remove(&call);
            }
            let key = (call, record.step);
            let is_of_another = |(of, _): &(String, OpenAttempt)| of != at.run.name();
            if record.event == AuditEvent::Outcome && open.get(&key).is_some_and(is_of_another) {
                open.remove(&key);
            }
        })?;
    }
    // Of this process's own runs the others are still under way.
    open.retain(|key, (run, _)| !own.runs.contains(run) || own.steps.contains_key(key));
    sets.retain(|set, open| {
        let file = format!("-{}.jsonl", open.last.run);
        !own.runs.iter().any(|name| name.ends_with(&file)) || own.has_set(*set)
    });
    let mut open: Vec<OpenAttempt> = open.into_values().map(|(_, attempt)| attempt).collect();
    let order = |attempt: &OpenAttempt| {
        let entry = &attempt.entry;
        (attempt.time.clone(), entry.call, entry.step.clone())
    };
    open.sort_by_cached_key(order);
    let mut sets: Vec<OpenSet> = sets.into_values().collect();
    sets.sort_by(|a, b| (&a.last.time, a.set).cmp(&(&b.last.time, b.set)));
    Ok(UnfinishedWrites {
        attempts: open,
        sets,
    })
}

#[cfg(test)]
mod tests;
