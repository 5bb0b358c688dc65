//! The part of a text that a caller names: by a selector, a reference's section, or lines.

use std::ops::Range;

use super::answer::Excerpt;
use super::ask::{PageReadOptions, PageViewKind};
use crate::error::{Code, Failure, Result};
use crate::page::{
    Outline, PartKind, PartSelector, Section, SectionFault, Selector, SourceFormat, escaped,
};
use crate::tools::input::refuse;
use crate::write::section_failure;

/// The most nested parts that are named.
const MAX_PARTS: usize = 40;

/// The requested part of a text.
pub(super) struct RequestedPart {
    pub(super) range: Range<usize>,
    /// The parts below it, without its own heading.
    body: usize,
    pub(super) first_line: usize,
    /// Its name in the answer.
    pub(super) section: Option<String>,
    /// Its name as a change to it would give it.
    pub(super) selector: Option<String>,
}

impl RequestedPart {
    /// Selectors refer to the page's source, if it is given beside another text: the wiki's HTML
    /// may have fewer or more headings.
    pub(super) fn find(
        (text, format): (&str, SourceFormat),
        source: Option<(&str, SourceFormat)>,
        ask: &PageReadOptions,
        anchor: Option<&str>,
    ) -> Result<Self> {
        let whole = Self {
            range: 0..text.len(),
            body: 0,
            first_line: 1,
            section: None,
            selector: None,
        };
        if let Some(lines) = ask.lines().filter(|_| ask.view != PageViewKind::Text) {
            let range = lines_of(text, lines)?;
            return Ok(Self {
                body: range.start,
                range,
                first_line: lines.0,
                ..whole
            });
        }
        if ask.section.is_none() && anchor.is_none() {
            return Ok(whole);
        }
        let outline = Outline::in_format(text, format);
        let find = |outline: &Outline<'_>| match &ask.section {
            Some(section) => outline.find_part(section),
            None => by_reference(outline, anchor.unwrap_or_default()),
        };
        let sought = sought(ask, anchor.unwrap_or_default());
        let found = |outline| {
            find(outline).map_err(|fault| section_failure(fault, sought.as_ref(), outline))
        };
        let section = match source.map(|(text, format)| Outline::in_format(text, format)) {
            None => found(&outline)?,
            Some(source) => match outline.find_same(&found(&source)?, &source) {
                Some(same) => same.map_err(|_| not_in_html())?,
                // A block, or the part before all headings, is taken from this text.
                None => found(&outline)?,
            },
        };
        let named = || anchor.unwrap_or_default().to_owned();
        let (name, selector) = ask.section.as_ref().map_or_else(
            || (named(), named()),
            |section| (section.to_string(), section.without_size().to_string()),
        );
        let Section { range, body } = section;
        let before = text.get(..range.start).unwrap_or_default();
        Ok(Self {
            first_line: 1 + before.matches('\n').count(),
            range,
            body,
            section: Some(escaped(&name, 300)),
            selector: Some(selector),
        })
    }
}

/// The first section to look for.
fn sought(ask: &PageReadOptions, anchor: &str) -> Option<Selector> {
    let Some(selector) = &ask.section else {
        return Some(Selector::Named(anchor.to_owned()));
    };
    selector.section().cloned()
}

fn not_in_html() -> Failure {
    Failure::new(
        Code::SectionNotFound,
        "The page has this section, but the HTML that the wiki made of it has no such heading.",
    )
    .hint("Read the section with view: content, or the whole of this view.")
}

/// The section that a reference names after its `#`: a selector, a heading, or an address's anchor.
fn by_reference(outline: &Outline<'_>, name: &str) -> Result<Section, SectionFault> {
    let parsed = PartSelector::parse(name).ok();
    // `page#section` is the heading "Section".
    let parsed = parsed.filter(|selector| selector.listed.is_none());
    let selector = parsed.unwrap_or_else(|| Selector::Named(name.to_owned()).into());
    match outline.find_part(&selector) {
        Err(SectionFault::NotFound) => outline.find_anchor(name),
        found => found,
    }
}

/// The parts of a kind below a part, if requested, from number `offset` on, as many as fit into the
/// bytes.
pub(super) fn listing(
    text: &str,
    format: SourceFormat,
    named: &RequestedPart,
    (ask, most): (&PageReadOptions, usize),
) -> Result<Option<Excerpt>> {
    let Some((selector, kind)) = ask
        .section
        .as_ref()
        .and_then(|selector| Some((selector, selector.listed?)))
    else {
        return Ok(None);
    };
    let outline = Outline::in_format(text, format);
    let container = PartSelector {
        listed: None,
        ..selector.without_size()
    };
    let below = named.body..named.range.end;
    let all = outline.listed(kind, &below, &container.to_string());
    if all.is_empty() {
        let sought = match kind {
            PartKind::Headings(_) => Some(Selector::Nth(kind, 0)),
            PartKind::Sections | PartKind::Blocks(_) => None,
        };
        let fault = SectionFault::NotFound;
        return Err(section_failure(fault, sought.as_ref(), &outline));
    }
    let mut room = most;
    let mut shown: Vec<String> = Vec::new();
    for line in all.iter().skip(ask.offset()) {
        if line.len() > room && !shown.is_empty() {
            break;
        }
        room = room.saturating_sub(line.len() + 3);
        shown.push(line.clone());
    }
    let end = ask.offset() + shown.len();
    let left = all.len().saturating_sub(end);
    Ok(Some(Excerpt {
        section: named.section.clone(),
        lines: outline.lines_of(&below),
        parts: shown,
        parts_left: (left > 0).then_some(left),
        next_offset: (left > 0).then_some(end),
        ..Excerpt::default()
    }))
}

/// The place of lines in a text.
pub(super) fn lines_of(text: &str, (from, to): (usize, usize)) -> Result<Range<usize>> {
    let lengths = || text.split_inclusive('\n').map(str::len);
    let start: usize = lengths().take(from - 1).sum();
    if start == text.len() && from > 1 {
        let lines = text.lines().count();
        return refuse("lines", format!("begin after the last line, {lines}"));
    }
    Ok(start..lengths().take(to).sum())
}

/// The parts below a part, a line each, as many as fit into the room, and how many more there are.
pub(super) fn below(
    text: &str,
    format: SourceFormat,
    named: &RequestedPart,
    mut room: usize,
) -> (Vec<String>, Option<usize>) {
    let outline = Outline::in_format(text, format);
    let all = outline.parts_in(&(named.body..named.range.end));
    let count = all.len();
    let fits = |line: &String| {
        let rest = room.checked_sub(line.len());
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    let shown: Vec<String> = all.into_iter().take(MAX_PARTS).take_while(fits).collect();
    let left = count - shown.len();
    (shown, (left > 0).then_some(left))
}
