//! Counts the writes that each gate refused.

use crate::gates::Gate;
use crate::meter::Counter;

/// The number of writes that each gate refused in this run.
#[derive(Debug)]
pub struct Refusals(Vec<(Gate, Counter)>);

impl Default for Refusals {
    fn default() -> Self {
        Self(Gate::ALL.map(|gate| (gate, Counter::default())).into())
    }
}

impl Refusals {
    pub(in crate::write) fn count(&self, at: Gate) {
        for (_, counter) in self.0.iter().filter(|(gate, _)| *gate == at) {
            counter.add();
        }
    }

    /// Each gate with its count.
    pub fn by_gate(&self) -> impl Iterator<Item = (Gate, u64)> {
        self.0.iter().map(|(gate, counter)| (*gate, counter.get()))
    }
}
