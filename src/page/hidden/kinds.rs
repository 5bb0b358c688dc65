//! Describes the text hidden in a source, by kind.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// The most lines that are named of a kind.
const MAX_LINES: usize = 20;

/// The kinds of text that a person does not see, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HiddenKind {
    /// Characters that show nothing, and floods of spaces.
    InvisibleCharacters,
    /// Characters and elements that turn the direction of what follows.
    BidirectionalControls,
    /// Comments: of HTML, styles, diagrams, formulas, `AsciiDoc`.
    Comments,
    /// Elements with text that are hidden by attribute, style or the page's own CSS, or that show
    /// none of their text.
    HiddenElements,
    /// Definitions that nothing refers to: of links, footnotes, abbreviations, attributes.
    UnusedDefinitions,
    /// Words in attributes, apart from titles and alternative texts of usual length.
    Attributes,
    /// Other source that is not shown, such as cells beyond a table's width.
    Unrendered,
}

impl fmt::Display for HiddenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Number and lines of the occurrences of something in a text; of many lines, the first 20.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Occurrences {
    /// Number of occurrences.
    pub count: usize,
    /// Lines of the occurrences, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<usize>,
}

/// Content of a text that a person does not see. It is not exhaustive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HiddenText {
    /// Each kind of which something was found.
    #[serde(flatten)]
    pub found: BTreeMap<HiddenKind, Occurrences>,
    /// True if the text has too many signs to be searched for more than characters.
    #[serde(rename = "note", serialize_with = "note")]
    pub is_unchecked: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn note<S: Serializer>(is_unchecked: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    let unchecked = "not checked: too many signs";
    serializer.serialize_str(if *is_unchecked {
        unchecked
    } else {
        "not exhaustive"
    })
}

impl HiddenText {
    /// Number of occurrences of a kind.
    pub fn count(&self, kind: HiddenKind) -> usize {
        self.found.get(&kind).map_or(0, |found| found.count)
    }

    /// Adds an occurrence if it is one.
    pub(super) fn add(&mut self, kind: HiddenKind, line: usize, is_one: bool) {
        if !is_one {
            return;
        }
        let found = self.found.entry(kind).or_default();
        found.count += 1;
        if found.lines.len() < MAX_LINES && !found.lines.contains(&line) {
            found.lines.push(line);
            found.lines.sort_unstable();
        }
    }
}
