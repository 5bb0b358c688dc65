//! Describes for people where something is in a text, and the only difference between two texts.

use std::borrow::Cow;

use serde::Serialize;

/// The most places that a fault names.
pub(in crate::page) const MAX_PLACES: usize = 10;
/// The most characters of a line that a fault shows.
const MAX_SHOWN: usize = 200;
/// The most characters shown of a line before the place itself.
const MAX_LEAD: usize = 60;

/// A place in a text: its line, and what stands there.
///
/// Lines end in a line feed. The text is the page's, so it is data and never part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextPosition {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line without its ending; of a long one 200 characters around the place, with `…`
    /// where it was cut.
    pub text: String,
}

impl TextPosition {
    /// The place at a byte offset; one that is no boundary of a character is the text's start.
    pub fn at(text: &str, offset: usize) -> Self {
        let (before, after) = text.split_at_checked(offset).unwrap_or(("", text));
        let lead = before.rsplit('\n').next().unwrap_or_default();
        let rest = after.split('\n').next().unwrap_or_default();
        Self {
            line: 1 + line_feeds(before),
            text: shown(lead, rest),
        }
    }

    /// A whole line, whose number is known.
    pub(in crate::page) fn whole(line: usize, text: &str) -> Self {
        Self {
            line,
            text: shown("", text.strip_suffix('\n').unwrap_or(text)),
        }
    }
}

/// The number of line feeds in a text.
pub(in crate::page) fn line_feeds(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The line end that a text has most.
pub(in crate::page) fn line_end(text: &str) -> &'static str {
    let with_return = text.matches("\r\n").count();
    if with_return * 2 > line_feeds(text) {
        "\r\n"
    } else {
        "\n"
    }
}

/// Gives `put` the line ends of the text that takes it: if that has none but `\r\n` and `sent`, all that
/// the caller sent, has no carriage return, each line feed gets one; else it stays as it is.
pub(in crate::page) fn with_line_ends_of<'a>(
    text: &str,
    sent: &[&str],
    put: &'a str,
) -> Cow<'a, str> {
    let has_return = |sent: &&str| sent.contains('\r');
    if !put.contains('\n') || sent.iter().any(has_return) {
        return Cow::Borrowed(put);
    }
    let feeds = line_feeds(text);
    let is_alone = |end: &str| text.matches(end).count() == feeds;
    if feeds > 0 && is_alone("\r\n") && is_alone("\r") {
        Cow::Owned(put.replace('\n', "\r\n"))
    } else {
        Cow::Borrowed(put)
    }
}

/// Gives the line of a place, each line feed counted once; a place before the last that was asked
/// for has that one's line.
pub(in crate::page) fn lines_of(text: &str) -> impl FnMut(usize) -> usize {
    let (mut passed, mut line) = (0, 1);
    move |at| {
        let at = text.floor_char_boundary(at);
        if let Some(between) = text.get(passed..at) {
            line += line_feeds(between);
            passed = at;
        }
        line
    }
}

fn shown(lead: &str, rest: &str) -> String {
    let rest = rest.strip_suffix('\r').unwrap_or(rest);
    // The nth character from the end begins what is kept of the lead.
    let kept = lead.char_indices().rev().take(MAX_LEAD).last();
    let start = kept.map_or(lead.len(), |(at, _)| at);
    let mut line = String::new();
    if start > 0 {
        line.push('…');
    }
    line.push_str(lead.get(start..).unwrap_or_default());
    let room = MAX_SHOWN.saturating_sub(line.chars().count());
    if rest.chars().nth(room).is_some() {
        line.extend(rest.chars().take(room.saturating_sub(1)));
        line.push('…');
    } else {
        line.push_str(rest);
    }
    line
}

/// The only difference between two texts that should be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DiffersIn {
    /// One has carriage returns before its line feeds, or at its end, where the other has none.
    LineEndings,
    /// One has white space where the other has other white space, or none.
    WhiteSpace,
}

impl DiffersIn {
    /// Both, the smaller difference first.
    pub(in crate::page) const ALL: [Self; 2] = [Self::LineEndings, Self::WhiteSpace];

    /// The characters in which the texts must agree, with their byte offsets.
    pub(in crate::page) fn rest_of(self, text: &str) -> impl Iterator<Item = (usize, char)> {
        let next = |at: usize| text.as_bytes().get(at + 1);
        text.char_indices().filter(move |(at, c)| match self {
            Self::LineEndings => *c != '\r' || next(*at).is_some_and(|byte| *byte != b'\n'),
            Self::WhiteSpace => !c.is_whitespace(),
        })
    }

    /// True if two texts differ in nothing else.
    pub(in crate::page) fn alone(self, one: &str, other: &str) -> bool {
        let chars = |text| self.rest_of(text).map(|(_, c)| c);
        chars(one).eq(chars(other))
    }
}

#[cfg(test)]
mod tests {
    use super::{TextPosition, with_line_ends_of};

    #[test]
    fn only_line_feeds_for_a_text_with_no_other_end_than_crlf_get_a_return() {
        for (text, put, expected) in [
            ("a\r\n", "x\n\ny", "x\r\n\r\ny"),
            ("a\r\nb", "x\n", "x\r\n"),
            ("a\r\n", "x\r\ny\n", "x\r\ny\n"),
            ("a\r\nb\n", "x\n", "x\n"),
            ("a\rb\r\n", "x\n", "x\n"),
            ("a\n", "x\n", "x\n"),
            ("a", "x\n", "x\n"),
            ("", "x\n", "x\n"),
        ] {
            assert_eq!(
                with_line_ends_of(text, &[put], put),
                expected,
                "{text:?} {put:?}"
            );
        }
        assert_eq!(with_line_ends_of("a\r\n", &["a\r\n", "b\n"], "b\n"), "b\n");
    }

    #[test]
    fn a_place_shows_its_line_without_the_ending() {
        let place = TextPosition::at("one\r\ntwo\r\nthree", 6);
        assert_eq!((place.line, place.text.as_str()), (2, "two"));
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides_of_the_place() {
        let text = format!("{}X{}", "ä".repeat(1000), "ö".repeat(1000));
        let place = TextPosition::at(&text, 2000);
        assert_eq!(place.text.chars().count(), 200);
        assert!(place.text.starts_with('…') && place.text.ends_with('…'));
        assert!(place.text.contains("äXö"));
        let whole = TextPosition::at(&"ä".repeat(200), 0);
        assert_eq!(whole.text, "ä".repeat(200));
    }
}
