//! The headings of a Markdown page, and what stands below each.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::select::position::line_feeds;
use crate::page::{Block, BlockKind, LinkOrImage};

/// The format of a source, as far as its parts can be recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceFormat {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// `AsciiDoc`: parts are not recognized.
    AsciiDoc,
    /// Anything else (redirects, API descriptions): parts are not recognized.
    Other,
}

impl SourceFormat {
    /// The format of a page by its content type or its editor; Markdown if neither is known, as for
    /// nearly all pages.
    pub fn detect(content_type: Option<&str>, editor: Option<&str>) -> Self {
        match content_type.or(editor) {
            None | Some("markdown") => Self::Markdown,
            Some("html" | "code" | "ckeditor" | "wysiwyg") => Self::Html,
            Some("asciidoc") => Self::AsciiDoc,
            Some(_) => Self::Other,
        }
    }
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6; 1 is the highest.
    pub level: u8,
    /// Its text without marks and attributes, trimmed.
    pub text: String,
    /// The number of its first line, from 1.
    pub line: usize,
    /// The bytes of its lines, endings included; two or more lines if it is underlined.
    pub lines: Range<usize>,
    /// The bytes of its section: its lines and all up to the next heading of its level or a
    /// higher one.
    pub section: Range<usize>,
    /// The index of the heading above it, if any.
    pub parent: Option<usize>,
}

/// The headings of a Markdown page, in page order.
///
/// A heading is what `CommonMark` says, and what divides the page: one inside a list, a quote
/// or a footnote belongs to that block. Code blocks, HTML blocks, comments and front matter at
/// the start of the page hold none. Attributes behind a heading's text (`{.tabset}`) are not
/// part of it. Wiki.js' formulas between lines of `$$` are read as paragraphs, so that a line
/// of `=` alone in one makes a heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline<'a> {
    pub(in crate::page) text: &'a str,
    /// The bytes that it covers: the whole text, or one part.
    pub(in crate::page) bounds: Range<usize>,
    /// The headings.
    pub headings: Vec<Heading>,
    pub(in crate::page) blocks: Vec<Block>,
    pub(in crate::page) targets: Vec<LinkOrImage>,
    /// Start of the body: behind the front matter.
    pub(in crate::page) body: usize,
}

impl<'a> Outline<'a> {
    /// The outline of a page in Markdown.
    pub fn new(text: &'a str) -> Self {
        let start = front_matter(text);
        let mut outline = Self::empty(text);
        outline.body = start;
        let body = text.get(start..).unwrap_or_default();
        // How many blocks and spans are open, and the heading that is being read.
        let (mut depth, mut open) = (0_usize, None::<OpenHeading>);
        // The links and images that are open.
        let mut targets: Vec<usize> = Vec::new();
        for (event, range) in Parser::new_ext(body, options()).into_offset_iter() {
            let range = range.start + start..range.end + start;
            let is_text = matches!(event, Event::Text(_));
            match event {
                Event::Start(tag) => {
                    let is_image = matches!(tag, Tag::Image { .. });
                    match tag {
                        Tag::Heading { level, .. } if depth == 0 => {
                            open = Some(OpenHeading::new(number(level)));
                        }
                        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                            targets.push(outline.targets.len());
                            outline.target(is_image, range.start, dest_url.into_string());
                        }
                        tag => {
                            if let Some(kind) = kind(&tag)
                                && (depth == 0 || kind.counts_inside())
                            {
                                outline.block(kind, range);
                            }
                        }
                    }
                    depth += 1;
                }
                Event::End(end) => {
                    depth = depth.saturating_sub(1);
                    if matches!(end, TagEnd::Link | TagEnd::Image) {
                        targets.pop();
                    }
                    if depth == 0
                        && matches!(end, TagEnd::Heading(_))
                        && let Some(heading) = open.take()
                    {
                        outline.add(heading.level, heading.title(), range);
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut open {
                        heading.text.push_str(&text);
                    }
                    if let Some(target) = targets.last().and_then(|at| outline.targets.get_mut(*at))
                    {
                        target.text.push_str(&text);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(heading) = &mut open {
                        heading.text.push(' ');
                    }
                }
                _ => {}
            }
            if let Some(heading) = open.as_mut().filter(|_| !is_text) {
                heading.last_run = heading.text.len();
            }
        }
        outline.close_sections();
        outline
    }

    /// The outline of a source in this format.
    pub fn in_format(text: &'a str, format: SourceFormat) -> Self {
        match format {
            SourceFormat::Markdown => Self::new(text),
            SourceFormat::Html => Self::of_html(text),
            SourceFormat::AsciiDoc | SourceFormat::Other => Self::empty(text),
        }
    }

    pub(in crate::page) fn empty(text: &'a str) -> Self {
        Self {
            text,
            bounds: 0..text.len(),
            ..Self::default()
        }
    }

    /// The outline of what begins in a part, without the heading that the part begins at.
    #[must_use]
    pub fn within(&self, part: &Range<usize>) -> Self {
        let skipped = self
            .headings
            .partition_point(|heading| heading.lines.start < part.start);
        let headings = self.headings.iter().skip(skipped);
        let headings = headings.take_while(|heading| heading.lines.start < part.end);
        let headings = headings.map(|heading| Heading {
            parent: heading.parent.and_then(|at| at.checked_sub(skipped)),
            ..heading.clone()
        });
        let blocks = self.blocks.iter();
        let blocks = blocks.filter(|block| part.contains(&block.range.start));
        let targets = self.targets.iter();
        let targets = targets.filter(|target| part.contains(&target.at));
        Self {
            text: self.text,
            bounds: part.clone(),
            headings: headings.collect(),
            blocks: blocks.cloned().collect(),
            targets: targets.cloned().collect(),
            body: part.start,
        }
    }

    pub(in crate::page) fn target(&mut self, is_image: bool, at: usize, target: String) {
        self.targets.push(LinkOrImage {
            is_image,
            at,
            target,
            text: String::new(),
        });
    }

    /// Adds a block, with the whole lines that hold it.
    fn block(&mut self, kind: BlockKind, range: Range<usize>) {
        let before = self.text.get(..range.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        // A list's bytes go on to the blank lines behind it.
        let held = self.text.get(range).unwrap_or_default().trim_end();
        let range = start..self.line_end(before.len() + held.len());
        self.blocks.push(Block { kind, range });
    }

    /// End of the line that a place is in, its line feed included.
    fn line_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let feed = rest.find('\n');
        feed.map_or(self.text.len(), |feed| at + feed + 1)
    }

    /// Starts of the parts that `section[1]` and later ones name.
    pub(in crate::page) fn part_starts(&self) -> impl Iterator<Item = usize> {
        let highest = self.headings.iter().map(|heading| heading.level).min();
        let mut seen = false;
        self.headings.iter().filter_map(move |heading| {
            let is_highest = Some(heading.level) == highest;
            let begins = is_highest || !seen;
            seen |= is_highest;
            begins.then_some(heading.lines.start)
        })
    }

    /// Start of the first heading; without one the end of the page.
    pub(in crate::page) fn first_heading(&self) -> usize {
        self.headings
            .first()
            .map_or(self.bounds.end, |heading| heading.lines.start)
    }

    /// Adds a heading, with the whole lines that hold it.
    fn add(&mut self, level: u8, text: &str, range: Range<usize>) {
        let before = self.text.get(..range.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let held = self.text.get(..range.end).unwrap_or_default();
        let end = if held.ends_with('\n') {
            range.end
        } else {
            self.line_end(range.end)
        };
        let indent = before.get(start..).unwrap_or_default();
        if indent.contains(|c| c != ' ') {
            // A carriage return alone can end a line of Markdown, but no line of ours.
            return;
        }
        self.heading(level, text.to_owned(), start..end);
    }

    /// Adds a heading that takes these lines.
    pub(in crate::page) fn heading(&mut self, level: u8, text: String, lines: Range<usize>) {
        let last = self.headings.last();
        let (passed, line) = last.map_or((0, 1), |last| (last.lines.start, last.line));
        let between = self.text.get(passed..lines.start).unwrap_or_default();
        self.headings.push(Heading {
            level,
            text,
            line: line + line_feeds(between),
            section: lines.start..self.text.len(),
            lines,
            parent: None,
        });
    }

    /// Ends each section at the next heading of its level or a higher one.
    pub(in crate::page) fn close_sections(&mut self) {
        // The headings that the present place stands under, each lower than the one before.
        let mut above: Vec<(u8, usize)> = Vec::new();
        for index in 0..self.headings.len() {
            let Some(heading) = self.headings.get(index) else {
                return;
            };
            let (level, start) = (heading.level, heading.lines.start);
            while let Some((_, closed)) = above.pop_if(|(open, _)| *open >= level) {
                if let Some(closed) = self.headings.get_mut(closed) {
                    closed.section.end = start;
                }
            }
            if let Some(heading) = self.headings.get_mut(index) {
                heading.parent = above.last().map(|(_, index)| *index);
            }
            above.push((level, index));
        }
    }
}

/// A heading that is being read.
struct OpenHeading {
    level: u8,
    text: String,
    /// Where its last run of plain text begins.
    last_run: usize,
}

impl OpenHeading {
    const fn new(level: u8) -> Self {
        Self {
            level,
            text: String::new(),
            last_run: 0,
        }
    }

    /// Its text, trimmed, without the attributes that end its last run of plain text, as Wiki.js
    /// reads them: an escaped brace opens them, too. (The parser can read them itself, but at some
    /// quoted headings of several lines a debug build of it breaks off.)
    fn title(&self) -> &str {
        let last = self.text.get(self.last_run..).unwrap_or_default();
        let braces = last.trim_end().strip_suffix('}');
        match braces.and_then(|braces| braces.rsplit_once('{')) {
            Some((shown, attributes)) if is_attributes(attributes) => {
                let end = self.last_run + shown.len();
                self.text.get(..end).unwrap_or_default().trim()
            }
            _ => self.text.trim(),
        }
    }
}

/// True if what stands in braces are attributes: no empty class or id, and no other brace.
fn is_attributes(text: &str) -> bool {
    !matches!(text, "" | "." | "#") && !text.contains('}')
}

const fn kind(tag: &Tag<'_>) -> Option<BlockKind> {
    Some(match tag {
        Tag::Paragraph => BlockKind::Paragraph,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::List(_) => BlockKind::List,
        Tag::Table(_) => BlockKind::Table,
        Tag::BlockQuote(_) => BlockKind::Blockquote,
        _ => return None,
    })
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// True if a text in Markdown has a sign that every link in brackets, image and element needs.
pub(in crate::page) fn has_marks(text: &str) -> bool {
    // One sign at a time: looking for any of several goes from character to character.
    text.contains('[') || text.contains('<')
}

/// Syntax of Wiki.js' Markdown beyond `CommonMark` that moves the bounds of blocks, or changes the
/// text of a heading.
pub(in crate::page) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
}

/// End of the front matter at the start of the page; 0 if there is none.
///
/// It is closed by `---` or `...`, and its first line that is no comment names a key: a page can
/// begin with a rule, too. (The parser's own front matter can stand anywhere and would hide what
/// lies between two rules.)
pub(in crate::page) fn front_matter(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    // Some editors start with a byte order mark.
    let is_rule = |line: &&str| line.trim_start_matches('\u{feff}').trim_end() == "---";
    let Some(first) = lines.next().filter(is_rule) else {
        return 0;
    };
    let mut end = first.len();
    let mut names_key = false;
    for line in lines {
        end += line.len();
        let bare = line.trim_end();
        if names_key && (bare == "---" || bare == "...") {
            return end;
        }
        if !names_key && !bare.starts_with('#') {
            // Behind a rule comes an empty line, or a sentence.
            if !is_key(bare) {
                return 0;
            }
            names_key = true;
        }
    }
    0
}

/// True if a line names a key: one word before its first colon.
fn is_key(line: &str) -> bool {
    line.split_once(':')
        .is_some_and(|(key, _)| !key.is_empty() && !key.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests;
