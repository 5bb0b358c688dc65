//! Limits delegates, reports on them, and hands over their memories.

pub(super) mod delegation;
pub(super) mod handover;
pub(super) mod report;
