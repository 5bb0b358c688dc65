//! Markdown in parts: headings, sections, blocks, properties.

pub(super) mod anchors;
pub(super) mod block;
pub(super) mod code;
pub(super) mod html_block;
pub(super) mod index;
pub(super) mod outline;
pub(super) mod properties;
pub(super) mod sections;
pub(super) mod signs;
