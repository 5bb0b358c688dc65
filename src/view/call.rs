//! Puts one call on record into words: for programs, and as named facts for terminal and review page.

use std::collections::BTreeMap;
use std::iter;

use serde::Serialize;

use super::client::client;
use super::story::{place, warned, whose};
use crate::audit::{
    Actor, ApprovalId, CallHistory, CallId, Client, Record, ShownMember, SpentApproval,
};
use crate::change::Operation;
use crate::error::camel_case;
use crate::page::{Field, Locale, PagePath, own_words};

/// The most calls that one fact names.
const MOST_CALLS: usize = 20;

/// One call as its records together tell it, for programs and for rows of a table. A program is shown no
/// member that is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView<'a> {
    /// The call.
    pub call: CallId,
    /// The time of its first record.
    pub time: &'a str,
    /// The outcome, in a word.
    pub outcome: &'static str,
    /// The client that called.
    pub client: Option<&'a Client>,
    /// The person who acted, at a terminal or on the review page.
    pub actor: Option<&'a Actor>,
    /// The tool or command.
    pub tool: Option<&'a str>,
    /// The kind of write.
    pub operation: Option<Operation>,
    /// The number of pages, if it names more than one: then it has no page of its own.
    pub pages: Option<usize>,
    /// The id of the page.
    pub id: Option<i64>,
    /// The page's locale.
    pub locale: Option<&'a str>,
    /// The page's path.
    pub path: Option<&'a str>,
    /// The path to which it moved.
    pub new_path: Option<&'a str>,
    /// The gate that stopped it.
    pub gate: Option<&'a str>,
    /// That gate's decision.
    pub decision: Option<&'a str>,
    /// The code of the failure.
    pub code: Option<&'a str>,
    /// The reason of the failure.
    pub reason: Option<&'a str>,
    /// The fields that changed.
    pub fields: &'a [Field],
    /// The lines of content that came.
    pub lines_added: u64,
    /// The lines of content that went.
    pub lines_removed: u64,
    /// The call that it takes back.
    pub undoes: Option<CallId>,
    /// More calls that it takes back.
    #[serde(skip_serializing_if = "<[CallId]>::is_empty")]
    pub also_undoes: &'a [CallId],
    /// The set of changes that it belongs to, or is.
    pub set: Option<CallId>,
    /// The call that took it back.
    pub undone_by: Option<CallId>,
    /// The approval that it spent.
    pub confirms: Option<ApprovalId>,
    /// The calls that spent its approval.
    #[serde(skip_serializing_if = "<[CallId]>::is_empty")]
    pub spent_by: &'a [CallId],
    /// The proposal that it made or decided on.
    pub proposal: Option<&'a str>,
    /// The client whose proposal it decided on.
    pub proposer: Option<&'a Client>,
    /// The reason for it in the caller's own words.
    pub note: Option<&'a str>,
    /// The time that it took, in milliseconds.
    pub ms: u64,
    /// The members that every door shows as they are, by their names.
    #[serde(flatten)]
    pub shown: BTreeMap<String, String>,
}

impl<'a> CallView<'a> {
    /// The call as all its records tell it.
    pub fn new(call: &'a CallHistory) -> Self {
        let (gate, caller) = (call.gate(), call.caller());
        let (first, last) = (call.records.first(), call.records.last());
        let refused = call.create_refused();
        let undo = call.records.iter().find(|record| record.undoes.is_some());
        let pages = call.pages();
        let page = (pages == 1).then_some(call);
        let path = |path: fn(&Record) -> Option<&PagePath>| {
            page.and_then(|call| Some(call.latest(path)?.as_str()))
        };
        Self {
            call: call.call,
            time: first.map_or("", |record| record.time.as_str()),
            outcome: call.ending.as_str(),
            client: caller.client,
            actor: caller.actor,
            tool: call.latest(|record| record.tool.as_deref()),
            operation: call.operation,
            pages: (pages > 1).then_some(pages),
            id: page.and_then(|call| call.id),
            locale: page
                .and_then(|call| call.latest(|record| record.locale.as_ref().map(Locale::as_str))),
            path: path(|record| record.path.as_ref()),
            new_path: path(|record| record.new_path.as_ref()),
            gate: gate.map(|(gate, _)| gate),
            decision: gate.map(|(_, decision)| decision),
            code: refused.or(last).and_then(|record| record.code.as_deref()),
            reason: refused.or(last).and_then(|record| record.reason.as_deref()),
            fields: last.map_or(&[], |record| &record.fields),
            lines_added: last.map_or(0, |record| record.lines_added),
            lines_removed: last.map_or(0, |record| record.lines_removed),
            undoes: call.latest(|record| record.undoes),
            also_undoes: undo.map_or(&[], |record| &record.also_undoes),
            set: call.set,
            undone_by: call.undone_by,
            confirms: call.latest(|record| record.confirms),
            spent_by: &call.spent_by,
            proposal: call.latest(|record| record.proposal.as_deref()),
            proposer: caller.proposer,
            note: call.latest(|record| record.note.as_deref()),
            ms: last.map_or(0, |record| record.ms),
            shown: shown(call)
                .map(|(member, text)| (camel_case(member.name), text))
                .collect(),
        }
    }

    /// Its text of a member that every door shows as it is.
    pub fn shown(&self, member: &ShownMember) -> &str {
        let text = self.shown.get(&camel_case(member.name));
        text.map_or("", String::as_str)
    }
}

/// A fact about a call, under its name.
#[derive(Debug)]
pub struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its text, in parts.
    pub parts: Vec<FactPart>,
}

/// A part of what a fact says: as it is, or with a page of its own where there are pages.
#[derive(Debug)]
pub enum FactPart {
    /// Text as it is.
    Text(String),
    /// A call, which has a page of its own.
    Call(CallId),
    /// A proposal, by its id.
    Proposal(String),
}
use FactPart::{Call, Proposal, Text};

/// The facts about a call in the order in which a reader asks for them; a locale is joined to its path
/// by `joint`.
pub fn facts(call: &CallHistory, joint: char) -> Vec<Fact> {
    let view = CallView::new(call);
    let said = |text: Option<&str>| text.map(str::to_owned);
    let fields: Vec<&str> = view.fields.iter().map(|field| field.name()).collect();
    let texts = [
        ("reason", said(view.reason)),
        ("why", view.note.map(|note| own_words(whose(call), note))),
        ("code", said(view.code)),
        ("client", view.client.map(with_address)),
        ("decided by", said(view.actor.map(Actor::as_str))),
        ("asked by", view.proposer.map(with_address)),
        ("tool", said(view.tool)),
        ("write", write(call, &view, joint)),
        ("warned of", warned(iter::once(call))),
        ("fields", (!fields.is_empty()).then(|| fields.join(", "))),
    ];
    let plain = shown(call).map(|(member, text)| (member.name, Some(text)));
    let texts = texts.into_iter().chain(plain);
    let texts = texts.map(|(name, text)| (name, text.map(Text).into_iter().collect()));
    let calls = |calls: &[CallId]| calls.iter().take(MOST_CALLS).copied().map(Call).collect();
    let confirmation = call.confirmation().map(|by| confirmed(call, by));
    let proposal = said(view.proposal).map(Proposal);
    let set = view.set.filter(|_| !call.is_set());
    let parts: [(_, Vec<FactPart>); 6] = [
        ("confirmed", confirmation.unwrap_or_default()),
        ("spent by", calls(&call.spent_by)),
        ("takes back", calls(&call.undone_calls())),
        ("taken back by", calls(call.undone_by.as_slice())),
        ("proposal", proposal.into_iter().collect()),
        ("of the set", calls(set.as_slice())),
    ];
    let facts = texts.chain(parts).filter(|(_, parts)| !parts.is_empty());
    facts.map(|(name, parts)| Fact { name, parts }).collect()
}

/// The members that every door shows as they are, of the newest record that has them.
fn shown(call: &CallHistory) -> impl Iterator<Item = (&'static ShownMember, String)> + '_ {
    let latest = |member: &'static ShownMember| {
        let text = call.records.iter().rev().find_map(member.shown)?;
        Some((member, text))
    };
    Record::SHOWN.iter().filter_map(latest)
}

/// The kind of write, its page and the page's id, or the number of its pages.
fn write(call: &CallHistory, view: &CallView<'_>, joint: char) -> Option<String> {
    let operation = call.operation?;
    Some(match (call.pages(), view.id) {
        (0, _) => operation.to_string(),
        (1, Some(id)) => format!("{operation} {} (id {id})", place(call, joint)),
        (1, None) => format!("{operation} {}", place(call, joint)),
        (pages, _) => format!("{operation} {pages} pages"),
    })
}

/// A client, the person behind it, and from where it called.
fn with_address(known: &Client) -> String {
    let mut words = client(known);
    if let Some(person) = &known.person {
        words = format!("{words}, {} at {}", person.subject, person.issuer);
    }
    match &known.address {
        Some(address) => format!("{words}, from {address}"),
        None => words,
    }
}

/// The approval of the write.
fn confirmed(call: &CallHistory, by: SpentApproval<'_>) -> Vec<FactPart> {
    let words = |words: &str| vec![Text(words.to_owned())];
    let then = |words: &str, part| vec![Text(words.to_owned()), part];
    match by {
        SpentApproval::StaticToken => words("with the operator's static token"),
        SpentApproval::Preview(preview) => then("with the preview of ", Call(preview)),
        SpentApproval::Yes(yes) if yes == call.call => words("by a person's yes in this call"),
        SpentApproval::Yes(yes) => then("by a person's yes in ", Call(yes)),
        SpentApproval::Standing(yes, scope) => {
            let scope = match scope {
                "page" => "this kind of write to this page",
                "kind" => "this kind of write to any page",
                other => other,
            };
            let words = format!("by a person's standing yes to {scope}, given in ");
            vec![Text(words), Call(yes)]
        }
        SpentApproval::Proposal(proposal) => then(
            "by the decision on the proposal ",
            Proposal(proposal.to_string()),
        ),
    }
}
