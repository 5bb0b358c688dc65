//! Lists a page's contents, for choosing what to read.

use std::ops::Range;

use serde::Serialize;

use crate::page::{Block, BlockKind, LinkOrImage, Outline, escaped};

/// The most images that are named.
const MAX_IMAGES: usize = 20;
/// The most links that are named.
const MAX_LINKS: usize = 40;
/// The most characters of a link's text or address that are shown.
const MAX_SHOWN: usize = 120;

/// Contents of a page or of a part of it. Hidden characters in its texts are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageInventory {
    /// The first and last line.
    pub lines: String,
    /// Words; of Chinese and Japanese, characters.
    pub words: usize,
    /// The headings, as many as fit, a line each: `h2[3] Linux (120 words)`.
    pub headings: Vec<String>,
    /// Number of headings that follow these.
    #[serde(skip_serializing_if = "is_zero")]
    pub headings_left: usize,
    /// The offset with which they come.
    #[serde(skip_serializing_if = "is_zero")]
    pub next_offset: usize,
    /// Paragraphs, code, lists, tables, quotes, a line a kind: `3 block:code[0] to [2]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<String>,
    /// The first images, as Markdown after their line numbers: `12: ![text](address)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Number of images that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub images_left: usize,
    /// The first links, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Number of links that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub links_left: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl PageInventory {
    /// Contents of a part of a page: its headings from number `offset` on, as many as fit into the
    /// bytes, and at least one.
    pub fn new(outline: &Outline<'_>, part: &Range<usize>, offset: usize, most: usize) -> Self {
        let text = outline.text;
        let starts = LineStarts::new(text);
        let all = outline.heading_lines(part, None);
        let mut room = most;
        let fitting = all
            .iter()
            .skip(offset)
            .enumerate()
            .take_while(|(at, line)| {
                // What JSON puts around it.
                let size = line.len() + 3;
                let fits = size <= room || *at == 0;
                room = room.saturating_sub(size);
                fits
            });
        let headings: Vec<String> = fitting.map(|(_, line)| line.clone()).collect();
        let left = all.len().saturating_sub(offset + headings.len());
        let held = text.get(part.clone()).unwrap_or_default();
        let blocks = BlockKind::ALL.into_iter();
        let (images, images_left) = targets(outline, part, &starts, true);
        let (links, links_left) = targets(outline, part, &starts, false);
        Self {
            lines: starts.span(part),
            words: word_count(held),
            next_offset: if left > 0 { offset + headings.len() } else { 0 },
            headings_left: left,
            headings,
            blocks: blocks
                .filter_map(|kind| blocks_of(outline, part, kind))
                .collect(),
            images,
            images_left,
            links,
            links_left,
        }
    }
}

impl Outline<'_> {
    /// The parts that begin in a part, a line each: its headings, then its blocks but for
    /// paragraphs, a line a kind.
    pub fn parts_in(&self, part: &Range<usize>) -> Vec<String> {
        let mut parts = self.heading_lines(part, None);
        parts.extend(self.blocks_in_lines(part));
        parts
    }

    /// The blocks that begin in a part, but for paragraphs, a line a kind.
    pub fn blocks_in_lines(&self, part: &Range<usize>) -> Vec<String> {
        // Paragraphs are read with the heading above them.
        let kinds = BlockKind::ALL.into_iter();
        let kinds = kinds.filter(|kind| *kind != BlockKind::Paragraph);
        kinds
            .filter_map(|kind| blocks_of(self, part, kind))
            .collect()
    }

    /// The headings that begin in a part, of all levels or one, in a line each: selector, text, and
    /// the words of the section.
    pub(in crate::page) fn heading_lines(
        &self,
        part: &Range<usize>,
        level: Option<u8>,
    ) -> Vec<String> {
        let words = WordCounts::new(self);
        let named = self.named_headings().into_iter().zip(&self.headings);
        let held = named.enumerate().filter(|(_, (named, heading))| {
            level.is_none_or(|level| level == named.level) && part.contains(&heading.lines.start)
        });
        let lines = held.map(|(at, (named, heading))| {
            let selector = named.selector.trim_start_matches("heading:");
            let words = words.of_section(at, &heading.section);
            format!("{selector} {} ({words} words)", named.text)
        });
        lines.collect()
    }

    /// All headings, in a line each: selector, text, and the words of the section.
    pub fn all_headings(&self) -> Vec<String> {
        self.heading_lines(&self.bounds, None)
    }

    /// The blocks of a kind that begin in a part, each with its number among all of that kind.
    pub(in crate::page) fn blocks_in(
        &self,
        part: &Range<usize>,
        kind: BlockKind,
    ) -> impl Iterator<Item = (usize, &Block)> {
        let all = self.blocks.iter().filter(move |block| block.kind == kind);
        let part = part.clone();
        all.enumerate()
            .filter(move |(_, block)| part.contains(&block.range.start))
    }
}

/// The blocks of a kind in a line: how many there are, and the selectors of the first and last;
/// all between them are there, too.
fn blocks_of(outline: &Outline<'_>, part: &Range<usize>, kind: BlockKind) -> Option<String> {
    let mut held = outline.blocks_in(part, kind).map(|(index, _)| index);
    let first = held.next()?;
    Some(match held.last() {
        None => format!("1 block:{kind}[{first}]"),
        Some(last) => format!("{} block:{kind}[{first}] to [{last}]", last - first + 1),
    })
}

/// The first images or links, and how many more there are.
fn targets(
    outline: &Outline<'_>,
    part: &Range<usize>,
    lines: &LineStarts,
    images: bool,
) -> (Vec<String>, usize) {
    let held: Vec<&LinkOrImage> = outline
        .targets
        .iter()
        .filter(|target| target.is_image == images && part.contains(&target.at))
        .collect();
    let shown = held
        .iter()
        .take(if images { MAX_IMAGES } else { MAX_LINKS });
    let shown = shown.map(|target| {
        let mark = if images { "!" } else { "" };
        let text = escaped(target.text.trim(), MAX_SHOWN);
        let address = escaped(&target.target, MAX_SHOWN);
        format!("{}: {mark}[{text}]({address})", lines.line_of(target.at))
    });
    let shown: Vec<String> = shown.collect();
    let left = held.len() - shown.len();
    (shown, left)
}

/// Starts of the lines of a text.
pub(in crate::page) struct LineStarts {
    starts: Vec<usize>,
}

impl LineStarts {
    pub(in crate::page) fn new(text: &str) -> Self {
        let feeds = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            starts: std::iter::once(0).chain(feeds).collect(),
        }
    }

    fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    pub(in crate::page) fn span(&self, range: &Range<usize>) -> String {
        let last = self.line_of(range.end.saturating_sub(1).max(range.start));
        format!("{}-{last}", self.line_of(range.start))
    }
}

/// Number of words before each heading, and in all.
struct WordCounts {
    starts: Vec<usize>,
    before: Vec<usize>,
}

impl WordCounts {
    fn new(outline: &Outline<'_>) -> Self {
        let mut starts: Vec<usize> = vec![0];
        starts.extend(outline.headings.iter().map(|heading| heading.lines.start));
        starts.push(outline.text.len());
        let mut before = vec![0];
        let mut count = 0;
        for (start, end) in starts.iter().zip(starts.iter().skip(1)) {
            count += word_count(outline.text.get(*start..*end).unwrap_or_default());
            before.push(count);
        }
        Self { starts, before }
    }

    /// The words of a heading's section, by the heading's number.
    fn of_section(&self, heading: usize, section: &Range<usize>) -> usize {
        let end = self.starts.partition_point(|start| *start < section.end);
        let before = |at: usize| self.before.get(at).copied().unwrap_or_default();
        before(end).saturating_sub(before(heading + 1))
    }
}

/// The words of a text: runs of letters and digits; where no spaces are written, characters.
pub fn word_count(text: &str) -> usize {
    let is_alone = |c| matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    let mut count = 0;
    let mut is_in_word = false;
    for c in text.chars() {
        let alone = !c.is_ascii() && is_alone(c);
        let is_letter = c.is_alphanumeric();
        if alone || (is_letter && !is_in_word) {
            count += 1;
        }
        is_in_word = is_letter && !alone || (is_in_word && matches!(c, '\'' | '’' | '-' | '_'));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{PageInventory, word_count};
    use crate::page::Outline;
    use crate::page::testing::worked;
    use std::fmt::Write as _;

    #[test]
    fn words_are_counted_in_every_script() {
        for (text, count) in [
            ("", 0),
            ("# One, two-three it's", 3),
            ("äö 12", 2),
            ("每周会议 a", 5),
            ("東京タワー", 5),
            ("한국어 말", 2),
        ] {
            assert_eq!(word_count(text), count, "{text}");
        }
    }

    #[test]
    fn an_index_tells_what_a_page_holds() {
        let text = "Lead [x](/y \"t\")\n\n# One\n\na b\n\n## T\u{202e}wo\n\n- c\n\n```\nd\n```\n\n# One\n![alt](i.png)\n";
        let outline = Outline::new(text);
        let index = serde_json::to_value(PageInventory::new(&outline, &(0..text.len()), 0, 16_384))
            .unwrap();
        assert_eq!(
            index,
            serde_json::json!({
                "lines": "1-16",
                "words": 15,
                "headings": [
                    "h1[0] One (7 words)",
                    "h2[0] T\\u{202e}wo (4 words)",
                    "h1[1] One (4 words)",
                ],
                "blocks": ["3 block:paragraph[0] to [2]", "1 block:code[0]", "1 block:list[0]"],
                "images": ["16: ![alt](i.png)"],
                "links": ["1: [x](/y)"],
            })
        );
        let two = outline.headings[1].section.clone();
        let part = PageInventory::new(&outline, &two, 0, 1);
        assert_eq!((part.headings.len(), part.lines.as_str()), (1, "7-14"));
        let part = PageInventory::new(&outline, &(0..text.len()), 1, 1);
        assert_eq!((part.headings_left, part.next_offset), (1, 2));
        assert_eq!(part.headings, ["h2[0] T\\u{202e}wo (4 words)"]);
        assert_eq!(
            outline.parts_in(&two),
            [
                "h2[0] T\\u{202e}wo (4 words)",
                "1 block:code[0]",
                "1 block:list[0]"
            ]
        );
    }

    /// Time grows by length alone: four times the page takes four times as long, where the machine is busy
    /// too.
    #[test]
    fn a_page_of_4_mb_is_outlined_in_a_moment() {
        let text = |headings: usize| {
            let mut text = String::new();
            for n in 0..headings {
                let _ = write!(
                    text,
                    "## Heading {n}\n\nSome *words* of [text](/x/{n}) and more.\n\n"
                );
                if n % 4 == 0 {
                    text.push_str("- a list of words that fill a line of text\n- b\n\n```sh\ncode\n```\n\n> a quote <!-- c -->\n\n");
                }
                text.push_str(&"Lorem ipsum dolor sit amet. ".repeat(4));
                text.push_str("\n\n");
            }
            text
        };
        let html = |text: &str| {
            let mut html = String::new();
            for line in text.lines() {
                let _ = writeln!(html, "<h2>{line}<p>{line}</p>");
            }
            html
        };
        let (quarter, whole) = (text(5_125), text(20_500));
        assert!(whole.len() > 4_000_000, "{}", whole.len());
        let taken = |text: &str, is_html: bool| {
            let begin = worked();
            let outline = if is_html {
                Outline::of_html(text)
            } else {
                Outline::new(text)
            };
            let index = PageInventory::new(&outline, &(0..text.len()), 0, 16_384);
            (
                worked().saturating_sub(begin),
                index.headings_left + index.headings.len(),
            )
        };
        for is_html in [false, true] {
            let texts =
                [&quarter, &whole].map(|text| if is_html { html(text) } else { text.clone() });
            let least = |text: &str| (0..3).map(|_| taken(text, is_html)).min().unwrap();
            let [part, (took, headings)] = texts.each_ref().map(|text| least(text));
            assert!(is_html || headings == 20_500);
            assert!(took < part.0 * 16, "{part:?} and {took:?}");
        }
    }
}
