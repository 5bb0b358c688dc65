//! Checks that each proposal agrees with the log.

use std::collections::HashMap;

use super::super::documents::proposals::{files, is_making, is_making_of_other};
use super::super::{
    AuditError, AuditEvent, AuditResult, Exclusions, LogFinding, Outcome, Proposal, ProposalId,
    ProposalState, Record,
};
use super::{Checking, runs, scan};

/// The log's records of a proposal.
#[derive(Debug, Default)]
struct ProposalRecords {
    /// The record of its making.
    made: Option<Record>,
    /// The records of the making of a set's other changes, in order.
    others: Vec<Record>,
    /// The records of the preview before its making, of decisions on it and of attempts to apply it.
    later: Vec<Record>,
}

impl<P> Checking<P> {
    pub(super) fn proposals(&mut self) -> AuditResult<()> {
        // The files are read first, so that their records are in the log by then.
        let files = files(&self.place)?;
        let mut told: HashMap<String, ProposalRecords> = HashMap::new();
        scan(
            &runs(&self.place)?,
            &["\"proposal\":\""],
            |mut record, _| {
                let Some(id) = record.proposal.take() else {
                    return;
                };
                let told = told.entry(id).or_default();
                if is_making(&record) {
                    told.made.get_or_insert(record);
                } else if is_making_of_other(&record) {
                    told.others.push(record);
                } else {
                    told.later.push(record);
                }
            },
        )?;
        // A purge may have continued meanwhile.
        self.seen.read(&runs(&self.place)?)?;
        let mut wrong = Vec::new();
        for (id, file) in files {
            let told = told.remove(&id.to_string()).unwrap_or_default();
            let found = match file {
                Ok(proposal) => self.wrong_with(&proposal, &told),
                Err(AuditError::BadProposal) => {
                    let what = "cannot be read: its file is damaged, or a newer version wrote it";
                    Some(fault("bad_proposal", id, what))
                }
                Err(error) => return Err(error),
            };
            if found.is_none() {
                self.checked.proposals = self.checked.proposals.saturating_add(1);
            }
            wrong.extend(found.map(|found| (id, found)));
        }
        for (id, told) in told {
            let Ok(id) = id.parse() else { continue };
            // The file was there before the record of its making.
            if told.made.is_some() && !self.is_purged(id) {
                let message = format!(
                    "the file of the proposal {id} is missing: its making is on record, and no purge names it"
                );
                let file = format!("{id}.json");
                wrong.push((id, LogFinding::new("missing_proposal", &file, message)));
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
        let Some(made) = &told.made else {
            // It may be just being made, or its making broke off behind the file.
            let is_begun = { told.later.iter() }.any(|record| record.event == AuditEvent::Preview);
            let is_half_made = is_begun && proposal.state == ProposalState::Open;
            let may_be = may_be_purged || is_half_made;
            let what = "is not on record: no record tells of its making";
            return (!may_be).then(|| fault("unrecorded_proposal", id, what));
        };
        let mut members = proposal.differs_from(made, &told.others);
        if !may_be_purged && !is_told(&told.later, &proposal.state, proposal.changes().count()) {
            members.push("state");
        }
        let members = members.join(", ");
        let what = format!("was changed: its file is not as on record in {members}");
        (!members.is_empty()).then(|| fault("changed_proposal", id, &what))
    }

    fn is_purged(&self, id: ProposalId) -> bool {
        self.seen.purged.contains_key(&format!("{id}.json"))
    }
}

fn fault(kind: &'static str, id: ProposalId, what: &str) -> LogFinding {
    LogFinding::new(
        kind,
        &format!("{id}.json"),
        format!("the proposal {id} {what}"),
    )
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

#[cfg(test)]
mod tests;
