//! The list of what was done, the newest first.

use maud::{Markup, html};

use super::super::markup::{self, Frame, SiteLinks, counted};
use super::cells;
use super::reader::CallListPage;
use super::selection::Selection;
use crate::audit::{CallGroup, CallHistory, CallStats};

/// The page.
pub(super) fn page(
    listed: &CallListPage,
    selection: &Selection,
    (is_first, may_check): (bool, bool),
    frame: &Frame,
) -> Markup {
    let story = selection.page().and_then(|id| {
        let calls = listed.groups.groups.iter().flat_map(CallGroup::all);
        let mut records = calls.flat_map(|call| call.records.iter().rev());
        let newest = records.find(|record| record.id == Some(id) && record.path.is_some())?;
        let alone = CallHistory::new(newest.call?, vec![newest.clone()], false);
        Some((id, alone))
    });
    let links = frame.links();
    let body = html! {
        main #main {
            @if let Some((id, newest)) = story {
                p.back { a href=(links.to("/review/record")) { "← Record" } }
                h1 { "The story of " (cells::place(&newest)) " " span.quiet { "(page " (id) ")" } }
            } @else {
                h1 { "Record" }
                (selection.form(links))
            }
            @for wrong in &selection.wrong { p.news.bad role="alert" { (wrong) } }
            @if is_first { (figures(listed)) }
            (rows(&listed.groups.groups, selection, links))
            @if let Some(next) = listed.groups.next {
                p.more { a.button href=(links.to(selection.older(&next.to_string()))) { "Show older ones" } }
            }
            @if listed.groups.unreadable > 0 && may_check {
                p.warning { (listed.groups.unreadable) " lines of the log cannot be read." }
            }
            @if may_check { p.quiet.aside { a href=(links.to("/review/record/check")) { "Check that nothing was changed" } } }
        }
    };
    markup::page("Record", frame, &body)
}

fn rows(groups: &[CallGroup], selection: &Selection, links: SiteLinks) -> Markup {
    html! {
        @if groups.is_empty() {
            p.empty {
                @if selection.is_narrow() {
                    "Nothing on record is so. " a href=(links.to("/review/record")) { "Show all" }
                } @else { "Nothing is on record yet. What agents write or are refused appears here." }
            }
        } @else {
            ol.calls {
                @for group in groups {
                    @if let Some(head) = group.head() {
                        li { a.call href=(links.call(head.call)) { (cells::row(group)) } }
                    }
                }
            }
        }
    }
}

fn figures(listed: &CallListPage) -> Markup {
    let Some((figures, chart)) = listed.figures.as_ref().filter(|(all, _)| all.calls > 0) else {
        return html! {};
    };
    html! {
        (summary(figures))
        (chart.drawing())
    }
}

/// The numbers of calls, by outcome, and of clients.
pub(super) fn summary(figures: &CallStats) -> Markup {
    let of =
        |words: &[&str]| -> u64 { words.iter().map(|word| figures.outcomes.count(word)).sum() };
    let clients = figures.calls_by_client.iter().count();
    html! {
        ul.figures {
            @for (name, count, tone) in [
                ("calls", figures.calls, "calm"),
                ("applied", of(&["applied"]), "good"),
                ("refused", of(&["refused", "not_applied"]), "bad"),
                ("in doubt", of(&["partly_applied", "unknown", "open"]), "doubt"),
                ("previews", of(&["preview"]), "calm"),
                ("proposals", of(&["proposal", "rejected", "withdrawn"]), "calm"),
            ] {
                li {
                    b class=(if count > 0 { tone } else { "calm" }) { (count) }
                    " " span { (if count == 1 { name.trim_end_matches('s') } else { name }) }
                }
            }
            li { b { (clients) } " " span { @if clients == 1 { "client" } @else { "clients" } } }
        }
    }
}

/// One group on a page of its own.
pub(super) fn one(group: &CallGroup, body: &Markup, frame: &Frame) -> Markup {
    let Some(head) = group.head() else {
        return markup::trouble("Nothing is here", frame, "", "");
    };
    let is_one = group.calls.len() + group.of_changes == 1;
    let page = html! {
        main #main.record {
            p.back { a href=(frame.links().to("/review/record")) { "← Record" } }
            h1 {
                @if group.of_changes > 1 { "A set of " (counted(group.of_changes, "change", "changes")) }
                @else { (cells::operation_on_pages(group, head)) }
            }
            p.by {
                span class=(format!("end {}", head.ending.tone().as_str())) { (cells::ending(head)) }
                " · " (cells::time(head)) " UTC"
            }
            h2.said { "On record" }
            div.story.whole[is_one] { (body) }
        }
    };
    markup::page("Record", frame, &page)
}
