//! Renders one call as a row of a table on the terminal.

use crate::audit::{Actor, CallHistory, CallOutcome, Client, OutcomeTone};
use crate::cli::prelude::*;
use crate::view::CallView;

/// A call for programs.
pub(super) fn in_json(call: &CallHistory) -> Value {
    without_nulls(json!(CallView::new(call)))
}

/// The caller (the user of the machine, or the client by its name), and the client whose proposal
/// it decided on.
pub(super) fn who(row: &CallView<'_>) -> String {
    let client = row.client.map_or("", Client::shown);
    let who = row.actor.map_or(client, Actor::as_str);
    let whose = row
        .proposer
        .map(|client| format!(" for {}", client.shown()));
    print::harmless(&format!("{who}{}", whose.unwrap_or_default()))
}

/// The tool or command, with the call that it undoes or the proposal that it decides on; one that
/// it made is another matter.
pub(super) fn tool(row: &CallView<'_>) -> String {
    // An undo of the operator's own without a proposer made the proposal.
    let is_decision = row.proposer.is_some() || (row.actor.is_some() && row.undoes.is_none());
    let undoes = row.undoes.map(|call| call.to_string());
    let meant = row.proposal.filter(|_| is_decision).or(undoes.as_deref());
    let words = [row.tool, meant].into_iter().flatten();
    print::harmless(&separated(words, " "))
}

/// The kind of write.
pub(super) fn write(row: &CallView<'_>) -> String {
    let operation = row.operation.map(|operation| operation.to_string());
    operation.unwrap_or_default()
}

/// The page's place, and the new one; its id if there is no place, and of several their number.
pub(super) fn page(row: &CallView<'_>) -> String {
    if let Some(pages) = row.pages {
        return format!("{pages} pages");
    }
    let (Some(locale), Some(path)) = (row.locale, row.path) else {
        return row.id.map_or_else(String::new, |id| format!("id {id}"));
    };
    let moved = row
        .new_path
        .map_or_else(String::new, |path| format!(" -> {path}"));
    format!("{}{}", print::place(locale, path), print::harmless(&moved))
}

/// The lines of content that came and went.
pub(super) fn lines(row: &CallView<'_>) -> String {
    match (row.lines_added, row.lines_removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{added} -{removed}"),
    }
}

/// The outcome of a call, with the gate that stopped it, if any.
pub(super) fn ending(call: &CallHistory) -> Cell {
    let ending = call.ending;
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
    match ending.tone() {
        OutcomeTone::Good => Paint::Green,
        OutcomeTone::Bad => Paint::Red,
        OutcomeTone::Doubt => Paint::Yellow,
        OutcomeTone::Calm => Paint::Dim,
    }
}

/// A time for people: to the second, in UTC.
pub(super) fn time(time: &str) -> String {
    let second = time.get(..19).unwrap_or(time);
    print::harmless(&second.replace('T', " "))
}
