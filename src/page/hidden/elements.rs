//! Finds what HTML hides: elements that are hidden or show nothing, comments, and words in
//! attributes.

use std::collections::HashMap;
use std::ops::Range;

use super::attributes::{is_wordy, looks_of};
use super::characters::{Hiding, each};
use super::code;
use super::colour::{Background, Colour};
use super::css::clean;
use super::found::HiddenText;
use super::prose::{has_words, longest_run, words};
use super::sheet::{HidingStyles, names};
use crate::page::html::{HtmlTag, HtmlToken, scan};

/// Maximum depth to which elements are followed; browsers do not nest deeper either.
const MAX_DEPTH: usize = 512;

/// The most words of fallback text that an element may have.
const FALLBACK: usize = 12;

/// Walks through HTML and adds what it hides. `line_of` gives the line of a place; it is asked
/// in order.
pub(super) fn walk(
    html: &str,
    sheet: &HidingStyles,
    hidden: &mut HiddenText,
    mut line_of: impl FnMut(usize) -> usize,
) {
    let mut walk = ElementWalker {
        sheet,
        hidden,
        open: Vec::new(),
        counts: HashMap::new(),
        stands_in: HashMap::new(),
    };
    scan(html, |token, at| {
        let line = line_of(at.start);
        match token {
            HtmlToken::Open(tag) => walk.open(tag, line),
            HtmlToken::Close(tag) => walk.close(tag, line),
            HtmlToken::Comment(text) => walk.comment(text, line),
            HtmlToken::Text(text) => {
                let source = html.get(at).unwrap_or_default();
                walk.text(text, source, line);
            }
            HtmlToken::Dropped => {
                let source = html
                    .get(Range {
                        start: at.start + 1,
                        ..at
                    })
                    .unwrap_or_default();
                if has_words(source) {
                    walk.hidden.unrendered.add(line);
                }
            }
            HtmlToken::Doctype => {}
        }
    });
}

/// For each reason that a text is not seen: the index of the open element that hides it.
#[derive(Debug, Clone, Copy, Default)]
struct Roots {
    gone: Option<usize>,
    unseen: Option<usize>,
    tiny: Option<usize>,
    lost: Option<usize>,
    turned: Option<usize>,
}

/// An element that is open.
#[derive(Debug)]
struct OpenElement {
    name: String,
    line: usize,
    /// The names by which rules know it.
    names: Vec<String>,
    roots: Roots,
    colour: Option<Colour>,
    background: Option<Background>,
    /// A class may paint a background.
    may_be_painted: bool,
    /// Number of words it may hide.
    allowed: usize,
    is_told: bool,
    kind: ElementTextKind,
}

/// The way to read an element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementTextKind {
    Words,
    Style,
    Mermaid,
    Pre,
    Formula,
}

struct ElementWalker<'a> {
    sheet: &'a HidingStyles,
    hidden: &'a mut HiddenText,
    open: Vec<OpenElement>,
    /// Number of open elements by name.
    counts: HashMap<String, usize>,
    /// The names by which rules know the open elements.
    stands_in: HashMap<String, usize>,
}

impl ElementWalker<'_> {
    fn open(&mut self, tag: &HtmlTag, line: usize) {
        let name = tag.name();
        self.attributes(tag, line);
        self.end_implied(name);
        let depth = self.open.len();
        let above = self.open.last();
        let mut roots = above.map(|open| open.roots).unwrap_or_default();
        let is_math = above.is_some_and(|open| open.kind == ElementTextKind::Formula);
        let names = if self.sheet.is_empty() {
            Vec::new()
        } else {
            names(tag)
        };
        let mut style = self.sheet.style_of(tag, &names, &self.stands_in);
        let own = looks_of(tag, &mut style);
        let has_class = tag.attributes().get("class").is_some();
        let may_be_painted = has_class || above.is_some_and(|open| open.may_be_painted);
        let colour = own.colour.or_else(|| above.and_then(|open| open.colour));
        let background = own
            .background
            .or_else(|| above.and_then(|open| open.background));
        let unshown = unshown(tag, is_math, self.counts.contains_key("tabset"));
        if own.is_gone || unshown.is_some() {
            // The allowance for a few words does not extend to hidden elements inside.
            let root = roots.gone.and_then(|root| self.open.get(root));
            if root.is_none_or(|root| root.allowed > 0) {
                roots.gone = Some(depth);
            }
        }
        if own.is_turned || name == "bdo" {
            roots.turned = Some(depth);
        }
        set(&mut roots.unseen, own.is_unseen, depth);
        set(&mut roots.tiny, own.is_tiny, depth);
        if own.colour.is_some() || own.background.is_some() {
            let is_lost = colour.map(|colour| colour.is_lost_on(background, may_be_painted));
            set(&mut roots.lost, is_lost, depth);
        }
        if is_void(name) {
            return;
        }
        if depth >= MAX_DEPTH {
            let all = [roots.gone, roots.unseen, roots.tiny, roots.lost];
            if all.contains(&Some(depth)) {
                self.hidden.hidden_elements.add(line);
            }
            return;
        }
        let class = tag.attributes().get("class").unwrap_or_default();
        let mut classes = class.split_whitespace();
        let kind = match name {
            "style" => ElementTextKind::Style,
            "pre" => ElementTextKind::Pre,
            _ if classes.clone().any(|class| class == "mermaid") => ElementTextKind::Mermaid,
            _ if classes.any(|class| class.starts_with("katex")) => ElementTextKind::Formula,
            _ => above.map_or(ElementTextKind::Words, |open| open.kind),
        };
        if self.sheet.asks_for_ancestors {
            for name in &names {
                *self.stands_in.entry(name.clone()).or_default() += 1;
            }
        }
        *self.counts.entry(name.to_owned()).or_default() += 1;
        self.open.push(OpenElement {
            name: name.to_owned(),
            line,
            names,
            roots,
            colour,
            background,
            may_be_painted,
            allowed: if own.is_gone {
                0
            } else {
                unshown.unwrap_or_default()
            },
            is_told: false,
            kind,
        });
    }

    fn close(&mut self, tag: &HtmlTag, line: usize) {
        self.attributes(tag, line);
        if self.counts.contains_key(tag.name()) {
            while let Some(name) = self.pop()
                && name != tag.name()
            {}
        }
    }

    fn pop(&mut self) -> Option<String> {
        let closed = self.open.pop()?;
        decrement(&mut self.counts, &closed.name);
        if self.sheet.asks_for_ancestors {
            for name in &closed.names {
                decrement(&mut self.stands_in, name);
            }
        }
        Some(closed.name)
    }

    /// Closes what ends where this element begins.
    fn end_implied(&mut self, name: &str) {
        let ends: &[&str] = match name {
            "li" => &["li"],
            "dt" | "dd" => &["dt", "dd"],
            "option" | "optgroup" => &["option"],
            "td" | "th" => &["td", "th"],
            "tr" => &["td", "th", "tr"],
            "tbody" | "thead" | "tfoot" => &["td", "th", "tr", "tbody", "thead", "tfoot"],
            "p" | "div" | "ul" | "ol" | "dl" | "pre" | "table" | "blockquote" | "section"
            | "article" | "aside" | "header" | "footer" | "main" | "nav" | "figure" | "details"
            | "form" | "hr" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "address" | "fieldset" => {
                &["p"]
            }
            _ => return,
        };
        while self
            .open
            .last()
            .is_some_and(|open| ends.contains(&open.name.as_str()))
        {
            self.pop();
        }
    }

    fn attributes(&mut self, tag: &HtmlTag, line: usize) {
        let is_tag_of = |name: &str| name == tag.name();
        let mut seen = 0;
        for (index, (name, value)) in tag.attributes().iter().enumerate() {
            let is_first = || {
                tag.attributes()
                    .iter()
                    .take(index)
                    .all(|(there, _)| there != name)
            };
            let is_wordy = is_wordy(tag.name(), name, value)
                // A repeated attribute is dropped.
                || longest_run(value) > 3 && index < 64 && !is_first();
            seen += usize::from(is_wordy);
            if name == "style" {
                clean(value, |_, comment| {
                    if words(comment) > 2 {
                        self.hidden.comments.add(line);
                    }
                });
            }
        }
        let is_hidden_input = is_tag_of("input") && tag.attributes().get("type") == Some("hidden");
        let value = tag.attributes().get("value").unwrap_or_default();
        if seen > 0 || is_hidden_input && longest_run(value) > 2 {
            self.hidden.attributes.add(line);
        }
    }

    fn comment(&mut self, text: &str, line: usize) {
        let text = text.trim();
        // Attributes for the element before, as Wiki.js has them, and the beginning of a drawing.
        let is_markup = text.starts_with('{') && text.ends_with('}') || text.starts_with("?xml ");
        if has_words(text) && !(is_markup && longest_run(text) < 3) {
            self.hidden.comments.add(line);
        }
    }

    fn text(&mut self, text: &str, source: &str, line: usize) {
        if source.contains('&') {
            self.references(text, source, line);
        }
        let Some(last) = self.open.len().checked_sub(1) else {
            return;
        };
        let Some(open) = self.open.get(last) else {
            return;
        };
        match open.kind {
            ElementTextKind::Style => {
                code::style(text, line, self.hidden);
                return;
            }
            ElementTextKind::Mermaid => code::diagram("mermaid", text, line, self.hidden),
            ElementTextKind::Pre => code::padding(text, line, self.hidden),
            ElementTextKind::Words | ElementTextKind::Formula => {}
        }
        let roots = open.roots;
        if let Some(turned) = roots.turned
            && has_words(text)
            && let Some(root) = self.open.get_mut(turned)
            && !std::mem::replace(&mut root.is_told, true)
        {
            self.hidden.bidirectional_controls.add(root.line);
        }
        let root = roots.gone.or(roots.unseen).or(roots.tiny).or(roots.lost);
        let Some(root) = root.and_then(|root| self.open.get_mut(root)) else {
            return;
        };
        if root.is_told || !has_words(text) {
            return;
        }
        if root.allowed > 0 {
            root.allowed = root.allowed.saturating_sub(words(text));
        }
        if root.allowed == 0 {
            root.is_told = true;
            self.hidden.hidden_elements.add(root.line);
        }
    }

    /// Adds the characters that stand there as references.
    fn references(&mut self, text: &str, source: &str, line: usize) {
        let count = |text: &str, wanted: Hiding| {
            let mut count = 0_usize;
            each(text, |_, hiding| {
                count += usize::from(hiding == Some(wanted));
            });
            count
        };
        for wanted in [Hiding::Invisible, Hiding::Direction] {
            for _ in count(source, wanted)..count(text, wanted) {
                self.hidden.character(wanted, line);
            }
        }
    }
}

/// Applies an element's own setting, or else inherits that of its parent.
const fn set(root: &mut Option<usize>, own: Option<bool>, depth: usize) {
    match (own, &root) {
        (Some(true), None) => *root = Some(depth),
        (Some(false), _) => *root = None,
        _ => {}
    }
}

fn decrement(counts: &mut HashMap<String, usize>, name: &str) {
    if let Some(count) = counts.get_mut(name) {
        *count -= 1;
        if *count == 0 {
            counts.remove(name);
        }
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// The number of words that an element may have whose name or state hides its text (a fallback for
/// other browsers, or a drawing's name); `None` for other elements.
fn unshown(tag: &HtmlTag, is_math: bool, is_in_tabs: bool) -> Option<usize> {
    let attributes = tag.attributes();
    match tag.name() {
        "script" | "mphantom" => Some(0),
        // Wiki.js shows those that fill a slot of its tabs.
        "template" => {
            let mut all = attributes.iter();
            let is_slot = all.any(|(name, _)| name.starts_with("v-slot") || name.starts_with('#'));
            (!is_slot || !is_in_tabs).then_some(0)
        }
        "dialog" if attributes.get("open").is_none() => Some(0),
        "annotation" | "annotation-xml" if is_math => None,
        "noscript" | "noembed" | "noframes" | "iframe" | "object" | "video" | "audio"
        | "canvas" | "progress" | "meter" | "datalist" | "title" | "desc" | "metadata"
        | "annotation" | "annotation-xml" | "rp" => Some(FALLBACK),
        _ => None,
    }
}
