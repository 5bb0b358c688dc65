//! Finds what code, diagrams, formulas and styles hide.

use super::css::clean;
use super::found::HiddenText;
use super::prose::{has_words, longest_run, words};
use crate::page::select::position::line_feeds;

/// Comments of a diagram, and what it says that is drawn nowhere. `line` is the first line's.
pub(super) fn diagram(language: &str, text: &str, line: usize, hidden: &mut HiddenText) {
    let mut is_in_comment = false;
    let mut is_in_description = false;
    let is_mermaid = language == "mermaid";
    let is_graphviz = matches!(language, "dot" | "graphviz");
    for (index, row) in text.lines().enumerate() {
        let row = row.trim();
        let is_comment = if is_mermaid {
            row.starts_with("%%") && !row.starts_with("%%{")
        } else if is_graphviz {
            row.starts_with("//") || row.starts_with('#') || row.starts_with("/*")
        } else {
            is_in_comment |= row.starts_with("/'");
            let is_comment = is_in_comment || row.starts_with('\'');
            is_in_comment &= !row.contains("'/");
            is_comment
        };
        if is_comment && has_words(row) {
            hidden.comments.add(line + index);
        }
        if is_mermaid {
            let lower = row.to_ascii_lowercase();
            is_in_description |= lower.starts_with("accdescr") || lower.starts_with("acctitle");
            if is_in_description && words(row) > 15 {
                hidden.attributes.add(line + index);
            }
            is_in_description &= lower.contains('{') && !lower.contains('}');
            let hides = ["display:none", "opacity:0;", "opacity:0,", "font-size:0"];
            let dense: String = lower
                .chars()
                .filter(|c| !c.is_whitespace())
                .chain([';'])
                .collect();
            let is_style = lower.starts_with("classdef ") || lower.starts_with("style ");
            if is_style && hides.iter().any(|hiding| dense.contains(hiding)) {
                hidden.hidden_elements.add(line + index);
            }
        }
    }
}

/// Words so far to the right that nobody scrolls there.
pub(super) fn padding(text: &str, line: usize, hidden: &mut HiddenText) {
    const FAR: usize = 150;
    const TAB: usize = 4;
    // A row that is too short for so much space need not be read.
    let has_tabs = text.contains('\t');
    let shortest = if has_tabs { FAR / TAB } else { FAR };
    for (index, row) in text.lines().enumerate() {
        if row.len() < shortest {
            continue;
        }
        let (mut run, mut is_far) = (0_usize, false);
        for c in row.chars() {
            if is_far && c.is_alphanumeric() {
                hidden.unrendered.add(line + index);
                break;
            }
            run = match c {
                '\t' => run + TAB,
                c if c.is_whitespace() => run + 1,
                _ => 0,
            };
            is_far |= run >= FAR;
        }
    }
}

/// Comments of a style sheet, and sentences in strings that it shows nowhere.
pub(super) fn style(text: &str, line: usize, hidden: &mut HiddenText) {
    const FEW: usize = 5;
    let mut last = (0, line);
    let clean = clean(text, |at, comment| {
        if words(comment) > FEW {
            let between = text.get(last.0..at).unwrap_or_default();
            last = (at, last.1 + line_feeds(between));
            hidden.comments.add(last.1);
        }
    });
    let strings = clean.split(['"', '\'']).skip(1).step_by(2);
    if !clean.contains("content") && strings.into_iter().any(|string| longest_run(string) > FEW) {
        hidden.attributes.add(line);
    }
}

/// Comments and phantoms of a formula.
pub(super) fn formula(row: &str, line: usize, hidden: &mut HiddenText) {
    const UNSEEN: [&str; 6] = [
        "\\phantom{",
        "\\hphantom{",
        "\\vphantom{",
        "\\textcolor{white}{",
        "\\textcolor{transparent}{",
        "\\color{white}",
    ];
    let comment = row
        .match_indices('%')
        .find(|(at, _)| !row.get(..*at).unwrap_or_default().ends_with('\\'));
    if comment.is_some_and(|(at, _)| words(row.get(at..).unwrap_or_default()) > 1) {
        hidden.comments.add(line);
    }
    for unseen in UNSEEN {
        let said = row.split_once(unseen).map(|(_, said)| {
            let said = said.split('}').next().unwrap_or_default();
            said.replace(['~', '\\', '{'], " ")
        });
        if said.is_some_and(|said| words(&said) > 2) {
            hidden.hidden_elements.add(line);
        }
    }
}
