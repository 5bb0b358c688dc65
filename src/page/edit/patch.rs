//! A unified diff that applies exactly, or not at all.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::str::SplitInclusive;

use super::super::select::position::MAX_PLACES;
use super::edits::nearest_lines;
use super::hunk::{Hunk, HunkLine, HunkLineKind, parse};
use crate::page::{DiffersIn, PatchFault, TextPosition};

/// Number of lines shown before the mismatch.
const LINES_BEFORE: usize = 3;
/// The most lines of a hunk that are looked for elsewhere in the page.
const MOST_COMPARED: usize = 40;
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
    let differing_at = |start| {
        let mut all = DiffersIn::ALL.into_iter();
        all.find(|differs_in| {
            let is_it = |line: &str, wanted: &HunkLine<'_>| {
                differs_in.alone(line.strip_suffix('\n').unwrap_or(line), wanted.text)
            };
            has_old_lines(text, hunk, start, is_it)
        })
    };
    let mut differs_in = differing_at(hunk.passed);
    let mut nearest = Vec::new();
    if differs_in.is_none() {
        nearest = self::nearest(text, hunk);
        let start = nearest.first().map(|first| first.line.saturating_sub(1));
        let start = start
            .filter(|start| !has_old_lines(text, hunk, *start, |line, wanted| wanted.is(line)));
        differs_in = start.and_then(differing_at);
    }
    PatchFault::DoesNotApply {
        hunk: number,
        header: hunk.header.chars().take(MAX_HEADER_CHARS).collect(),
        line,
        found: lines_from(text, line.saturating_sub(LINES_BEFORE + 1), MAX_PLACES),
        nearest,
        differs_in,
    }
}

/// Some lines of a text, from this one on, counted from 0.
fn lines_from(text: &str, first: usize, most: usize) -> Vec<TextPosition> {
    let lines = text.split_inclusive('\n').zip(1..).skip(first).take(most);
    lines
        .map(|(text, line)| TextPosition::whole(line, text))
        .collect()
}

/// The lines of the page that are most like a hunk's old lines, unless they are where it says: those
/// that have the most of its first lines, else those with the line most like its longest one.
fn nearest(text: &str, hunk: &Hunk<'_>) -> Vec<TextPosition> {
    let old: Vec<&str> = hunk.old_lines().map(|line| line.text.trim()).collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    let said = old.iter().enumerate().filter(|(_, line)| !line.is_empty());
    for (index, line) in said.take(MOST_COMPARED) {
        places.entry(line).or_default().push(index);
    }
    // For each line that the hunk may begin at, how many lines fit then.
    let mut fitting = vec![0_u32; text.lines().count()];
    for (number, line) in text.lines().enumerate() {
        for index in places.get(line.trim()).into_iter().flatten() {
            let start = number.checked_sub(*index);
            if let Some(count) = start.and_then(|start| fitting.get_mut(start)) {
                *count += 1;
            }
        }
    }
    let likeness = |(start, count): &(usize, &u32)| (**count, Reverse(start.abs_diff(hunk.passed)));
    let best = fitting.iter().enumerate().max_by_key(likeness);
    match best.filter(|(_, count)| **count > 0) {
        Some((start, _)) if start == hunk.passed => Vec::new(),
        Some((start, _)) => lines_from(text, start, old.len().min(MAX_PLACES)),
        None => nearest_lines(text, &old.join("\n")),
    }
}

/// True if the page has the hunk's old lines behind so many lines, each as `is_it` compares them.
fn has_old_lines(
    text: &str,
    hunk: &Hunk<'_>,
    start: usize,
    is_it: impl Fn(&str, &HunkLine<'_>) -> bool,
) -> bool {
    let mut lines = text.split_inclusive('\n').skip(start);
    let mut old = hunk.old_lines().peekable();
    old.peek().is_some() && old.all(|wanted| lines.next().is_some_and(|line| is_it(line, wanted)))
}

#[cfg(test)]
mod tests;
