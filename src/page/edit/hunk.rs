//! A unified diff, taken apart.

use std::sync::LazyLock;

use regex::Regex;
use thiserror::Error;

use crate::page::{DiffersIn, TextPosition};

/// The reason that a patch was not applied. In that case nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchFault {
    /// It is no unified diff of one text.
    #[error("line {line} of the patch: {what}")]
    Malformed {
        /// The line of the patch, from 1.
        line: usize,
        /// The fault, in a few words.
        what: &'static str,
    },
    /// A hunk is of another text.
    #[error("hunk {hunk} of the patch is not of the page's text at line {line}")]
    DoesNotApply {
        /// The number of the hunk, from 1.
        hunk: usize,
        /// Its header, at most 200 characters.
        header: String,
        /// The first line of the page that is not as the hunk says.
        line: usize,
        /// That line and those around it, at most ten; none if the page ends before it.
        found: Vec<TextPosition>,
        /// The lines elsewhere that are most like the hunk's, at most ten; none if the page has them
        /// where the hunk says but for that difference.
        nearest: Vec<TextPosition>,
        /// The only difference between the hunk and the page, where it stands or at the nearest
        /// lines, if it is minor.
        differs_in: Option<DiffersIn>,
    },
}

/// The mark of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum HunkLineKind {
    Kept,
    Removed,
    Added,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) struct HunkLine<'a> {
    pub(in crate::page) fate: HunkLineKind,
    /// Without the sign before it and the line feed behind it; a carriage return is in it.
    pub(in crate::page) text: &'a str,
    /// Ended by a line feed; false only for the last line of a text.
    pub(in crate::page) ended: bool,
}

impl HunkLine<'_> {
    /// True if it equals that line of the page, line ending included.
    pub(in crate::page) fn is(&self, line: &str) -> bool {
        match line.strip_suffix('\n') {
            Some(text) => self.ended && text == self.text,
            None => !self.ended && line == self.text,
        }
    }
}

/// A hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::page) struct Hunk<'a> {
    /// The line of the patch that its header is, from 1.
    pub(in crate::page) at: usize,
    /// That line.
    pub(in crate::page) header: &'a str,
    /// Number of lines of the old text before it.
    pub(in crate::page) passed: usize,
    pub(in crate::page) lines: Vec<HunkLine<'a>>,
}

impl<'a> Hunk<'a> {
    /// Its lines of the old text.
    pub(in crate::page) fn old_lines(&self) -> impl Iterator<Item = &HunkLine<'a>> {
        let lines = self.lines.iter();
        lines.filter(|line| line.fate != HunkLineKind::Added)
    }
}

/// Line starts that may precede the first hunk, besides blank lines.
const PREAMBLE: &str = "--- |+++ |diff |index |old mode |new mode |new file mode |deleted file mode |\
    similarity index |rename from |rename to |Index: ";

/// Takes a patch of one text apart.
///
/// Within a hunk its counts say where it ends, so that a removed `-- x` is not taken for a
/// file's header. An empty line there is an empty line that is kept: many programs drop the
/// space at the end of a line.
pub(in crate::page) fn parse(patch: &str) -> Result<Vec<Hunk<'_>>, PatchFault> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let (mut old_left, mut new_left) = (0_usize, 0_usize);
    let mut at = 0;
    // Whether the line before can be one that has no line feed.
    let mut after_line = false;
    for line in patch.split_inclusive('\n') {
        at += 1;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let fault = |what| PatchFault::Malformed { line: at, what };
        let outside = old_left == 0 && new_left == 0;
        if line.starts_with('\\') {
            let last = hunks.last_mut().and_then(|hunk| hunk.lines.last_mut());
            match last.filter(|_| after_line) {
                Some(last) => last.ended = false,
                None => return Err(fault("there is no line before this marker")),
            }
            after_line = false;
        } else if !outside {
            let Some(hunk) = hunks.last_mut() else {
                return Err(fault("a line outside any hunk"));
            };
            let line = hunk_line(line)
                .ok_or_else(|| fault("a line of a hunk begins with a space, \"-\" or \"+\""))?;
            let beyond = || fault("the hunk has more lines of this kind than its header counts");
            if line.fate != HunkLineKind::Added {
                old_left = old_left.checked_sub(1).ok_or_else(beyond)?;
            }
            if line.fate != HunkLineKind::Removed {
                new_left = new_left.checked_sub(1).ok_or_else(beyond)?;
            }
            hunk.lines.push(line);
            after_line = true;
        } else if line.starts_with("@@") {
            let ((start, old), new) = header(line)
                .ok_or_else(|| fault("a hunk's header has the form \"@@ -1,2 +1,3 @@\""))?;
            let passed = start.checked_sub(usize::from(old > 0));
            let passed = passed.ok_or_else(|| fault("lines count from 1"))?;
            (old_left, new_left) = (old, new);
            hunks.push(Hunk {
                at,
                header: line.trim_end_matches('\r'),
                passed,
                lines: Vec::new(),
            });
            after_line = false;
        } else if !line.trim().is_empty() {
            let is_preamble = PREAMBLE.split('|').any(|start| line.starts_with(start));
            if !hunks.is_empty() {
                let what = if is_preamble {
                    "a patch changes one page, this one has a second"
                } else {
                    "the hunk has more lines than its header counts"
                };
                return Err(fault(what));
            }
            if !is_preamble {
                return Err(fault("neither a header nor a hunk"));
            }
        }
    }
    let fault = |what| PatchFault::Malformed { line: at, what };
    if old_left > 0 || new_left > 0 {
        return Err(fault(
            "the patch ends before the lines that its last hunk counts",
        ));
    }
    if hunks.is_empty() {
        return Err(fault("the patch has no hunk"));
    }
    Ok(hunks)
}

fn hunk_line(line: &str) -> Option<HunkLine<'_>> {
    let (fate, text) = match line.split_at_checked(1) {
        Some(("+", text)) => (HunkLineKind::Added, text),
        Some(("-", text)) => (HunkLineKind::Removed, text),
        Some((" ", text)) => (HunkLineKind::Kept, text),
        // An empty line that lost its space.
        _ if line.is_empty() || line == "\r" => (HunkLineKind::Kept, line),
        _ => return None,
    };
    Some(HunkLine {
        fate,
        text,
        ended: true,
    })
}

/// The header of a hunk.
static HEADER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^@@ -([0-9]+)(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@").ok());

/// The old start and count, and the new count.
///
/// Where the new lines begin follows from the old and is not compared.
fn header(line: &str) -> Option<((usize, usize), usize)> {
    let found = HEADER.as_ref()?.captures(line)?;
    let number = |group| match found.get(group) {
        Some(digits) => digits.as_str().parse().ok(),
        None => Some(1),
    };
    Some(((number(1)?, number(2)?), number(3)?))
}
