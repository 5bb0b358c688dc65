//! What belongs to a page: comments and assets.

pub(super) mod assets;
pub(super) mod comments;
pub(super) mod target;
pub(super) mod upload;
