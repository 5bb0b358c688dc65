//! Reads comments and assets, and sends files.

pub(super) mod assets;
pub(super) mod comments;
pub(super) mod target;
pub(super) mod upload;
