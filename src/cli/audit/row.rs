//! Renders one call as a row of a table on the terminal.

use crate::audit::{Actor, CallHistory, CallId, CallOutcome, Client, OutcomeTone};
use crate::cli::print::{self, Paint};
use crate::cli::table::Cell;
use crate::view::CallView;

impl CallView<'_> {
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
