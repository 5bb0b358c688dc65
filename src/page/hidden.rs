//! What of a text a person does not see and a model reads.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Parser};
use serde::Serialize;

use super::html::{Token, Tokens, attribute};
use super::outline::{Format, front_matter, options};
use super::path::is_invisible;

/// The most lines that are named of a kind.
const MAX_LINES: usize = 20;

/// How often something stands in a text, and in which lines; of many, the first 20.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// How often.
    pub count: usize,
    /// In which lines, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<usize>,
}

/// What of a text a person does not see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HiddenText {
    /// Characters that show nothing.
    #[serde(skip_serializing_if = "Found::is_none")]
    pub invisible_characters: Found,
    /// Characters that turn the direction of what follows.
    #[serde(skip_serializing_if = "Found::is_none")]
    pub bidirectional_controls: Found,
    /// Comments of HTML.
    #[serde(skip_serializing_if = "Found::is_none")]
    pub comments: Found,
    /// Elements that are hidden by attribute or style.
    #[serde(skip_serializing_if = "Found::is_none")]
    pub hidden_elements: Found,
}

impl Found {
    const fn is_none(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, line: usize) {
        self.count += 1;
        if self.lines.last() != Some(&line) && self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
    }
}

impl HiddenText {
    /// What is hidden in a text; none if nothing is.
    #[must_use]
    pub fn of(text: &str, format: Format) -> Option<Self> {
        let mut hidden = Self::default();
        if !text.bytes().all(is_plain) {
            hidden.characters(text);
        }
        // Without this sign there is no HTML, and most pages have none.
        match format {
            _ if !text.contains('<') => {}
            Format::Html => hidden.html(text, &mut Lines::of(text), 0),
            Format::Markdown => hidden.markdown(text),
            Format::Other => {}
        }
        (hidden != Self::default()).then_some(hidden)
    }

    /// What is hidden in the plain text of some HTML: characters by the lines of the plain text,
    /// and how much there is in the HTML, which has no lines there.
    #[must_use]
    pub fn of_plain(plain: &str, html: &str) -> Option<Self> {
        let of_html = Self::of(html, Format::Html).unwrap_or_default();
        let without_lines = |found: Found| Found {
            lines: Vec::new(),
            ..found
        };
        let hidden = Self {
            comments: without_lines(of_html.comments),
            hidden_elements: without_lines(of_html.hidden_elements),
            ..Self::of(plain, Format::Other).unwrap_or_default()
        };
        (hidden != Self::default()).then_some(hidden)
    }

    fn characters(&mut self, text: &str) {
        let mut line = 1;
        let mut before = None;
        for c in text.chars() {
            match hides(before, c) {
                Some(Hiding::Invisible) => self.invisible_characters.add(line),
                Some(Hiding::Direction) => self.bidirectional_controls.add(line),
                None => line += usize::from(c == '\n'),
            }
            before = Some(c);
        }
    }

    fn html(&mut self, html: &str, lines: &mut Lines<'_>, start: usize) {
        for (token, at) in Tokens::of(html) {
            match token {
                Token::Comment => self.comments.add(lines.line_of(start + at.start)),
                Token::Open(_, attributes) if is_hidden(attributes) => {
                    self.hidden_elements.add(lines.line_of(start + at.start));
                }
                _ => {}
            }
        }
    }

    /// HTML within Markdown: what is in code is shown.
    fn markdown(&mut self, text: &str) {
        let skipped = front_matter(text);
        let body = text.get(skipped..).unwrap_or_default();
        let mut lines = Lines::of(text);
        let mut html: Option<std::ops::Range<usize>> = None;
        let mut look = |html: Option<std::ops::Range<usize>>| {
            if let Some(html) = html {
                let part = body.get(html.clone()).unwrap_or_default();
                self.html(part, &mut lines, skipped + html.start);
            }
        };
        for (event, at) in Parser::new_ext(body, options()).into_offset_iter() {
            if matches!(event, Event::Html(_) | Event::InlineHtml(_)) {
                // A comment over several lines comes line by line.
                match &mut html {
                    Some(open) if open.end == at.start => open.end = at.end,
                    open => look(open.replace(at)),
                }
            }
        }
        look(html);
    }
}

/// Whether a byte is a character that is seen, or a space.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Counts lines on the way through a text, each line feed once.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    const fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
        }
    }

    /// The line of a place that is no earlier than the one before.
    fn line_of(&mut self, at: usize) -> usize {
        let passed = self.text.get(self.at..at).unwrap_or_default();
        self.line += super::place::line_feeds(passed);
        self.at = at;
        self.line
    }
}

/// Whether an element is hidden by its own attributes.
fn is_hidden(attributes: &str) -> bool {
    const HIDING: [&str; 7] = [
        "display:none",
        "visibility:hidden",
        "opacity:0;",
        "font-size:0",
        "color:transparent",
        "text-indent:-",
        "clip:rect(0",
    ];
    if attributes.trim().is_empty() {
        return false;
    }
    let style = attribute(attributes, "style").is_some_and(|style| {
        let mut style: String = style
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        style.push(';');
        HIDING.iter().any(|hiding| style.contains(hiding))
    });
    style || attribute(attributes, "hidden").is_some()
}

enum Hiding {
    Invisible,
    Direction,
}

/// How a character hides something, by what stands before it: marks that join or vary the
/// character before them belong to it.
fn hides(before: Option<char>, c: char) -> Option<Hiding> {
    if c.is_ascii() && !c.is_ascii_control() {
        return None;
    }
    match c {
        '\u{061C}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}' => {
            return Some(Hiding::Direction);
        }
        '\n' | '\r' | '\t' => return None,
        _ => {}
    }
    let is_variation = |c| matches!(c, '\u{FE00}'..='\u{FE0F}');
    let shows = |c: char| !c.is_control() && !is_invisible(c);
    let belongs = match c {
        '\u{FE00}'..='\u{FE0F}' => before.is_some_and(|before| shows(before) && before != ' '),
        '\u{200C}' | '\u{200D}' => before
            .is_some_and(|before| !before.is_ascii() && (shows(before) || is_variation(before))),
        _ => false,
    };
    (!belongs && (c.is_control() || is_invisible(c))).then_some(Hiding::Invisible)
}

/// A text with what is hidden in it escaped (`\u{202e}`).
#[must_use]
pub fn escape_hidden(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        if hides(before, c).is_some() {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
        before = Some(c);
    }
    shown
}

/// A text in one line, cut to so many characters, with what is hidden in it escaped.
#[must_use]
pub fn escaped(text: &str, most: usize) -> String {
    let line = |c: char| {
        if matches!(c, '\n' | '\r' | '\t') {
            ' '
        } else {
            c
        }
    };
    let mut chars = text.chars().map(line);
    let kept: String = chars.by_ref().take(most).collect();
    let mut shown = escape_hidden(&kept);
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Found, HiddenText, escaped};
    use crate::page::Format;

    fn found(count: usize, lines: &[usize]) -> Found {
        Found {
            count,
            lines: lines.to_vec(),
        }
    }

    #[test]
    fn what_is_hidden_is_counted_with_its_lines() {
        let text = "# A\u{202E}b\n\nx\u{200B}y\u{200B}\n<!-- one\n\ntwo --> and <span style=\"Display : NONE\">z</span>\n\n<div hidden>\n\n`<!-- shown -->`\n\n```\n<!-- shown -->\n```\n";
        assert_eq!(
            HiddenText::of(text, Format::Markdown),
            Some(HiddenText {
                invisible_characters: found(2, &[3]),
                bidirectional_controls: found(1, &[1]),
                comments: found(1, &[4]),
                hidden_elements: found(2, &[6, 8]),
            })
        );
        assert_eq!(
            HiddenText::of("<p>a<!-- b -->\n<!c>", Format::Html)
                .unwrap()
                .comments,
            found(2, &[1, 2])
        );
        assert_eq!(HiddenText::of("<!-- a -->", Format::Other), None);
    }

    #[test]
    fn what_belongs_to_a_visible_character_hides_nothing() {
        for text in [
            "⚠️ 1️⃣ 👩‍👩‍👧 ❤️‍🔥",
            "می‌خواهم",
            "tab\tand\r\nline",
            "日本語 – “x” é",
        ] {
            assert_eq!(HiddenText::of(text, Format::Markdown), None, "{text}");
            assert!(!escaped(text, 100).contains('\\'), "{text}");
        }
    }

    #[test]
    fn escaped_text_shows_what_is_hidden() {
        assert_eq!(
            escaped("a\u{202e}b\u{e0041}\nc", 100),
            "a\\u{202e}b\\u{e0041} c"
        );
        assert_eq!(escaped("abc", 2), "ab…");
        // Bytes in a row of variation selectors are no emoji's.
        assert_eq!(
            HiddenText::of("😀\u{FE0F}\u{FE01}\u{FE02}", Format::Other)
                .unwrap()
                .invisible_characters,
            found(2, &[1])
        );
    }
}
