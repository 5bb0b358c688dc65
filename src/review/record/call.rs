//! One call, or calls that belong together, with all that is on record of them.

use std::collections::HashMap;
use std::fmt::Display;

use maud::{Markup, html};

use super::super::fields;
use super::super::markup::{SiteLinks, counted, text};
use super::cells;
use crate::audit::{AuditLog, AuditResult, CallGroup, CallHistory, CallId, ChangeDetails};
use crate::error::capitalised;
use crate::view::{self, FactPart, Story};

/// The most pages left out that are named.
const MOST_LEFT_OUT: usize = 100;

/// Links from the pages of the record.
pub(super) struct RecordLinks<'a> {
    /// Links to the other pages; a report in one file has none.
    pub served: Option<SiteLinks<'a>>,
    /// The address of a call's page in the wiki.
    pub wiki: &'a (dyn Fn(&CallHistory) -> Option<String> + Sync),
}

impl RecordLinks<'_> {
    /// A call's id, which leads to it.
    fn call(&self, call: CallId) -> Markup {
        leading(call, self.served.map(|links| links.call(call)))
    }

    /// A part of a fact, which leads to its page if it has one.
    fn part(&self, part: &FactPart) -> Markup {
        match part {
            FactPart::Text(said) => html! { bdi { (text(said)) } },
            FactPart::Call(call) => html! { (self.call(*call)) " " },
            FactPart::Proposal(proposal) => {
                let id = text(proposal);
                leading(&id, self.served.map(|links| links.set(&id)))
            }
        }
    }
}

/// An id, which leads to its page if there is one.
fn leading(id: impl Display, page: Option<String>) -> Markup {
    html! {
        @if let Some(page) = page { a href=(page) { code { (id) } } }
        @else { code { (id) } }
    }
}

/// The changes that calls made, as far as there was room.
pub(super) type AllChanged = HashMap<CallId, ChangeDetails>;

/// Reads the changes that calls made, as long as there are bytes left.
pub(super) fn read_changes<'a>(
    log: &AuditLog,
    calls: impl IntoIterator<Item = &'a CallHistory>,
    left: &mut usize,
) -> AuditResult<AllChanged> {
    let mut all = AllChanged::new();
    for call in calls {
        if *left == 0 {
            break;
        }
        let changed = ChangeDetails::read(log, call)?;
        *left = left.saturating_sub(changed.bytes());
        all.insert(call.call, changed);
    }
    Ok(all)
}

/// All that is on record of a group.
pub(super) fn group(group: &CallGroup, changed: &AllChanged, links: &RecordLinks) -> Markup {
    let is_one = group.calls.len() == 1 && group.of_changes == 0;
    html! {
        @if is_one {
            @for one in &group.calls { (call(one, changed.get(&one.call), links)) }
        } @else {
            (story(&Story::new(group, '/'), links))
            @for one in group.calls.iter().rev() {
                section.part {
                    h3 { (cells::time(one)) " "
                        span class=(format!("end {}", one.ending.tone().as_str())) { (cells::ending(one)) }
                        " " (step(one))
                    }
                    (call(one, changed.get(&one.call), links))
                }
            }
            @if let Some(left_out) = group.left_out() {
                h3.changes { "Left out: " (left_out.count) " of " (left_out.of) }
                p { (cells::places_left_out(&left_out, MOST_LEFT_OUT)) }
            }
            @if group.of_changes > 0 {
                h3.changes { (counted(group.of_changes, "change", "changes")) }
                @for one in &group.changes { (change(one, changed.get(&one.call), links)) }
                @if group.of_changes > group.changes.len() {
                    p.quiet { "and " (group.of_changes - group.changes.len()) " more" }
                }
            }
        }
    }
}

/// The story of a group, which comes first.
fn story(story: &Story, links: &RecordLinks) -> Markup {
    html! {
        dl.summary {
            @for line in &story.lines {
                dt { (line.about) }
                dd {
                    bdi { (text(&line.says)) }
                    @for change in &line.changes {
                        br;
                        bdi.path { (text(&change.page)) }
                        @if let Some(outcome) = change.outcome { " " b { (outcome.replace('_', " ")) } }
                        " " (links.call(change.call))
                    }
                }
            }
        }
    }
}

/// The caller of one call in a group.
fn step(call: &CallHistory) -> Markup {
    html! {
        span.quiet { "by " }
        @match (call.caller().actor, call.caller().client) {
            (Some(actor), _) => (cells::person(actor)),
            (None, Some(client)) => (cells::client(client)),
            (None, None) => "nobody",
        }
    }
}

/// One change of a set, folded.
fn change(one: &CallHistory, changed: Option<&ChangeDetails>, links: &RecordLinks) -> Markup {
    html! {
        details.one open[changed.is_some() && links.served.is_some()] {
            summary {
                span class=(format!("end {}", one.ending.tone().as_str())) { (cells::ending(one)) }
                " " (cells::operation(one)) " " (cells::place(one))
            }
            (call(one, changed, links))
        }
    }
}

/// All that is on record of one call.
fn call(call: &CallHistory, changed: Option<&ChangeDetails>, links: &RecordLinks) -> Markup {
    html! {
        (facts(call, links))
        (records(call, links))
        @if let Some(changed) = changed { (difference(changed)) }
        @else if call.pages() == 1 && (call.before.is_some() || call.after.is_some()) {
            p.note {
                "What it changed is not on this page: "
                @if let Some(links) = links.served {
                    a href=(links.call(call.call)) { "look at it alone" }
                } @else { code { "wikijs-gate audit show " (call.call) } }
            }
        }
        @if call.is_cut { p.note { "There are more records, which no honest log has." } }
    }
}

fn facts(call: &CallHistory, links: &RecordLinks) -> Markup {
    html! {
        dl {
            dt { "Call" } dd { (links.call(call.call)) }
            @if let Some(address) = (links.wiki)(call) {
                dt { "Page" }
                dd {
                    (cells::place(call)) " "
                    a href=(address) rel="noopener noreferrer" target="_blank" { "in the wiki" }
                    @if let Some((id, links)) = call.id.zip(links.served) {
                        " · " a href=(links.to(format_args!("/review/record?page={id}"))) { "its story" }
                    }
                }
            }
            @for fact in view::facts(call, '/') {
                dt { (capitalised(fact.name)) }
                dd { @for part in &fact.parts { (links.part(part)) } }
            }
        }
    }
}

fn records(call: &CallHistory, links: &RecordLinks) -> Markup {
    html! {
        details.lines open[links.served.is_none()] { summary { (counted(call.records.len(), "record", "records")) }
        div.scroll tabindex="0" role="region" aria-label="records of the call" {
            table.records {
                thead { tr { th { "Time (UTC)" } th { "Event" } th { "Says" } th { "Run and line" } } }
                tbody {
                    @for record in &call.records {
                        tr {
                            td { (text(&record.time.replace('T', " ").replace('Z', ""))) }
                            td { (text(&record.event_and_step())) }
                            td { bdi { (text(&record.says())) } }
                            td.run { (record.run) ":" (record.seq) }
                        }
                    }
                }
            }
        }
        }
    }
}

/// The changes that a call made.
fn difference(changed: &ChangeDetails) -> Markup {
    let (values, texts) = fields::split(&changed.changes);
    html! {
        @if !values.is_empty() { div.text { (fields::table(values.iter().copied())) } }
        (fields::differences(&texts, &changed.diff))
        @for note in &changed.notes { p.note { (text(note)) } }
    }
}
