//! Rows of a difference as a table, in one column or two.

use maud::{Markup, html};

use super::difference::{DiffLine, DiffLineKind, DiffRow, rows, side_by_side};
use super::markup::text;

/// All of a difference, in one column.
pub(super) fn whole(diff: &str) -> Markup {
    let rows: Vec<_> = rows(diff, 0..usize::MAX).collect();
    table(&rows, false, "difference")
}

/// Rows of a difference, in one column or two; `name` tells a screen reader of what.
pub(super) fn table(all: &[DiffRow], is_side_by_side: bool, name: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            @if is_side_by_side {
                table.diff.two {
                    @for (old, new) in side_by_side(all) {
                        tr { (half(old, true)) (half(new, false)) }
                    }
                }
            } @else {
                table.diff.one {
                    @for row in all { (row_of_one(row)) }
                }
            }
        }
    }
}

fn row_of_one(row: &DiffRow) -> Markup {
    html! {
        @match row {
            DiffRow::Note(note) => tr.gap { td.no {} td.no {} td { (text(note)) } },
            DiffRow::Gap => tr.gap { td.no {} td.no {} td { "⋯" } },
            DiffRow::Line(line) => tr class=(line.fate.class()) {
                td.no data-no=[line.old] {}
                td.no data-no=[line.new] {}
                (code(line))
            },
        }
    }
}

/// One column of two.
fn half(row: Option<&DiffRow>, is_old: bool) -> Markup {
    html! {
        @match row {
            None => { td.no.none {} td.none {} },
            Some(DiffRow::Note(note)) => { td.no {} td.gap { @if is_old { (text(note)) } } },
            Some(DiffRow::Gap) => { td.no {} td.gap { "⋯" } },
            Some(DiffRow::Line(line)) => {
                td.no data-no=[if is_old { line.old } else { line.new }] {}
                (code(line))
            },
        }
    }
}

fn code(line: &DiffLine) -> Markup {
    let words = html! {
        @for (is_marked, word) in &line.words {
            @if *is_marked { mark { (text(word)) } } @else { (text(word)) }
        }
        @if line.lacks_line_feed { span.quiet title="the text ends without a line feed" { " ⏎̸" } }
    };
    html! {
        td class=(format!("code {}", line.fate.class())) dir="auto" {
            @match line.fate {
                DiffLineKind::Kept => (words),
                DiffLineKind::Removed => del { (words) },
                DiffLineKind::Added => ins { (words) },
            }
        }
    }
}
