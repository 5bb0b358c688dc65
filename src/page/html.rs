//! HTML in tokens, as far as parts, plain text and hidden elements need it: a scanner of our
//! own, since it must know where in the text each tag stands and take time by its length alone.

use std::ops::Range;

/// A piece of HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A tag that opens an element, with all behind its name.
    Open(&'a str, &'a str),
    /// A tag that closes one.
    Close(&'a str),
    /// A comment, or what browsers take for one.
    Comment,
    /// Text, entities as they are.
    Text(&'a str),
}

/// The tokens of a text, each with the bytes that it takes.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The element whose content is no HTML, if one is open.
    raw: Option<&'a str>,
}

impl<'a> Tokens<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            raw: None,
        }
    }

    /// The length of what stands in an element that holds no HTML.
    fn raw_text(rest: &str, name: &str) -> usize {
        rest.match_indices("</")
            .map(|(at, _)| at)
            .find(|at| {
                let name_there = rest.get(at + 2..at + 2 + name.len());
                name_there.is_some_and(|there| there.eq_ignore_ascii_case(name))
            })
            .unwrap_or(rest.len())
    }
}

/// Where a tag ends: at the first `>` that stands in no quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

fn name_of(tag: &str) -> &str {
    let end = tag.find(|c: char| c.is_whitespace() || "/>".contains(c));
    tag.get(..end.unwrap_or(tag.len())).unwrap_or_default()
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Token<'a>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let begins_name = |tag: &str| tag.starts_with(|c: char| c.is_ascii_alphabetic());
        let raw = self.raw.take().map(|name| Self::raw_text(rest, name));
        let (token, length) = if let Some(length) = raw.filter(|length| *length > 0) {
            (Token::Text(rest.get(..length)?), length)
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            let end = comment.find("-->").map_or(rest.len(), |at| at + 7);
            (Token::Comment, end)
        } else if rest.starts_with("<!") || rest.starts_with("<?") {
            let end = rest.find('>').map_or(rest.len(), |at| at + 1);
            let is_type = rest
                .get(2..9)
                .is_some_and(|word| word.eq_ignore_ascii_case("doctype"));
            (
                if is_type {
                    Token::Text("")
                } else {
                    Token::Comment
                },
                end,
            )
        } else if let Some(tag) = rest.strip_prefix("</").filter(|tag| begins_name(tag)) {
            // What is not closed hides all behind it.
            let end = tag_end(tag).map_or(rest.len(), |end| end + 2);
            (Token::Close(name_of(tag)), end)
        } else if let Some(tag) = rest.strip_prefix('<').filter(|tag| begins_name(tag)) {
            let end = tag_end(tag).unwrap_or(tag.len());
            let name = name_of(tag);
            let is_raw = ["script", "style", "textarea", "title", "xmp"]
                .iter()
                .any(|raw| name.eq_ignore_ascii_case(raw));
            self.raw = is_raw.then_some(name);
            let behind = tag.get(name.len()..end).unwrap_or_default();
            (Token::Open(name, behind.trim_end_matches('>')), end + 1)
        } else {
            let next = rest.bytes().skip(1).position(|byte| byte == b'<');
            let end = next.map_or(rest.len(), |at| at + 1);
            (Token::Text(rest.get(..end)?), end)
        };
        let at = self.at..self.at + length;
        self.at = at.end;
        Some((token, at))
    }
}

/// The value of an attribute, entities decoded; empty where it has none.
pub(super) fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || "=/".contains(c))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at_checked(end.max(1)).unwrap_or((rest, ""));
        let (value, behind) = match behind.trim_start().strip_prefix('=') {
            None => ("", behind),
            Some(value) => {
                let value = value.trim_start();
                if let Some(quote) = value.chars().next().filter(|c| "\"'".contains(*c)) {
                    let value = value.get(1..).unwrap_or_default();
                    value.split_once(quote).unwrap_or((value, ""))
                } else {
                    let end = value.find(char::is_whitespace).unwrap_or(value.len());
                    value.split_at_checked(end).unwrap_or((value, ""))
                }
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(decoded(value));
        }
        rest = behind;
    }
}

/// A text with its character references in their place; unknown ones stay.
pub(super) fn decoded(text: &str) -> String {
    const LONGEST: usize = 10;
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        decoded.push_str(before);
        let end = behind.bytes().take(LONGEST).position(|byte| byte == b';');
        let name = end.and_then(|end| behind.get(..end));
        if let Some((name, c)) = name.and_then(|name| Some((name, referred(name)?))) {
            decoded.push(c);
            rest = behind.get(name.len() + 1..).unwrap_or_default();
        } else {
            decoded.push('&');
            rest = behind;
        }
    }
    decoded.push_str(rest);
    decoded
}

fn referred(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?).filter(|c| *c != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{A0}',
        "shy" => '\u{AD}',
        "copy" => '©',
        "reg" => '®',
        "deg" => '°',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "larr" => '←',
        "rarr" => '→',
        "times" => '×',
        "middot" => '·',
        "bull" => '•',
        "euro" => '€',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        _ => return None,
    })
}

/// HTML as plain text: a line a block, items with `- `, cells apart by tabs, `pre` as it is.
/// Scripts and styles are no text; what is hidden by style is.
#[must_use]
pub fn plain_text(html: &str) -> String {
    let mut text = Plain::default();
    let mut skipped = false;
    for (token, _) in Tokens::of(html) {
        match token {
            Token::Open(name, attributes) => {
                let name = name.to_ascii_lowercase();
                skipped = matches!(name.as_str(), "script" | "style");
                match name.as_str() {
                    "br" => text.end_line(),
                    "li" => {
                        text.end_line();
                        text.pending.push_str("- ");
                    }
                    "td" | "th" if text.is_in_line() => text.pending.push('\t'),
                    "img" => text.add(&attribute(attributes, "alt").unwrap_or_default()),
                    "pre" => {
                        text.blank_line();
                        text.pre += 1;
                    }
                    // A heading's mark for its own link.
                    "a" if attributes.contains("toc-anchor") => text.is_mark = true,
                    name if is_spaced(name) => text.blank_line(),
                    name if is_block(name) => text.end_line(),
                    _ => {}
                }
            }
            Token::Close(name) => {
                let name = name.to_ascii_lowercase();
                skipped = false;
                text.is_mark = false;
                match name.as_str() {
                    "pre" => {
                        text.pre = text.pre.saturating_sub(1);
                        text.blank_line();
                    }
                    name if is_spaced(name) => text.blank_line(),
                    name if is_block(name) => text.end_line(),
                    _ => {}
                }
            }
            Token::Text(words) if !skipped && !text.is_mark => text.add(&decoded(words)),
            Token::Text(_) | Token::Comment => {}
        }
    }
    let mut out = text.out;
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn is_spaced(name: &str) -> bool {
    matches!(
        name,
        "p" | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "ul"
            | "ol"
            | "table"
            | "blockquote"
            | "hr"
            | "dl"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "div"
            | "li"
            | "tr"
            | "dt"
            | "dd"
            | "section"
            | "article"
            | "header"
            | "footer"
            | "main"
            | "nav"
            | "aside"
            | "figure"
            | "figcaption"
            | "details"
            | "summary"
            | "tabset"
            | "template"
            | "thead"
            | "tbody"
            | "form"
            | "address"
    )
}

#[derive(Default)]
struct Plain {
    out: String,
    /// What comes before the next text, if one comes.
    pending: String,
    pre: usize,
    is_mark: bool,
}

impl Plain {
    fn add(&mut self, text: &str) {
        if self.pre > 0 {
            self.out.push_str(&std::mem::take(&mut self.pending));
            self.out.push_str(text);
            return;
        }
        for (index, word) in text.split(|c: char| " \t\r\n".contains(c)).enumerate() {
            if index > 0 && self.is_in_line() && self.pending.is_empty() && !self.out.ends_with(' ')
            {
                self.pending.push(' ');
            }
            if !word.is_empty() {
                self.out.push_str(&std::mem::take(&mut self.pending));
                self.out.push_str(word);
            }
        }
    }

    fn is_in_line(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    fn end_line(&mut self) {
        self.pending.clear();
        if self.is_in_line() {
            self.out.push('\n');
        }
    }

    fn blank_line(&mut self) {
        self.end_line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{attribute, decoded, plain_text};
    use proptest::prelude::*;

    #[test]
    fn plain_text_keeps_blocks_items_cells_and_code() {
        let html = "<h1 id=\"a\"><a href=\"#a\" class=\"toc-anchor\">¶</a> One</h1>\n<p>a &lt;b&gt;\n<b>c</b>, d</p>\n<ul>\n<li>x</li>\n<li>y</li>\n</ul><table><tr><th>1</th><th>2</th></tr><tr><td>3</td><td>4</td></tr></table><pre><code>if a {\n    b &amp;&amp; c\n}\n</code></pre><style>p{}</style><script>if (a<b) x('</p>')</script><!-- no --><template><div>tab</div></template>";
        assert_eq!(
            plain_text(html),
            "One\n\na <b> c, d\n\n- x\n- y\n\n1\t2\n3\t4\n\nif a {\n    b && c\n}\n\ntab\n"
        );
        assert_eq!(plain_text(""), "");
    }

    #[test]
    fn attributes_are_read_in_every_notation() {
        let tag = " a=1 STYLE = \"x: 'y' &amp; z\" hidden b='>' c/";
        for (name, value) in [
            ("a", Some("1")),
            ("style", Some("x: 'y' & z")),
            ("hidden", Some("")),
            ("b", Some(">")),
            ("c", Some("")),
            ("x", None),
        ] {
            assert_eq!(attribute(tag, name).as_deref(), value, "{name}");
        }
    }

    #[test]
    fn references_are_decoded_once() {
        assert_eq!(
            decoded("&amp;lt; &#65;&#x42; &nope; & &#0; ;"),
            "&lt; AB &nope; & &#0; ;"
        );
    }

    proptest! {
        #[test]
        fn tokens_take_all_of_a_text_in_order(text in "([<>/a\"'!=ä -]|<!--|-->|<script>|</script|&amp;){0,30}") {
            let mut end = 0;
            for (_, at) in super::Tokens::of(&text) {
                prop_assert!(at.start == end && at.end > at.start);
                end = at.end;
                prop_assert!(text.is_char_boundary(end), "{:?}", text);
            }
            prop_assert_eq!(end, text.len());
            let _ = plain_text(&text);
        }
    }
}
