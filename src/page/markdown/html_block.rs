//! HTML that stands in Markdown: in a list or a quote its lines do not follow one another in the
//! source.

use std::ops::Range;

/// A block of HTML, put together of its lines.
#[derive(Debug, Default)]
pub(in crate::page) struct HtmlBlock {
    html: String,
    /// Starts of the lines: in the HTML, and in the source.
    starts: Vec<(usize, usize)>,
}

impl HtmlBlock {
    /// Adds the line that stands there in a source.
    pub(in crate::page) fn push(&mut self, source: &str, line: Range<usize>) {
        self.starts.push((self.html.len(), line.start));
        self.html.push_str(source.get(line).unwrap_or_default());
    }

    pub(in crate::page) fn html(&self) -> &str {
        &self.html
    }

    /// Start of the block in the source; nothing if it has no lines.
    pub(in crate::page) fn start(&self) -> Option<usize> {
        self.starts.first().map(|(_, source)| *source)
    }

    /// Position in the source of a byte of the HTML.
    pub(in crate::page) fn source(&self, at: usize) -> Option<usize> {
        let line = self.starts.partition_point(|(start, _)| *start <= at);
        let (begins, source) = self.starts.get(line.checked_sub(1)?)?;
        Some(source + at - begins)
    }
}
