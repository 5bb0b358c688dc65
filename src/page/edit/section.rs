//! Edits a part of a Markdown page, a section or a block, while all else stays as it is.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use super::super::select::position::{line_end, with_line_ends_of};
use crate::page::{
    Block, BlockKind, Heading, Outline, PartKind, PartSelector, Section, SectionFault, Selector,
};

/// The way in which an edit changes a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SectionMode {
    /// The content takes the place of the whole part, the heading included.
    Replace,
    /// The content is added at the end of the part, behind the parts below its heading; rows of a
    /// table or items of a list go into the one that the part ends with, or is.
    Append,
    /// The content is added before the part's body: behind the heading's lines, or behind the
    /// front matter; to a table or list, as its first rows or items.
    Prepend,
    /// The content is added before the part, as a part of its own.
    InsertBefore,
    /// The content is added behind the part, as a part of its own.
    InsertAfter,
    /// The part goes, with its heading; content is not looked at.
    Remove,
}

/// The reason that a part is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PartFault {
    /// The selector names no part, or several.
    #[error(transparent)]
    Section(#[from] SectionFault),
    /// The part cannot be changed in this way: what to do instead.
    #[error("{0}")]
    Unfit(&'static str),
}

/// The signs that lines of a block inside of a list or quote begin with.
const SIGNS: [char; 3] = [' ', '\t', '>'];

const NO_ROWS: &str = "A table takes rows here: each line such as | a | b |, with no more cells than the table has. Otherwise use sectionMode insertBefore, insertAfter or replace";
const NO_ITEMS: &str = "A list takes items here, with its own mark, such as - item. Otherwise use sectionMode insertBefore, insertAfter or replace";
const NO_INSIDE: &str = "Nothing is put into a paragraph, code or a quote in this way: use sectionMode replace, insertBefore or insertAfter, or edits";
const HELD: &str = "The block stands inside a list or a quote: use sectionMode replace, with the signs before each line as a read shows them, or edits";

/// Changes one part of a page; all outside of it stays byte for byte. If content that begins no
/// section of its own is appended to a section that ends in a table or list, and does not go into
/// it, the kind of that block comes with the text.
///
/// Content is put in as it is, but gets the line ends of a page that has only `\r\n` if it has only
/// line feeds. Where it meets text without a blank line between them, line ends are added, in the
/// kind that the page has most; where a removed part leaves an underlined heading behind a line of
/// text, too. At the end of the page the content ends with a line feed if the page did. Empty
/// content adds nothing, and replacing by it is removing.
///
/// # Errors
/// The selector names no part, or several; a block cannot be changed in this way.
pub fn edit_section(
    text: &str,
    selector: &PartSelector,
    mode: SectionMode,
    content: &str,
) -> Result<(String, Option<BlockKind>), PartFault> {
    let content = &*with_line_ends_of(text, &[content], content);
    let outline = Outline::new(text);
    let Section { range, body } = outline.find_part(selector)?;
    if let Some(Selector::Nth(PartKind::Blocks(kind), _)) = selector.steps.last() {
        let block = Block { kind: *kind, range };
        return Ok((outline.with_block(&block, mode, content)?, None));
    }
    let (gone, content) = match mode {
        SectionMode::Replace => (range, content),
        SectionMode::Remove => (range, ""),
        SectionMode::Append => {
            let grown = |block: &Block| outline.grown(block, outline.end_inside(block), content);
            let mut last = outline.last_blocks(&range).peekable();
            let kind = last.peek().map(|block| block.kind);
            if let Some(grown) = last.find_map(grown) {
                return Ok((grown, None));
            }
            let kind = kind.filter(|_| !is_marked_heading(content));
            return Ok((put(text, range.end..range.end, content), kind));
        }
        SectionMode::InsertAfter => (range.end..range.end, content),
        // What stands before the first heading begins behind the front matter.
        SectionMode::InsertBefore => {
            let start = range.start.max(outline.body.min(range.end));
            (start..start, content)
        }
        SectionMode::Prepend => (body..body, content),
    };
    Ok((put(text, gone, content), None))
}

/// The text of a part as another text of the page has it, to take the place of the part, with line
/// ends as [`edit_section`] puts them in.
///
/// # Errors
/// `Ok` with the fault if the other text lacks the part; otherwise as [`edit_section`].
pub fn part_as_in(
    text: &str,
    other: &str,
    selector: &PartSelector,
) -> Result<Result<String, SectionFault>, SectionFault> {
    let (own, others) = (Outline::new(text), Outline::new(other));
    let section = own.find_part(selector)?;
    // An index counts the headings of one text; a name means the same in both.
    let is_named = matches!(selector.steps.first(), Some(Selector::Named(_)));
    let same = others.find_same(&section, &own).filter(|_| !is_named);
    let found = same.unwrap_or_else(|| others.find_part(selector));
    Ok(found.map(|found| {
        let is_end = |c| c == '\n' || c == '\r';
        let here = text.get(section.range).unwrap_or_default();
        let there = other.get(found.range).unwrap_or_default();
        let there = there.trim_end_matches(is_end);
        let there = with_line_ends_of(text, &[there], there);
        let ends = here.get(here.trim_end_matches(is_end).len()..);
        [&there, ends.unwrap_or_default()].concat()
    }))
}

/// The source of a new page of this title that a part of a page becomes: its headings are lifted,
/// so that the highest is of level 1. If the part begins with the title itself as its heading, that
/// goes, since the wiki shows the title above the page; it stays if the page that it is a part of
/// begins with its own title, too.
///
/// # Errors
/// The selector names no part, or several.
pub fn page_of_part(
    text: &str,
    selector: &PartSelector,
    title: &str,
    source_title: &str,
) -> Result<String, SectionFault> {
    let outline = Outline::new(text);
    let section = outline.find_part(selector)?;
    let is_like =
        |heading: &Heading, title: &str| heading.text.to_lowercase() == title.trim().to_lowercase();
    let repeats_title = outline.headings.first().is_some_and(|first| {
        let above = text.get(outline.body..first.lines.start);
        first.level == 1
            && is_like(first, source_title)
            && above.is_some_and(|above| above.trim().is_empty())
    });
    // Front matter belongs to the page that it stands in.
    let range = section.range.start.max(outline.body.min(section.range.end))..section.range.end;
    let own = outline.headings.iter();
    let own: Vec<&Heading> = own
        .filter(|heading| range.contains(&heading.lines.start))
        .collect();
    let lifted = own.iter().map(|heading| heading.level).min().unwrap_or(1) - 1;
    let (mut page, mut passed) = (String::new(), range.start);
    for heading in own {
        page.push_str(text.get(passed..heading.lines.start).unwrap_or_default());
        let lines = text.get(heading.lines.clone()).unwrap_or_default();
        passed = heading.lines.end;
        if repeats_title || !page.is_empty() || !is_like(heading, title) {
            page.push_str(&lift(lines, lifted));
        }
    }
    page.push_str(text.get(passed..range.end).unwrap_or_default());
    Ok(page.trim_start_matches(['\r', '\n']).to_owned())
}

/// The lines of a heading, so many levels higher.
fn lift(lines: &str, levels: u8) -> String {
    match lines.trim_start().starts_with('#') {
        true => lines.replacen('#', "", usize::from(levels)),
        // A line of dashes below it makes level 2.
        false if levels > 0 => {
            let below = lines.trim_end().rfind('\n').map_or(0, |at| at + 1);
            let (text, below) = lines.split_at_checked(below).unwrap_or((lines, ""));
            [text, &below.replace('-', "=")].concat()
        }
        false => lines.to_owned(),
    }
}

impl Outline<'_> {
    /// Changes a block.
    fn with_block(
        &self,
        block: &Block,
        mode: SectionMode,
        content: &str,
    ) -> Result<String, PartFault> {
        let (text, Range { start, end }) = (self.text, block.range.clone());
        let holds = |other: &Block| {
            matches!(other.kind, BlockKind::List | BlockKind::Blockquote)
                && block.kind.counts_inside()
                && other.range.contains(&start)
        };
        let holder = self.blocks.iter().find(|other| holds(other));
        let is_alike = |first: &Block| first.kind == block.kind && first.range.start == 0;
        match mode {
            SectionMode::Append | SectionMode::Prepend => {
                let at = match (mode, block.kind) {
                    (SectionMode::Append, _) => self.end_inside(block),
                    // Behind the head and the line below it.
                    (_, BlockKind::Table) => {
                        start + self.lines(block).take(2).map(str::len).sum::<usize>()
                    }
                    _ => start,
                };
                let grown = self.grown(block, at, content);
                grown.ok_or(PartFault::Unfit(match block.kind {
                    BlockKind::Table => NO_ROWS,
                    BlockKind::List => NO_ITEMS,
                    _ => NO_INSIDE,
                }))
            }
            // Whatever stands around a block goes on to do so around another of its kind.
            SectionMode::Replace
                if holder.is_some()
                    || Outline::new(content).blocks.first().is_some_and(is_alike) =>
            {
                let edited = put_lines(text, block.range.clone(), content);
                let is_kept = |holder| self.is_kept(holder, &Outline::new(&edited));
                if !holder.is_none_or(is_kept) {
                    return Err(PartFault::Unfit(HELD));
                }
                Ok(edited)
            }
            _ if holder.is_some() => Err(PartFault::Unfit(HELD)),
            SectionMode::InsertBefore => Ok(put(text, start..start, content)),
            SectionMode::InsertAfter => Ok(put(text, end..end, content)),
            SectionMode::Replace => Ok(put(text, block.range.clone(), content)),
            SectionMode::Remove => Ok(put(text, block.range.clone(), "")),
        }
    }

    /// The tables and lists that a part ends with, the innermost first.
    fn last_blocks(&self, part: &Range<usize>) -> impl Iterator<Item = &Block> {
        let held = self.text.get(part.clone()).unwrap_or_default();
        let end = part.start + held.trim_end().len();
        let starts = part.clone();
        let blocks = self.blocks.iter().rev();
        blocks.filter(move |block| {
            matches!(block.kind, BlockKind::Table | BlockKind::List)
                && starts.contains(&block.range.start)
                && block.range.end >= end
        })
    }

    fn lines(&self, block: &Block) -> impl Iterator<Item = &str> {
        let held = self.text.get(block.range.clone()).unwrap_or_default();
        held.split_inclusive('\n')
    }

    /// The place where a block's last row or item ends. To Wiki.js a line without `|` ends a table,
    /// such as one of classes (`{.dense}`); to the parser it is a row.
    fn end_inside(&self, block: &Block) -> usize {
        if block.kind != BlockKind::Table {
            return block.range.end;
        }
        let rows = self.lines(block).take_while(|line| line.contains('|'));
        block.range.start + rows.map(str::len).sum::<usize>()
    }

    /// The text with rows put into a table there, or items into a list; `None` if the content is
    /// something else, or would not become a part of the block.
    fn grown(&self, block: &Block, at: usize, content: &str) -> Option<String> {
        let content = content.trim_matches(['\r', '\n']);
        let own = Outline::new(content);
        let added = match block.kind {
            BlockKind::Table if own.blocks.iter().all(|own| own.kind != BlockKind::Table) => {
                self.rows(block, content)?
            }
            BlockKind::List => {
                let is_list =
                    |own: &Block| own.kind == BlockKind::List && own.range == (0..content.len());
                own.blocks.iter().any(is_list).then(|| content.to_owned())?
            }
            _ => return None,
        };
        let edited = put_lines(self.text, at..at, &added);
        let after = Outline::new(&edited);
        let count = |all: &Outline<'_>| {
            let blocks = all.blocks.iter();
            blocks.filter(|own| own.kind == block.kind).count()
        };
        // Another list in place of an item, or a heading less, would be no part of it.
        let is_part = self.is_kept(block, &after)
            && after.headings.len() == self.headings.len()
            && (block.kind != BlockKind::List || count(&after) == count(self));
        is_part.then_some(edited)
    }

    /// True if a block begins in an edited text where it did, and ends there but for what was added.
    fn is_kept(&self, block: &Block, after: &Outline<'_>) -> bool {
        after.blocks.iter().any(|own| {
            own.kind == block.kind
                && own.range.start == block.range.start
                && own.range.end + self.text.len() == block.range.end + after.text.len()
        })
    }

    /// The rows of a content, each with the signs that the table's lines begin with; `None` if a
    /// line is no row.
    fn rows(&self, table: &Block, content: &str) -> Option<String> {
        let below = self.lines(table).nth(1)?;
        let most = cells(below);
        let lead = below.get(..below.len() - below.trim_start_matches(SIGNS).len())?;
        let mut rows = String::new();
        for line in content.split_inclusive('\n') {
            let row = line.trim_start_matches(SIGNS);
            let is_row = row.starts_with('|') && (1..=most).contains(&cells(row));
            if !is_row {
                return None;
            }
            rows.push_str(lead);
            rows.push_str(row);
        }
        Some(rows)
    }
}

/// The number of cells of a row of a table.
fn cells(row: &str) -> usize {
    // What is escaped ends no cell.
    let row = row.trim().replace("\\\\", "").replace("\\|", "");
    let row = row.trim_start_matches(SIGNS);
    let inner = row.strip_prefix('|').unwrap_or(row);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.matches('|').count() + 1
}

/// Puts content in the place of lines, apart from what stands around it by line ends alone.
fn put_lines(text: &str, gone: Range<usize>, content: &str) -> String {
    let before = text.get(..gone.start).unwrap_or_default();
    let after = text.get(gone.end..).unwrap_or_default();
    let is_open = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let lead = if is_open(before) { line_end(text) } else { "" };
    let is_last = after.is_empty() && !text.ends_with('\n');
    let end = if is_open(content) && !is_last {
        line_end(text)
    } else {
        ""
    };
    [before, lead, content, end, after].concat()
}

/// Puts content in the place of a part, apart from what stands around it by a blank line.
fn put(text: &str, gone: Range<usize>, content: &str) -> String {
    let before = text.get(..gone.start).unwrap_or_default();
    let after = text.get(gone.end..).unwrap_or_default();
    let line_end = line_end(text);
    let mut edited = before.to_owned();
    let end_lines = |edited: &mut String, number| {
        edited.extend(std::iter::repeat_n(line_end, number));
    };
    if content.is_empty() {
        if !gone.is_empty() && !is_marked_heading(after) {
            end_lines(&mut edited, missing_line_ends(before, after));
        }
    } else {
        end_lines(&mut edited, missing_line_ends(before, content));
        edited.push_str(content);
        let missing = if after.is_empty() {
            usize::from(text.ends_with('\n') && !content.ends_with('\n'))
        } else {
            missing_line_ends(content, after)
        };
        end_lines(&mut edited, missing);
    }
    edited.push_str(after);
    edited
}

/// True if a text begins with a heading that needs no blank line before it.
fn is_marked_heading(text: &str) -> bool {
    let text = text.trim_start();
    let rest = text.trim_start_matches('#');
    rest.len() < text.len() && rest.chars().next().is_none_or(char::is_whitespace)
}

/// Number of line ends missing between two texts for a blank line to lie there.
fn missing_line_ends(before: &str, after: &str) -> usize {
    if before.is_empty() || after.is_empty() {
        return 0;
    }
    // Other white space, such as a no-break space, makes a paragraph.
    let is_blank =
        |line: Option<&str>| !line.unwrap_or_default().contains(|c| !" \t\r".contains(c));
    let ended = before.strip_suffix('\n');
    let has_blank =
        is_blank(ended.unwrap_or(before).rsplit('\n').next()) || is_blank(after.split('\n').next());
    usize::from(ended.is_none()) + usize::from(!has_blank)
}

#[cfg(test)]
mod tests;
