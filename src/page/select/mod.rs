//! How a part of a page is named, and what it takes.

pub(super) mod listing;
pub(super) mod part;
pub(super) mod part_kind;
pub(super) mod position;
pub(super) mod selector;
pub(super) mod slice;
