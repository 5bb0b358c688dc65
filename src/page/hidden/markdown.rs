//! Finds what Markdown hides as Wiki.js shows it: besides what its HTML hides, everything that ends
//! up in no text, code or formula.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd};

use super::attributes::is_wordy;
use super::characters::each;
use super::code;
use super::elements;
use super::found::{HiddenText, LineCounter, add_styles};
use super::notes::{Footnotes, LinkDefinition};
use super::prose::{is_long_title, is_wordy_address, longest_run, words};
use super::rows::rows;
use super::sheet::HidingStyles;
use super::source_map::Mapped;
use crate::page::markdown::outline::options;

/// True if styles may hide some of a text, or it has a sign that all other hiding in Markdown needs:
/// of a link, an image, an element, a footnote, a table, attributes, a formula, a reference, an
/// escape, or code. Parsing a long text takes many times its size in memory.
pub(super) fn may_hide(text: &str, sheet: &HidingStyles) -> bool {
    const SIGNS: [char; 10] = ['<', '[', '{', '$', '|', '&', '\\', '`', '~', '\t'];
    !sheet.is_empty() || text.contains(SIGNS) || text.contains("    ")
}

/// Adds what a page in Markdown hides.
pub(super) fn walk(text: &str, mut sheet: HidingStyles, hidden: &mut HiddenText) {
    let parser = Parser::new_ext(text, options());
    let mut definitions: Vec<LinkDefinition> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| LinkDefinition {
            at: definition.span.clone(),
            label: label.to_lowercase(),
            title: definition.title.as_deref().unwrap_or_default().to_owned(),
            address: definition.dest.to_string(),
        })
        .collect();
    definitions.sort_by_key(|definition| definition.at.start);
    let mut walk = MarkdownWalker {
        text,
        lines: LineCounter::of(text),
        hidden,
        definitions,
        defined: 0,
        used: HashSet::new(),
        footnotes: Footnotes::default(),
        covered: 0,
        context: Vec::new(),
        images: 0,
        alternative: String::new(),
        code: Vec::new(),
        language: None,
        mapped: Mapped::default(),
        is_mapped: text.contains('<') || !sheet.is_empty(),
        has_html: false,
    };
    for (event, at) in parser.into_offset_iter() {
        walk.event(event, at);
    }
    walk.gap(text.len());
    let MarkdownWalker {
        definitions,
        used,
        footnotes,
        code,
        mapped,
        has_html,
        ..
    } = walk;
    let mut lines = LineCounter::of(text);
    for definition in definitions
        .iter()
        .filter(|definition| !used.contains(&definition.label))
    {
        if definition.says_something() {
            hidden
                .unused_definitions
                .add(lines.line_of(definition.at.start));
        }
    }
    let mut lines = LineCounter::of(text);
    for at in footnotes.unseen() {
        hidden.unused_definitions.add(lines.line_of(at));
    }
    rows(text, &code, hidden);
    if has_html {
        add_styles(mapped.html(), &mut sheet);
    }
    if has_html || !sheet.is_empty() {
        let (mut source, mut lines) = (mapped.sources(), LineCounter::of(text));
        elements::walk(mapped.html(), &sheet, hidden, |at| {
            lines.line_of(source(at))
        });
    }
}

/// Content of the marks around a piece of text, as far as that is reported elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkContext {
    /// Nothing.
    Plain,
    /// An address, a label, attributes.
    Marked,
}

struct MarkdownWalker<'a> {
    text: &'a str,
    lines: LineCounter<'a>,
    hidden: &'a mut HiddenText,
    definitions: Vec<LinkDefinition>,
    /// Number of definitions before the present position.
    defined: usize,
    used: HashSet<String>,
    footnotes: Footnotes,
    /// The end of the source examined so far.
    covered: usize,
    context: Vec<MarkContext>,
    /// Number of open images: their text is shown in their place only.
    images: usize,
    alternative: String,
    code: Vec<Range<usize>>,
    /// The language of the code that is being read.
    language: Option<String>,
    mapped: Mapped,
    is_mapped: bool,
    has_html: bool,
}

impl MarkdownWalker<'_> {
    fn event(&mut self, event: Event<'_>, at: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.gap(at.start);
                self.start(&tag, &at);
            }
            Event::End(end) => {
                self.gap(at.end);
                self.end(end, &at);
            }
            leaf => {
                self.gap(at.start);
                self.covered = self.covered.max(at.end);
                self.leaf(leaf, &at);
            }
        }
    }

    fn leaf(&mut self, leaf: Event<'_>, at: &Range<usize>) {
        match leaf {
            // Its own text: in a quote the source has the quote's marks between the lines of a tag.
            Event::InlineHtml(html) => {
                self.has_html = true;
                self.mapped.raw(&html, at.start);
            }
            Event::Html(_) => {
                self.has_html = true;
                let raw = self.text.get(at.clone()).unwrap_or_default();
                self.mapped.raw(raw, at.start);
            }
            Event::Text(text) => self.words(&text, at),
            Event::Code(text) => {
                if self.images > 0 {
                    self.alternative.push_str(&text);
                } else if self.is_mapped {
                    self.mapped.tag("code", false, at.start);
                    self.mapped.text(&text, at.start);
                    self.mapped.tag("code", true, at.start);
                }
            }
            Event::FootnoteReference(label) => self.footnotes.refer(&label),
            Event::SoftBreak | Event::HardBreak if self.is_mapped => {
                self.mapped.text(" ", at.start);
            }
            _ => {}
        }
    }

    fn words(&mut self, text: &CowStr<'_>, at: &Range<usize>) {
        let source = self.text.get(at.clone()).unwrap_or_default();
        if source.starts_with('&') && source != &**text {
            self.reference(text, at);
        }
        if let Some(language) = self.language.take() {
            let line = self.lines.line_of(at.start);
            code::padding(text, line, self.hidden);
            if is_drawn(&language) {
                code::diagram(&language, text, line, self.hidden);
            }
            self.language = Some(language);
        }
        if self.images > 0 {
            self.alternative.push_str(text);
        } else if self.is_mapped {
            self.mapped.text(text, at.start);
        }
    }

    /// Adds what stands there as a reference, by the characters around it.
    fn reference(&mut self, text: &str, at: &Range<usize>) {
        const AROUND: usize = 3;
        let line = self.lines.line_of(at.start);
        let before = self.text.get(..at.start).unwrap_or_default();
        let before: Vec<char> = before.chars().rev().take(AROUND).collect();
        let behind = self.text.get(at.end..).unwrap_or_default().chars().next();
        let own = before.len()..before.len() + text.chars().count();
        let all: String = before
            .into_iter()
            .rev()
            .chain(text.chars())
            .chain(behind)
            .collect();
        let mut index = 0;
        each(&all, |_, hiding| {
            if let Some(hiding) = hiding.filter(|_| own.contains(&index)) {
                self.hidden.character(hiding, line);
            }
            index += 1;
        });
    }

    fn start(&mut self, tag: &Tag<'_>, at: &Range<usize>) {
        let mut context = MarkContext::Plain;
        match tag {
            Tag::Link {
                dest_url,
                title,
                id,
                ..
            }
            | Tag::Image {
                dest_url,
                title,
                id,
                ..
            } => {
                context = MarkContext::Marked;
                self.used.insert(id.to_lowercase());
                let is_wordy = is_long_title(title) || is_wordy_address(dest_url) || words(id) > 12;
                if is_wordy {
                    self.hidden.attributes.add(self.lines.line_of(at.start));
                }
                self.images += usize::from(matches!(tag, Tag::Image { .. }));
            }
            Tag::Heading {
                id, classes, attrs, ..
            } => {
                context = MarkContext::Marked;
                let names = id.iter().chain(classes);
                let names = names.map(|name| &**name).collect::<Vec<_>>().join(" ");
                let said = attrs.iter().filter_map(|(_, value)| value.as_deref());
                let said = said.collect::<Vec<_>>().join(" ");
                if longest_run(&names) > 4 || longest_run(&said) > 2 {
                    self.hidden.attributes.add(self.lines.line_of(at.start));
                }
            }
            Tag::CodeBlock(kind) => {
                context = MarkContext::Marked;
                self.code.push(at.clone());
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let (language, rest) = info.split_once(char::is_whitespace).unwrap_or((&info, ""));
                if longest_run(rest) > 4 || words(rest) > 12 || language.len() > 60 {
                    self.hidden.attributes.add(self.lines.line_of(at.start));
                }
                self.language = Some(language.to_ascii_lowercase());
            }
            Tag::FootnoteDefinition(label) => {
                context = MarkContext::Marked;
                if words(label) > 8 {
                    self.hidden.attributes.add(self.lines.line_of(at.start));
                }
                self.footnotes.begin(label, at.start);
            }
            _ => {}
        }
        self.context.push(context);
        if self.is_mapped
            && let Some(name) = element(tag.to_end())
        {
            self.mapped.tag(name, false, at.start);
        }
    }

    fn end(&mut self, end: TagEnd, at: &Range<usize>) {
        self.context.pop();
        match end {
            TagEnd::CodeBlock => self.language = None,
            TagEnd::FootnoteDefinition => self.footnotes.open = None,
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                let said = std::mem::take(&mut self.alternative);
                if self.images == 0 && is_wordy("img", "alt", &said) {
                    self.hidden.attributes.add(self.lines.line_of(at.start));
                }
            }
            _ => {}
        }
        if self.is_mapped
            && let Some(name) = element(end)
        {
            self.mapped.tag(name, true, at.end);
        }
    }

    /// Examines the source before this place that no event covered: marks, definitions, and what is
    /// dropped.
    fn gap(&mut self, end: usize) {
        while self.covered < end {
            while self
                .definitions
                .get(self.defined)
                .is_some_and(|next| next.at.end <= self.covered)
            {
                self.defined += 1;
            }
            let next = self
                .definitions
                .get(self.defined)
                .filter(|next| next.at.start < end);
            let (start, behind) = next.map_or((end, end), |next| (next.at.start, next.at.end));
            if self.context.last() != Some(&MarkContext::Marked) {
                let gap = self.text.get(self.covered..start).unwrap_or_default();
                if let Some(at) = gap.find(char::is_alphabetic) {
                    let line = self.lines.line_of(self.covered + at);
                    self.hidden.unrendered.add(line);
                }
            }
            self.covered = self.covered.max(behind);
        }
    }
}

/// True if the wiki makes a drawing of code in this language.
fn is_drawn(language: &str) -> bool {
    matches!(
        language,
        "mermaid" | "plantuml" | "kroki" | "dot" | "graphviz"
    )
}

/// The element that a piece of Markdown becomes, as far as styles ask for it.
const fn element(end: TagEnd) -> Option<&'static str> {
    Some(match end {
        TagEnd::Paragraph => "p",
        TagEnd::Heading(level) => match level {
            pulldown_cmark::HeadingLevel::H1 => "h1",
            pulldown_cmark::HeadingLevel::H2 => "h2",
            pulldown_cmark::HeadingLevel::H3 => "h3",
            pulldown_cmark::HeadingLevel::H4 => "h4",
            pulldown_cmark::HeadingLevel::H5 => "h5",
            pulldown_cmark::HeadingLevel::H6 => "h6",
        },
        TagEnd::BlockQuote(_) => "blockquote",
        // Not `pre`: text far to the right in code is already reported.
        TagEnd::CodeBlock => "figure",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::Table => "table",
        TagEnd::TableHead | TagEnd::TableRow => "tr",
        TagEnd::TableCell => "td",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        TagEnd::Strikethrough => "s",
        TagEnd::Link => "a",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{HiddenText, HidingStyles, may_hide, walk};

    proptest! {
        #[test]
        fn a_text_without_their_signs_hides_nothing(text in "(a |bc|\n|\n\n|- |\\* |\\+ |1\\. |12\\) |> |#+ |===|---|\\*\\*?|__?|:|!|\\(|\\)|\\]|\\}|  |   |\r|\u{c}|\u{a0}|\u{feff}|ä|https://a\\.b|www\\.a|\"c\"|%|\\^|@|;|=){0,32}") {
            let mut hidden = HiddenText::default();
            let sheet = HidingStyles::default;
            walk(&text, sheet(), &mut hidden);
            prop_assert!(may_hide(&text, &sheet()) || hidden == HiddenText::default(), "{hidden:?}");
        }
    }
}
