//! Makes rows of a difference of texts, of which a page shows one column or two.
//!
//! They are made of the unified difference that previews and the record have: what a person is shown
//! is what they hold. Only the rows that a page shows are held.

use std::collections::VecDeque;
use std::ops::Range;

use crate::page::marked_lines;
use crate::words::words;

/// The most bytes of a run of changed lines whose words are compared.
const MOST_MARKED: usize = 32 * 1024;
/// The longest piece of a line in one row, in bytes; a longer line has several rows.
const MOST_OF_ROW: usize = 4 * 1024;

/// The marker after a line that ends its text without a line feed.
const NO_LINE_FEED: &str = "\\ No newline at end of file";

/// One row of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffRow<'a> {
    /// A sentence about the difference.
    Note(&'a str),
    /// Lines that are the same in both texts and are not shown.
    Gap,
    /// A line, or a piece of a long one.
    Line(DiffLine<'a>),
}

words! {
    /// The kind of a line in a difference.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum DiffLineKind: class {
        /// It is in both texts.
        Kept = "kept",
        /// It is in the old text only.
        Removed = "removed",
        /// It is in the new text only.
        Added = "added",
    }
}

/// A line, or a piece of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffLine<'a> {
    /// Its kind.
    pub fate: DiffLineKind,
    /// Its number in the old text; none of a piece that is not the first.
    pub old: Option<usize>,
    /// Its number in the new text; the same.
    pub new: Option<usize>,
    /// Its words, and whether each is marked as changed.
    pub words: Vec<(bool, &'a str)>,
    /// True if the text ends here, without a line feed.
    pub lacks_line_feed: bool,
}

impl DiffLine<'_> {
    /// The number of bytes of text that it shows.
    pub(super) fn bytes(&self) -> usize {
        self.words.iter().map(|(_, word)| word.len()).sum()
    }
}

/// A line of a unified difference, without its sign.
struct Raw<'a> {
    fate: DiffLineKind,
    text: &'a str,
    lacks_line_feed: bool,
}

/// Some rows of a unified difference, by their numbers from 0.
pub(super) fn rows(unified: &str, wanted: Range<usize>) -> impl Iterator<Item = DiffRow<'_>> {
    let (from, most) = (wanted.start, wanted.len());
    DiffRowIter::new(unified, wanted).skip(from).take(most)
}

/// All rows of a unified difference, without marks of words: so many that they are not held.
pub(super) fn plain_rows(unified: &str) -> impl Iterator<Item = DiffRow<'_>> {
    DiffRowIter::new(unified, 0..0)
}

/// The rows of a unified difference, made as they are asked for.
struct DiffRowIter<'a> {
    rest: std::iter::Peekable<std::str::SplitTerminator<'a, char>>,
    /// The rows whose words are compared.
    marked: Range<usize>,
    /// The number of rows made so far.
    made: usize,
    /// The rows that are made and not asked for yet.
    next: VecDeque<DiffRow<'a>>,
    /// The run of lines that has begun: lines that go, then lines that come in their place.
    run: Vec<Raw<'a>>,
    bytes_of_run: usize,
    /// True if the run is so long that its lines are not held until its end.
    is_long: bool,
    last: Option<DiffLineKind>,
    /// True once a hunk has begun.
    has_hunk: bool,
    /// The numbers of the next lines.
    old: usize,
    new: usize,
}

impl<'a> DiffRowIter<'a> {
    fn new(unified: &'a str, marked: Range<usize>) -> Self {
        Self {
            rest: unified.split_terminator('\n').peekable(),
            marked,
            made: 0,
            next: VecDeque::new(),
            run: Vec::new(),
            bytes_of_run: 0,
            is_long: false,
            last: None,
            has_hunk: false,
            old: 0,
            new: 0,
        }
    }

    /// Takes the next line of the difference; whether there was one.
    fn take_line(&mut self) -> bool {
        let Some(line) = self.rest.next() else {
            return false;
        };
        let text = line.get(1..).unwrap_or_default();
        let fate = match line.bytes().next() {
            Some(b'@') => {
                self.hunk(line);
                return true;
            }
            Some(b'\\') => {
                self.note(text.trim_start());
                return true;
            }
            _ if !self.has_hunk => {
                self.note(line);
                return true;
            }
            Some(b'-') => DiffLineKind::Removed,
            Some(b'+') => DiffLineKind::Added,
            _ => DiffLineKind::Kept,
        };
        let begins_anew = match self.last {
            None | Some(DiffLineKind::Removed) => fate == DiffLineKind::Kept,
            Some(DiffLineKind::Added) => fate != DiffLineKind::Added,
            Some(DiffLineKind::Kept) => true,
        };
        if begins_anew {
            self.end_run();
        }
        self.last = Some(fate);
        // What says that a text ends without a line feed belongs to the line before.
        let lacks_line_feed = self.rest.next_if_eq(&NO_LINE_FEED).is_some();
        self.bytes_of_run += text.len();
        self.run.push(Raw {
            fate,
            text,
            lacks_line_feed,
        });
        if self.bytes_of_run > MOST_MARKED {
            self.is_long = true;
            self.flush();
        }
        true
    }

    /// A hunk begins: `@@ -3,7 +3,8 @@`.
    fn hunk(&mut self, line: &str) {
        self.end_run();
        self.last = None;
        let begin = |sign: char| {
            let (_, range) = line.split_once(sign)?;
            let end = range.find(|c: char| !c.is_ascii_digit());
            range.get(..end.unwrap_or(range.len()))?.parse().ok()
        };
        let (old, new) = (begin('-').unwrap_or(1), begin('+').unwrap_or(1));
        // One that begins with the first line leaves nothing out before it.
        if old > 1 || new > 1 || self.has_hunk {
            self.push(DiffRow::Gap);
        }
        self.has_hunk = true;
        (self.old, self.new) = (old, new);
    }

    /// A sentence of ours, which is no line of the texts.
    fn note(&mut self, note: &'a str) {
        self.end_run();
        self.last = None;
        self.push(DiffRow::Note(note));
    }

    fn end_run(&mut self) {
        self.flush();
        self.bytes_of_run = 0;
        self.is_long = false;
    }

    /// Makes rows of the lines that wait.
    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        let texts = |fate| -> Vec<&'a str> {
            let of_fate = run.iter().filter(|raw| raw.fate == fate);
            of_fate.map(|raw| raw.text).collect()
        };
        let pieces = run.iter().map(|raw| raw.text.len() / MOST_OF_ROW + 1);
        let end = self.made + pieces.sum::<usize>();
        let is_wanted = self.made < self.marked.end && end > self.marked.start;
        let is_pair = run
            .first()
            .is_some_and(|raw| raw.fate == DiffLineKind::Removed)
            && run
                .last()
                .is_some_and(|raw| raw.fate == DiffLineKind::Added);
        let mut marked = if is_wanted && is_pair && !self.is_long {
            marked_lines(&texts(DiffLineKind::Removed), &texts(DiffLineKind::Added))
        } else {
            Vec::new()
        }
        .into_iter();
        for raw in run {
            let words = marked
                .next()
                .map_or_else(|| vec![(false, raw.text)], |line| line.words);
            self.line(&raw, words);
        }
    }

    fn line(&mut self, raw: &Raw<'a>, words: Vec<(bool, &'a str)>) {
        let is_old = raw.fate != DiffLineKind::Added;
        let is_new = raw.fate != DiffLineKind::Removed;
        let (mut old, mut new) = (is_old.then_some(self.old), is_new.then_some(self.new));
        self.old += usize::from(is_old);
        self.new += usize::from(is_new);
        let mut pieces = pieces(words).into_iter().peekable();
        while let Some(words) = pieces.next() {
            self.push(DiffRow::Line(DiffLine {
                fate: raw.fate,
                old: old.take(),
                new: new.take(),
                words,
                lacks_line_feed: raw.lacks_line_feed && pieces.peek().is_none(),
            }));
        }
    }

    fn push(&mut self, row: DiffRow<'a>) {
        self.made += 1;
        self.next.push_back(row);
    }
}

impl<'a> Iterator for DiffRowIter<'a> {
    type Item = DiffRow<'a>;

    fn next(&mut self) -> Option<DiffRow<'a>> {
        while self.next.is_empty() {
            if !self.take_line() {
                self.end_run();
                break;
            }
        }
        self.next.pop_front()
    }
}

/// The words of a line in pieces of bounded length; one piece at least.
fn pieces(words: Vec<(bool, &str)>) -> Vec<Vec<(bool, &str)>> {
    let (mut pieces, mut piece, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (is_marked, mut word) in words {
        while bytes + word.len() > MOST_OF_ROW {
            let end = word.floor_char_boundary(MOST_OF_ROW.saturating_sub(bytes));
            let (head, tail) = word.split_at_checked(end).unwrap_or((word, ""));
            piece.push((is_marked, head));
            pieces.push(std::mem::take(&mut piece));
            (word, bytes) = (tail, 0);
        }
        bytes += word.len();
        piece.push((is_marked, word));
    }
    if !piece.is_empty() || pieces.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Two columns: each row beside the one that took its place.
pub(super) fn side_by_side<'a, 'b>(
    rows: &'b [DiffRow<'a>],
) -> Vec<(Option<&'b DiffRow<'a>>, Option<&'b DiffRow<'a>>)> {
    let fate = |row: &DiffRow| match row {
        DiffRow::Gap | DiffRow::Note(_) => DiffLineKind::Kept,
        DiffRow::Line(line) => line.fate,
    };
    let mut rest = rows;
    let mut pairs = Vec::new();
    while let Some(first) = rest.first() {
        let run = |rows: &'b [DiffRow<'a>], of| {
            let end = rows.iter().position(|row| fate(row) != of);
            rows.split_at(end.unwrap_or(rows.len()))
        };
        let (old, tail) = run(rest, DiffLineKind::Removed);
        let (new, tail) = run(tail, DiffLineKind::Added);
        if old.is_empty() && new.is_empty() {
            pairs.push((Some(first), Some(first)));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        rest = tail;
        pairs.extend((0..old.len().max(new.len())).map(|at| (old.get(at), new.get(at))));
    }
    pairs
}

#[cfg(test)]
mod tests;
