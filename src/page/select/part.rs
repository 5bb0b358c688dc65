//! Parses a reader's reference to a part of a page: any selector, then parts below it, down to a
//! block.

use std::fmt;
use std::ops::Range;

use super::selector::Rest;
use crate::page::{
    BlockKind, Heading, Outline, PartKind, Section, SectionFault, Selector, SelectorFault,
};

/// The most steps of a selector: each takes time in proportion to the page.
const MOST_STEPS: usize = 16;

/// A name for a part of a page, for reading: `heading:h2[0]/block:code[0]?full=true`. Without the
/// last index it names all parts of that kind, to be listed: `heading:h2[0]/block:code`.
///
/// ```
/// use wikijs_gate_core::page::PartSelector;
///
/// let part = PartSelector::parse("heading:h2[0]/block:code[1]?full=true").unwrap();
/// assert_eq!((part.steps.len(), part.is_full), (2, true));
/// assert!(PartSelector::parse("heading:h2").unwrap().listed.is_some());
/// assert_eq!(PartSelector::parse("block:cod[0]").unwrap_err().at, 6);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartSelector {
    /// The way to the part: at least one step, or a kind to list.
    pub steps: Vec<Selector>,
    /// The kind whose parts are to be listed, of what the steps name.
    pub listed: Option<PartKind>,
    /// True if the usual limit of size is raised to the highest.
    pub is_full: bool,
}

impl PartSelector {
    /// Reads a selector. White space around it does not count. A heading's text or path can only
    /// come first, and only a block can follow it.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str) -> Result<Self, SelectorFault> {
        let trimmed = text.trim_end();
        let bare = trimmed.strip_suffix("?full=true");
        let is_full = bare.is_some();
        let text = bare.unwrap_or(trimmed);
        let (steps, listed) = steps(text)?;
        Ok(Self {
            steps,
            listed,
            is_full,
        })
    }

    /// Reads the selector of one part to be changed.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn for_edit(text: &str) -> Result<Self, SelectorFault> {
        let selector = Self::parse(text)?;
        let message = match (selector.listed, selector.is_full) {
            (None, false) => return Ok(selector),
            (Some(_), _) => "an index such as [0] is missing; a read without one lists them",
            (None, true) => "\"?full=true\" is for reading, not for edits",
        };
        let at = text.trim_end().chars().count();
        Err(SelectorFault { at, message })
    }

    /// The first section that it names.
    pub fn section(&self) -> Option<&Selector> {
        let is_block = |step: &&Selector| matches!(step, Selector::Nth(PartKind::Blocks(_), _));
        self.steps.iter().find(|step| !is_block(step))
    }

    /// The same without its size suffix.
    #[must_use]
    pub fn without_size(&self) -> Self {
        Self {
            is_full: false,
            ..self.clone()
        }
    }
}

impl From<Selector> for PartSelector {
    fn from(selector: Selector) -> Self {
        Self {
            steps: vec![selector],
            listed: None,
            is_full: false,
        }
    }
}

/// The steps of a selector, and the kind that it lists behind them.
fn steps(text: &str) -> Result<(Vec<Selector>, Option<PartKind>), SelectorFault> {
    let mut rest = Rest::new(text);
    let mut steps = Vec::new();
    if !is_typed(rest.text) {
        let whole = rest.text;
        let name = whole.find("/block:").and_then(|at| whole.get(..at));
        let named = name.unwrap_or(whole).trim().to_owned();
        steps.push(Selector::Named(named));
        let Some(name) = name else {
            let before = whole.find("?full=").and_then(|at| whole.get(..at));
            return match before {
                _ if whole.is_empty() => Err(rest.fault("a selector is missing")),
                None => Ok((steps, None)),
                Some(before) => {
                    rest.skip(before);
                    Err(rest.fault("a block or an option is misplaced"))
                }
            };
        };
        rest.skip(name);
        rest.skip("/");
    }
    loop {
        let kind = kind(&mut rest)?;
        if rest.text.is_empty() {
            return Ok((steps, Some(kind)));
        }
        if steps.len() >= MOST_STEPS {
            return Err(rest.fault("a selector has at most 16 parts"));
        }
        steps.push(Selector::Nth(kind, rest.index()?));
        if rest.text.is_empty() {
            return Ok((steps, None));
        }
        if !rest.skip("/") {
            let fault = "only \"/\" with a part below, or \"?full=true\", may follow";
            return Err(rest.fault(fault));
        }
    }
}

/// True if a selector begins with a type, and so is no heading's text.
fn is_typed(text: &str) -> bool {
    ["heading:", "block:"]
        .iter()
        .any(|kind| text.starts_with(kind))
        || Rest::begins_heading(text)
        || level(text).is_some()
        || Rest::begins_section(text)
}

/// The level that a text names which is nothing else: `h2`.
fn level(text: &str) -> Option<u8> {
    let digit = text.strip_prefix('h')?.parse().ok()?;
    (text.len() == 2 && (1..=6).contains(&digit)).then_some(digit)
}

fn kind(rest: &mut Rest<'_>) -> Result<PartKind, SelectorFault> {
    if let Some(level) = level(rest.text) {
        rest.skip(rest.text);
        return Ok(PartKind::Headings(level));
    }
    if rest.skip("heading:") || Rest::begins_heading(rest.text) {
        let level = (1..=6_u8).find(|level| rest.skip(&format!("h{level}")));
        return level.map(PartKind::Headings).ok_or_else(|| {
            rest.skip("h");
            rest.fault("a heading's type is one of h1 to h6")
        });
    }
    if Rest::begins_section(rest.text) {
        rest.skip("section");
        return Ok(PartKind::Sections);
    }
    if !rest.skip("block:") {
        return Err(rest.fault("a part below is a heading:, a section or a block:"));
    }
    let kind = BlockKind::ALL
        .into_iter()
        .find(|kind| rest.skip(kind.name()));
    kind.map(PartKind::Blocks).ok_or_else(|| {
        rest.fault("a block's type is one of paragraph, code, list, table, blockquote")
    })
}

impl fmt::Display for PartSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            write!(f, "{step}")?;
        }
        if let Some(kind) = self.listed {
            let slash = if self.steps.is_empty() { "" } else { "/" };
            write!(f, "{slash}{kind}")?;
        }
        f.write_str(if self.is_full { "?full=true" } else { "" })
    }
}

impl Outline<'_> {
    /// Finds the part that a reader's selector names, or whose parts of a kind it lists.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn find_part(&self, selector: &PartSelector) -> Result<Section, SectionFault> {
        let mut below: Option<Outline<'_>> = None;
        let mut found = Section {
            range: self.bounds.clone(),
            body: self.body,
        };
        for step in &selector.steps {
            let here = below.as_ref().unwrap_or(self);
            found = here.find(step)?;
            below = Some(here.within(&(found.body..found.range.end)));
        }
        Ok(found)
    }

    /// Finds the heading that an address names behind its `#`: the wiki writes a heading's text
    /// there in lower case, with `-` for white space and without other marks; behind that of a
    /// repeated one `-1`, `-2` and so on.
    ///
    /// # Errors
    /// There is none; of several the wiki means the first.
    pub fn find_anchor(&self, anchor: &str) -> Result<Section, SectionFault> {
        let wanted = slug(anchor);
        let repeated = wanted.rsplit_once('-');
        let repeated = repeated.and_then(|(name, count)| Some((name, count.parse().ok()?)));
        self.find_text(&wanted, 0)
            .or_else(|| repeated.and_then(|(name, count)| self.find_text(name, count)))
            .ok_or(SectionFault::NotFound)
    }

    /// The section of the heading with this text, but for case and marks, behind so many of the
    /// same text.
    fn find_text(&self, text: &str, behind: usize) -> Option<Section> {
        let wanted = slug(text);
        let same = self.headings.iter();
        let mut same = same.filter(|heading| !wanted.is_empty() && slug(&heading.text) == wanted);
        same.nth(behind).map(Section::from)
    }

    /// The section here that corresponds to a section of another outline: by the heading's text,
    /// and by how many equal headings precede it. `None` if the other section has no heading; an
    /// inner error if this outline lacks the heading.
    pub fn find_same(
        &self,
        section: &Section,
        other: &Outline<'_>,
    ) -> Option<Result<Section, SectionFault>> {
        let its = |heading: &&Heading| heading.section == section.range;
        let heading = other.headings.iter().find(its)?;
        let wanted = slug(&heading.text);
        let before = other.headings.iter().take_while(|other| *other != heading);
        let behind = before.filter(|other| slug(&other.text) == wanted).count();
        Some(
            self.find_text(&wanted, behind)
                .ok_or(SectionFault::NotFound),
        )
    }

    pub(in crate::page) fn block_at(
        &self,
        kind: BlockKind,
        index: usize,
    ) -> Result<Section, SectionFault> {
        let mut all = self.blocks.iter().filter(|block| block.kind == kind);
        let block = all.nth(index);
        let Range { start, end } = block.ok_or(SectionFault::NotFound)?.range;
        // What lies in a block begins behind its own first byte.
        let body = (start + 1..end).find(|at| self.text.is_char_boundary(*at));
        Ok(Section {
            range: start..end,
            body: body.unwrap_or(end),
        })
    }
}

fn slug(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c == '-');
    let words = words.map(|word| word.chars().filter(|c| c.is_alphanumeric() || *c == '_'));
    let mut words: Vec<String> = words.map(Iterator::collect).collect();
    words.retain(|word| !word.is_empty());
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::PartSelector;
    use crate::page::{Outline, SectionFault, SourceFormat};
    use proptest::prelude::*;

    const PAGE: &str = "Lead\n\n# One\n\n```sh\na\n```\n\n## Two\n\n- x\n\n  ```\n  b\n  ```\n- y\n\n> q\n>\n> - no\n\n### C# & F#\n\n| a |\n|---|\n| 1 |\n\n## Three\n\n```\nc\n```\n";

    fn found<'a>(text: &'a str, name: &str) -> Result<&'a str, SectionFault> {
        let part = Outline::in_format(text, SourceFormat::Markdown)
            .find_part(&PartSelector::parse(name).expect(name))?;
        Ok(text.get(part.range).unwrap())
    }

    #[test]
    fn parts_below_parts_are_found() {
        for (name, part) in [
            ("block:code[0]", "```sh\na\n```\n"),
            ("block:code[1]", "  ```\n  b\n  ```\n"),
            ("block:code[2]", "```\nc\n```\n"),
            ("heading:h2[0]/block:code[0]", "  ```\n  b\n  ```\n"),
            ("h1[0]/h2[1]/block:code[0]", "```\nc\n```\n"),
            ("heading:h2[1]/block:code[0]", "```\nc\n```\n"),
            ("One/Two/block:list[0]", "- x\n\n  ```\n  b\n  ```\n- y\n"),
            ("block:list[0]/block:code[0]", "  ```\n  b\n  ```\n"),
            ("heading:h1[0]/heading:h2[1]", "## Three\n\n```\nc\n```\n"),
            ("heading:h1[0]/section[0]", "\n```sh\na\n```\n\n"),
            ("section[0]/block:paragraph[0]", "Lead\n"),
            ("block:blockquote[0]", "> q\n>\n> - no\n"),
            (
                "heading:h2[0]/heading:h3[0]/block:table[0]",
                "| a |\n|---|\n| 1 |\n",
            ),
        ] {
            assert_eq!(found(PAGE, name), Ok(part), "{name}");
        }
        for name in [
            "block:code[3]",
            "block:list[1]",
            "heading:h2[1]/block:table[0]",
            "heading:h3[0]/block:code[0]",
            "block:code[0]/block:code[0]",
            "block:paragraph[1]",
        ] {
            assert_eq!(found(PAGE, name), Err(SectionFault::NotFound), "{name}");
        }
    }

    #[test]
    fn an_address_names_a_heading_by_its_anchor() {
        let outline = Outline::new(PAGE);
        for (anchor, line) in [
            ("c-f", "### C# & F#"),
            ("three", "## Three"),
            ("Three", "## Three"),
            ("three-0", "## Three"),
        ] {
            let part = outline.find_anchor(anchor).expect(anchor);
            assert!(PAGE.get(part.range).unwrap().starts_with(line));
        }
        assert!(outline.find_anchor("#").is_err());
        assert!(outline.find_anchor("x").is_err());
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let deep = ["section[0]"; 17].join("/");
        assert!(PartSelector::parse(&deep).is_err());
        let less = deep.strip_prefix("section[0]/").unwrap();
        assert!(PartSelector::parse(less).is_ok());
        for (text, at) in [
            ("block:cod[0]", 6),
            ("heading:h2[0]/Install", 14),
            ("heading:h2[0]/block:codex", 24),
            ("heading:h2[0]x", 13),
            ("block:code[0]?full=false", 13),
            ("section[1]/", 11),
            ("", 0),
            ("?full=true", 0),
        ] {
            let fault = PartSelector::parse(text).expect_err(text);
            assert_eq!(fault.at, at, "{text}: {fault}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn a_selector_is_read_as_it_is_written(
            text in prop_oneof!["\\PC*", "(section|heading:h|h[1-7]|block:(code|list)?|\\?full=true|[0-6\\[\\]/?ä ]){0,8}"],
        ) {
            match PartSelector::parse(&text) {
                Ok(selector) => {
                    prop_assert_eq!(PartSelector::parse(&selector.to_string()), Ok(selector));
                }
                Err(fault) => prop_assert!(fault.at <= text.chars().count()),
            }
        }
    }

    proptest! {
        #[test]
        fn every_block_is_found_again(text in "(# a\n|```\n|- x\n|  |> |\\| a \\|\n|\\|---\\|\n|b\n|\n){0,20}") {
            let outline = Outline::new(&text);
            for (at, block) in outline.blocks.iter().enumerate() {
                let index = outline.blocks.iter().take(at).filter(|other| other.kind == block.kind).count();
                let part = outline.find_part(&PartSelector::parse(&format!("block:{}[{index}]", block.kind)).unwrap());
                prop_assert_eq!(part.unwrap().range, block.range.clone());
                prop_assert!(block.range.start < block.range.end);
            }
        }
    }
}
