//! Keeps the records of one call, and reads what they say together.

use std::collections::{BTreeSet, HashSet};

use time::OffsetDateTime;

use super::super::documents::proposals::is_making;
use super::super::{
    Actor, AuditEvent, CallId, CallOutcome, Client, KeptState, KeyDigest, Outcome, Record,
    SpentApproval,
};
use super::steps::StepOutcomes;
use crate::change::Operation;
use crate::page::PagePath;

/// The most records of one call that are returned.
const MAX_RECORDS: usize = 1000;

/// All records of one call, and what they say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallHistory {
    /// The call.
    pub call: CallId,
    /// Its records in all runs, in order of time and, within a run, in the run's own order; the
    /// first thousand.
    pub records: Vec<Record>,
    /// True if there are more than a thousand, which no honest log has.
    pub is_cut: bool,
    /// The applied call that took this one back, and was not taken back itself.
    pub undone_by: Option<CallId>,
    /// The calls that spent its approval, in order of time: of a preview one, of a yes to a page or a
    /// kind of write several; of a set the set alone. Known only where the call was looked for by itself.
    pub spent_by: Vec<CallId>,
    /// True if some unreadable lines in any run may be of this call or of an undo; `audit verify`
    /// says more about them.
    pub has_unreadable: bool,
    /// Time of its first record.
    pub began: Option<OffsetDateTime>,
    /// Time of its last attempt, if it was sent.
    pub sent: Option<OffsetDateTime>,
    /// The outcome of all its steps; `None` while an attempt has no outcome, or without attempts
    /// and outcomes. A write that stopped between two steps, or whose steps are only partly as
    /// promised, is [`Outcome::PartlyApplied`]; a write with an unknown step is
    /// [`Outcome::Unknown`].
    pub outcome: Option<Outcome>,
    /// True if an attempt has no outcome.
    pub is_open: bool,
    /// Its outcome in a word, also where it was not sent.
    pub ending: CallOutcome,
    /// The kind of write.
    pub operation: Option<Operation>,
    /// The page's id: from the last outcome that has one (the attempt of a create does not know
    /// it), otherwise from the call.
    pub id: Option<i64>,
    /// The set of changes that it belongs to or is.
    pub set: Option<CallId>,
    /// The key of the wiki that the call came with.
    pub key: Option<KeyDigest>,
    /// The kept state before the write.
    pub before: Option<KeptState>,
    /// The kept state after it, as promised.
    pub after: Option<KeptState>,
}

/// The place of a call or group in a list: its time and its id.
pub(super) type CallSortKey = (Option<OffsetDateTime>, CallId);

pub(super) fn sort_key(call: &CallHistory) -> CallSortKey {
    (call.began, call.call)
}

impl CallHistory {
    /// Reads the records of a call, which are in order.
    pub fn new(call: CallId, records: Vec<Record>, is_cut: bool) -> Self {
        let mut steps = StepOutcomes::default();
        for record in &records {
            steps.tell(record);
        }
        let outcome = steps.outcome().filter(|_| !is_cut);
        let of = |event| move |record: &&Record| record.event == event;
        let (first, last) = (|| records.iter(), || records.iter().rev());
        let mut outcomes = last().filter(of(AuditEvent::Outcome));
        let mut attempts = last().filter(of(AuditEvent::Attempt));
        Self {
            call,
            is_cut,
            undone_by: None,
            spent_by: Vec::new(),
            has_unreadable: false,
            began: records.first().and_then(Record::instant),
            sent: attempts.find_map(Record::instant),
            outcome,
            is_open: steps.is_open(),
            ending: CallOutcome::read(outcome, records.last()),
            operation: last().find_map(|record| record.operation),
            id: outcomes
                .find_map(|record| record.id)
                .or_else(|| last().find_map(|record| record.id)),
            set: first().find_map(|record| record.set),
            key: first().find_map(|record| record.key),
            before: first().find_map(|record| record.before),
            after: last().find_map(|record| record.after),
            records,
        }
    }

    /// The kept states that say what it changed.
    pub fn states_around(&self) -> [Option<KeptState>; 2] {
        let found = self.last_applied().and_then(|record| record.found);
        [self.before, found.or(self.after)]
    }

    /// The outcome of the last step that was applied, in whole or in part.
    pub fn last_applied(&self) -> Option<&Record> {
        self.records.iter().rfind(|record| record.took_effect())
    }

    /// The refusal with which a create was answered whose page was then found as asked for: the page
    /// may be somebody else's.
    pub fn create_refused(&self) -> Option<&Record> {
        self.last_applied().filter(|record| {
            record.operation == Some(Operation::Create)
                && record.outcome == Some(Outcome::Applied)
                && record.code.is_some()
        })
    }

    /// The page's place after the call, as far as recorded: its new place, if the call was applied.
    pub fn place(&self) -> Option<PagePath> {
        let was_applied = self.last_applied().is_some();
        let new = self.latest(|record| record.new_path.clone());
        let old = || self.latest(|record| record.path.clone());
        new.filter(|_| was_applied).or_else(old)
    }

    /// True if it is a set of changes, each of which has its own call.
    pub fn is_set(&self) -> bool {
        self.set == Some(self.call)
    }

    /// The number of pages that its records name. A proposal of many has a record of each; a decision on
    /// it names none, since its changes have calls of their own.
    pub fn pages(&self) -> usize {
        let proposal = self.latest(|record| record.proposal.as_deref());
        if self.is_set() && proposal.is_some() && self.proposal_made().is_none() {
            return 0;
        }
        let places = self.records.iter().filter_map(|record| {
            let (locale, path) = (record.locale.as_ref()?, record.path.as_ref()?);
            Some((locale.as_str(), path.as_str()))
        });
        let places = places.collect::<HashSet<_>>();
        places.len().max(usize::from(self.id.is_some()))
    }

    /// The ids of the pages that it is about: none of a decision on a set, as in [`Self::pages`].
    pub fn page_ids(&self) -> BTreeSet<i64> {
        if self.pages() == 0 {
            return BTreeSet::new();
        }
        self.records.iter().filter_map(|record| record.id).collect()
    }

    /// The calls that it takes back.
    pub fn undone_calls(&self) -> Vec<CallId> {
        let undo = self.records.iter().find(|record| record.undoes.is_some());
        undo.map_or_else(Vec::new, Record::undone_calls)
    }

    /// The approval of the write, if one was needed: by the record of its first attempt, of a set
    /// by that of its end.
    pub fn confirmation(&self) -> Option<SpentApproval<'_>> {
        let is_sent =
            |record: &&Record| matches!(record.event, AuditEvent::Attempt | AuditEvent::Outcome);
        let mut sent = self.records.iter().filter(is_sent);
        sent.find_map(SpentApproval::read)
    }

    /// Its maker.
    pub fn caller(&self) -> CallMaker<'_> {
        CallMaker {
            client: self.latest(|record| record.client.as_ref()),
            actor: self.latest(|record| record.actor.as_ref()),
            proposer: self.latest(|record| record.proposer.as_ref()),
        }
    }

    /// The proposal that the call made, if it made one.
    pub fn proposal_made(&self) -> Option<&str> {
        let made = self.records.iter().find(|record| is_making(record))?;
        made.proposal.as_deref()
    }

    /// The last gate that decided, and what it decided.
    pub fn gate(&self) -> Option<(&str, &str)> {
        self.latest(|record| {
            let decision = record.decision.as_deref().unwrap_or_default();
            Some((record.gate.as_deref()?, decision))
        })
    }

    /// A value from the last of its records that has it.
    pub fn latest<'a, T>(&'a self, tells: impl Fn(&'a Record) -> Option<T>) -> Option<T> {
        self.records.iter().rev().find_map(tells)
    }
}

/// The client or the user of the machine that made a call.
#[derive(Debug, Clone, Copy)]
pub struct CallMaker<'a> {
    /// The client that called.
    pub client: Option<&'a Client>,
    /// The actor, if not a client.
    pub actor: Option<&'a Actor>,
    /// The client that made the proposal that the call decided on, if another client did.
    pub proposer: Option<&'a Client>,
}

impl<'a> CallMaker<'a> {
    /// The caller in a word: the actor, the client's authenticated name, or the client's own name
    /// for itself.
    pub fn who(self) -> Option<&'a str> {
        let client = || self.client.map(Client::shown);
        self.actor.map(Actor::as_str).or_else(client)
    }
}

/// The position of a record among those of all runs: by time, then by run and line. Within a run no
/// record precedes the one above it, even if the clock was set back.
pub(in crate::audit) type RecordPosition = (Option<OffsetDateTime>, usize, u64);

#[derive(Debug, Default)]
pub(in crate::audit) struct RecordClock {
    run: usize,
    latest: Option<OffsetDateTime>,
}

impl RecordClock {
    pub(in crate::audit) fn read(
        &mut self,
        run: usize,
        line: u64,
        record: &Record,
    ) -> RecordPosition {
        if self.run != run {
            *self = Self { run, latest: None };
        }
        self.latest = self.latest.max(record.instant());
        (self.latest, run, line)
    }
}

/// The records of one call, as they are found in the order of the runs.
#[derive(Debug, Default)]
pub(in crate::audit) struct CallRecords {
    found: Vec<(RecordPosition, Record)>,
    is_cut: bool,
    clock: RecordClock,
}

impl CallRecords {
    /// Adds the record of a line, if there is room.
    pub(in crate::audit) fn add(&mut self, run: usize, line: u64, record: Record) {
        self.is_cut |= self.found.len() >= MAX_RECORDS;
        if !self.is_cut {
            let moment = self.clock.read(run, line, &record);
            self.found.push((moment, record));
        }
    }

    /// Those that were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.found.iter().map(|(_, record)| record)
    }

    /// The call as they tell it.
    pub(in crate::audit) fn history(mut self, call: CallId) -> CallHistory {
        self.found.sort_by_key(|(moment, _)| *moment);
        let records = self.found.into_iter().map(|(_, record)| record);
        CallHistory::new(call, records.collect(), self.is_cut)
    }
}
