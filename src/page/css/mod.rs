//! Style sheets: their rules, and when two say the same.

pub(super) mod compare;
pub(super) mod rules;
