//! Columns for people.

use unicode_width::UnicodeWidthChar as _;

use super::print::{self, Paint};

/// The indentation of a row's further lines.
const INDENT: usize = 4;

/// No column is narrowed to less than this, nor to less than its longest word.
const NARROW: usize = 24;

/// Rows under a head, each column as wide as its widest cell. Where a terminal is narrower than
/// that, wide cells are wrapped at words; where it is narrower still, the last columns stand in
/// lines of their own, the same in each row. Nothing is cut. Text from outside must pass through
/// [`print::harmless`] first.
#[derive(Debug)]
pub(super) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// One cell: its text, and its colour on a terminal.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    paint: Option<Paint>,
}

impl Cell {
    /// A cell in a colour.
    pub(super) fn painted(text: impl Into<String>, paint: Paint) -> Self {
        Self {
            text: text.into(),
            paint: Some(paint),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            paint: None,
        }
    }
}

impl Table {
    /// An empty table with this head, as in `id | path`.
    pub(super) fn new(head: &'static str) -> Self {
        Self::with(head.split(" | ").collect())
    }

    /// An empty table with these columns.
    pub(super) const fn with(head: Vec<&'static str>) -> Self {
        Self {
            head,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Leaves out those of the named columns in which no row has text.
    pub(super) fn leave_out_empty(&mut self, names: &[&str]) {
        for name in names {
            let Some(at) = self.head.iter().position(|head| head == name) else {
                continue;
            };
            let says = |row: &Vec<Cell>| row.get(at).is_some_and(|cell| !cell.text.is_empty());
            if !self.rows.iter().any(says) {
                self.head.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
    }

    /// Prints it.
    pub(super) fn print(&self) {
        print::lines(&self.lines(print::width()));
    }

    fn lines(&self, most: Option<usize>) -> Vec<String> {
        let head: Vec<Cell> = self
            .head
            .iter()
            .map(|name| Cell::painted(*name, Paint::Bold))
            .collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        // Of each column, its widest cell and its longest word.
        let mut columns = vec![(0, 0); head.len()];
        for row in all() {
            for ((width, word), cell) in columns.iter_mut().zip(row) {
                let longest = cell.text.split(' ').map(length).max();
                *width = length(&cell.text).max(*width);
                *word = longest.unwrap_or_default().max(*word);
            }
        }
        let (widths, most) = match most {
            None => (
                columns.iter().map(|(width, _)| *width).collect(),
                usize::MAX,
            ),
            Some(most) => (narrowed(&columns, most), most),
        };
        all()
            .flat_map(|row| row_lines(row, &widths, most))
            .collect()
    }
}

/// The columns of the screen that a text takes: letters of some scripts, and emoji, take two.
fn length(text: &str) -> usize {
    print::columns(text)
}

/// The widths with which a row fits into one line; if there are none, those with which it takes
/// few.
fn narrowed(columns: &[(usize, usize)], most: usize) -> Vec<usize> {
    let up_to = |limit: usize| {
        let widths = columns.iter();
        let widths = widths.map(move |(width, word)| (*width).min(limit.max(*word)));
        widths.collect::<Vec<usize>>()
    };
    let fits = |widths: &Vec<usize>| {
        let gaps = widths.len().saturating_sub(1) * 2;
        widths.iter().sum::<usize>() + gaps <= most
    };
    let room = most.saturating_sub(INDENT).max(1);
    (NARROW..=most)
        .rev()
        .map(up_to)
        .find(fits)
        .unwrap_or_else(|| {
            let mut widths = up_to(NARROW);
            if let (Some(last), Some((width, _))) = (widths.last_mut(), columns.last()) {
                *last = *width;
            }
            widths.iter().map(|width| (*width).min(room)).collect()
        })
}

/// A row: a new line begins before each column that has no room in the one before it.
fn row_lines(row: &[Cell], widths: &[usize], most: usize) -> Vec<String> {
    let mut groups = vec![(0, Vec::new())];
    let mut used = 0_usize;
    for (width, cell) in widths.iter().zip(row) {
        if used > 0 && used.saturating_add(2).saturating_add(*width) > most {
            groups.push((INDENT, Vec::new()));
            used = INDENT;
        } else if used > 0 {
            used = used.saturating_add(2);
        }
        used = used.saturating_add(*width);
        if let Some((_, group)) = groups.last_mut() {
            group.push((*width, cell.paint, wrapped(&cell.text, *width)));
        }
    }
    let lines = groups.iter().flat_map(|(indent, group)| {
        let height = group.iter().map(|(_, _, lines)| lines.len()).max();
        (0..height.unwrap_or_default()).map(move |number| {
            let mut line = " ".repeat(*indent);
            for (width, paint, lines) in group {
                let text = lines.get(number).map_or("", String::as_str);
                line.push_str(&match paint {
                    Some(paint) if !text.is_empty() => print::painted(text, *paint),
                    _ => text.to_owned(),
                });
                line.push_str(&" ".repeat(width.saturating_sub(length(text)) + 2));
            }
            line.trim_end().to_owned()
        })
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// A text in lines of limited width, broken only between words: a longer word stays whole, so that
/// it can be copied.
pub(super) fn at_words(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text in lines of at most so many columns, broken at words where they are short enough.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    if length(text) <= most {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && length(&line) + 1 + length(word) > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            let width = letter.width().unwrap_or_default();
            if !line.is_empty() && length(&line) + width > most {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::{Table, at_words};

    #[test]
    fn a_sentence_is_broken_at_words_and_no_word_is() {
        assert_eq!(
            at_words("a bc /long/path d", 4),
            ["a bc", "/long/path", "d"]
        );
        assert_eq!(at_words("", 4), [""]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("id | path");
        table.row(vec!["1".into(), "docs".into()]);
        table.row(vec!["1234".into(), "docs/ä".into()]);
        assert_eq!(
            table.lines(None),
            ["id    path", "1     docs", "1234  docs/ä"]
        );
    }

    #[test]
    fn of_the_columns_that_may_go_those_without_text_do() {
        let mut table = Table::new("id | risks | why");
        table.row(vec!["1".into(), "".into(), "".into()]);
        table.row(vec!["2".into(), "".into(), "asked".into()]);
        table.leave_out_empty(&["risks", "why"]);
        assert_eq!(table.lines(None), ["id  why", "1", "2   asked"]);
    }

    #[test]
    fn wide_letters_and_emoji_take_two_columns() {
        let mut table = Table::new("path | state");
        table.row(vec!["文档".into(), "open".into()]);
        table.row(vec!["🚀".into(), "open".into()]);
        table.row(vec!["docs".into(), "open".into()]);
        assert_eq!(
            table.lines(None),
            ["path  state", "文档  open", "🚀    open", "docs  open"]
        );
        let mut table = Table::new("title");
        table.row(vec!["安装指南".into()]);
        assert_eq!(table.lines(Some(9)), ["title", "安装", "指南"]);
    }

    #[test]
    fn on_a_narrow_terminal_the_last_columns_get_lines_of_their_own() {
        let mut table = Table::new("id | path | state");
        table.row(vec!["1".into(), "docs/long".into(), "open".into()]);
        table.row(vec!["1234".into(), "docs".into(), "".into()]);
        let wide = [
            "id    path       state",
            "1     docs/long  open",
            "1234  docs",
        ];
        assert_eq!(table.lines(Some(22)), wide);
        assert_eq!(
            table.lines(Some(21)),
            [
                "id    path",
                "    state",
                "1     docs/long",
                "    open",
                "1234  docs"
            ]
        );
        // Nothing is wider than the terminal, and nothing is cut.
        assert_eq!(
            table.lines(Some(10)),
            [
                "id",
                "    path",
                "    state",
                "1",
                "    docs/l",
                "    ong",
                "    open",
                "1234",
                "    docs"
            ]
        );
    }

    #[test]
    fn wide_cells_are_wrapped_at_words_under_their_column() {
        let mut table = Table::new("name | meaning");
        table.row(vec![
            "content".into(),
            "The whole new text, in place of edits and of sections".into(),
        ]);
        table.row(vec!["id".into(), "The page".into()]);
        assert_eq!(
            table.lines(Some(40)),
            [
                "name     meaning",
                "content  The whole new text, in place of",
                "         edits and of sections",
                "id       The page"
            ]
        );
        // No room beside the first column: a line of its own, of which nothing is lost either.
        assert_eq!(
            table.lines(Some(30)),
            [
                "name",
                "    meaning",
                "content",
                "    The whole new text, in",
                "    place of edits and of",
                "    sections",
                "id",
                "    The page"
            ]
        );
    }

    #[test]
    fn a_wide_column_gives_way_before_another_gets_a_line_of_its_own() {
        let mut table = Table::new("setting | value | from");
        table.row(vec![
            "audit_dir".into(),
            "wikijs-gate/audit in the user's state directory".into(),
            "default".into(),
        ]);
        assert_eq!(
            table.lines(Some(49)),
            [
                "setting    value                          from",
                "audit_dir  wikijs-gate/audit in the       default",
                "           user's state directory"
            ]
        );
    }
}
