//! The parts of a page besides its headings: blocks, images and links.

use std::fmt;
use std::ops::Range;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    /// A paragraph that stands in no other block.
    Paragraph,
    /// Code, wherever it stands.
    Code,
    /// A list that stands in no other block.
    List,
    /// A table, wherever it stands.
    Table,
    /// A quote that stands in no other block.
    Blockquote,
}

impl BlockKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Paragraph,
        Self::Code,
        Self::List,
        Self::Table,
        Self::Blockquote,
    ];

    /// The kind's name in a selector.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::Code => "code",
            Self::List => "list",
            Self::Table => "table",
            Self::Blockquote => "blockquote",
        }
    }

    /// True if it also counts inside another block.
    pub(in crate::page) const fn counts_inside(self) -> bool {
        matches!(self, Self::Code | Self::Table)
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
