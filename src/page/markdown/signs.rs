//! Counts the signs of a source: one with too many is not parsed to check it.

use crate::page::SourceFormat;

/// The most signs of a source that is parsed to check it. For each, the parser of Markdown takes
/// some 100 bytes, and what is found takes as much again.
pub const MOST_SIGNS: usize = 100_000;

/// True if a source has so many line ends and signs that parsing it would take too much memory.
pub fn has_too_many_signs(text: &str, format: SourceFormat) -> bool {
    let bytes = text.as_bytes();
    let next = bytes.iter().skip(1).chain(b"\n");
    let signs = bytes.iter().zip(next).filter(|(byte, next)| match format {
        SourceFormat::Markdown => is_sign(**byte, **next),
        SourceFormat::Html | SourceFormat::AsciiDoc | SourceFormat::Other => **byte == b'<',
    });
    bytes.len() > MOST_SIGNS && signs.take(MOST_SIGNS + 1).count() > MOST_SIGNS
}

/// True if the parser of Markdown, or the search for addresses, may make something of a byte before
/// this one.
const fn is_sign(byte: u8, next: u8) -> bool {
    match byte {
        b'\n' | b'\r' | b'*' | b'_' | b'&' | b'\\' | b'[' | b']' | b'<' | b'>' | b'!' | b'`'
        | b'|' | b'~' | b'$' | b'{' | b'}' => true,
        // Items of lists, which can begin in one another.
        b'-' | b'+' | b'.' | b')' => next.is_ascii_whitespace(),
        b':' => next == b'/',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::Parser;

    use super::{MOST_SIGNS, SourceFormat, has_too_many_signs, is_sign};
    use crate::page::markdown::outline::options;

    #[test]
    fn a_sign_in_each_of_many_lines_is_too_many() {
        let many = |line: &str, times: usize| {
            has_too_many_signs(&line.repeat(times), SourceFormat::Markdown)
        };
        assert!(many("a [\n", 50_001) && !many("a [\n", 50_000));
        assert!(many("*", MOST_SIGNS + 1) && many("1. ", MOST_SIGNS + 1));
        assert!(many("http://a ", MOST_SIGNS + 1));
        assert!(!many("Plain words, and a well-known 1.5; ", MOST_SIGNS));
        let html = "<b>".repeat(MOST_SIGNS);
        assert!(!has_too_many_signs(&html, SourceFormat::Html));
        assert!(has_too_many_signs(&(html + "<"), SourceFormat::Html));
    }

    proptest! {
        #[test]
        fn what_the_parser_finds_is_bounded_by_the_signs(text in "(a|b c|\n|\\*|_|&amp;|\\\\|\\[|\\]|<i>|>|!|`|\\||~|\\$|\\{|\\}|- |\\+ |1\\. |1\\) |#| |\t|    |---|===|:|/){0,48}") {
            let bytes = text.as_bytes();
            let next = bytes.iter().skip(1).chain(b"\n");
            let signs = bytes.iter().zip(next).filter(|(byte, next)| is_sign(**byte, **next));
            let found = Parser::new_ext(&text, options()).count();
            prop_assert!(found <= 6 * (signs.count() + 1), "{found} of {text:?}");
        }
    }
}
