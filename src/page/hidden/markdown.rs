//! Finds what Markdown hides as Wiki.js shows it: besides what its HTML hides, everything that ends
//! up in no text, code or formula.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::code::Rows;
use super::elements;
use super::kinds::{HiddenKind, HiddenText};
use super::seen::is_unseen;
use super::sheet::HidingStyles;
use super::words::{has_words, is_long, longest_run, plain, speaks};
use crate::page::markdown::html_block::HtmlBlock;
use crate::page::markdown::outline::options;
use crate::page::select::position::lines_of;

/// True if styles may hide some of a text, or it has a sign that all other hiding in Markdown needs:
/// of a link, an image, an element, a footnote, a table, attributes, a formula, a reference, an
/// escape, or code. Parsing a long text takes many times its size in memory.
pub(super) fn may_hide(text: &str, sheet: &HidingStyles) -> bool {
    const SIGNS: [char; 10] = ['<', '[', '{', '$', '|', '&', '\\', '`', '~', '\t'];
    !sheet.is_empty() || SIGNS.iter().any(|sign| text.contains(*sign)) || text.contains("    ")
}

/// Adds what a page in Markdown hides.
pub(super) fn walk(text: &str, sheet: HidingStyles, hidden: &mut HiddenText) {
    let parser = Parser::new_ext(text, options());
    let definitions = parser.reference_definitions().iter();
    let definitions = definitions.map(|(label, definition)| {
        let says = says(label, &definition.dest, definition.title.as_deref());
        (definition.span.clone(), plain(label), says)
    });
    let mut definitions: Vec<_> = definitions.collect();
    definitions.sort_by_key(|(at, ..)| at.start);
    let mut walker = MarkdownWalker {
        text,
        definitions,
        ..MarkdownWalker::default()
    };
    let events = parser.into_offset_iter().map(|(event, at)| {
        let (source, start) = (text.get(at.clone()).unwrap_or_default(), at.start);
        walker.event(&event, at);
        match event {
            // A reference stays one, to be told from the character itself.
            Event::Text(text) if source.starts_with('&') && source != &*text => {
                (Event::InlineHtml(source.into()), start)
            }
            event => (event, start),
        }
    });
    let html = HtmlBlock::rendered(events);
    walker.end(hidden);
    elements::walk(&html, text, Some(Rows::default()), sheet, hidden);
}

/// True if a definition says more than an address with a name.
fn says(label: &str, address: &str, title: Option<&str>) -> bool {
    let is_place = address.starts_with('#') && address.len() > 1;
    let is_address = is_place || address.contains(['/', '.', ':']);
    let is_wordy = longest_run(label) > 4 || is_unseen("a", "href", address);
    is_wordy || !is_address || title.is_some_and(has_words)
}

#[derive(Default)]
struct MarkdownWalker<'a> {
    text: &'a str,
    /// What is hidden, by its place.
    found: Vec<(usize, HiddenKind)>,
    /// Definitions of links: their labels, and whether they say something.
    definitions: Vec<(Range<usize>, String, bool)>,
    /// Number of definitions before the present position.
    passed: usize,
    used: HashSet<String>,
    /// Footnotes, with their places.
    notes: Vec<(String, usize)>,
    /// The labels of the footnotes that a reader is led to.
    noted: HashSet<String>,
    /// The footnote that is being read.
    open_note: Option<String>,
    /// The end of the source examined so far.
    covered: usize,
    /// For each open element: true if its marks (an address, a label) are examined elsewhere.
    marked: Vec<bool>,
}

impl MarkdownWalker<'_> {
    fn event(&mut self, event: &Event<'_>, at: Range<usize>) {
        let is_end = matches!(event, Event::End(_));
        self.gap(if is_end { at.end } else { at.start });
        match event {
            Event::Start(tag) => self.start(tag, at.start),
            Event::End(end) => {
                self.marked.pop();
                let is_note = *end == TagEnd::FootnoteDefinition;
                self.open_note = self.open_note.take().filter(|_| !is_note);
            }
            leaf => {
                self.covered = self.covered.max(at.end);
                let is_seen = |note: &String| self.noted.contains(note);
                if let Event::FootnoteReference(label) = leaf
                    && self.open_note.as_ref().is_none_or(is_seen)
                {
                    self.noted.insert(label.to_string());
                }
            }
        }
    }

    /// Begins an element; words of its marks that its HTML has not are unseen.
    fn start(&mut self, tag: &Tag<'_>, at: usize) {
        let (is_marked, is_unseen) = match tag {
            Tag::Link { id, .. } | Tag::Image { id, .. } => {
                self.used.insert(plain(id));
                (true, is_long(id, 12, 120))
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let mut pieces = info.split_whitespace();
                let language = pieces.next().unwrap_or_default();
                let is_unseen = |piece: &str| match piece.split_once('=') {
                    Some((name, value)) => is_unseen("code", name, value),
                    None => !piece.starts_with(['.', '#', '{']) && speaks(piece),
                };
                (true, language.len() > 60 || pieces.any(is_unseen))
            }
            Tag::FootnoteDefinition(label) => {
                self.open_note = Some(label.to_string());
                self.notes.push((label.to_string(), at));
                (true, longest_run(label) > 8)
            }
            tag => (matches!(tag, Tag::CodeBlock(_)), false),
        };
        self.marked.push(is_marked);
        if is_unseen {
            self.found.push((at, HiddenKind::Attributes));
        }
    }

    /// Examines the source before this place that no event covered: marks, definitions, and what is
    /// dropped.
    fn gap(&mut self, end: usize) {
        while self.covered < end {
            let next = self.definitions.get(self.passed).map(|(at, ..)| at.clone());
            let next = next.filter(|next| next.start < end).unwrap_or(end..end);
            let gap = self.text.get(self.covered..next.start).unwrap_or_default();
            // The box of a task comes after the beginning of its paragraph, which it stands before.
            let gap = gap.trim_end();
            let before_box = gap.strip_suffix("[x]").or(gap.strip_suffix("[X]"));
            let gap = before_box.unwrap_or(gap);
            let is_marked = self.marked.last() == Some(&true);
            if let Some(at) = gap.find(char::is_alphabetic).filter(|_| !is_marked) {
                self.found.push((self.covered + at, HiddenKind::Unrendered));
            }
            self.passed += usize::from(next.start < end);
            self.covered = self.covered.max(next.end);
        }
    }

    /// Adds what no event came for: the end of the source, and definitions that nothing refers to.
    fn end(mut self, hidden: &mut HiddenText) {
        self.gap(self.text.len());
        let of_links = self.definitions.iter();
        let of_links = of_links.filter(|(_, label, says)| *says && !self.used.contains(label));
        let of_links = of_links.map(|(at, ..)| at.start);
        // Of several notes with one label the first is shown.
        let of_notes = self.notes.iter();
        let of_notes = of_notes.filter(|(label, _)| !self.noted.remove(label));
        let unused = of_links.chain(of_notes.map(|(_, at)| *at));
        self.found
            .extend(unused.map(|at| (at, HiddenKind::UnusedDefinitions)));
        self.found.sort_unstable();
        let mut line_of = lines_of(self.text);
        for (at, kind) in self.found {
            hidden.add(kind, line_of(at), true);
        }
    }
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
