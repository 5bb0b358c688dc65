//! Style sheets: their tokens, rules, selectors and colours, and when two say the same.

pub(in crate::page) mod colour;
pub(super) mod compare;
pub(super) mod rules;
pub(in crate::page) mod selector;
pub(in crate::page) mod tokens;
