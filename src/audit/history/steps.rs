//! The outcomes of a write's steps, and of the write as a whole.

use super::super::{AuditEvent, Outcome, Record};
use crate::change::Operation;
use crate::page::Field;

/// The steps of one write, from the records read so far.
///
/// An outcome belongs to the latest attempt of the same step without one. If all have one, it
/// replaces the last, since an unknown outcome may be found out later. An outcome may be read
/// before its attempt, if it is in a run with an earlier file.
#[derive(Debug, Default)]
pub(in crate::audit) struct StepOutcomes {
    told: Vec<StepRecord>,
    /// The steps that a change of these fields needs.
    needed: [Option<Operation>; 2],
}

#[derive(Debug)]
struct StepRecord {
    name: Option<Box<str>>,
    is_attempted: bool,
    outcome: Option<Outcome>,
}

impl StepOutcomes {
    /// Reads a record of the write; only attempts and outcomes matter.
    pub(in crate::audit) fn tell(&mut self, record: &Record) {
        let name = record.step.as_deref();
        match (record.event, record.outcome) {
            (AuditEvent::Attempt, _) => {
                self.needed = needed(record);
                match self.find(name, |step| !step.is_attempted) {
                    Some(step) => step.is_attempted = true,
                    None => self.add(name, true, None),
                }
            }
            (AuditEvent::Outcome, Some(outcome)) => {
                let is_open = self.find(name, |step| step.outcome.is_none()).is_some();
                match self.find(name, |step| !is_open || step.outcome.is_none()) {
                    Some(step) => step.outcome = Some(outcome),
                    None => self.add(name, false, Some(outcome)),
                }
            }
            _ => {}
        }
    }

    fn find(
        &mut self,
        name: Option<&str>,
        fits: impl Fn(&StepRecord) -> bool,
    ) -> Option<&mut StepRecord> {
        self.told
            .iter_mut()
            .rev()
            .find(|step| step.name.as_deref() == name && fits(step))
    }

    fn add(&mut self, name: Option<&str>, is_attempted: bool, outcome: Option<Outcome>) {
        self.told.push(StepRecord {
            name: name.map(Box::from),
            is_attempted,
            outcome,
        });
    }

    /// True if an attempt has no outcome.
    pub(in crate::audit) fn is_open(&self) -> bool {
        self.told.iter().any(|step| step.outcome.is_none())
    }

    /// The outcome of the steps read so far; `None` while one is open.
    fn so_far(&self) -> Option<Outcome> {
        let mut whole: Option<Outcome> = None;
        for step in &self.told {
            let next = step.outcome?;
            whole = Some(whole.map_or(next, |before| join(before, next)));
        }
        whole
    }

    /// The outcome of the whole write; `None` while a step is open or if there was none. A write
    /// that stopped between its steps is partly applied.
    pub(in crate::audit) fn outcome(&self) -> Option<Outcome> {
        let whole = self.so_far()?;
        let is_named = self.told.iter().all(|step| step.name.is_some());
        let is_missing = self.needed.iter().flatten().any(|needed| {
            let is_it = |step: &StepRecord| step.name.as_deref() == Some(needed.as_str());
            !self.told.iter().any(is_it)
        });
        Some(if whole == Outcome::Applied && is_named && is_missing {
            Outcome::PartlyApplied
        } else {
            whole
        })
    }
}

const fn join(before: Outcome, next: Outcome) -> Outcome {
    use Outcome::{Applied, NotApplied, PartlyApplied, Unchanged, Unknown};
    match (before, next) {
        (Unknown, _) | (_, Unknown) => Unknown,
        (Applied, Applied | Unchanged) | (Unchanged, Applied) => Applied,
        (Unchanged, Unchanged) => Unchanged,
        (NotApplied, NotApplied | Unchanged) | (Unchanged, NotApplied) => NotApplied,
        (PartlyApplied, _) | (_, PartlyApplied) | (Applied, NotApplied) | (NotApplied, Applied) => {
            PartlyApplied
        }
    }
}

/// The steps that a change of these fields needs.
fn needed(attempt: &Record) -> [Option<Operation>; 2] {
    let is_place = |field: &Field| field.is_place();
    match attempt.operation {
        Some(Operation::Update | Operation::Move) => [
            attempt
                .fields
                .iter()
                .any(is_place)
                .then_some(Operation::Move),
            (!attempt.fields.iter().all(is_place)).then_some(Operation::Update),
        ],
        // Each of the others is one step.
        Some(_) | None => [None, None],
    }
}
