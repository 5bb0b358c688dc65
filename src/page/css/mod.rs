//! Style sheets: their tokens, their rules, and when two say the same.

pub(super) mod compare;
pub(super) mod rules;
pub(in crate::page) mod tokens;
