//! Describes a fault of a file and its place.

use std::fmt;

/// A place in a file; both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl LineColumn {
    /// The place of a byte in a text.
    pub(super) fn new(text: &str, byte: usize) -> Self {
        let before = text.get(..byte.min(text.len())).unwrap_or(text);
        let last = before.rsplit('\n').next().unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
        }
    }
}

impl From<graphql_parser::Pos> for LineColumn {
    fn from(at: graphql_parser::Pos) -> Self {
        Self {
            line: at.line,
            column: at.column,
        }
    }
}

/// A fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFileFault {
    /// The file's name in its directory.
    pub file: String,
    /// The place, if the fault is at one place.
    pub at: Option<LineColumn>,
    /// The fault, as text.
    pub text: String,
}

impl ToolFileFault {
    /// A fault of a whole file.
    pub fn new(file: &str, text: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            at: None,
            text: text.into(),
        }
    }

    /// A fault at a place.
    pub(super) fn at(file: &str, at: LineColumn, text: impl Into<String>) -> Self {
        Self {
            at: Some(at),
            ..Self::new(file, text)
        }
    }
}

impl fmt::Display for ToolFileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(LineColumn { line, column }) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.text)
    }
}
