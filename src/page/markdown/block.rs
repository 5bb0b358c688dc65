//! The parts of a page besides its headings: blocks, images and links.

use std::ops::Range;

use crate::words::words;

words! {
    /// The kind of a block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum BlockKind: name, ALL {
        /// A paragraph that stands in no other block.
        Paragraph = "paragraph",
        /// Code, wherever it stands.
        Code = "code",
        /// A list that stands in no other block.
        List = "list",
        /// A table, wherever it stands.
        Table = "table",
        /// A quote that stands in no other block.
        Blockquote = "blockquote",
    }
}

impl BlockKind {
    /// True if it also counts inside another block.
    pub(in crate::page) const fn counts_inside(self) -> bool {
        matches!(self, Self::Code | Self::Table)
    }
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Its bytes; in Markdown, whole lines.
    pub range: Range<usize>,
}

/// An image or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOrImage {
    /// True for an image, false for a link.
    pub is_image: bool,
    /// Its position in the source.
    pub at: usize,
    /// Its target.
    pub target: String,
    /// Its text.
    pub text: String,
}
