//! Columns for people.

use super::print::{self, Paint};

/// Rows under a head, each column as wide as its widest cell. Text from outside belongs in a
/// cell only by way of [`print::harmless`].
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
        for line in self.lines() {
            print::line(&line);
        }
    }

    fn lines(&self) -> Vec<String> {
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
        all()
            .map(|row| {
                let mut line = String::new();
                let mut gap = 0;
                for (width, cell) in widths.iter().zip(row) {
                    line.push_str(&" ".repeat(gap));
                    line.push_str(&match cell.paint {
                        Some(paint) => print::painted(&cell.text, paint),
                        None => cell.text.clone(),
                    });
                    gap = width
                        .saturating_sub(cell.text.chars().count())
                        .saturating_add(2);
                }
                line.trim_end().to_owned()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["id", "path"]);
        table.row(vec!["1".into(), "docs".into()]);
        table.row(vec!["1234".into(), "docs/ä".into()]);
        assert_eq!(table.lines(), ["id    path", "1     docs", "1234  docs/ä"]);
    }
}
