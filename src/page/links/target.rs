//! A link's target as it stands in a source, and what it says.

use super::super::html::{HtmlToken, scan};

/// The way in which a source writes a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum Writing {
    /// In Markdown: backslashes before punctuation, references such as `&amp;`.
    Markdown,
    /// In an attribute of HTML: references.
    Html,
    /// To the letter: addresses in angle brackets.
    Plain,
}

/// The longest reference that is looked for, `&` and `;` included.
const MAX_REFERENCE: usize = 34;

impl Writing {
    /// Adds what the first piece of a source says that says something by itself; gives its length.
    fn push_piece(self, raw: &str, said: &mut String) -> Option<usize> {
        let mut chars = raw.chars();
        let first = chars.next()?;
        let found = match (self, first, chars.next()) {
            (Self::Markdown, '\\', Some(c)) if c.is_ascii_punctuation() => {
                said.push(c);
                return Some(2);
            }
            (Self::Markdown | Self::Html, '&', Some('#' | 'a'..='z' | 'A'..='Z')) => reference(raw),
            _ => None,
        };
        if let Some((length, text)) = found {
            said.push_str(&text);
            return Some(length);
        }
        said.push(first);
        Some(first.len_utf8())
    }

    /// Decodes a target as a source writes it.
    pub(in crate::page) fn said(self, raw: &str) -> String {
        let mut said = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(length) = self.push_piece(rest, &mut said) {
            rest = rest.get(length..).unwrap_or_default();
        }
        said
    }

    /// The place in a source after the first `length` bytes of its meaning.
    pub(in crate::page) fn behind(self, raw: &str, length: usize) -> Option<usize> {
        let (mut passed, mut said) = (0, String::new());
        while said.len() < length {
            passed += self.push_piece(raw.get(passed..)?, &mut said)?;
        }
        (said.len() == length).then_some(passed)
    }
}

/// The reference that a text begins with, and what it stands for.
fn reference(raw: &str) -> Option<(usize, String)> {
    let end = raw.bytes().take(MAX_REFERENCE).position(|b| b == b';')?;
    let raw = raw.get(..=end)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
    if !raw.bytes().skip(1).take(end - 1).all(is_name) {
        return None;
    }
    let mut said = String::new();
    scan(raw, |token, _| {
        if let HtmlToken::Text(words) = token {
            said.push_str(words);
        }
    });
    (said != raw).then_some((raw.len(), said))
}

#[cfg(test)]
mod tests {
    use super::Writing;

    #[test]
    fn a_source_says_what_its_escapes_and_references_stand_for() {
        for (writing, raw, said) in [
            (Writing::Markdown, r"/a\_b\c", r"/a_b\c"),
            (
                Writing::Markdown,
                "/a&amp;b&#35;c&nope;&x",
                "/a&b#c&nope;&x",
            ),
            (Writing::Html, r"/a\_b&quot;&auml;", "/a\\_b\"ä"),
            (Writing::Plain, r"/a\_b&amp;", r"/a\_b&amp;"),
        ] {
            assert_eq!(writing.said(raw), said, "{raw}");
        }
        assert_eq!(Writing::Markdown.behind(r"/a\#b", 2), Some(2));
        assert_eq!(Writing::Markdown.behind(r"/a\#b", 3), Some(4));
        assert_eq!(Writing::Html.behind("&auml;#", 2), Some(6));
        assert_eq!(Writing::Html.behind("&auml;#", 1), None);
    }
}
