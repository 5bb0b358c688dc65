//! Checks that each proposal agrees with the log.

use std::collections::HashMap;

use super::super::documents::proposals::{files, is_making, is_making_of_other};
use super::super::entry::chain::RunFileEnd;
use super::super::{
    AuditError, AuditEvent, Exclusions, LogFinding, Outcome, Proposal, ProposalId, ProposalState,
    Record,
};
use super::{Checking, runs, scan};

/// The log's records of a proposal.
#[derive(Debug, Default)]
struct ProposalRecords {
    /// The record of its making, its run's file and its line.
    made: Option<(Record, String, u64)>,
    /// The records of the making of a set's other changes, in order.
    others: Vec<Record>,
    /// The records of decisions on it and of attempts to apply it.
    later: Vec<Record>,
}

impl<P> Checking<P> {
    pub(super) fn proposals(&mut self) -> Result<(), AuditError> {
        // The files are read first, so that their records are in the log by then.
        let files = files(&self.place)?;
        let mut told: HashMap<String, ProposalRecords> = HashMap::new();
        scan(&runs(&self.place)?, &["\"proposal\":\""], |found| {
            let Ok(mut record) = found.record else { return };
            let Some(id) = record.proposal.take() else {
                return;
            };
            let told = told.entry(id).or_default();
            if is_making(&record) {
                let run = found.run.name().to_owned();
                told.made.get_or_insert((record, run, found.line));
            } else if is_making_of_other(&record) {
                told.others.push(record);
            } else {
                told.later.push(record);
            }
        })?;
        // A purge may have continued meanwhile.
        self.seen.read(&runs(&self.place)?)?;
        let mut wrong = Vec::new();
        for (id, file) in files {
            let told = told.remove(&id.to_string()).unwrap_or_default();
            let found = match file {
                Ok(proposal) => self.wrong_with(&proposal, &told),
                Err(AuditError::BadProposal) => Some(LogFinding::BadProposal { id }),
                Err(error) => return Err(error),
            };
            if found.is_none() {
                self.checked.proposals = self.checked.proposals.saturating_add(1);
            }
            wrong.extend(found.map(|found| (id, found)));
        }
        for (id, told) in told {
            let Ok(id) = id.parse() else { continue };
            if self.is_awaited(&told) && !self.is_purged(id) {
                wrong.push((id, LogFinding::MissingProposal { id }));
            }
        }
        wrong.sort_by_key(|(id, _)| *id);
        let wrong = wrong.into_iter().map(|(_, wrong)| wrong);
        self.checked.wrong.extend(wrong);
        Ok(())
    }

    fn wrong_with(&self, proposal: &Proposal, told: &ProposalRecords) -> Option<LogFinding> {
        let id = proposal.id;
        // A decided proposal may outlive its records, since only runs are named with hashes.
        let may_be_purged = if proposal.state == ProposalState::Open {
            self.is_purged(id)
        } else {
            let mut purged = self.seen.purged.values();
            purged.any(|head| head.hash.is_some())
        };
        let Some((made, ..)) = &told.made else {
            return (!may_be_purged).then_some(LogFinding::UnrecordedProposal { id });
        };
        let mut members = proposal.differs_from(made, &told.others);
        if !may_be_purged && !is_told(&told.later, &proposal.state, proposal.changes().count()) {
            members.push("state");
        }
        (!members.is_empty()).then_some(LogFinding::ChangedProposal { id, members })
    }

    /// True if there must be a file. Not if the proposal was decided or could not be kept, or if
    /// the run ended or is now between the record and the file.
    fn is_awaited(&self, told: &ProposalRecords) -> bool {
        let Some((made, run, line)) = &told.made else {
            return false;
        };
        let is_settled = |record: &Record| {
            record.event == AuditEvent::Proposal
                || record.event == AuditEvent::Refusal && record.call == made.call
        };
        let mut checked = self.checked.runs.iter();
        let chain = checked.find(|checked| checked.file == *run);
        let is_followed = chain.and_then(|run| run.chain.as_ref().ok());
        let is_behind = is_followed
            .is_some_and(|chain| chain.end == RunFileEnd::Closed || *line < chain.records);
        is_behind && !told.later.iter().any(is_settled)
    }

    fn is_purged(&self, id: ProposalId) -> bool {
        self.seen.purged.contains_key(&format!("{id}.json"))
    }
}

/// True if these records agree with the state of a proposal's file. A file that is still open where
/// they tell more was left behind by a process that was killed; the log decides then.
fn is_told(later: &[Record], state: &ProposalState, of: usize) -> bool {
    let says = |record: &Record, word: &str| {
        record.event == AuditEvent::Proposal && record.decision.as_deref() == Some(word)
    };
    let has_said = |word: &str, why: String| {
        let why = Some(why);
        { later.iter() }.any(|record| says(record, word) && record.reason == why)
    };
    match state {
        ProposalState::Open => true,
        ProposalState::Applied {
            applied_by,
            left_out,
            ..
        } => {
            let own = || {
                let is_own = |record: &&Record| record.call == Some(*applied_by);
                later.iter().filter(is_own)
            };
            // Of a set the end says it, where the process was killed before the decision was on record.
            let is_write = |record: &Record| {
                record.event == AuditEvent::Attempt
                    || record.outcome == Some(Outcome::Applied)
                    || says(record, "applied")
            };
            let told = own().find_map(|record| Exclusions::read(record.reason.as_deref()?));
            let is_left_out = match (told, Exclusions::new(left_out.clone(), of)) {
                // A record has no room for all numbers of a long list.
                (Some(told), Some(left_out)) => told.is_read_of(&left_out),
                (told, left_out) => told == left_out,
            };
            own().any(is_write) && is_left_out
        }
        ProposalState::Rejected { reason, .. } => has_said("rejected", reason.clone()),
        ProposalState::Replaced { replaced_by, .. } => {
            has_said("replaced", format!("by {replaced_by}"))
        }
        ProposalState::Withdrawn { withdrawn_by, .. } => {
            has_said("withdrawn", format!("by {withdrawn_by}"))
        }
    }
}
