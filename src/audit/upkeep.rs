//! Checks and copies all that is kept of a wiki: its methods stand beside what they check.

use super::{AuditLayout, Pauses};
use crate::store::LeaseQueue;

/// Checks and copies all that is kept of a wiki.
#[derive(Debug)]
pub struct LogUpkeep {
    pub(super) wiki: String,
    pub(super) place: AuditLayout,
    pub(super) pauses: Pauses,
    pub(super) leases: LeaseQueue,
}
