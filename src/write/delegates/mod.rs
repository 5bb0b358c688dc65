//! What delegates did, remembered, and may do.

pub(super) mod delegation;
pub(super) mod handover;
pub(super) mod report;
