//! The permit of one change, and the steps that come out of it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::set::ChangeSet;
use crate::audit::OnRecord;
use crate::change::{Change, StepKind};

/// Proof that every gate opened for this very set: the gate *confirm* alone makes one, of the proof
/// of the gate before it and of what confirms the set.
///
/// Nothing outside the gates can make one of nothing:
///
/// ```compile_fail,E0624
/// fn forge(set: wikijs_mcp::gates::ChangeSet) -> wikijs_mcp::gates::Permit {
///     wikijs_mcp::gates::Permit::of(set)
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Permit {
    set: ChangeSet,
    change: Arc<Change>,
    steps: VecDeque<StepKind>,
}

/// One mutation that may be sent, once: sending takes it, and it can be neither made nor
/// copied.
///
/// ```compile_fail,E0599
/// fn twice(step: &wikijs_mcp::gates::Step) -> wikijs_mcp::gates::Step {
///     step.clone()
/// }
/// ```
///
/// ```compile_fail,E0451
/// use wikijs_mcp::change::{Change, StepKind};
/// fn forge(change: std::sync::Arc<Change>) -> wikijs_mcp::gates::Step {
///     wikijs_mcp::gates::Step { change, kind: StepKind::Delete, record: panic!() }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Step {
    change: Arc<Change>,
    kind: StepKind,
    record: OnRecord,
}

impl Permit {
    pub(super) fn of(set: ChangeSet) -> Self {
        let change = set.first().change.clone();
        Self {
            steps: change.steps().into(),
            change: Arc::new(change),
            set,
        }
    }

    /// The set that it is of.
    #[must_use]
    pub const fn set(&self) -> &ChangeSet {
        &self.set
    }

    /// The change.
    #[must_use]
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// What the next step does, if one is left.
    #[must_use]
    pub fn upcoming(&self) -> Option<StepKind> {
        self.steps.front().copied()
    }

    /// Takes the next step out, for one attempt that is on record.
    pub fn next_step(&mut self, record: OnRecord) -> Option<Step> {
        self.steps.pop_front().map(|kind| Step {
            change: Arc::clone(&self.change),
            kind,
            record,
        })
    }
}

impl Step {
    /// The change that it is a part of.
    #[must_use]
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// What it does.
    #[must_use]
    pub const fn kind(&self) -> StepKind {
        self.kind
    }

    /// The call on whose record it stands.
    #[must_use]
    pub fn call(&self) -> crate::audit::CallId {
        self.record.call()
    }
}
