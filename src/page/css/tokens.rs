//! Tokens of a style sheet, for everything here that reads CSS: comments, strings, unquoted
//! addresses and escapes are one token each. Takes linear time, whatever the sheet holds.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum CssKind {
    /// A comment.
    Comment,
    /// White space.
    Space,
    /// A string, or an address without quotes in `url(…)`.
    Quoted,
    /// A backslash with the character or the number behind it.
    Escape,
    /// Letters, digits, `-`, `_` and characters beyond ASCII, in a row.
    Word,
    /// `<!--` or `-->`, which mean nothing between rules.
    Mark,
    /// Any other character.
    Sign,
}

/// Iterates over the tokens of a style sheet: the kind of each, and its text.
#[derive(Debug, Clone, Default)]
pub(in crate::page) struct CssTokens<'a> {
    rest: &'a str,
    /// The sheet from the name on that ends here, and the length of the name; 0 if none does.
    name: (&'a str, usize),
    is_address_next: bool,
    is_open: bool,
}

impl<'a> CssTokens<'a> {
    pub(in crate::page) fn of(rest: &'a str) -> Self {
        let start = Self::default();
        Self { rest, ..start }
    }

    /// True if all comments, strings, addresses and escapes so far were closed.
    pub(in crate::page) const fn is_closed(&self) -> bool {
        !self.is_open
    }
}

impl<'a> Iterator for CssTokens<'a> {
    type Item = (CssKind, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest;
        let first = rest.chars().next()?;
        let run = |is_of: fn(char) -> bool| rest.find(|c| !is_of(c)).unwrap_or(rest.len());
        let is_address =
            self.is_address_next && !first.is_whitespace() && !matches!(first, ')' | '"' | '\'');
        let (kind, (length, is_closed)) = match first {
            _ if is_address => (CssKind::Quoted, address(rest)),
            '/' if rest.starts_with("/*") => (CssKind::Comment, comment(rest)),
            '"' | '\'' => (CssKind::Quoted, quoted(rest, first)),
            '\\' => (CssKind::Escape, escaped(rest)),
            '<' if rest.starts_with("<!--") => (CssKind::Mark, (4, true)),
            '-' if rest.starts_with("-->") => (CssKind::Mark, (3, true)),
            c if c.is_whitespace() => (CssKind::Space, (run(char::is_whitespace), true)),
            c if is_of_word(c) => (CssKind::Word, (run(is_of_word), true)),
            c => (CssKind::Sign, (c.len_utf8(), true)),
        };
        let whole = rest;
        let (piece, rest) = rest.split_at_checked(length).unwrap_or((rest, ""));
        self.rest = rest;
        self.is_open |= !is_closed;
        let is_before_address = self.is_address_next && kind == CssKind::Space;
        let (name, length) = self.name;
        let is_url = piece == "(" && is_url(name.get(..length).unwrap_or_default());
        self.is_address_next = is_before_address || is_url;
        self.name = match kind {
            CssKind::Word | CssKind::Escape if length == 0 => (whole, piece.len()),
            CssKind::Word | CssKind::Escape => (name, length + piece.len()),
            _ => ("", 0),
        };
        Some((kind, piece))
    }
}

/// True of the name of `url(…)`, however it is written.
fn is_url(name: &str) -> bool {
    let is_it = |name: &str| name.eq_ignore_ascii_case("url");
    is_it(name) || name.contains('\\') && is_it(&decoded(name))
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii() && !c.is_whitespace()
}

/// Length of the comment that a text begins with, and whether it is closed.
fn comment(text: &str) -> (usize, bool) {
    let end = text.get(2..).and_then(|inside| inside.find("*/"));
    end.map_or((text.len(), false), |at| (at + 4, true))
}

/// The same of an address without quotes: a bracket ends it.
fn address(text: &str) -> (usize, bool) {
    let end = first_of(text, 0, |c| c == ')');
    end.map_or((text.len(), false), |(at, _)| (at, true))
}

/// The same of a string: a line's end ends it, too.
fn quoted(text: &str, quote: char) -> (usize, bool) {
    match first_of(text, 1, |c| {
        c == quote || matches!(c, '\n' | '\r' | '\u{c}')
    }) {
        Some((at, c)) if c == quote => (at + 1, true),
        Some((at, _)) => (at, false),
        None => (text.len(), false),
    }
}

/// The first such character of a text that no backslash escapes, so many characters passed over.
fn first_of(text: &str, passed: usize, is_end: impl Fn(char) -> bool) -> Option<(usize, char)> {
    let mut chars = text.char_indices().skip(passed).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            // A line's end is one character, however it is written.
            let is_return = chars.next().is_some_and(|(_, c)| c == '\r');
            let _ = chars.next_if(|(_, c)| is_return && *c == '\n');
        } else if is_end(c) {
            return Some((at, c));
        }
    }
    None
}

fn escaped(text: &str) -> (usize, bool) {
    let digits = text.bytes().skip(1).take(6);
    let digits = digits.take_while(u8::is_ascii_hexdigit).count();
    let mut rest = text.chars().skip(1 + digits);
    // One space belongs to a number, any one character to a bare backslash.
    let last = rest.next().filter(|c| digits == 0 || c.is_whitespace());
    let length = 1 + digits + last.map_or(0, char::len_utf8);
    (length, digits > 0 || last.is_some())
}

/// A style sheet with each comment replaced by a space and escapes decoded; a character with a
/// meaning in a style sheet becomes a neutral one.
pub(in crate::page) fn decoded(css: &str) -> String {
    let mut plain = String::with_capacity(css.len());
    for (kind, piece) in CssTokens::of(css) {
        match kind {
            CssKind::Comment => plain.push(' '),
            CssKind::Escape => plain.push(unescaped(piece)),
            _ => plain.push_str(piece),
        }
    }
    plain
}

fn unescaped(escape: &str) -> char {
    let bare = escape.trim_start_matches('\\').trim_end();
    let code = u32::from_str_radix(bare, 16).ok();
    let c = code.map_or_else(|| bare.chars().next(), char::from_u32);
    c.filter(|c| is_of_word(*c)).unwrap_or('\u{FFFD}')
}

#[cfg(test)]
mod tests {
    use super::{CssKind, CssTokens, decoded};

    #[test]
    fn the_tokens_of_a_sheet_take_all_of_it() {
        let css = "a{b:\"x\\\" }\" /* c */ url( 'd' ) URL(e;f{) \\69 g}\n<!-- h -->i--";
        let tokens: Vec<_> = CssTokens::of(css).collect();
        let text: String = tokens.iter().map(|(_, piece)| *piece).collect();
        assert_eq!(text, css);
        let of = |wanted: CssKind| -> Vec<&str> {
            let all = tokens.iter().filter(|(kind, _)| *kind == wanted);
            all.map(|(_, piece)| *piece).collect()
        };
        assert_eq!(of(CssKind::Quoted), ["\"x\\\" }\"", "'d'", "e;f{"]);
        assert_eq!(of(CssKind::Comment), ["/* c */"]);
        assert_eq!(of(CssKind::Escape), ["\\69 "]);
        assert_eq!(of(CssKind::Mark), ["<!--", "-->"]);
        assert_eq!(of(CssKind::Word), ["a", "b", "url", "URL", "g", "h", "i--"]);
    }

    #[test]
    fn escapes_are_decoded_and_comments_separate() {
        for (css, plain) in [
            ("d\\69splay:n\\6f ne", "display:none"),
            ("a/* b */c", "a c"),
            ("\\{\\000041\\0000411", "\u{FFFD}AA1"),
            ("\"/* a */\"", "\"/* a */\""),
            ("\\", "\u{FFFD}"),
        ] {
            assert_eq!(decoded(css), plain);
        }
    }

    #[test]
    fn a_string_that_its_line_does_not_close_ends_there() {
        for end in ["\n", "\r", "\u{c}"] {
            let css = format!("\"a{end}b");
            let mut tokens = CssTokens::of(&css);
            assert_eq!(tokens.next(), Some((CssKind::Quoted, "\"a")));
            assert!(!tokens.is_closed());
            assert_eq!(tokens.next(), Some((CssKind::Space, end)));
        }
    }

    #[test]
    fn an_escape_ends_neither_a_string_nor_an_address() {
        for (css, quoted) in [
            ("'a\\\r\nb'", "'a\\\r\nb'"),
            ("url(a\\)b')c", "a\\)b'"),
            ("u\\72L(a'b)c", "a'b"),
            ("\\000075 rl(a'b)c", "a'b"),
            ("url( \n/* a */ )c", "/* a */ "),
        ] {
            let mut tokens = CssTokens::of(css);
            let found = tokens.find(|(kind, _)| *kind == CssKind::Quoted);
            assert_eq!(found, Some((CssKind::Quoted, quoted)));
        }
    }
}
