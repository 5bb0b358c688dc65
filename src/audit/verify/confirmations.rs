//! Checks that each write names the approval that it spent, and that this approval is on record.

use std::collections::{HashMap, HashSet};

use super::super::documents::proposals::is_making;
use super::super::entry::chain::ChainLink;
use super::super::{ApprovalId, AuditEvent, AuditResult, CallId, LogFinding, Record};
use super::{Checking, runs, scan};

/// The decision of an attempt that the operator's static token confirmed: it approves every write.
const STATIC_TOKEN: &str = "token";
/// A person's answers that approve a write.
const YES: [&str; 3] = ["once", "page", "kind"];
/// The decision of a preview that can be confirmed.
const TO_BE_CONFIRMED: &str = "to_be_confirmed";

/// The approvals of a run, and the attempts that name others.
#[derive(Debug, Default)]
pub(super) struct Confirmations {
    /// The calls of this run that showed a preview to be confirmed, or in which a person said yes.
    given: HashSet<(CallId, ApprovalKind)>,
    /// The first attempt of those that name an approval of another run.
    elsewhere: HashMap<ApprovalId, (ApprovalKind, LogFinding)>,
    wrong: Vec<LogFinding>,
}

/// The source of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ApprovalKind {
    Preview,
    Yes,
    Proposal,
}

impl Confirmations {
    /// The file of the next run is read.
    pub(super) fn begin_run(&mut self) {
        self.given.clear();
    }

    /// Reads a line of a run, which holds.
    pub(super) fn read(&mut self, run: &str, number: u64, link: &ChainLink<'_>) {
        const WORDS: [&str; 3] = [
            "\"event\":\"attempt\"",
            "\"event\":\"approval\"",
            "\"to_be_confirmed\"",
        ];
        let text = std::str::from_utf8(link.line).unwrap_or_default();
        if !WORDS.iter().any(|word| text.contains(word)) {
            return;
        }
        let Ok(record) = Record::parse(link.line) else {
            return;
        };
        if let Some(given) = given(&record) {
            self.given.insert(given);
        }
        if record.event != AuditEvent::Attempt || record.decision.as_deref() == Some(STATIC_TOKEN) {
            return;
        }
        let Some(call) = record.call else { return };
        let Some(id) = record.confirms else {
            let message = format!(
                "{run}, line {number}: the write of call {call} names no approval that it spent"
            );
            self.wrong
                .push(LogFinding::new("unconfirmed", run, message));
            return;
        };
        let kind = kind_of(&record, id);
        if !self.given.contains(&(id.call(), kind)) {
            self.elsewhere.entry(id).or_insert_with(|| {
                let message = format!(
                    "{run}, line {number}: the write of call {call} names {id} as its approval, and no record gives this approval"
                );
                (kind, LogFinding::new("unknown_approval", run, message))
            });
        }
    }

    /// Returns the faults, now that all runs are known in which an approval may be found.
    fn resolved(mut self, is_purged: bool) -> Vec<LogFinding> {
        if !is_purged {
            let unknown = self.elsewhere.into_values();
            self.wrong.extend(unknown.map(|(_, unknown)| unknown));
        }
        self.wrong.sort_by(|a, b| a.file.cmp(&b.file));
        self.wrong
    }
}

/// The kind of approval that an attempt needs.
fn kind_of(attempt: &Record, id: ApprovalId) -> ApprovalKind {
    let proposal = attempt.proposal.as_deref();
    if proposal.is_some_and(|proposal| proposal == id.to_string()) {
        ApprovalKind::Proposal
    } else if attempt.decision.as_deref() == Some("person") {
        ApprovalKind::Yes
    } else {
        ApprovalKind::Preview
    }
}

/// The approval that a record gives.
fn given(record: &Record) -> Option<(CallId, ApprovalKind)> {
    let decision = record.decision.as_deref()?;
    let kind = match record.event {
        AuditEvent::Preview if decision == TO_BE_CONFIRMED => ApprovalKind::Preview,
        AuditEvent::Approval if YES.contains(&decision) => ApprovalKind::Yes,
        _ => return None,
    };
    Some((record.call?, kind))
}

impl<P> Checking<P> {
    /// Looks in all runs for the approvals that attempts of other runs name.
    pub(super) fn confirmations(&mut self) -> AuditResult<()> {
        let mut all = std::mem::take(&mut self.confirmations);
        if !all.elsewhere.is_empty() {
            let words = ["\"made\"", "\"event\":\"approval\"", "\"to_be_confirmed\""];
            scan(&runs(&self.place)?, &words, |record, _| {
                let made = record.proposal.as_deref().filter(|_| is_making(&record));
                let found = match made.and_then(|id| id.parse().ok()) {
                    Some(id) => Some((id, ApprovalKind::Proposal)),
                    None => given(&record).map(|(call, kind)| (call.into(), kind)),
                };
                if let Some((id, kind)) = found
                    && all
                        .elsewhere
                        .get(&id)
                        .is_some_and(|(named, _)| *named == kind)
                {
                    all.elsewhere.remove(&id);
                }
            })?;
        }
        // Only runs are named with hashes; the approval may have been in one of those purged.
        let is_purged = self.seen.purged.values().any(|head| head.hash.is_some());
        self.checked.wrong.extend(all.resolved(is_purged));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
