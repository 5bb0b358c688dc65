//! What is taken back, and what a caller may know of recorded writes.

pub(super) mod deletions;
pub(super) mod history;
pub(super) mod history_set;
