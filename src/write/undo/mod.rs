//! Reads recorded writes and deletions, for undos and as far as a caller may know them.

pub(super) mod deletions;
pub(super) mod history;
pub(super) mod history_set;
