//! Finds what is hidden in syntax that Wiki.js reads line by line.

use std::ops::Range;

use super::code;
use super::found::HiddenText;
use super::prose::{is_long_title, longest_run};

/// Finds hidden text in what Wiki.js reads line by line and does not show: attributes in braces,
/// definitions of abbreviations, comments of formulas.
pub(super) fn rows(text: &str, code: &[Range<usize>], hidden: &mut HiddenText) {
    const MOST_LOOKED_FOR: usize = 32;
    if !has_any(text, b"{$") && !text.contains("*[") {
        return;
    }
    let mut blocks = code.iter().peekable();
    let (mut start, mut is_in_formula, mut abbreviations) = (0, false, 0);
    for (index, row) in text.split_inclusive('\n').enumerate() {
        let (line, at) = (index + 1, start);
        start += row.len();
        while blocks.next_if(|block| block.end <= at).is_some() {}
        if blocks.peek().is_some_and(|block| block.contains(&at)) {
            continue;
        }
        // Most rows have none of this, so one check must suffice for them.
        if !is_in_formula && !has_any(row, b"{$*") {
            continue;
        }
        let bare = row.trim();
        let formula = bare.matches("$$").count();
        if is_in_formula || formula > 0 || bare.contains("\\phantom{") || bare.contains("color{") {
            code::formula(bare, line, hidden);
        }
        is_in_formula ^= formula % 2 == 1;
        if in_braces(bare).any(is_unseen_in_braces) {
            hidden.attributes.add(line);
        }
        if let Some((label, said)) = bare
            .strip_prefix("*[")
            .and_then(|rest| rest.split_once("]:"))
        {
            abbreviations += 1;
            let is_used = || text.matches(label).nth(1).is_some();
            if is_long_title(said)
                || abbreviations > MOST_LOOKED_FOR
                || label.is_empty()
                || !is_used()
            {
                hidden.unused_definitions.add(line);
            }
        }
    }
}

fn has_any(text: &str, signs: &[u8]) -> bool {
    signs.iter().any(|sign| text.as_bytes().contains(sign))
}

fn in_braces(row: &str) -> impl Iterator<Item = &str> {
    let pieces = row.split('{').skip(1);
    pieces.filter_map(|piece| piece.split_once('}').map(|(inside, _)| inside))
}

/// True if the text in braces is attributes with a sentence in them.
fn is_unseen_in_braces(inside: &str) -> bool {
    let is_set = inside.contains("=\"") || inside.contains("='");
    is_set && longest_run(&inside.replace(['=', '"', '\''], " ")) > 3
}
