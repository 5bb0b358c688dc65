//! Renders the record of a call in few words.

use maud::{Markup, html};

use super::super::markup::{lines, more_pages, text};
use super::super::queue;
use crate::audit::{Actor, CallGroup, CallHistory, CallOutcome, Client, LeftOutOfGroup};
use crate::page::{Locale, PagePath, own_words};
use crate::view::whose;

/// A row of the list: one call, or calls that belong together.
pub(super) fn row(group: &CallGroup) -> Markup {
    html! {
        @if let Some(head) = group.head() {
            (time(head))
            span class=(format!("end {}", head.ending.tone().as_str())) { (ending(head)) }
            span.what { (what(group, head)) }
            span.who { (people(group)) }
            @let (added, removed) = group.lines();
            span.size { (lines(added, removed)) }
            @if let Some(note) = head.latest(|record| record.note.as_deref()) {
                span.note { (own_words(whose(head), note)) }
            }
        }
    }
}

/// The time at which a call began: to the second, in UTC.
pub(super) fn time(call: &CallHistory) -> Markup {
    let whole = call.records.first().map_or("", |record| &record.time);
    let second = whole.get(..19).unwrap_or(whole);
    html! {
        time datetime=(text(whole)) { (text(&second.replace('T', " "))) }
    }
}

/// The outcome of a call, with the gate that stopped it.
pub(super) fn ending(call: &CallHistory) -> Markup {
    let ending = call.ending;
    let gate = call.gate().filter(|_| ending == CallOutcome::Refused);
    html! {
        b { (ending.as_str().replace('_', " ")) }
        @if let Some((gate, _)) = gate { " by " (text(gate)) }
        @if call.undone_by.is_some() { span.quiet { ", undone" } }
    }
}

/// The operation of a group, with its page or the number of pages.
fn what(group: &CallGroup, head: &CallHistory) -> Markup {
    let of_set = group.of_changes > 1 || head.is_set();
    let is_named = head.latest(|record| record.path.as_ref()).is_some()
        && group.calls.iter().any(|call| call.pages() > 0);
    html! {
        @match group.changes.first().filter(|_| of_set) {
            Some(first) => {
                (operation(first)) " " (place(first))
                (more_pages(group.of_changes.saturating_sub(1)))
            },
            None if of_set && !is_named => "A set of changes",
            None => (operation_on_pages(group, head)),
        }
        @if let Some(left_out) = group.left_out() {
            b.left-out { ", " (left_out.count) " of " (left_out.of) " left out" }
            @if !left_out.records.is_empty() { span.quiet { ": " (places_left_out(&left_out, 3)) } }
        }
        @if let Some(undone) = head.latest(|record| record.undoes) {
            span.quiet { " takes back " code { (undone) } }
        }
    }
}

/// The write of a group's head, with its page and how many more.
pub(super) fn operation_on_pages(group: &CallGroup, head: &CallHistory) -> Markup {
    let pages = group.calls.iter().map(CallHistory::pages).max();
    let more = pages.unwrap_or_default().saturating_sub(1);
    html! { (operation(head)) " " (place(head)) (more_pages(more)) }
}

/// The pages that a person left out, as far as they are named and there is room.
pub(super) fn places_left_out(left_out: &LeftOutOfGroup, room: usize) -> Markup {
    let places = left_out.records.iter().filter_map(|record| {
        let (locale, path) = (record.locale.as_ref()?, record.path.as_ref()?);
        Some(queue::place(locale, path))
    });
    let places: Vec<String> = places.take(room).collect();
    let more = left_out.count - places.len().min(left_out.count);
    html! {
        @for (at, place) in places.iter().enumerate() {
            @if at > 0 { ", " } bdi.path { (place) }
        }
        (more_pages(more))
    }
}

/// The word for what a call does to its page; its tool where it is about none.
pub(super) fn operation(call: &CallHistory) -> Markup {
    html! {
        @match call.operation {
            Some(operation) => (queue::verb(operation)),
            None => (text(call.latest(|record| record.tool.as_deref()).unwrap_or_default())),
        }
    }
}

/// A page's place, and the one that it gets.
pub(super) fn place(call: &CallHistory) -> Markup {
    let locale = call.latest(|record| record.locale.as_ref());
    let path = call.latest(|record| record.path.as_ref());
    let new = call.latest(|record| record.new_path.as_ref());
    html! {
        @if let (Some(locale), Some(path)) = (locale, path) {
            bdi.path { (queue::place(locale, path)) }
            @if let Some(new) = new { " → " bdi.path { (text(new.as_str())) } }
        } @else if let Some(id) = call.id {
            span.path { "page " (id) }
        }
    }
}

/// The address of a call's page now, as far as the record knows.
pub(super) fn place_now(call: &CallHistory) -> Option<(&Locale, PagePath)> {
    let call = (call.pages() == 1).then_some(call)?;
    let locale = call.latest(|record| record.locale.as_ref())?;
    Some((locale, call.place()?))
}

/// The client that asked, and the person who decided.
fn people(group: &CallGroup) -> Markup {
    let Some(head) = group.head() else {
        return html! {};
    };
    let caller = head.caller();
    let asked = caller.proposer.or_else(|| {
        let mut callers = group.calls.iter().rev().map(CallHistory::caller);
        callers.find_map(|caller| caller.client.filter(|_| caller.actor.is_none()))
    });
    html! {
        @match (caller.actor, asked) {
            (Some(actor), Some(asked)) => { (client(asked)) ", decided by " (person(actor)) },
            (Some(actor), None) => (person(actor)),
            (None, _) => {
                @if let Some(own) = caller.client.or(asked) { (client(own)) }
            },
        }
    }
}

/// A client by the name to show.
pub(super) fn client(client: &Client) -> Markup {
    let name = match client.shown() {
        "" => "an unnamed client",
        name => name,
    };
    html! { bdi { (text(name)) } }
}

/// A person by their name; whole in the tooltip.
pub(super) fn person(actor: &Actor) -> Markup {
    let whole = actor.as_str();
    let (kind, name) = whole.split_once(':').unwrap_or(("", whole));
    let name = name.split("/client:").next().unwrap_or(name);
    html! {
        bdi.person title=(text(whole)) { strong { (text(name)) } }
        @if kind != "user" && !kind.is_empty() { span.quiet { " (" (text(kind)) ")" } }
    }
}
