//! HTML that stands in Markdown: in a list or a quote its lines do not follow one another in the
//! source.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use pulldown_cmark::Event;
use pulldown_cmark::html::write_html_fmt;

/// A block of HTML, put together of its lines, or of other pieces whose places are known.
#[derive(Debug, Default)]
pub(in crate::page) struct HtmlBlock {
    html: String,
    /// Starts of the lines: in the HTML, and in the source.
    starts: Vec<(usize, usize)>,
}

impl HtmlBlock {
    /// Adds the line that stands there in a source.
    pub(in crate::page) fn push(&mut self, source: &str, line: Range<usize>) {
        self.add(line.start, source.get(line).unwrap_or_default());
    }

    /// Adds a piece that comes from there in a source.
    pub(in crate::page) fn add(&mut self, source: usize, html: &str) {
        self.starts.push((self.html.len(), source));
        self.html.push_str(html);
    }

    /// The HTML of parts of Markdown, each with its place in the source.
    pub(in crate::page) fn rendered<'a>(parts: impl Iterator<Item = (Event<'a>, usize)>) -> Self {
        let block = RefCell::new(Self::default());
        let events = parts.map(|(event, source)| {
            block.borrow_mut().add(source, "");
            event
        });
        // A string takes all.
        let _ = write_html_fmt(HtmlSink(&block), events);
        block.into_inner()
    }

    pub(in crate::page) fn html(&self) -> &str {
        &self.html
    }

    /// Position in the source of a byte of the HTML.
    pub(in crate::page) fn source(&self, at: usize) -> Option<usize> {
        let line = self.starts.partition_point(|(start, _)| *start <= at);
        let (begins, source) = self.starts.get(line.checked_sub(1)?)?;
        let next = self.starts.get(line).map_or(usize::MAX, |(_, next)| *next);
        Some((source + at - begins).min(next.max(*source)))
    }
}

/// Takes the HTML that is rendered, while the places of its pieces are added.
struct HtmlSink<'a>(&'a RefCell<HtmlBlock>);

impl fmt::Write for HtmlSink<'_> {
    fn write_str(&mut self, html: &str) -> fmt::Result {
        self.0.borrow_mut().html.push_str(html);
        Ok(())
    }
}
