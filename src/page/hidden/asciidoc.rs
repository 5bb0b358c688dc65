//! Finds what `AsciiDoc` hides: comments, conditions that never hold, attributes that nothing
//! refers to, and what its HTML hides.

use super::elements;
use super::kinds::{HiddenKind, HiddenText};
use super::sheet::HidingStyles;
use super::words::{has_one, has_words, longest_run, speaks};
use crate::page::markdown::html_block::HtmlBlock;

/// The most conditions and attributes whose use is looked for.
const MAX_LOOKED_FOR: usize = 32;

/// Attributes that mean something to the wiki or show at the head of the page.
const KNOWN: &str = include_str!("lists/asciidoc_attributes.txt");

/// Adds what a page in `AsciiDoc` hides.
pub(super) fn walk(text: &str, hidden: &mut HiddenText) {
    // The mark that ends the block that is being read.
    let mut block: Option<&str> = None;
    let mut html = HtmlBlock::default();
    let (mut start, mut looked_for, mut is_comment_next) = (0, 0, false);
    let mut is_used = |mark: String| {
        looked_for += 1;
        looked_for <= MAX_LOOKED_FOR && text.contains(&mark)
    };
    for (line, row) in (1..).zip(text.split_inclusive('\n')) {
        let bare = row.trim_end();
        let marks = ["//", "--", "..", "++", "=="];
        let is_mark = bare.len() >= 4 && marks.iter().any(|mark| bare.starts_with(mark));
        let is_mark = is_mark && bare.bytes().all(|byte| bare.bytes().next() == Some(byte));
        let is_in_comment = is_comment_next || block.is_some_and(|mark| mark.starts_with("//"));
        let is_line = bare.starts_with("//") && !bare.starts_with("///") && block.is_none();
        if block == Some(bare) || block.is_none() && is_mark {
            is_comment_next &= block.is_none();
            block = Some(bare).filter(|_| block.is_none());
        } else if is_in_comment || is_line {
            hidden.add(HiddenKind::Comments, line, has_words(bare));
            is_comment_next &= block.is_some() || !bare.is_empty();
        } else if let Some(mark) = block {
            html.add(start, if mark == "++++" { row } else { "" });
        } else if let Some(rest) = bare.strip_prefix("ifdef::") {
            let name = rest.split('[').next().unwrap_or_default();
            let known = ["env-", "backend", "basebackend"];
            let is_known = known.iter().any(|known| name.starts_with(known));
            let is_unset = !is_known && !is_used(format!(":{name}:"));
            hidden.add(HiddenKind::Unrendered, line, is_unset);
        } else if let Some((name, said)) = attribute(bare) {
            let is_known = has_one(KNOWN, name) && longest_run(said) <= 40;
            let is_said = !is_known && !said.contains("://") && speaks(said);
            let is_unused = is_said && !is_used(format!("{{{name}}}"));
            hidden.add(HiddenKind::UnusedDefinitions, line, is_unused);
        } else {
            is_comment_next = bare == "[comment]";
            let marks = ["+++", "pass:["].iter();
            for (_, rest) in marks.filter_map(|mark| bare.split_once(mark)) {
                html.add(start, rest.split(['+', ']']).next().unwrap_or_default());
            }
        }
        start += row.len();
    }
    elements::walk(&html, text, None, HidingStyles::default(), hidden);
}

/// The attribute that a line sets: its name and its value.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, said) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then_some((name, said))
}
