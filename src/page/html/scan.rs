//! HTML in tokens, with the bytes that each takes: tokenized by `html5gum` as the HTML standard
//! says, in linear time.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::tag::{Attributes, HtmlTag};

/// A piece of HTML. Names are in lower case, references are decoded.
#[derive(Debug)]
pub(in crate::page) enum HtmlToken<'a> {
    /// A tag that opens an element.
    Open(&'a HtmlTag),
    /// A tag that closes one.
    Close(&'a HtmlTag),
    /// A comment, or what browsers take for one.
    Comment(Cow<'a, str>),
    /// The document's type.
    Doctype,
    /// Text; of an element whose content is no HTML, all of it.
    Text(Cow<'a, str>),
    /// Content behind a tag that is not closed: browsers drop it.
    Dropped,
}

/// Visits the tokens of a text, each with the bytes that it takes. They take all of the text,
/// in order.
pub(in crate::page) fn scan(text: &str, mut visit: impl FnMut(&HtmlToken<'_>, Range<usize>)) {
    let mut scanner = Scanner {
        // Not generic, since the tokenizer would be compiled again for each type.
        visit: &mut visit,
        length: text.len(),
        position: 0,
        passed: 0,
        start: 0,
        is_in_tag: false,
        words: Vec::new(),
        tag: HtmlTag::default(),
        is_end: false,
        is_self_closing: false,
        last_opened: Vec::new(),
        comment: Vec::new(),
        foreign: Vec::new(),
    };
    let Ok(()) = Tokenizer::new_with_emitter(text, &mut scanner).finish();
}

/// The deepest nesting of drawings and formulas that is followed.
const MAX_FOREIGN: usize = 256;

/// The sink that the tokenizer writes to.
struct Scanner<'a> {
    visit: &'a mut dyn FnMut(&HtmlToken<'_>, Range<usize>),
    length: usize,
    /// Position up to which the tokenizer has read.
    position: usize,
    /// End of the last token.
    passed: usize,
    /// Position of the last `<`.
    start: usize,
    /// A tag, a comment or the like began there.
    is_in_tag: bool,
    words: Vec<u8>,
    tag: HtmlTag,
    is_end: bool,
    is_self_closing: bool,
    last_opened: Vec<u8>,
    comment: Vec<u8>,
    /// The elements of drawings and formulas that are open, and whether their content is HTML
    /// again: there no element's content is raw, and CDATA is text.
    foreign: Vec<(Vec<u8>, bool)>,
}

impl Scanner<'_> {
    /// Emits the text before the present token.
    fn give_text(&mut self, end: usize) {
        if end > self.passed {
            let words = String::from_utf8_lossy(&self.words);
            (self.visit)(&HtmlToken::Text(words), self.passed..end);
            self.passed = end;
        }
        self.words.clear();
    }

    fn give(&mut self, token: &HtmlToken<'_>) {
        (self.visit)(token, self.passed..self.position);
        self.passed = self.position;
        self.is_in_tag = false;
    }

    fn begin_tag(&mut self, is_end: bool) {
        (self.is_in_tag, self.is_end, self.is_self_closing) = (true, is_end, false);
        self.tag.clear();
    }

    fn leave_foreign(&mut self) {
        while self.is_foreign() {
            self.foreign.pop();
        }
    }

    fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|(_, is_html)| !is_html)
    }

    /// Follows into drawings and formulas, and out of them.
    fn open_foreign(&mut self) {
        let name = self.tag.name.as_slice();
        if self.is_foreign() {
            if breaks_out(name, &self.tag.attributes) {
                return self.leave_foreign();
            }
        } else if !matches!(name, b"svg" | b"math") {
            return;
        }
        let is_html = self.is_foreign()
            && match name {
                b"foreignobject" | b"desc" | b"title" => self.is_within(b"svg"),
                b"mi" | b"mo" | b"mn" | b"ms" | b"mtext" => !self.is_within(b"svg"),
                b"annotation-xml" => {
                    let encoding = self.tag.attributes.get("encoding").unwrap_or_default();
                    let mut html = ["text/html", "application/xhtml+xml"].iter();
                    html.any(|html| encoding.eq_ignore_ascii_case(html))
                }
                _ => false,
            };
        if !self.is_self_closing && self.foreign.len() < MAX_FOREIGN {
            self.foreign.push((name.to_vec(), is_html));
        }
    }

    /// True if the innermost drawing or formula is this one.
    fn is_within(&self, name: &[u8]) -> bool {
        let mut roots = self.foreign.iter().rev();
        let root = roots.find(|(name, _)| matches!(name.as_slice(), b"svg" | b"math"));
        root.is_some_and(|(root, _)| root == name)
    }

    fn close_foreign(&mut self) {
        let name = self.tag.name.as_slice();
        if self.is_foreign() && matches!(name, b"p" | b"br") {
            return self.leave_foreign();
        }
        // Where the content is HTML again, an end tag closes no element of the drawing around it.
        let around = self.foreign.iter().rposition(|(_, is_html)| *is_html);
        let closes = |at: usize, open: &[u8], is_html: bool| {
            let is_here = around.is_none_or(|around| at > around);
            open == name && (is_here || is_html || matches!(open, b"svg" | b"math"))
        };
        let mut open = self.foreign.iter().enumerate().rev();
        let open = open.find(|(at, (open, is_html))| closes(*at, open, *is_html));
        if let Some(at) = open.map(|(at, _)| at) {
            self.foreign.truncate(at);
        }
    }
}

/// True if a tag ends the drawing or formula that it stands in.
fn breaks_out(name: &[u8], attributes: &Attributes) -> bool {
    const NAMES: &str = "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 \
        head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup \
        table tt u ul var";
    let is_font = || {
        let mut all = attributes.iter();
        name == b"font" && all.any(|(name, _)| matches!(name, "color" | "face" | "size"))
    };
    NAMES.split(' ').any(|known| known.as_bytes() == name) || is_font()
}

/// The tokenizer state for an element's content, if it is not HTML.
fn raw(name: &[u8]) -> Option<State> {
    match name {
        b"textarea" | b"title" => Some(State::RcData),
        b"plaintext" => Some(State::PlainText),
        b"script" => Some(State::ScriptData),
        b"style" | b"iframe" | b"xmp" | b"noembed" | b"noframes" | b"noscript" => {
            Some(State::RawText)
        }
        _ => None,
    }
}

impl Emitter for &mut Scanner<'_> {
    type Token = Infallible;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_opened = name.unwrap_or_default().to_vec();
    }

    fn emit_eof(&mut self) {
        let end = if self.is_in_tag {
            self.start
        } else {
            self.length
        };
        self.give_text(end);
        if self.passed < self.length {
            self.position = self.length;
            self.give(&HtmlToken::Dropped);
        }
    }

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, words: &[u8]) {
        // What looked like a tag was text.
        self.is_in_tag = false;
        self.words.extend_from_slice(words);
    }

    fn init_start_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(true);
    }

    fn init_comment(&mut self) {
        self.is_in_tag = true;
        self.comment.clear();
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.give_text(self.start);
        let tag = std::mem::take(&mut self.tag);
        let token = if self.is_end {
            HtmlToken::Close(&tag)
        } else {
            HtmlToken::Open(&tag)
        };
        self.give(&token);
        self.tag = tag;
        if self.is_end {
            self.close_foreign();
            return None;
        }
        self.last_opened.clone_from(&self.tag.name);
        self.open_foreign();
        raw(&self.tag.name).filter(|_| !self.is_foreign())
    }

    fn emit_current_comment(&mut self) {
        self.give_text(self.start);
        let comment = std::mem::take(&mut self.comment);
        self.give(&HtmlToken::Comment(String::from_utf8_lossy(&comment)));
        self.comment = comment;
    }

    fn emit_current_doctype(&mut self) {
        self.give_text(self.start);
        self.give(&HtmlToken::Doctype);
    }

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.tag.name.extend_from_slice(name);
    }

    fn push_comment(&mut self, text: &[u8]) {
        self.comment.extend_from_slice(text);
    }

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {
        self.is_in_tag = true;
    }

    fn init_attribute(&mut self) {
        self.tag.attributes.begin();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.tag.attributes.push(name, true);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        self.tag.attributes.push(value, false);
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn start_open_tag(&mut self) {
        self.start = self.position.saturating_sub(1);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.last_opened.is_empty() && self.last_opened == self.tag.name
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.is_foreign()
    }

    fn move_position(&mut self, by: isize) {
        self.position = self.position.saturating_add_signed(by);
    }
}

#[cfg(test)]
mod tests;
