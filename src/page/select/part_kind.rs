//! The kinds of parts that a page has many of.

use std::fmt;

use super::super::markdown::block::BlockKind;

/// The parts of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// The headings of a level, 1 to 6.
    Headings(u8),
    /// The parts that `section[0]` and later ones name.
    Sections,
    /// The blocks of a kind.
    Blocks(BlockKind),
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Headings(level) => write!(f, "heading:h{level}"),
            Self::Sections => f.write_str("section"),
            Self::Blocks(kind) => write!(f, "block:{kind}"),
        }
    }
}
