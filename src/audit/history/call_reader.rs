//! Answers which calls are on record: its methods stand beside what they read.

use super::super::{AuditLayout, AuditResult, IndexedRuns};

/// The calls on record.
#[derive(Debug, Clone)]
pub struct CallReader {
    pub(in crate::audit) place: AuditLayout,
    /// True if the index may answer.
    pub(in crate::audit) asks_index: bool,
}

impl CallReader {
    /// The runs, with their index where it may answer.
    pub(in crate::audit) fn indexed(&self) -> AuditResult<IndexedRuns> {
        IndexedRuns::read(&self.place, self.asks_index)
    }
}
