//! A unified diff that applies exactly, or not at all.

use std::str::SplitInclusive;

use super::super::select::position::{DiffersIn, MAX_PLACES, TextPosition};
use super::hunk::{Hunk, HunkLineKind, PatchFault, parse};

/// Number of lines shown before the mismatch.
const LINES_BEFORE: usize = 3;
/// The most characters of a hunk's header that are shown.
const MAX_HEADER_CHARS: usize = 200;

/// Applies a unified diff at the lines that it states: no offset, no fuzz.
///
/// Lines end in a line feed; a carriage return before it belongs to the line and is compared
/// and kept like any other character. Where the patch itself lacks its last line feed, one is
/// taken as meant; a line without one is what `\ No newline at end of file` follows. Headers of
/// files may stand before the first hunk and are not looked at; a count that is left out is 1.
/// All outside the hunks stays byte for byte.
///
/// # Errors
/// What is wrong with the patch, or the first hunk that does not apply with the lines there.
pub fn apply_patch(text: &str, patch: &str) -> Result<String, PatchFault> {
    let mut page = PatchCursor {
        rest: text.split_inclusive('\n'),
        passed: 0,
        out: String::with_capacity(text.len()),
    };
    for (number, hunk) in (1..).zip(&parse(patch)?) {
        if hunk.passed < page.passed {
            return Err(PatchFault::Malformed {
                line: hunk.at,
                what: "hunks stand in the order of their lines and do not overlap",
            });
        }
        page.apply(hunk)
            .map_err(|line| does_not_apply(text, number, hunk, line))?;
    }
    page.out.extend(page.rest);
    Ok(page.out)
}

/// A page while the patch is applied.
struct PatchCursor<'a> {
    rest: SplitInclusive<'a, char>,
    /// Number of lines of the page already processed.
    passed: usize,
    out: String,
}

impl<'a> PatchCursor<'a> {
    fn next_line(&mut self) -> Option<&'a str> {
        let line = self.rest.next()?;
        self.passed += 1;
        Some(line)
    }

    /// Applies a hunk, or says which line of the page is not as the hunk says.
    fn apply(&mut self, hunk: &Hunk<'_>) -> Result<(), usize> {
        while self.passed < hunk.passed {
            let line = self.next_line().ok_or(self.passed + 1)?;
            self.out.push_str(line);
        }
        for wanted in &hunk.lines {
            let next = self.passed + 1;
            if wanted.fate != HunkLineKind::Added {
                self.next_line()
                    .filter(|line| wanted.is(line))
                    .ok_or(next)?;
            }
            if wanted.fate != HunkLineKind::Removed {
                if self.is_open() {
                    return Err(self.passed.max(1));
                }
                self.out.push_str(wanted.text);
                if wanted.ended {
                    self.out.push('\n');
                }
            }
        }
        if self.is_open() && self.rest.clone().next().is_some() {
            return Err(self.passed.max(1));
        }
        Ok(())
    }

    /// True if the last line has no ending, so that another line would run into it.
    fn is_open(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }
}

fn does_not_apply(text: &str, number: usize, hunk: &Hunk<'_>, line: usize) -> PatchFault {
    let first = line.saturating_sub(LINES_BEFORE).max(1);
    let found = text
        .split_inclusive('\n')
        .zip(1..)
        .skip(first - 1)
        .take(MAX_PLACES)
        .map(|(text, line)| TextPosition::whole(line, text))
        .collect();
    PatchFault::DoesNotApply {
        hunk: number,
        header: hunk.header.chars().take(MAX_HEADER_CHARS).collect(),
        line,
        found,
        differs_in: DiffersIn::ALL
            .into_iter()
            .find(|differs_in| differs_alone(text, hunk, *differs_in)),
    }
}

/// True if the page has the hunk's old lines at its position, except for that difference.
fn differs_alone(text: &str, hunk: &Hunk<'_>, differs_in: DiffersIn) -> bool {
    let mut lines = text.split_inclusive('\n').skip(hunk.passed);
    let mut old = hunk
        .lines
        .iter()
        .filter(|wanted| wanted.fate != HunkLineKind::Added)
        .peekable();
    old.peek().is_some()
        && old.all(|wanted| {
            lines.next().is_some_and(|line| {
                differs_in.alone(line.strip_suffix('\n').unwrap_or(line), wanted.text)
            })
        })
}

#[cfg(test)]
mod tests;
