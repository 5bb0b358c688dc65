//! One call, or calls that belong together, with all that is on record of them.

use std::collections::HashMap;
use std::fmt::Display;
use std::iter;

use maud::{Markup, html};

use super::super::fields;
use super::super::markup::{counted, text};
use super::cells;
use crate::audit::{
    AuditError, AuditLog, CallGroup, CallHistory, CallId, ChangeDetails, Client, SpentApproval,
};
use crate::page::own_words;
use crate::view::{Story, warned, whose};

/// The most pages left out that are named.
const MOST_LEFT_OUT: usize = 100;

/// Links from the pages of the record.
pub(super) struct RecordLinks<'a> {
    /// True if there are other pages of the record: a report in one file has none.
    pub is_served: bool,
    /// The address of a call's page in the wiki.
    pub wiki: &'a (dyn Fn(&CallHistory) -> Option<String> + Sync),
}

impl RecordLinks<'_> {
    /// A call's id, which leads to it.
    fn call(&self, call: CallId) -> Markup {
        self.to("record/calls", call)
    }

    /// An id, which leads to its page where there are other pages.
    fn to(&self, kind: &str, id: impl Display) -> Markup {
        let id = id.to_string();
        html! {
            @if self.is_served { a href=(format!("/review/{kind}/{id}")) { code { (id) } } }
            @else { code { (id) } }
        }
    }
}

/// The changes that calls made, as far as there was room.
pub(super) type AllChanged = HashMap<CallId, ChangeDetails>;

/// Reads the changes that calls made, as long as there are bytes left.
pub(super) fn read_changes<'a>(
    log: &AuditLog,
    calls: impl IntoIterator<Item = &'a CallHistory>,
    left: &mut usize,
) -> Result<AllChanged, AuditError> {
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
                        span class=(format!("end {}", cells::tone(one.ending()))) { (cells::ending(one)) }
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
        @match (call.actor(), call.client()) {
            (Some(actor), _) => (cells::person(actor)),
            (None, Some(client)) => (cells::client(client)),
            (None, None) => "nobody",
        }
    }
}

/// One change of a set, folded.
fn change(one: &CallHistory, changed: Option<&ChangeDetails>, links: &RecordLinks) -> Markup {
    html! {
        details.one open[changed.is_some() && links.is_served] {
            summary {
                span class=(format!("end {}", cells::tone(one.ending()))) { (cells::ending(one)) }
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
        @else if !cells::is_of_many(call) && (call.before().is_some() || call.after().is_some()) {
            p.note {
                "What it changed is not on this page: "
                @if links.is_served {
                    a href=(format!("/review/record/calls/{}", call.call)) { "look at it alone" }
                } @else { code { "wikijs-gate audit show " (call.call) } }
            }
        }
        @if call.is_cut { p.note { "There are more records, which no honest log has." } }
    }
}

fn facts(call: &CallHistory, links: &RecordLinks) -> Markup {
    let latest = |tells: fn(&crate::audit::Record) -> Option<&str>| call.latest(tells);
    let note = latest(|record| record.note.as_deref());
    let last = call.create_refused().or(call.records.last());
    let fields: Vec<&str> = last.map_or_else(Vec::new, |record| {
        record.fields.iter().map(|field| field.name()).collect()
    });
    let all = [
        ("Reason", last.and_then(|record| record.reason.clone())),
        ("Why", note.map(|note| own_words(whose(call), note))),
        ("Code", last.and_then(|record| record.code.clone())),
        ("Client", call.client().map(whole)),
        (
            "Decided by",
            call.actor().map(|actor| actor.as_str().to_owned()),
        ),
        ("Asked by", call.proposer().map(whole)),
        (
            "Tool",
            latest(|record| record.tool.as_deref()).map(str::to_owned),
        ),
        ("Warned of", warned(iter::once(call))),
        ("Fields", (!fields.is_empty()).then(|| fields.join(", "))),
    ];
    let undoes = call.undone_calls();
    html! {
        dl {
            dt { "Call" } dd { (links.call(call.call)) }
            @if let Some(address) = (links.wiki)(call) {
                dt { "Page" }
                dd {
                    (cells::place(call)) " "
                    a href=(address) rel="noopener noreferrer" target="_blank" { "in the wiki" }
                    @if let (Some(id), true) = (call.id(), links.is_served) {
                        " · " a href=(format!("/review/record?page={id}")) { "its story" }
                    }
                }
            }
            @for (name, value) in &all {
                @if let Some(value) = value { dt { (name) } dd { bdi { (text(value)) } } }
            }
            @if let Some(by) = call.confirmation() {
                dt { "Confirmed" } dd { (confirmed(call, by, links)) }
            }
            @if !call.spent_by.is_empty() {
                dt { "Spent by" }
                dd { @for by in call.spent_by.iter().take(20) { (links.call(*by)) " " } }
            }
            @if !undoes.is_empty() {
                dt { "Takes back" }
                dd { @for undone in undoes.iter().take(20) { (links.call(*undone)) " " } }
            }
            @if let Some(by) = call.undone_by { dt { "Taken back by" } dd { (links.call(by)) } }
            @if let Some(proposal) = latest(|record| record.proposal.as_deref()) {
                dt { "Proposal" }
                dd { (links.to("sets", text(proposal))) }
            }
            @if let Some(set) = call.set().filter(|_| !call.is_set()) {
                dt { "Of the set" } dd { (links.call(set)) }
            }
        }
    }
}

/// The approval of the write, with a link to it.
fn confirmed(call: &CallHistory, by: SpentApproval<'_>, links: &RecordLinks) -> Markup {
    html! {
        @match by {
            SpentApproval::StaticToken => "with the operator's static token",
            SpentApproval::Preview(preview) => { "with the preview of " (links.call(preview)) }
            SpentApproval::Yes(yes) if yes == call.call => "by a person's yes in this call",
            SpentApproval::Yes(yes) => { "by a person's yes in " (links.call(yes)) }
            SpentApproval::Standing(yes, scope) => {
                "by a person's standing yes to "
                @match scope {
                    "page" => "this kind of write to this page",
                    "kind" => "this kind of write to any page",
                    other => (text(other)),
                }
                ", given in " (links.call(yes))
            }
            SpentApproval::Proposal(proposal) => {
                "by the decision on the proposal " (links.to("sets", proposal))
            }
        }
    }
}

/// A client with all that is known of it.
fn whole(client: &Client) -> String {
    let also = |name: &str, value: &Option<String>| {
        let value = value.as_ref();
        value.map_or_else(String::new, |value| format!(", {name} {value}"))
    };
    let (subject, address) = (also("as", &client.subject), also("from", &client.address));
    let own = match client.name.trim() {
        "" => "an unnamed client".to_owned(),
        name => format!("{name} {}", client.version),
    };
    format!("{}{subject}{address}", own.trim_end())
}

fn records(call: &CallHistory, links: &RecordLinks) -> Markup {
    html! {
        details.lines open[!links.is_served] { summary { (counted(call.records.len(), "record", "records")) }
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
        @if !values.is_empty() { div.text { (fields::table(&values)) } }
        (fields::differences(&texts, &changed.diff))
        @for note in &changed.notes { p.note { (text(note)) } }
    }
}
