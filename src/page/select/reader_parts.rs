//! Cuts a page into the texts that its readers see, section by section: without comments, front matter, scripts,
//! styles and addresses of links.

use std::ops::Range;

use pulldown_cmark::Parser;
use pulldown_cmark::html::push_html;

use crate::page::html::plain_text;
use crate::page::markdown::outline::{Outline, SourceFormat, options};

/// The most bytes of a piece; a longer section is several.
const MOST_BYTES: usize = 1_500;
/// The most pieces of a page.
const MOST_PIECES: usize = 200;

/// A piece of a section, as readers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderPart {
    /// The selector of its section; empty if the page has no headings.
    pub selector: String,
    /// The text of its heading, if it has one.
    pub heading: String,
    /// The text below the heading.
    pub text: String,
}

/// The pieces of a page in page order; pieces without text are left out.
pub fn reader_parts(text: &str, format: SourceFormat) -> Vec<ReaderPart> {
    let outline = Outline::in_format(text, format);
    let headings = &outline.headings;
    let names = outline.named_headings();
    let first = headings.first().map_or(text.len(), |one| one.lines.start);
    let lead = if headings.is_empty() {
        ""
    } else {
        "section[0]"
    };
    let mut parts = Vec::new();
    add(
        &mut parts,
        text,
        outline.body..first,
        (lead, String::new()),
        format,
    );
    for (at, (heading, name)) in headings.iter().zip(&names).enumerate() {
        let end = headings.get(at + 1).map_or(text.len(), |it| it.lines.start);
        let head = (&*name.selector, heading.text.clone());
        add(&mut parts, text, heading.lines.end..end, head, format);
    }
    parts
}

fn add(
    parts: &mut Vec<ReaderPart>,
    text: &str,
    range: Range<usize>,
    (selector, heading): (&str, String),
    format: SourceFormat,
) {
    let shown = shown(text.get(range).unwrap_or_default(), format);
    let mut rest = shown.trim();
    if rest.is_empty() && !heading.is_empty() && parts.len() < MOST_PIECES {
        parts.push(ReaderPart {
            selector: selector.to_owned(),
            heading: heading.clone(),
            text: String::new(),
        });
    }
    while !rest.is_empty() && parts.len() < MOST_PIECES {
        let (piece, left) = rest.split_at(piece_end(rest));
        parts.push(ReaderPart {
            selector: selector.to_owned(),
            heading: heading.clone(),
            text: piece.trim().to_owned(),
        });
        rest = left.trim_start();
    }
}

/// The end of the first piece of a text: behind a paragraph, a line or a word.
fn piece_end(text: &str) -> usize {
    if text.len() <= MOST_BYTES {
        return text.len();
    }
    let most = text.floor_char_boundary(MOST_BYTES);
    let piece = text.get(..most).unwrap_or_default();
    let ends = ["\n\n", "\n", ". ", " "];
    let mut ends = ends
        .iter()
        .filter_map(|end| Some(piece.rfind(end)? + end.trim_end().len()));
    ends.find(|end| *end > most / 2).unwrap_or(most)
}

/// The text of a source that readers see.
fn shown(source: &str, format: SourceFormat) -> String {
    match format {
        SourceFormat::Markdown => {
            let mut html = String::new();
            push_html(&mut html, Parser::new_ext(source, options()));
            plain_text(&html)
        }
        SourceFormat::Html => plain_text(source),
        SourceFormat::AsciiDoc => without_comments(source),
        SourceFormat::Other => source.to_owned(),
    }
}

/// An `AsciiDoc` source without its comments.
fn without_comments(source: &str) -> String {
    let mut is_comment = false;
    let mut shown = String::new();
    for line in source.lines() {
        if line.starts_with("////") {
            is_comment = !is_comment;
        } else if !is_comment && !line.starts_with("//") {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, MOST_PIECES, ReaderPart, reader_parts};
    use crate::page::SourceFormat::{AsciiDoc, Html, Markdown, Other};

    fn parts(text: &str, format: super::SourceFormat) -> Vec<(String, String, String)> {
        let parts = reader_parts(text, format).into_iter();
        let told = |part: ReaderPart| (part.selector, part.heading, part.text);
        parts.map(told).collect()
    }

    fn part(selector: &str, heading: &str, text: &str) -> (String, String, String) {
        (selector.to_owned(), heading.to_owned(), text.to_owned())
    }

    #[test]
    fn a_part_is_what_readers_see_of_a_section_and_no_more() {
        let text = "---\nkey: sesame\n---\nLead <!-- sesame --> *text*.\n\n# One\n<!-- sesame\nsesame -->\n[a link](https://sesame.example)\n\n<script>sesame</script>\n\n## Two\n\n<div>in a block</div>\n";
        assert_eq!(
            parts(text, Markdown),
            [
                part("section[0]", "", "Lead text."),
                part("heading:h1[0]", "One", "a link"),
                part("heading:h2[0]", "Two", "in a block"),
            ]
        );
        assert_eq!(
            parts("<p>a<!-- sesame --></p><h2>B</h2><p>c</p>", Html),
            [part("section[0]", "", "a"), part("heading:h2[0]", "B", "c")]
        );
        let text = "one\n// sesame\n////\nsesame\n////\ntwo\n";
        assert_eq!(parts(text, AsciiDoc), [part("", "", "one\ntwo")]);
        assert_eq!(parts("<b>", Other), [part("", "", "<b>")]);
        assert!(parts(" \n", Markdown).is_empty());
        assert_eq!(parts("# A", Markdown), [part("heading:h1[0]", "A", "")]);
    }

    #[test]
    fn a_long_section_is_several_pieces_and_a_page_has_so_many() {
        let long = "äöü words. ".repeat(1_000);
        let pieces = reader_parts(&long, Markdown);
        assert!(pieces.iter().all(|piece| piece.text.len() <= MOST_BYTES));
        let all: String = pieces
            .iter()
            .map(|piece| piece.text.clone() + " ")
            .collect();
        assert_eq!(all.trim(), long.trim());
        assert_eq!(
            reader_parts(&"字".repeat(1_000_000), Other).len(),
            MOST_PIECES
        );
    }
}
