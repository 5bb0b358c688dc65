//! A difference is shown in parts of bounded size, and what was not shown yet is counted.

use std::collections::HashSet;
use std::ops::Range;

use super::difference::{DiffLineKind, DiffRow};

/// The most rows of a part.
const MOST_ROWS: usize = 400;
/// The most bytes of text of a part.
const MOST_BYTES: usize = 64 * 1024;
/// The most rows that one page shows.
const ROWS_OF_PAGE: usize = 800;
/// The most bytes of text that one page shows.
const BYTES_OF_PAGE: usize = 256 * 1024;

/// A part of one text's difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffPart {
    /// Of which change of the set it is.
    pub change: usize,
    /// Of which of that change's texts.
    pub text: usize,
    /// Its rows, among those of the text.
    pub rows: Range<usize>,
    /// The number of lines in it that are removed or added.
    pub changed: usize,
    /// The number of bytes of text that it shows.
    pub bytes: usize,
    /// True if its change mends links and does nothing else.
    pub only_mends: bool,
}

/// The parts of one text.
pub(super) fn of_text<'a>(
    change: usize,
    text: usize,
    rows: impl Iterator<Item = DiffRow<'a>>,
    only_mends: bool,
) -> Vec<DiffPart> {
    let empty = |begin| DiffPart {
        change,
        text,
        rows: begin..begin,
        changed: 0,
        bytes: 0,
        only_mends,
    };
    let (mut parts, mut part) = (Vec::new(), empty(0));
    for (at, row) in rows.enumerate() {
        let (bytes, changed) = match &row {
            DiffRow::Gap | DiffRow::Note(_) => (0, 0),
            DiffRow::Line(line) => {
                let is_first = line.old.is_some() || line.new.is_some();
                let is_changed = line.fate != DiffLineKind::Kept && is_first;
                (line.bytes(), usize::from(is_changed))
            }
        };
        let is_full = part.rows.len() >= MOST_ROWS || part.bytes + bytes > MOST_BYTES;
        if is_full && !part.rows.is_empty() {
            parts.push(std::mem::replace(&mut part, empty(at)));
        }
        part.rows.end = at + 1;
        part.bytes += bytes;
        part.changed += changed;
    }
    if !part.rows.is_empty() {
        parts.push(part);
    }
    parts
}

/// The parts that one page shows, from this one on: at least one, unless there is none. What only
/// mends links begins a page of its own, since a line says it beside the rest.
pub(super) fn of_page(parts: &[DiffPart], from: usize) -> Range<usize> {
    let from = from.min(parts.len());
    let (mut rows, mut bytes, mut end) = (0, 0, from);
    let only_mends = parts.get(from).is_some_and(|part| part.only_mends);
    for part in parts.iter().skip(from) {
        rows += part.rows.len();
        bytes += part.bytes;
        let is_over = rows > ROWS_OF_PAGE || bytes > BYTES_OF_PAGE;
        if end > from && (is_over || part.only_mends != only_mends) {
            break;
        }
        end += 1;
    }
    from..end
}

/// The differences that were not shown yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unseen {
    /// The number of lines that are removed or added.
    pub lines: usize,
    /// The first part that was not shown.
    pub first: Option<usize>,
}

/// Sums up the parts that are not among those seen.
pub(super) fn unseen(parts: &[DiffPart], seen: &HashSet<usize>) -> Unseen {
    let missing = parts.iter().enumerate();
    let missing = missing.filter(|(at, _)| !seen.contains(at));
    missing.fold(Unseen::default(), |unseen, (at, part)| Unseen {
        lines: unseen.lines + part.changed,
        first: unseen.first.or(Some(at)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::difference::plain_rows;
    use super::{BYTES_OF_PAGE, MOST_BYTES, MOST_ROWS, ROWS_OF_PAGE, of_page, of_text, unseen};
    use crate::page::unified_diff;

    fn lines(count: usize, text: &str) -> String {
        let lines: Vec<String> = (0..count).map(|at| format!("{text}{at}")).collect();
        lines.join("\n") + "\n"
    }

    #[test]
    fn parts_are_bounded_and_hold_every_row_once() {
        for text in [lines(2_000, "x"), lines(20, &"x".repeat(30_000))] {
            let (diff, counts) = unified_diff("", &text);
            let parts = of_text(0, 0, plain_rows(&diff), false);
            assert!(parts.len() > 1);
            let mut next = 0;
            for part in &parts {
                assert_eq!(part.rows.start, next);
                assert!(part.rows.len() <= MOST_ROWS && part.bytes <= MOST_BYTES);
                next = part.rows.end;
            }
            assert_eq!(next, plain_rows(&diff).count());
            let changed: usize = parts.iter().map(|part| part.changed).sum();
            assert_eq!(changed, counts.added);
        }
        assert!(of_text(0, 0, plain_rows(""), false).is_empty());
    }

    #[test]
    fn a_page_shows_a_bounded_number_of_parts_and_the_next_page_goes_on() {
        let (diff, _) = unified_diff("", &lines(5_000, "x"));
        let parts = of_text(0, 0, plain_rows(&diff), false);
        let (mut from, mut pages) = (0, 0);
        while from < parts.len() {
            let page = of_page(&parts, from);
            assert_eq!(page.start, from);
            let rows: usize = parts[page.clone()].iter().map(|part| part.rows.len()).sum();
            let bytes: usize = parts[page.clone()].iter().map(|part| part.bytes).sum();
            assert!(rows <= ROWS_OF_PAGE && bytes <= BYTES_OF_PAGE);
            (from, pages) = (page.end, pages + 1);
        }
        assert_eq!(pages, 7);
        assert_eq!(of_page(&parts, 99), parts.len()..parts.len());
        assert_eq!(of_page(&[], 0), 0..0);
    }

    #[test]
    fn what_only_mends_links_is_not_on_the_first_page() {
        let (diff, _) = unified_diff("a\n", "b\n");
        let mut parts = of_text(0, 0, plain_rows(&diff), false);
        parts.extend(of_text(1, 0, plain_rows(&diff), true));
        parts.extend(of_text(2, 0, plain_rows(&diff), true));
        assert_eq!(of_page(&parts, 0), 0..1);
        assert_eq!(of_page(&parts, 1), 1..3);
        assert_eq!(unseen(&parts, &[0].into()).lines, 4);
        assert_eq!(unseen(&parts, &[0, 2].into()).first, Some(1));
        assert_eq!(unseen(&parts, &[0, 1, 2].into()), super::Unseen::default());
    }
}
