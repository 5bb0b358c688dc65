//! Selects parts of a page by name, and cuts them to size.

pub(super) mod listing;
pub(super) mod part;
pub(super) mod position;
pub(super) mod reader_parts;
pub(super) mod selector;
pub(super) mod slice;
