//! Rows of a difference as a table, in one column or two.

use maud::{Markup, html};

use super::difference::{Fate, Line, Row, side_by_side};
use super::markup::text;

/// Rows of a difference, in one column or two.
pub(super) fn table(rows: &[Row], is_side_by_side: bool) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="difference" {
            @if is_side_by_side {
                table.diff.two {
                    @for (old, new) in side_by_side(rows) {
                        tr { (half(old, true)) (half(new, false)) }
                    }
                }
            } @else {
                table.diff.one {
                    @for row in rows { (row_of_one(row)) }
                }
            }
        }
    }
}

fn row_of_one(row: &Row) -> Markup {
    html! {
        @match row {
            Row::Note(note) => tr.gap { td.no {} td.no {} td { (text(note)) } },
            Row::Gap => tr.gap { td.no {} td.no {} td { "⋯" } },
            Row::Line(line) => tr class=(word(line.fate)) {
                td.no data-no=[line.old] {}
                td.no data-no=[line.new] {}
                (code(line))
            },
        }
    }
}

/// One column of two.
fn half(row: Option<&Row>, is_old: bool) -> Markup {
    html! {
        @match row {
            None => { td.no.none {} td.none {} },
            Some(Row::Note(note)) => { td.no {} td.gap { @if is_old { (text(note)) } } },
            Some(Row::Gap) => { td.no {} td.gap { "⋯" } },
            Some(Row::Line(line)) => {
                td.no data-no=[if is_old { line.old } else { line.new }] {}
                (code(line))
            },
        }
    }
}

fn code(line: &Line) -> Markup {
    let words = html! {
        @for (is_marked, word) in &line.words {
            @if *is_marked { mark { (text(word)) } } @else { (text(word)) }
        }
        @if line.lacks_line_feed { span.quiet title="the text ends without a line feed" { " ⏎̸" } }
    };
    html! {
        td class=(format!("code {}", word(line.fate))) dir="auto" {
            @match line.fate {
                Fate::Kept => (words),
                Fate::Removed => del { (words) },
                Fate::Added => ins { (words) },
            }
        }
    }
}

const fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Removed => "removed",
        Fate::Added => "added",
    }
}
