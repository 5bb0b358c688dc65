//! A difference of texts as rows, of which a page shows one column or two.
//!
//! It is made of the unified difference that previews and the record have: what a person is shown
//! is what they hold.

use crate::page::marked_lines;

/// The most bytes of a run of changed lines whose words are compared.
const MOST_MARKED: usize = 32 * 1024;
/// The longest piece of a line in one row, in bytes; a longer line has several rows.
const MOST_OF_ROW: usize = 4 * 1024;

/// One row of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row<'a> {
    /// Lines that are the same in both texts and are not shown.
    Gap,
    /// A line, or a piece of a long one.
    Line(Line<'a>),
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is in both texts.
    Kept,
    /// It is in the old text only.
    Removed,
    /// It is in the new text only.
    Added,
}

/// A line, or a piece of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// What becomes of it.
    pub fate: Fate,
    /// Its number in the old text; none of a piece that is not the first.
    pub old: Option<usize>,
    /// Its number in the new text; the same.
    pub new: Option<usize>,
    /// Its words, and whether each is marked as changed.
    pub words: Vec<(bool, &'a str)>,
    /// Whether the text ends here, without a line feed.
    pub lacks_line_feed: bool,
}

impl Line<'_> {
    /// How many bytes of text it shows.
    pub(super) fn bytes(&self) -> usize {
        self.words.iter().map(|(_, word)| word.len()).sum()
    }
}

/// A line of a unified difference, without its sign.
struct Raw<'a> {
    fate: Fate,
    text: &'a str,
    lacks_line_feed: bool,
}

/// The rows of a unified difference.
pub(super) fn rows(unified: &str) -> Vec<Row<'_>> {
    let mut rows = Rows::default();
    for line in unified.split_terminator('\n') {
        let text = line.get(1..).unwrap_or_default();
        let fate = match line.bytes().next() {
            Some(b'@') => {
                rows.hunk(line);
                continue;
            }
            Some(b'\\') => {
                if let Some(last) = rows.waiting.last_mut() {
                    last.lacks_line_feed = true;
                }
                continue;
            }
            Some(b'-') => Fate::Removed,
            Some(b'+') => Fate::Added,
            _ => Fate::Kept,
        };
        // A run is lines that go, then lines that come in their place.
        let begins_anew = match rows.waiting.last().map(|last| last.fate) {
            None | Some(Fate::Removed) => fate == Fate::Kept,
            Some(Fate::Added) => fate != Fate::Added,
            Some(Fate::Kept) => true,
        };
        if begins_anew {
            rows.flush();
        }
        rows.waiting.push(Raw {
            fate,
            text,
            lacks_line_feed: false,
        });
    }
    rows.flush();
    rows.done
}

/// Rows that are being made.
#[derive(Default)]
struct Rows<'a> {
    done: Vec<Row<'a>>,
    /// The run of lines that has begun.
    waiting: Vec<Raw<'a>>,
    /// The numbers of the next lines.
    old: usize,
    new: usize,
}

impl<'a> Rows<'a> {
    /// A hunk begins: `@@ -3,7 +3,8 @@`.
    fn hunk(&mut self, line: &str) {
        self.flush();
        let begin = |sign: char| {
            let (_, range) = line.split_once(sign)?;
            let end = range.find(|c: char| !c.is_ascii_digit());
            range.get(..end.unwrap_or(range.len()))?.parse().ok()
        };
        let (old, new) = (begin('-').unwrap_or(1), begin('+').unwrap_or(1));
        // One that begins with the first line leaves nothing out before it.
        if old > 1 || new > 1 || !self.done.is_empty() {
            self.done.push(Row::Gap);
        }
        (self.old, self.new) = (old, new);
    }

    fn flush(&mut self) {
        let run = std::mem::take(&mut self.waiting);
        let texts = |fate| -> Vec<&'a str> {
            let of_fate = run.iter().filter(|raw| raw.fate == fate);
            of_fate.map(|raw| raw.text).collect()
        };
        let (old, new) = (texts(Fate::Removed), texts(Fate::Added));
        let bytes: usize = run.iter().map(|raw| raw.text.len()).sum();
        let is_pair = !old.is_empty() && !new.is_empty();
        let mut marked = if is_pair && bytes <= MOST_MARKED {
            marked_lines(&old, &new)
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
        let is_old = raw.fate != Fate::Added;
        let is_new = raw.fate != Fate::Removed;
        let (mut old, mut new) = (is_old.then_some(self.old), is_new.then_some(self.new));
        self.old += usize::from(is_old);
        self.new += usize::from(is_new);
        let mut pieces = pieces(words).into_iter().peekable();
        while let Some(words) = pieces.next() {
            self.done.push(Row::Line(Line {
                fate: raw.fate,
                old: old.take(),
                new: new.take(),
                words,
                lacks_line_feed: raw.lacks_line_feed && pieces.peek().is_none(),
            }));
        }
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
    rows: &'b [Row<'a>],
) -> Vec<(Option<&'b Row<'a>>, Option<&'b Row<'a>>)> {
    let fate = |row: &Row| match row {
        Row::Gap => Fate::Kept,
        Row::Line(line) => line.fate,
    };
    let mut rest = rows;
    let mut pairs = Vec::new();
    while let Some(first) = rest.first() {
        let run = |rows: &'b [Row<'a>], of| {
            let end = rows.iter().position(|row| fate(row) != of);
            rows.split_at(end.unwrap_or(rows.len()))
        };
        let (old, tail) = run(rest, Fate::Removed);
        let (new, tail) = run(tail, Fate::Added);
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
mod tests {
    use super::{Fate, MOST_OF_ROW, Row, rows, side_by_side};
    use crate::page::unified_diff;

    /// `old|new sign words`, with marked words in brackets.
    fn told(unified: &str) -> Vec<String> {
        let told = |row: &Row| match row {
            Row::Gap => "…".to_owned(),
            Row::Line(line) => {
                let number = |number: Option<usize>| {
                    number.map_or_else(String::new, |number| number.to_string())
                };
                let sign = match line.fate {
                    Fate::Kept => ' ',
                    Fate::Removed => '-',
                    Fate::Added => '+',
                };
                let words = line.words.iter().map(|(is_marked, word)| {
                    if *is_marked {
                        format!("[{word}]")
                    } else {
                        (*word).to_owned()
                    }
                });
                let end = if line.lacks_line_feed { "\\" } else { "" };
                format!(
                    "{}|{} {sign}{}{end}",
                    number(line.old),
                    number(line.new),
                    words.collect::<String>()
                )
            }
        };
        rows(unified).iter().map(told).collect()
    }

    #[test]
    fn rows_have_the_numbers_of_both_texts_and_changed_words_are_marked() {
        let before = "a\nb\nthe old word\nd\ne\nf\ng\nh\ni\nj\nk\nlast";
        let after = "a\nb\nthe new word\nd\ne\nf\ng\nh\ni\nj\nk\nlast\n";
        assert_eq!(
            told(&unified_diff(before, after).0),
            [
                "1|1  a",
                "2|2  b",
                "3| -the [old] word",
                "|3 +the [new] word",
                "4|4  d",
                "5|5  e",
                "6|6  f",
                "…",
                "9|9  i",
                "10|10  j",
                "11|11  k",
                "12| -last\\",
                "|12 +last",
            ]
        );
    }

    #[test]
    fn lines_that_look_like_signs_are_text() {
        let before = "-- a\n++ b\n@@ -1 +1 @@\n\\ no\n";
        let (diff, _) = unified_diff(before, "++ b\n@@ -1 +1 @@\n\\ no\n--- c\n");
        assert_eq!(
            told(&diff),
            [
                "1| --- a",
                "2|1  ++ b",
                "3|2  @@ -1 +1 @@",
                "4|3  \\ no",
                "|4 +--- c",
            ]
        );
    }

    #[test]
    fn a_page_that_is_made_and_one_that_goes_have_one_side_only() {
        assert_eq!(told(&unified_diff("", "a\nb\n").0), ["|1 +a", "|2 +b"]);
        assert_eq!(told(&unified_diff("a\n", "").0), ["1| -a"]);
        assert_eq!(told(""), [""; 0]);
    }

    #[test]
    fn a_long_line_has_several_rows_and_loses_nothing() {
        let line = "ä".repeat(MOST_OF_ROW);
        let (diff, _) = unified_diff("", &line);
        let rows = rows(&diff);
        assert_eq!(rows.len(), 2);
        let text: String = rows
            .iter()
            .flat_map(|row| match row {
                Row::Line(line) => line.words.iter().map(|(_, word)| *word).collect(),
                Row::Gap => Vec::new(),
            })
            .collect();
        assert_eq!(text, line);
    }

    #[test]
    fn side_by_side_a_line_stands_beside_the_one_that_took_its_place() {
        let (diff, _) = unified_diff("a\nb\nc\n", "a\nB\nB2\nc\n");
        let rows = rows(&diff);
        let number = |row: Option<&Row>| match row {
            Some(Row::Line(line)) => line.old.or(line.new),
            _ => None,
        };
        let pairs = side_by_side(&rows);
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(old, new)| (number(old), number(new)))
            .collect();
        assert_eq!(
            pairs,
            [
                (Some(1), Some(1)),
                (Some(2), Some(2)),
                (None, Some(3)),
                (Some(3), Some(3)),
            ]
        );
    }
}
