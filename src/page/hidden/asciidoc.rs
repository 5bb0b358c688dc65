//! Finds what `AsciiDoc` hides: comments, conditions that never hold, attributes that nothing
//! refers to, and what its HTML hides.

use super::elements;
use super::found::{HiddenText, LineCounter, add_styles};
use super::prose::{has_words, longest_run};
use super::sheet::HidingStyles;
use super::source_map::Mapped;

/// Adds what a page in `AsciiDoc` hides.
pub(super) fn walk(text: &str, hidden: &mut HiddenText) {
    const MOST_LOOKED_FOR: usize = 32;
    // The mark that ends the block that is being read.
    let mut block: Option<&str> = None;
    let mut html = Mapped::default();
    let (mut start, mut defined, mut conditions, mut is_comment_next) = (0, 0, 0, false);
    for (index, row) in text.split_inclusive('\n').enumerate() {
        let (line, at) = (index + 1, start);
        start += row.len();
        let bare = row.trim_end();
        if let Some(end) = block {
            if bare == end {
                block = None;
            } else if end.starts_with("//") || is_comment_next {
                if has_words(bare) {
                    hidden.comments.add(line);
                }
            } else if end == "++++" {
                html.raw(row, at);
            }
            is_comment_next &= block.is_some();
            continue;
        }
        let is_mark = bare.len() >= 4
            && ["//", "--", "..", "++", "=="]
                .iter()
                .any(|mark| bare.starts_with(mark));
        if is_mark && bare.bytes().all(|byte| bare.bytes().next() == Some(byte)) {
            block = Some(bare);
            continue;
        }
        if is_comment_next && !bare.is_empty() {
            // A paragraph that is marked as a comment.
            hidden.comments.add(line);
            continue;
        }
        is_comment_next = bare == "[comment]";
        if bare.starts_with("//") && !bare.starts_with("///") && has_words(bare) {
            hidden.comments.add(line);
        } else if let Some(rest) = bare.strip_prefix("ifdef::") {
            let name = rest.split('[').next().unwrap_or_default();
            let is_known = name.starts_with("env-")
                || name.starts_with("backend")
                || name.starts_with("basebackend");
            conditions += 1;
            let is_set = || text.contains(&format!(":{name}:"));
            if !is_known && (conditions > MOST_LOOKED_FOR || !is_set()) {
                hidden.unrendered.add(line);
            }
        } else if let Some((name, said)) =
            bare.strip_prefix(':').and_then(|rest| rest.split_once(':'))
        {
            let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
            if is_name && longest_run(said) > 3 {
                defined += 1;
                let is_used = || text.contains(&format!("{{{name}}}"));
                let is_heading = matches!(
                    name,
                    "description" | "keywords" | "title" | "author" | "revremark"
                );
                if defined > MOST_LOOKED_FOR
                    || (!is_heading || longest_run(said) > 40) && !is_used()
                {
                    hidden.unused_definitions.add(line);
                }
            }
        }
        for mark in ["+++", "pass:["] {
            if let Some((_, rest)) = bare.split_once(mark) {
                html.raw(rest.split(['+', ']']).next().unwrap_or_default(), at);
            }
        }
    }
    let mut sheet = HidingStyles::default();
    add_styles(html.html(), &mut sheet);
    let (mut source, mut lines) = (html.sources(), LineCounter::of(text));
    elements::walk(html.html(), &sheet, hidden, |at| lines.line_of(source(at)));
}
