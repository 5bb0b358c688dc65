//! Parses the selector of a part of a page.

use std::fmt;

use thiserror::Error;

use crate::page::BlockKind;

/// A name for a part of a page: a step of a [`super::super::PartSelector`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// One of a kind, by its index from 0, in page order.
    Nth(PartKind, usize),
    /// A heading's whole text, or its path: the texts of the headings that it stands under
    /// before it, with `/` between, as many as it needs.
    Named(String),
}

/// The parts of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// `heading:h2`, or `h2`: the headings of a level, 1 to 6, each with all up to the next heading of
    /// its level or a higher one.
    Headings(u8),
    /// `section`: first what stands before the first heading, then the parts that begin at a heading
    /// of the highest level that the page has, or at a lower one before the first of these.
    Sections,
    /// `block:code`: the blocks of a kind.
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

/// The fault of a selector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}, at character {at}")]
pub struct SelectorFault {
    /// Position in the selector, in characters from 0.
    pub at: usize,
    /// The fault, or what is missing there.
    pub message: &'static str,
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nth(kind, index) => write!(f, "{kind}[{index}]"),
            Self::Named(text) => f.write_str(text),
        }
    }
}

/// The text still to be parsed, and its position.
pub(in crate::page) struct Rest<'a> {
    pub(in crate::page) text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    pub(in crate::page) fn new(text: &'a str) -> Self {
        let start = text.trim_start();
        Self {
            text: start.trim_end(),
            at: text.chars().count() - start.chars().count(),
        }
    }

    pub(in crate::page) fn skip(&mut self, word: &str) -> bool {
        let Some(text) = self.text.strip_prefix(word) else {
            return false;
        };
        self.text = text;
        self.at += word.chars().count();
        true
    }

    /// True if a heading's level stands there as a type: in outlines it stands alone.
    pub(in crate::page) fn begins_heading(text: &str) -> bool {
        let levels = ["h1[", "h2[", "h3[", "h4[", "h5[", "h6["];
        levels.iter().any(|level| text.starts_with(level))
    }

    /// True if `section` stands there as a type.
    pub(in crate::page) fn begins_section(text: &str) -> bool {
        let after = text.strip_prefix("section");
        after.is_some_and(|after| after.is_empty() || after.starts_with(['[', '/', '?']))
    }

    /// `[N]`
    pub(in crate::page) fn index(&mut self) -> Result<usize, SelectorFault> {
        if !self.skip("[") {
            return Err(
                self.fault("an index such as [0] is missing; a read without one lists them")
            );
        }
        let digits = self.text.chars().take_while(char::is_ascii_digit).count();
        let (number, _) = self.text.split_at_checked(digits).unwrap_or_default();
        let index = number
            .parse()
            .map_err(|_| self.fault("an index is a whole number from 0"))?;
        self.skip(number);
        if !self.skip("]") {
            return Err(self.fault("the index is not closed by \"]\""));
        }
        Ok(index)
    }

    pub(in crate::page) const fn fault(&self, message: &'static str) -> SelectorFault {
        SelectorFault {
            at: self.at,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PartKind, Selector, SelectorFault};
    use crate::page::PartSelector;

    fn fault(text: &str) -> (usize, &'static str) {
        let SelectorFault { at, message } = PartSelector::for_edit(text).expect_err(text);
        (at, message)
    }

    fn selector(text: &str) -> PartSelector {
        PartSelector::parse(text).expect(text)
    }

    #[test]
    fn what_is_no_type_with_an_index_is_a_headings_text() {
        for text in [
            "Install",
            "a/b",
            "sections",
            "section 1",
            "Section[1]",
            "h7[0]",
            "[x]",
        ] {
            assert_eq!(selector(text), Selector::Named(text.to_owned()).into());
        }
        let heading = Selector::Nth(PartKind::Headings(6), 2);
        assert_eq!(selector("h6[2]"), heading.into());
        let named = Selector::Named("Über uns".to_owned());
        assert_eq!(selector(" Über uns "), named.into());
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let (missing, level) = (
            "an index such as [0] is missing; a read without one lists them",
            "a heading's type is one of h1 to h6",
        );
        assert_eq!(fault(""), (0, "a selector is missing"));
        assert_eq!(fault("  ").1, "a selector is missing");
        assert_eq!(fault("section"), (7, missing));
        assert_eq!(fault(" section"), (8, missing));
        assert_eq!(fault("section/x"), (7, missing));
        assert_eq!(fault("heading:h2"), (10, missing));
        assert_eq!(fault("heading:h0[0]"), (9, level));
        assert_eq!(fault("heading:x"), (8, level));
        assert_eq!(fault("heading:h12[0]"), (10, missing));
        assert_eq!(
            fault("section[-1]"),
            (8, "an index is a whole number from 0")
        );
        assert_eq!(fault("section[]").0, 8);
        assert_eq!(fault("section[99999999999999999999999]").0, 8);
        assert_eq!(fault("section[1"), (9, "the index is not closed by \"]\""));
        assert_eq!(fault("section[1]x").0, 10);
        assert_eq!(fault("section[1]?full=false").0, 10);
        let misplaced = "a block or an option is misplaced";
        assert_eq!(fault("Install?full=false"), (7, misplaced));
        assert_eq!(fault("Install?full=true").0, 17);
    }
}
