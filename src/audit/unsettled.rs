//! Tracks what is under way in runs that there was no room to go on with, and what could not be put on
//! record.

use std::collections::{HashMap, HashSet};

use super::run::OwnRun;
use super::{CallId, Entry, Event};

/// A step of a call.
pub(super) type Step = (CallId, Option<String>);

/// What such runs left behind.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// These runs, which stay locked while a write of theirs is under way: nobody else may settle it.
    pub(super) runs: Vec<OwnRun>,
    /// The calls and sets with an attempt on record whose outcome is not.
    under_way: HashSet<CallId>,
    /// The attempts whose outcome could not be put on record, and whether they may have been sent.
    pub(super) unsettled: HashMap<Step, bool>,
}

/// The attempts of this process whose outcome could not be put on record.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    /// The files of the runs that they are in.
    pub(super) runs: HashSet<String>,
    /// Their steps, and whether they may have been sent.
    pub(super) steps: HashMap<Step, bool>,
}

impl Left {
    /// An entry is on record.
    pub(super) fn recorded(&mut self, entry: &Entry) {
        match entry.event {
            Event::Attempt => {
                self.under_way.insert(entry.call);
                self.under_way.extend(entry.set);
            }
            Event::Outcome => {
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
    pub(super) fn lost(&mut self, entry: &Entry) {
        let step = (entry.call, entry.step.clone());
        match entry.event {
            // Nothing was sent, though its line may be there.
            Event::Attempt => drop(self.unsettled.entry(step).or_insert(false)),
            Event::Outcome => {
                self.under_way.remove(&entry.call);
                self.unsettled.insert(step, true);
            }
            _ => {}
        }
    }
}

impl Unsettled {
    /// Whether a set has no end on record that should have one.
    pub(super) fn has_set(&self, set: CallId) -> bool {
        self.steps.contains_key(&(set, None))
    }
}
