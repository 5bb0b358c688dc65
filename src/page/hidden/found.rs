//! Describes the text hidden in a source, by kind.

use serde::{Serialize, Serializer};

use super::characters::{Hiding, each};
use super::remembered::LAST;
use super::sheet::HidingStyles;
use super::{asciidoc, elements, markdown};
use crate::page::html::{HtmlToken, scan};
use crate::page::markdown::outline::SourceFormat;
use crate::page::markdown::signs::has_too_many_signs;
use crate::page::select::position::line_feeds;

/// The most lines that are named of a kind.
const MAX_LINES: usize = 20;

/// Number and lines of the occurrences of something in a text; of many lines, the first 20.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Occurrences {
    /// Number of occurrences.
    pub count: usize,
    /// Lines of the occurrences, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<usize>,
}

/// Content of a text that a person does not see. It is not exhaustive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HiddenText {
    /// Characters that show nothing.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub invisible_characters: Occurrences,
    /// Characters and elements that turn the direction of what follows.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub bidirectional_controls: Occurrences,
    /// Comments: of HTML, styles, diagrams, formulas, `AsciiDoc`.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub comments: Occurrences,
    /// Elements with text that are hidden by attribute, style or the page's own CSS, or that show
    /// none of their text.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub hidden_elements: Occurrences,
    /// Definitions that nothing refers to: of links, footnotes, abbreviations, attributes.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub unused_definitions: Occurrences,
    /// Sentences in attributes: long titles and descriptions, data, values, what stands beside a
    /// code block's language.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub attributes: Occurrences,
    /// Other source that is not shown, such as cells beyond a table's width.
    #[serde(skip_serializing_if = "Occurrences::is_none")]
    pub unrendered: Occurrences,
    /// That there may be more.
    pub note: HiddenTextNote,
}

/// Says that a list of what is hidden may lack something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HiddenTextNote {
    /// Some ways of hiding are not known.
    #[default]
    NotExhaustive,
    /// Only characters were looked for.
    TooManySigns,
}

impl Serialize for HiddenTextNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::NotExhaustive => "not exhaustive",
            Self::TooManySigns => "not checked: too many signs",
        })
    }
}

impl Occurrences {
    const fn is_none(&self) -> bool {
        self.count == 0
    }

    pub(super) fn add(&mut self, line: usize) {
        self.count += 1;
        if self.lines.len() < MAX_LINES && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    fn sort(&mut self) {
        self.lines.sort_unstable();
    }

    fn without_lines(self) -> Self {
        Self {
            lines: Vec::new(),
            ..self
        }
    }
}

impl HiddenText {
    /// Finds what is hidden in a text, if anything. `css` is the page's own style sheet, if known.
    #[must_use]
    pub fn of(text: &str, format: SourceFormat, css: Option<&str>) -> Option<Self> {
        let css = css.unwrap_or_default();
        LAST.or_look(text, format, css, || Self::look(text, format, css))
    }

    fn look(text: &str, format: SourceFormat, css: &str) -> Option<Self> {
        let mut hidden = Self::default();
        if !text.bytes().all(is_plain) {
            hidden.characters(text);
        }
        let mut sheet = HidingStyles::default();
        sheet.add(css);
        let may_hide = match format {
            SourceFormat::Html => text.contains(['<', '&']),
            SourceFormat::Markdown => markdown::may_hide(text, &sheet),
            SourceFormat::AsciiDoc => true,
            SourceFormat::Other => false,
        };
        match format {
            _ if !may_hide => {}
            _ if has_too_many_signs(text, format) => hidden.note = HiddenTextNote::TooManySigns,
            SourceFormat::Markdown => markdown::walk(text, sheet, &mut hidden),
            SourceFormat::AsciiDoc => asciidoc::walk(text, &mut hidden),
            _ => hidden.html(text, sheet),
        }
        hidden.done()
    }

    /// True if the text has too many signs to be searched for more than characters.
    #[must_use]
    pub fn is_unchecked(&self) -> bool {
        self.note == HiddenTextNote::TooManySigns
    }

    /// Finds what is hidden in the plain text of some HTML: characters by the lines of the plain
    /// text, and the number of other kinds in the HTML, which has no lines there.
    #[must_use]
    pub fn of_plain(plain: &str, html: &str, css: Option<&str>) -> Option<Self> {
        let of_html = Self::of(html, SourceFormat::Html, css).unwrap_or_default();
        let of_plain = Self::of(plain, SourceFormat::Other, None).unwrap_or_default();
        let hidden = Self {
            invisible_characters: of_plain.invisible_characters,
            bidirectional_controls: of_plain.bidirectional_controls,
            comments: of_html.comments.without_lines(),
            hidden_elements: of_html.hidden_elements.without_lines(),
            unused_definitions: of_html.unused_definitions.without_lines(),
            attributes: of_html.attributes.without_lines(),
            unrendered: of_html.unrendered.without_lines(),
            note: of_html.note,
        };
        (hidden != Self::default()).then_some(hidden)
    }

    /// Each kind by its name, with what was found of it.
    #[must_use]
    pub fn kinds(&self) -> [(&'static str, &Occurrences); 7] {
        [
            ("invisibleCharacters", &self.invisible_characters),
            ("bidirectionalControls", &self.bidirectional_controls),
            ("comments", &self.comments),
            ("hiddenElements", &self.hidden_elements),
            ("unusedDefinitions", &self.unused_definitions),
            ("attributes", &self.attributes),
            ("unrendered", &self.unrendered),
        ]
    }

    fn done(mut self) -> Option<Self> {
        for found in [
            &mut self.comments,
            &mut self.hidden_elements,
            &mut self.unused_definitions,
            &mut self.attributes,
            &mut self.unrendered,
            &mut self.invisible_characters,
            &mut self.bidirectional_controls,
        ] {
            found.sort();
        }
        (self != Self::default()).then_some(self)
    }

    pub(super) fn character(&mut self, hiding: Hiding, line: usize) {
        match hiding {
            Hiding::Invisible => self.invisible_characters.add(line),
            Hiding::Direction => self.bidirectional_controls.add(line),
        }
    }

    fn characters(&mut self, text: &str) {
        let mut line = 1;
        // A mark of the byte order is no part of the text.
        each(
            text.strip_prefix('\u{FEFF}').unwrap_or(text),
            |c, hiding| {
                if let Some(hiding) = hiding {
                    self.character(hiding, line);
                }
                line += usize::from(c == '\n');
            },
        );
    }

    fn html(&mut self, html: &str, mut sheet: HidingStyles) {
        add_styles(html, &mut sheet);
        let mut lines = LineCounter::of(html);
        elements::walk(html, &sheet, self, |at| lines.line_of(at));
    }
}

/// Adds the style sheets that stand in some HTML.
pub(super) fn add_styles(html: &str, sheet: &mut HidingStyles) {
    let is_style = |at: usize| {
        html.get(at..at + 6)
            .is_some_and(|tag| tag.eq_ignore_ascii_case("<style"))
    };
    if !html.match_indices('<').any(|(at, _)| is_style(at)) {
        return;
    }
    let mut is_in_style = false;
    scan(html, |token, _| match token {
        HtmlToken::Open(tag) => is_in_style = tag.name() == "style",
        HtmlToken::Text(css) if is_in_style => sheet.add(css),
        HtmlToken::Close(_) => is_in_style = false,
        _ => {}
    });
}

/// True if a byte is a visible character or a space.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Counts lines on the way through a text, each line feed once.
pub(super) struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
        }
    }

    /// The line of a place; one before the last place that was asked for has that place's line.
    pub(super) fn line_of(&mut self, at: usize) -> usize {
        let at = self.text.floor_char_boundary(at);
        if at > self.at {
            let passed = self.text.get(self.at..at).unwrap_or_default();
            self.line += line_feeds(passed);
            self.at = at;
        }
        self.line
    }
}

#[cfg(test)]
mod tests;
