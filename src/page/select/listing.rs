//! The parts of one kind, listed: what a selector without an index names.

use std::ops::Range;

use super::super::markdown::index::LineStarts;
use crate::page::{Outline, PartKind};

impl Outline<'_> {
    /// The parts of a kind that begin in a part of the page, a line each: headings as in an
    /// outline, others with their selector and their first and last line: `block:code[0] 3-9`.
    ///
    /// Sections are counted within the part, so `name` goes before their selectors: the part's
    /// own, empty for the whole page.
    pub fn listed(&self, kind: PartKind, part: &Range<usize>, name: &str) -> Vec<String> {
        let lines = LineStarts::new(self.text);
        match kind {
            PartKind::Headings(level) => self.heading_lines(part, Some(level)),
            PartKind::Sections => self.within(part).sections(name, &lines),
            PartKind::Blocks(kind) => {
                let named = self.blocks_in(part, kind).map(|(index, block)| {
                    format!("block:{kind}[{index}] {}", lines.span(&block.range))
                });
                named.collect()
            }
        }
    }

    /// The first and the last line of a part.
    pub fn lines_of(&self, part: &Range<usize>) -> String {
        LineStarts::new(self.text).span(part)
    }

    fn sections(&self, name: &str, lines: &LineStarts) -> Vec<String> {
        let slash = if name.is_empty() { "" } else { "/" };
        let lead = self.bounds.start..self.first_heading();
        let mut listed = Vec::new();
        let text = self.text.get(lead.clone()).unwrap_or_default();
        if !text.trim().is_empty() {
            listed.push(format!("{name}{slash}section[0] {}", lines.span(&lead)));
        }
        let starts: Vec<usize> = self.part_starts().collect();
        let ends = starts.iter().skip(1).chain([&self.bounds.end]);
        for (index, (start, end)) in starts.iter().zip(ends).enumerate() {
            let mut headings = self.headings.iter();
            let heading = headings.find(|heading| heading.lines.start == *start);
            let text = heading.map_or("", |heading| heading.text.as_str());
            listed.push(format!(
                "{name}{slash}section[{}] {} {}",
                index + 1,
                lines.span(&(*start..*end)),
                super::super::escaped(text, 120)
            ));
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use crate::page::{Outline, PartSelector};

    const PAGE: &str =
        "Lead\n\n# One\n\n```\na\n```\n\n## Two\n\nx\n\n# Three\n\n```\nb\n```\n\n## Four\n";

    fn listed(selector: &str) -> Vec<String> {
        let selector = PartSelector::parse(selector).unwrap();
        let outline = Outline::new(PAGE);
        let found = outline.find_part(&selector).unwrap();
        let name = PartSelector {
            listed: None,
            ..selector.clone()
        };
        let part = found.body..found.range.end;
        outline.listed(selector.listed.unwrap(), &part, &name.to_string())
    }

    #[test]
    fn each_that_is_listed_is_found_by_its_selector() {
        assert_eq!(
            listed("heading:h2"),
            ["h2[0] Two (2 words)", "h2[1] Four (1 words)"]
        );
        assert_eq!(
            listed("block:code"),
            ["block:code[0] 5-7", "block:code[1] 15-17"]
        );
        assert_eq!(
            listed("section"),
            [
                "section[0] 1-2",
                "section[1] 3-12 One",
                "section[2] 13-19 Three"
            ]
        );
        assert_eq!(
            listed("heading:h1[1]/section"),
            [
                "heading:h1[1]/section[0] 14-18",
                "heading:h1[1]/section[1] 19-19 Four"
            ]
        );
        assert_eq!(listed("heading:h1[1]/block:code"), ["block:code[1] 15-17"]);
        assert_eq!(listed("Three/block:code"), ["block:code[1] 15-17"]);
        let outline = Outline::new(PAGE);
        for kind in [
            "heading:h1",
            "heading:h2",
            "block:code",
            "section",
            "heading:h1[1]/section",
        ] {
            for line in listed(kind) {
                let (selector, rest) = line.split_once(' ').unwrap();
                let part = outline.find_part(&PartSelector::parse(selector).unwrap());
                let part = PAGE.get(part.unwrap().range).unwrap();
                let begins = rest
                    .split_once([' ', '('])
                    .map_or("", |(heading, _)| heading);
                let is_line = begins.is_empty() || begins.contains('-');
                assert!(is_line || part.contains(begins), "{line}: {part}");
            }
        }
    }
}
