//! Texts changed exactly: edits, patches, differences.

pub(super) mod changed_lines;
pub(super) mod changed_words;
pub(super) mod edits;
pub(super) mod hunk;
pub(super) mod lines;
pub(super) mod patch;
pub(super) mod section;
