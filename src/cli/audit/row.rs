//! One call in one row, for people and for programs.

use serde::Serialize;

use crate::audit::{Actor, ApprovalId, CallHistory, CallId, CallOutcome, Client};
use crate::change::Operation;
use crate::cli::print::{self, Paint};
use crate::cli::table::Cell;
use crate::page::{Field, Locale, PagePath, Whose, own_words};

/// One call, as all commands give it to programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallRow<'a> {
    pub(super) call: CallId,
    pub(super) time: &'a str,
    pub(super) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<&'a Client>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<&'a Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) locale: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) new_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gate: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    pub(super) fields: &'a [Field],
    pub(super) lines_added: u64,
    pub(super) lines_removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<CallId>,
    #[serde(skip_serializing_if = "<[CallId]>::is_empty")]
    pub(super) also_undoes: &'a [CallId],
    /// The set of changes that it belongs to, or is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) set: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undone_by: Option<CallId>,
    /// The approval that it spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confirms: Option<ApprovalId>,
    /// The scope of that approval, if it was given for more than this write: `page` or `kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) standing: Option<&'a str>,
    /// The calls that spent its approval.
    #[serde(skip_serializing_if = "<[CallId]>::is_empty")]
    pub(super) spent_by: &'a [CallId],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proposal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proposer: Option<&'a Client>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'a str>,
    pub(super) ms: u64,
}

impl<'a> CallRow<'a> {
    pub(super) fn new(call: &'a CallHistory) -> Self {
        let gate = call.gate();
        let (first, last) = (call.records.first(), call.records.last());
        let refused = call.create_refused();
        Self {
            call: call.call,
            time: first.map_or("", |record| record.time.as_str()),
            outcome: call.ending().as_str(),
            client: call.client(),
            actor: call.actor(),
            tool: call.latest(|record| record.tool.as_deref()),
            operation: call.operation(),
            id: call.id(),
            locale: call.latest(|record| record.locale.as_ref().map(Locale::as_str)),
            path: call.latest(|record| record.path.as_ref().map(PagePath::as_str)),
            new_path: call.latest(|record| record.new_path.as_ref().map(PagePath::as_str)),
            gate: gate.map(|(gate, _)| gate),
            decision: gate.map(|(_, decision)| decision),
            code: refused.or(last).and_then(|record| record.code.as_deref()),
            reason: refused.or(last).and_then(|record| record.reason.as_deref()),
            fields: last.map_or(&[], |record| &record.fields),
            lines_added: last.map_or(0, |record| record.lines_added),
            lines_removed: last.map_or(0, |record| record.lines_removed),
            undoes: call.latest(|record| record.undoes),
            also_undoes: call.also_undoes(),
            set: call.set(),
            undone_by: call.undone_by,
            confirms: call.latest(|record| record.confirms),
            standing: call.latest(|record| record.standing.as_deref()),
            spent_by: &call.spent_by,
            proposal: call.latest(|record| record.proposal.as_deref()),
            proposer: call.proposer(),
            note: call.latest(|record| record.note.as_deref()),
            ms: last.map_or(0, |record| record.ms),
        }
    }

    /// The caller, and the client whose proposal it decided on.
    pub(super) fn who(&self) -> String {
        who(self.client, self.actor, self.proposer)
    }

    /// The tool, with the call that it undoes or the proposal that it decides on.
    pub(super) fn tool(&self) -> String {
        tool(self.tool, self.undoes, self.decided_proposal())
    }

    /// The proposal that the call decided on; one that it made is another matter.
    fn decided_proposal(&self) -> Option<&str> {
        let is_decision = is_decision(self.actor, self.proposer, self.undoes);
        self.proposal.filter(|_| is_decision)
    }

    /// The reason for the write, marked as the operator's or the agent's words: in a decision on a
    /// proposal, those of the client that proposed it.
    pub(super) fn why(&self) -> Option<String> {
        let whose = match (self.actor, self.proposer) {
            (Some(_), None) => Whose::Operator,
            (None, _) | (_, Some(_)) => Whose::Agent,
        };
        self.note
            .map(|note| print::harmless(&own_words(whose, note)))
    }

    /// The page's place, and the new one.
    pub(super) fn page(&self) -> String {
        page(self.locale, self.path, self.new_path, self.id)
    }

    /// The lines of content that came and went.
    pub(super) fn lines(&self) -> String {
        match (self.lines_added, self.lines_removed) {
            (0, 0) => String::new(),
            (added, removed) => format!("+{added} -{removed}"),
        }
    }
}

/// True if a call with a proposal decided on it. An undo of the operator's own without a proposer
/// made it.
pub(super) const fn is_decision(
    actor: Option<&Actor>,
    proposer: Option<&Client>,
    undoes: Option<CallId>,
) -> bool {
    proposer.is_some() || (actor.is_some() && undoes.is_none())
}

/// The caller (the user of the machine, or the client by its name), and the client that had
/// proposed the change.
pub(super) fn who(
    client: Option<&Client>,
    actor: Option<&Actor>,
    proposer: Option<&Client>,
) -> String {
    let client = client.map_or("", Client::shown);
    let who = actor.map_or(client, Actor::as_str);
    let whose = proposer.map(|client| format!(" for {}", client.shown()));
    print::harmless(&format!("{who}{}", whose.unwrap_or_default()))
}

/// A tool or command, with the call that it undoes or the proposal that it decides on.
pub(super) fn tool(tool: Option<&str>, undoes: Option<CallId>, proposal: Option<&str>) -> String {
    let undoes = undoes.map(|call| call.to_string());
    let meant = proposal.or(undoes.as_deref());
    let words = [tool, meant];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    print::harmless(&words.join(" "))
}

/// A page's place, and the new one; its id if there is no place.
pub(super) fn page(
    locale: Option<&str>,
    path: Option<&str>,
    new_path: Option<&str>,
    id: Option<i64>,
) -> String {
    let (Some(locale), Some(path)) = (locale, path) else {
        return id.map_or_else(String::new, |id| format!("id {id}"));
    };
    let moved = new_path.map_or_else(String::new, |path| format!(" -> {path}"));
    format!("{}{}", print::place(locale, path), print::harmless(&moved))
}

/// The outcome of a call, with the gate that stopped it, if any.
pub(super) fn ending(call: &CallHistory) -> Cell {
    let ending = call.ending();
    let mut text = ending.as_str().to_owned();
    if !matches!(ending, CallOutcome::Applied | CallOutcome::Unchanged)
        && let Some((gate, decision)) = call.gate()
    {
        text.push_str(&print::harmless(&match decision {
            decision
                if matches!(decision, "" | "refused")
                    || decision == gate
                    || decision == ending.as_str() =>
            {
                format!(" ({gate})")
            }
            decision => format!(" ({gate}: {decision})"),
        }));
    }
    if call.undone_by.is_some() {
        text.push_str(", undone");
    }
    Cell::painted(text, paint(ending))
}

/// The colour of an end.
pub(super) const fn paint(ending: CallOutcome) -> Paint {
    match ending {
        CallOutcome::Applied => Paint::Green,
        CallOutcome::Refused | CallOutcome::NotApplied | CallOutcome::Rejected => Paint::Red,
        CallOutcome::PartlyApplied | CallOutcome::Unknown | CallOutcome::Open => Paint::Yellow,
        CallOutcome::Unchanged
        | CallOutcome::Preview
        | CallOutcome::Approval
        | CallOutcome::Proposal
        | CallOutcome::Pause
        | CallOutcome::Settings
        | CallOutcome::Memory
        | CallOutcome::Delegation
        | CallOutcome::Purge => Paint::Dim,
    }
}

/// A time for people: to the second, in UTC.
pub(super) fn time(time: &str) -> String {
    let second = time.get(..19).unwrap_or(time);
    print::harmless(&second.replace('T', " "))
}
