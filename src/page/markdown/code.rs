//! Finds the code in a page: blocks, code within a line, and elements of HTML that hold code.

use std::mem;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::html::{HtmlToken, scan};
use super::html_block::HtmlBlock;
use super::outline::{front_matter, options};
use crate::page::{SourceFormat, has_too_many_signs};

/// The elements whose text is code.
const ELEMENTS: [&str; 7] = ["pre", "code", "kbd", "samp", "tt", "script", "style"];

/// The ranges of a source that are code, in order and apart; `None` if it is not told: the source is
/// too large, or neither Markdown nor HTML.
pub fn code_ranges(text: &str, format: SourceFormat) -> Option<Vec<Range<usize>>> {
    if has_too_many_signs(text, format) {
        return None;
    }
    let mut found = CodeRanges::default();
    let mut html = HtmlBlock::default();
    match format {
        SourceFormat::Html => {
            html.push(text, 0..text.len());
            found.read(&html);
        }
        SourceFormat::Markdown => {
            let start = front_matter(text);
            let body = text.get(start..).unwrap_or_default();
            for (event, range) in Parser::new_ext(body, options()).into_offset_iter() {
                let range = range.start + start..range.end + start;
                match event {
                    Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => found.ranges.push(range),
                    Event::Html(_) => html.push(text, range),
                    Event::InlineHtml(_) => {
                        let mut inline = HtmlBlock::default();
                        inline.push(text, range);
                        found.read(&inline);
                    }
                    Event::End(TagEnd::HtmlBlock) => found.read(&mem::take(&mut html)),
                    _ => {}
                }
            }
        }
        SourceFormat::AsciiDoc | SourceFormat::Other => return None,
    }
    Some(found.merged(text.len()))
}

/// The code found so far.
#[derive(Default)]
struct CodeRanges {
    ranges: Vec<Range<usize>>,
    /// The element of code that is open, and where it begins.
    open: Option<(&'static str, usize)>,
}

impl CodeRanges {
    fn read(&mut self, html: &HtmlBlock) {
        scan(html.html(), |token, at| match token {
            HtmlToken::Open(tag) if self.open.is_none() => {
                let name = ELEMENTS.into_iter().find(|name| *name == tag.name());
                self.open = name.zip(html.source(at.start));
            }
            HtmlToken::Close(tag) => {
                if let Some((_, start)) = self.open.take_if(|(name, _)| *name == tag.name()) {
                    self.ranges
                        .push(start..html.source(at.end).unwrap_or(start));
                }
            }
            _ => {}
        });
    }

    /// All of it; an element that nobody closed goes on to the end.
    fn merged(mut self, end: usize) -> Vec<Range<usize>> {
        self.ranges.extend(self.open.map(|(_, start)| start..end));
        self.ranges.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in self.ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::code_ranges;
    use crate::page::SourceFormat;

    fn found(text: &str, format: SourceFormat) -> Vec<&str> {
        let ranges = code_ranges(text, format).unwrap();
        let pieces = ranges.into_iter().map(|range| text.get(range).unwrap());
        pieces.collect()
    }

    #[test]
    fn blocks_spans_and_elements_of_code_are_found_in_markdown() {
        let text = "---\nx: `y`\n---\na `b` c\n\n```\nd\n```\n\n    e\n\n> ~~~\n> f\n> ~~~\n\n<pre>\ng\n\nh</pre>\n\ni <code>j *k*</code> l `` m` ``\n";
        assert_eq!(
            found(text, SourceFormat::Markdown),
            [
                "`b`",
                "```\nd\n```",
                "e\n",
                "~~~\n> f\n> ~~~",
                "<pre>\ng\n\nh</pre>",
                "<code>j *k*</code>",
                "`` m` ``"
            ]
        );
    }

    #[test]
    fn elements_of_code_are_found_in_html_also_where_nobody_closes_them() {
        let text = "<p>a <code>b <code>c</code> d</p><script>'</code>'</script><pre>e";
        assert_eq!(
            found(text, SourceFormat::Html),
            ["<code>b <code>c</code>", "<script>'</code>'</script><pre>e"]
        );
        assert_eq!(code_ranges("`a`", SourceFormat::AsciiDoc), None);
    }
}
