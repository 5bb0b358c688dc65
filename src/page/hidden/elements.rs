//! Reads HTML as a browser shows it, and finds what it does not show: text in hidden elements,
//! comments, and words in attributes.

use std::collections::HashMap;

use super::code::{self, Drawn, Rows};
use super::kinds::HiddenKind::{
    Attributes, BidirectionalControls, Comments, HiddenElements, InvisibleCharacters, Unrendered,
};
use super::kinds::HiddenText;
use super::seen::{FALLBACKS, is_hidden, is_markup, is_unseen};
use super::sheet::HidingStyles;
use super::style::{Look, Style};
use super::words::{has_one, has_words, is_long, longest_run, speaks};
use crate::page::css::rules::declarations;
use crate::page::css::tokens::decoded;
use crate::page::html::{HtmlTag, HtmlToken, scan};
use crate::page::markdown::html_block::HtmlBlock;
use crate::page::model::characters::count;
use crate::page::select::position::lines_of;

/// Maximum depth to which elements are followed; browsers do not nest deeper either.
const MAX_DEPTH: usize = 512;

/// The most attributes of a tag among which repeated ones are looked for.
const MAX_REPEATED: usize = 64;

/// Elements that have no content.
const VOID: &str = "area base br col embed hr img input link meta param source track wbr";

/// Elements that end where the next of their name begins.
const UNNESTED: &str = "p li dt dd option td th tr";

/// The properties that drawings have as attributes, and a font its colour.
const PROPERTIES: &str =
    "display visibility opacity transform font-size fill-opacity clip-path color";

/// Reads HTML and adds what it hides, by the lines of its source. `rows` reads its text as that of a
/// page in Markdown.
pub(super) fn walk(
    block: &HtmlBlock,
    source: &str,
    rows: Option<Rows>,
    mut sheet: HidingStyles,
    hidden: &mut HiddenText,
) {
    let html = block.html();
    add_styles(html, &mut sheet);
    let mut walker = ElementWalker {
        html,
        rows,
        sheet,
        hidden,
        open: Vec::new(),
        around: HashMap::new(),
    };
    let mut line_of = lines_of(source);
    scan(html, |token, at| {
        let line = line_of(block.source(at.start).unwrap_or_default());
        walker.token(token, html.get(at).unwrap_or_default(), line);
    });
}

/// Adds the style sheets that stand in some HTML: they hold for what precedes them, too.
fn add_styles(html: &str, sheet: &mut HidingStyles) {
    let mut tags = html.as_bytes().windows(6);
    if !tags.any(|tag| tag.eq_ignore_ascii_case(b"<style")) {
        return;
    }
    let mut is_in_style = false;
    scan(html, |token, _| match token {
        HtmlToken::Text(css) if is_in_style => sheet.add(css),
        HtmlToken::Open(tag) => is_in_style = tag.name() == "style",
        _ => is_in_style = false,
    });
}

/// The way to read an element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextKind {
    #[default]
    Words,
    /// A name that shows on hovering.
    Title,
    Style,
    Code,
    /// Code of which the wiki makes a drawing.
    Drawn(Drawn),
    /// A formula, which the wiki shows in two forms: one for eyes, one for ears.
    Formula,
}

/// What an element passes on to those in it.
#[derive(Debug, Clone, Copy, Default)]
struct Inherited {
    look: Look,
    /// Index of the outermost element that hides the text.
    root: Option<usize>,
    /// The same for one whose text only other browsers show.
    fallback: Option<usize>,
    kind: TextKind,
}

/// An element that is open.
#[derive(Debug)]
struct OpenElement {
    /// Its line, until it is reported.
    untold: Option<usize>,
    /// The names by which rules know it, its own first.
    names: Vec<String>,
    inherited: Inherited,
}

struct ElementWalker<'a> {
    html: &'a str,
    rows: Option<Rows>,
    sheet: HidingStyles,
    hidden: &'a mut HiddenText,
    open: Vec<OpenElement>,
    /// Number of open elements by the names by which rules know them.
    around: HashMap<String, usize>,
}

impl ElementWalker<'_> {
    fn token(&mut self, token: &HtmlToken<'_>, source: &str, line: usize) {
        let is_strange = || longest_run(source) > 1 && !source.contains(['/', ':']);
        match token {
            HtmlToken::Open(tag) => self.open(tag, line),
            HtmlToken::Close(tag) => self.close(tag, line),
            HtmlToken::Text(text) => self.text(text, source, line),
            HtmlToken::Comment(text) => {
                code::braces(text, line, self.hidden);
                let is_comment = has_words(text) && !is_markup(text.trim());
                self.hidden.add(Comments, line, is_comment);
            }
            HtmlToken::Doctype => self.hidden.add(Unrendered, line, is_strange()),
            HtmlToken::Dropped => self.hidden.add(Unrendered, line, has_words(source)),
        }
    }

    fn inherited(&self) -> Inherited {
        let open = self.open.last();
        open.map(|open| open.inherited).unwrap_or_default()
    }

    fn open(&mut self, tag: &HtmlTag, line: usize) {
        let name = tag.name();
        self.attributes(tag, line);
        let last = self.open.last().and_then(|open| open.names.first());
        if tag.is_one_of(UNNESTED) && last.is_some_and(|last| last == name) {
            self.pop();
        }
        let names = self.sheet.names(tag);
        let mut style = self.sheet.style_of(&names, &self.around);
        declare_own(tag, &mut style);
        let (depth, mut inherited) = (self.open.len(), self.inherited());
        let is_formula = inherited.kind == TextKind::Formula;
        let is_unheard = !is_formula && tag.attributes.get("aria-hidden") == Some("true");
        let is_gone = is_unheard || is_hidden(tag, self.around.get("tabset") > Some(&0));
        let has_class = tag.attributes.get("class").is_some();
        inherited.look = inherited.look.inside(&style, is_gone, has_class);
        let root = inherited.root.or(Some(depth));
        inherited.root = root.filter(|_| inherited.look.is_hidden());
        if !is_formula && tag.is_one_of(FALLBACKS) {
            inherited.fallback.get_or_insert(depth);
        }
        inherited.kind = text_kind(tag).unwrap_or(inherited.kind);
        let is_turned = style.any("unicode-bidi") || name == "bdo";
        self.hidden.add(BidirectionalControls, line, is_turned);
        if depth >= MAX_DEPTH || tag.is_one_of(VOID) {
            let is_too_deep = depth >= MAX_DEPTH && inherited.root == Some(depth);
            return self.hidden.add(HiddenElements, line, is_too_deep);
        }
        for name in &names {
            *self.around.entry(name.clone()).or_default() += 1;
        }
        self.open.push(OpenElement {
            untold: Some(line),
            names,
            inherited,
        });
    }

    fn close(&mut self, tag: &HtmlTag, line: usize) {
        let mut attributes = tag.attributes.iter();
        let is_said = attributes.any(|(name, value)| speaks(name) || speaks(value));
        self.hidden.add(Attributes, line, is_said);
        while self.around.get(tag.name()) > Some(&0)
            && let Some(closed) = self.pop()
            && closed != tag.name()
        {}
    }

    /// Closes the innermost element; its name.
    fn pop(&mut self) -> Option<String> {
        let closed = self.open.pop()?;
        for name in &closed.names {
            *self.around.get_mut(name)? -= 1;
        }
        closed.names.into_iter().next()
    }

    fn attributes(&mut self, tag: &HtmlTag, line: usize) {
        let all = &tag.attributes;
        let is_hidden = tag.name() == "input" && all.get("type") == Some("hidden");
        let mut found = false;
        for (index, (name, value)) in all.iter().enumerate() {
            // Browsers drop a repeated attribute.
            let is_repeated = || all.iter().take(index).any(|(there, _)| there == name);
            let is_dropped = is_hidden && name == "value" || index < MAX_REPEATED && is_repeated();
            found |= is_unseen(tag.name(), name, value) || is_dropped && speaks(value);
            if name == "style" {
                code::style(value, line, self.hidden);
            }
        }
        self.hidden.add(Attributes, line, found);
    }

    fn text(&mut self, text: &str, source: &str, line: usize) {
        let (inherited, hidden) = (self.inherited(), &mut *self.hidden);
        // Characters that stand there as references alone.
        let kinds = [InvisibleCharacters, BidirectionalControls].into_iter();
        for kind in kinds.filter(|_| source.contains('&')) {
            let new = count(text, kind).saturating_sub(count(source, kind));
            (0..new).for_each(|_| hidden.add(kind, line, true));
        }
        match (inherited.kind, &mut self.rows) {
            (TextKind::Style, _) => return code::style(text, line, hidden),
            (TextKind::Drawn(drawn), _) => code::diagram(drawn, text, line, hidden),
            (TextKind::Code, _) => code::padding(text, line, hidden),
            (TextKind::Title, _) => hidden.add(HiddenElements, line, is_long(text, 12, 120)),
            (TextKind::Words, Some(rows)) => rows.read(text, self.html, line, hidden),
            (TextKind::Words | TextKind::Formula, _) => {}
        }
        let fallback = inherited.fallback.filter(|_| speaks(text));
        let root = inherited.root.filter(|_| has_words(text)).or(fallback);
        if let Some(line) = root.and_then(|root| self.open.get_mut(root)?.untold.take()) {
            hidden.add(HiddenElements, line, true);
        }
    }
}

/// The way to read the text of this element, unless it is that of the element around it.
fn text_kind(tag: &HtmlTag) -> Option<TextKind> {
    let class = tag.attributes.get("class").unwrap_or_default();
    let mut classes = class.split_whitespace();
    if classes.clone().any(|class| class.starts_with("katex")) {
        return Some(TextKind::Formula);
    }
    let by_name = match tag.name() {
        "style" => Some(TextKind::Style),
        "title" => Some(TextKind::Title),
        "pre" | "code" => Some(TextKind::Code),
        _ => None,
    };
    classes
        .find_map(code::drawn)
        .map(TextKind::Drawn)
        .or(by_name)
}

/// Adds the declarations of an element's own attributes.
fn declare_own(tag: &HtmlTag, style: &mut Style) {
    for (name, value) in tag.attributes.iter() {
        match (tag.name(), name) {
            ("text" | "tspan", "fill") => style.declare("color", value),
            (_, "bgcolor") => style.declare("background-color", value),
            _ if has_one(PROPERTIES, name) => style.declare(name, value),
            _ => {}
        }
    }
    let own = tag.attributes.get("style").map(decoded);
    for (name, value) in own.iter().flat_map(|own| declarations(own)) {
        style.declare(&name, &value);
    }
}
