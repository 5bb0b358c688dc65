//! Tracks what is under way in runs that could not go on, and what could not be put on
//! record.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use super::super::{AuditEntry, AuditEvent, AuditLayout, CallId};
use super::own::OwnRun;

/// What of this process is not settled: runs that it gave up, and outcomes that could not be put on record.
#[derive(Debug)]
pub struct UnsettledWrites {
    pub(in crate::audit) place: AuditLayout,
    pub(in crate::audit) left: Mutex<AbandonedRuns>,
}

impl UnsettledWrites {
    /// True if outcomes of this process could not be put on record.
    pub fn is_any(&self) -> bool {
        !self.left.lock().unsettled.is_empty()
    }

    /// The attempts of this process whose outcome is not on record, and the runs that they are in.
    pub(in crate::audit) fn settling(&self) -> Unsettled {
        let left = self.left.lock();
        Unsettled {
            runs: left.runs.iter().map(|run| run.name.clone()).collect(),
            steps: left.unsettled.clone(),
        }
    }
}

/// A step of a call.
pub(in crate::audit) type StepKey = (CallId, Option<String>);

/// Runs that this process gave up, with their unfinished work.
#[derive(Debug, Default)]
pub(in crate::audit) struct AbandonedRuns {
    /// These runs, which stay locked while a write of theirs is under way: nobody else may settle it.
    pub(in crate::audit) runs: Vec<OwnRun>,
    /// The calls and sets with an attempt on record whose outcome is not.
    under_way: HashSet<CallId>,
    /// The attempts whose outcome could not be put on record, and whether they may have been sent.
    pub(in crate::audit) unsettled: HashMap<StepKey, bool>,
}

/// The attempts of this process whose outcome could not be put on record.
#[derive(Debug, Default)]
pub(in crate::audit) struct Unsettled {
    /// The files of the runs that they are in.
    pub(in crate::audit) runs: HashSet<String>,
    /// Their steps, and whether they may have been sent.
    pub(in crate::audit) steps: HashMap<StepKey, bool>,
}

impl AbandonedRuns {
    /// An entry is on record.
    pub(in crate::audit) fn recorded(&mut self, entry: &AuditEntry) {
        match entry.event {
            AuditEvent::Attempt => {
                self.under_way.insert(entry.call);
                self.under_way.extend(entry.set);
            }
            AuditEvent::Outcome => {
                self.under_way.remove(&entry.call);
                self.unsettled.remove(&(entry.call, entry.step.clone()));
            }
            _ => return,
        }
        // What is under way may have begun in any of them.
        if self.under_way.is_empty() && self.unsettled.is_empty() {
            self.runs.clear();
        }
    }

    /// An entry could not be put on record.
    pub(in crate::audit) fn lost(&mut self, entry: &AuditEntry) {
        let step = (entry.call, entry.step.clone());
        match entry.event {
            // Nothing was sent, though its line may be there.
            AuditEvent::Attempt => drop(self.unsettled.entry(step).or_insert(false)),
            AuditEvent::Outcome => {
                self.under_way.remove(&entry.call);
                self.unsettled.insert(step, true);
            }
            _ => {}
        }
    }
}

impl Unsettled {
    /// True if a set has no end on record that should have one.
    pub(in crate::audit) fn has_set(&self, set: CallId) -> bool {
        self.steps.contains_key(&(set, None))
    }
}
