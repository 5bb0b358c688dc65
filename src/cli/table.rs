//! Columns for people.

use super::print::{self, Paint};

/// How far a row's further lines are indented.
const INDENT: usize = 4;

/// Rows under a head, each column as wide as its widest cell. On a terminal that is narrower
/// than a row, its last columns stand in lines of their own, the same in each row. Text from
/// outside belongs in a cell only by way of [`print::harmless`].
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
    /// An empty table.
    pub(super) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Prints it.
    pub(super) fn print(&self) {
        for line in self.lines(print::width()) {
            print::line(&line);
        }
    }

    fn lines(&self, most: Option<usize>) -> Vec<String> {
        let head: Vec<Cell> = self
            .head
            .iter()
            .map(|name| Cell::painted(*name, Paint::Bold))
            .collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        let mut widths = vec![0; head.len()];
        for row in all() {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        let most = most.unwrap_or(usize::MAX);
        let room = most.saturating_sub(INDENT);
        all()
            .flat_map(|row| row_lines(row, &widths, most, room))
            .collect()
    }
}

/// A row: a new line begins before each column that has no room in the one before it.
fn row_lines(row: &[Cell], widths: &[usize], most: usize, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used, mut gap) = (String::new(), 0_usize, 0_usize);
    for (width, cell) in widths.iter().zip(row) {
        let width = (*width).min(room);
        if used > 0 && used.saturating_add(2).saturating_add(width) > most {
            lines.push(std::mem::take(&mut line));
            line.push_str(&" ".repeat(INDENT));
            (used, gap) = (INDENT, 0);
        } else if used > 0 {
            used = used.saturating_add(2);
        }
        line.push_str(&" ".repeat(gap));
        let text = cut(&cell.text, width);
        let length = text.chars().count();
        line.push_str(&match cell.paint {
            Some(paint) => print::painted(&text, paint),
            None => text,
        });
        used = used.saturating_add(width);
        gap = width.saturating_sub(length).saturating_add(2);
    }
    lines.push(line);
    let lines = lines.into_iter().map(|line| line.trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["id", "path"]);
        table.row(vec!["1".into(), "docs".into()]);
        table.row(vec!["1234".into(), "docs/ä".into()]);
        assert_eq!(
            table.lines(None),
            ["id    path", "1     docs", "1234  docs/ä"]
        );
    }

    #[test]
    fn on_a_narrow_terminal_the_last_columns_get_lines_of_their_own() {
        let mut table = Table::new(&["id", "path", "state"]);
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
        // Nothing is wider than the terminal.
        assert_eq!(
            table.lines(Some(10)),
            [
                "id",
                "    path",
                "    state",
                "1",
                "    docs/…",
                "    open",
                "1234",
                "    docs"
            ]
        );
    }
}
