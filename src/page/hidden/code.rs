//! Finds what diagrams, formulas, code, styles, and Wiki.js' own marks in Markdown hide.

use super::kinds::HiddenKind::{Attributes, Comments, HiddenElements, Unrendered};
use super::kinds::{HiddenKind, HiddenText};
use super::seen::is_unseen;
use super::words::{has_words, is_long, longest_run, speaks};
use crate::page::css::tokens::{CssKind, CssTokens};
use crate::page::select::position::line_feeds;

/// A language of which the wiki makes drawings; the marks of its comments of one line, and the first
/// and the last mark of those over lines.
pub(super) type Drawn = [&'static str; 4];

const DRAWN: [Drawn; 5] = [
    ["mermaid", "%%", "%%%", "%%%"],
    ["plantuml", "'", "/'", "'/"],
    ["kroki", "' %% //", "/'", "'/"],
    ["dot", "// #", "/*", "*/"],
    ["graphviz", "// #", "/*", "*/"],
];

/// The language of code with such a class, if the wiki makes a drawing of it.
pub(super) fn drawn(class: &str) -> Option<Drawn> {
    let language = class.trim_start_matches("language-");
    let language = language.trim_start_matches("codeblock-");
    let is_named = language != class || language == "mermaid";
    let mut all = DRAWN.into_iter().filter(|_| is_named);
    all.find(|[known, ..]| known.eq_ignore_ascii_case(language))
}

/// Comments of a diagram, and what it says that is drawn nowhere. `line` is the first line's.
pub(super) fn diagram(drawn: Drawn, text: &str, line: usize, hidden: &mut HiddenText) {
    const UNSEEN: [&str; 4] = ["display:none", "opacity:0;", "opacity:0,", "font-size:0"];
    let [language, marks, begin, end] = drawn;
    let (mut is_in_comment, mut is_in_description) = (false, false);
    for (line, row) in (line..).zip(text.lines().map(str::trim)) {
        is_in_comment |= row.contains(begin);
        let is_line = marks.split(' ').any(|mark| row.starts_with(mark)) && !row.starts_with("%%{");
        hidden.add(Comments, line, (is_in_comment || is_line) && has_words(row));
        is_in_comment &= !row.contains(end);
        let row = row.to_ascii_lowercase();
        let said = row.strip_prefix("accdescr");
        let said = said.filter(|_| language == "mermaid");
        is_in_description |= said.is_some();
        let is_said = is_in_description && speaks(said.unwrap_or(&row));
        hidden.add(Attributes, line, is_said);
        is_in_description &= row.contains('{') && !row.contains('}');
        let is_style = row.starts_with("classdef ") || row.starts_with("style ");
        let dense: String = row.split_whitespace().chain([";"]).collect();
        let is_unseen = is_style && UNSEEN.iter().any(|unseen| dense.contains(unseen));
        hidden.add(HiddenElements, line, is_unseen);
    }
}

/// Words so far to the right in code that nobody scrolls there.
pub(super) fn padding(text: &str, line: usize, hidden: &mut HiddenText) {
    const FAR: usize = 150;
    const TAB: usize = 4;
    for (line, row) in (line..).zip(text.lines()) {
        let (mut run, mut is_far) = (0_usize, false);
        let mut is_hidden = |c: char| {
            let width = if c == '\t' { TAB } else { 1 };
            run = (run + width) * usize::from(c.is_whitespace());
            is_far |= run >= FAR;
            is_far && c.is_alphanumeric()
        };
        // A row that is too short for so much space need not be read.
        let is_hidden = row.len() > FAR / TAB && row.chars().any(&mut is_hidden);
        hidden.add(Unrendered, line, is_hidden);
    }
}

/// Comments of a style sheet or a `style` attribute, and sentences in strings shown nowhere.
pub(super) fn style(css: &str, mut line: usize, hidden: &mut HiddenText) {
    let (mut word, mut property) = ("", "");
    for (kind, piece) in CssTokens::of(css) {
        match kind {
            CssKind::Word => word = piece,
            CssKind::Sign if piece == ":" => property = word,
            CssKind::Comment => hidden.add(Comments, line, speaks(piece)),
            CssKind::Quoted if property != "content" => {
                hidden.add(Attributes, line, longest_run(piece) > 5);
            }
            _ => {}
        }
        line += line_feeds(piece);
    }
}

/// Reads text row by row as Wiki.js reads it in Markdown: attributes in braces, definitions of
/// abbreviations, formulas.
#[derive(Default)]
pub(super) struct Rows {
    is_in_formula: bool,
    abbreviations: usize,
}

impl Rows {
    /// Adds what a piece of all text has of these that is not shown.
    pub(super) fn read(&mut self, piece: &str, all: &str, line: usize, hidden: &mut HiddenText) {
        const MAX_LOOKED_FOR: usize = 32;
        for (line, row) in (line..).zip(piece.lines().map(str::trim)) {
            // Most rows have none of this, so one check must suffice for them.
            if !self.is_in_formula && !row.contains(['{', '$', '*']) {
                continue;
            }
            let marks = row.matches("$$").count();
            formula(row, self.is_in_formula || marks > 0, line, hidden);
            self.is_in_formula ^= marks % 2 == 1;
            braces(row, line, hidden);
            let definition = row.strip_prefix("*[").and_then(|row| row.split_once("]:"));
            if let Some((label, said)) = definition {
                self.abbreviations += 1;
                let may_be_used = self.abbreviations <= MAX_LOOKED_FOR && !label.is_empty();
                let is_used = may_be_used && all.matches(label).nth(1).is_some();
                let is_unseen = !is_used || is_long(said, 12, 120);
                hidden.add(HiddenKind::UnusedDefinitions, line, is_unseen);
            }
        }
    }
}

/// Attributes in braces.
pub(super) fn braces(row: &str, line: usize, hidden: &mut HiddenText) {
    let insides = row.split('{').skip(1).filter_map(|row| row.split_once('}'));
    for (inside, _) in insides {
        let mut pieces = inside.split(['"', '\'']);
        let mut is_found = false;
        while let (Some(lead), Some(value)) = (pieces.next(), pieces.next()) {
            let name = lead.rsplit(' ').next().unwrap_or_default();
            let is_hidden = |name| longest_run(value) > 3 || is_unseen("", name, value);
            is_found |= name.strip_suffix('=').is_some_and(is_hidden);
        }
        hidden.add(Attributes, line, is_found);
    }
}

/// What a row's formulas give room without showing it, and the comments of a block of formulas.
fn formula(row: &str, is_block: bool, line: usize, hidden: &mut HiddenText) {
    const UNSEEN: &str = "phantom color{white} color{transparent} color{#fff";
    let bare = row.replace("\\%", "");
    let comment = bare.split_once('%').map_or("", |(_, comment)| comment);
    hidden.add(Comments, line, is_block && speaks(comment));
    // Commands such as `\text` say nothing.
    let says = |formula: &str| {
        let mut pieces = formula.split('}').next().unwrap_or_default().split('\\');
        let is_first = pieces.next().is_some_and(speaks);
        is_first || pieces.any(|piece| speaks(piece.trim_start_matches(char::is_alphabetic)))
    };
    let mut unseen = UNSEEN.split(' ');
    let is_unseen = unseen.any(|unseen| row.split(unseen).skip(1).any(says));
    hidden.add(HiddenElements, line, is_unseen);
}
