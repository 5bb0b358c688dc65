//! Finds links in sources, resolves them, and mends them when pages move.

pub(super) mod find;
mod html;
pub(super) mod link;
pub(super) mod mend;
pub(super) mod target;
mod written;
