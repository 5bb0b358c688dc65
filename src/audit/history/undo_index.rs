//! Indexes undone calls by the calls that undid them; the rules are in `call`.

use std::collections::HashMap;

use super::super::{AuditResult, CallId, IndexedRuns, Outcome, Subject};
use super::call_history::{RecordClock, RecordPosition};
use super::steps::StepOutcomes;

/// The calls that were taken back.
#[derive(Debug, Default)]
pub(in crate::audit) struct UndoIndex {
    pub(in crate::audit) by: HashMap<CallId, CallId>,
    pub(in crate::audit) has_unreadable: bool,
}

#[derive(Debug)]
struct RecordedUndo {
    of: Vec<CallId>,
    steps: StepOutcomes,
    latest: RecordPosition,
}

impl UndoIndex {
    pub(in crate::audit) fn read(runs: &IndexedRuns) -> AuditResult<Self> {
        let mut undos: HashMap<CallId, RecordedUndo> = HashMap::new();
        let mut clock = RecordClock::default();
        let has_unreadable = runs.find(&Subject::Undoes, |record, at| {
            let moment = clock.read(at.run_number, at.line, &record);
            if let (Some(call), Some(_)) = (record.call, record.undoes) {
                let undo = undos.entry(call).or_insert_with(|| RecordedUndo {
                    of: record.undone_calls(),
                    steps: StepOutcomes::default(),
                    latest: moment,
                });
                undo.steps.tell(&record);
                undo.latest = undo.latest.max(moment);
            }
        })?;
        undos.retain(|_, undo| undo.steps.outcome() == Some(Outcome::Applied));
        Ok(Self {
            by: resolve(&undos),
            has_unreadable,
        })
    }
}

/// Works from the undos that nobody took back to those that they took back.
fn resolve(undos: &HashMap<CallId, RecordedUndo>) -> HashMap<CallId, CallId> {
    let mut waits_for: HashMap<CallId, usize> = HashMap::new();
    for of in undos.values().flat_map(|undo| &undo.of) {
        let count = waits_for.entry(*of).or_default();
        *count = count.saturating_add(1);
    }
    let mut ready: Vec<CallId> = undos
        .keys()
        .filter(|call| !waits_for.contains_key(call))
        .copied()
        .collect();
    let mut by: HashMap<CallId, CallId> = HashMap::new();
    while let Some(call) = ready.pop() {
        let Some(undo) = undos.get(&call) else {
            continue;
        };
        let is_later = |other: &CallId| {
            let moment = |call| undos.get(call).map(|undo| undo.latest);
            moment(&call) > moment(other)
        };
        let counts = !by.contains_key(&call);
        for of in &undo.of {
            if counts && by.get(of).is_none_or(is_later) {
                by.insert(*of, call);
            }
            if let Some(count) = waits_for.get_mut(of) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.push(*of);
                }
            }
        }
    }
    by
}
