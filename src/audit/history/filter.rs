//! Selects calls.

use time::OffsetDateTime;

use super::super::run::indexed::nanoseconds;
use super::super::{CallHistory, CallOutcome};
use crate::change::Operation;
use crate::page::Prefix;
use crate::store::local::line_index::CallRange;

/// Selects calls; a field that is `None` selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Begun then or later.
    pub since: Option<OffsetDateTime>,
    /// Begun before then.
    pub until: Option<OffsetDateTime>,
    /// Of this tool or command, with or without `wikijs_` before its name.
    pub tool: Option<String>,
    /// Of this kind.
    pub operation: Option<Operation>,
    /// Of pages whose place, or intended place, is at or below this.
    pub path: Option<Prefix>,
    /// With a record of the page with this id.
    pub page: Option<i64>,
    /// Of the client with this name, authenticated or its own, of the user who ran the command, or
    /// deciding on a proposal of such a client; in any letter case.
    pub client: Option<String>,
    /// Last decided by this gate.
    pub gate: Option<String>,
    /// Of sets of changes whose ids begin so: the set itself, and its changes.
    pub set: Option<String>,
    /// With this outcome.
    pub ending: Option<CallOutcome>,
}

impl CallFilter {
    /// The time and the page by which it selects, if it selects by nothing else.
    pub(super) fn range(&self) -> Option<CallRange> {
        let (since, until, page) = (self.since, self.until, self.page);
        let only_these = Self {
            since,
            until,
            page,
            ..Self::default()
        };
        (*self == only_these).then(|| CallRange {
            since: nanoseconds(since),
            until: until.map_or(i64::MAX, |time| nanoseconds(Some(time))),
            before: (i64::MAX, i64::MAX),
            page,
        })
    }

    /// True if the filter selects a call.
    pub fn takes(&self, call: &CallHistory) -> bool {
        let began = call.began;
        let is_in_time = self.since.is_none_or(|since| began >= Some(since))
            && self.until.is_none_or(|until| began < Some(until));
        is_in_time
            && self.tool.as_ref().is_none_or(|tool| is_tool(call, tool))
            && fits(self.operation, || call.operation)
            && self.path.as_ref().is_none_or(|path| is_below(call, path))
            && self.page.is_none_or(|page| is_about(call, page))
            && self.client.as_ref().is_none_or(|name| is_by(call, name))
            && fits(self.gate.as_deref(), || call.gate().map(|(gate, _)| gate))
            && self.set.as_ref().is_none_or(|set| is_of_set(call, set))
            && fits(self.ending, || Some(call.ending))
    }
}

fn fits<T: PartialEq>(wanted: Option<T>, found: impl FnOnce() -> Option<T>) -> bool {
    wanted.is_none_or(|wanted| found() == Some(wanted))
}

fn is_by(call: &CallHistory, name: &str) -> bool {
    let caller = call.caller();
    let mut clients = [caller.client, caller.proposer].into_iter().flatten();
    clients.any(|client| client.is_called(name))
        || caller.actor.is_some_and(|actor| actor.is_called(name))
}

fn is_of_set(call: &CallHistory, beginning: &str) -> bool {
    call.set
        .is_some_and(|set| set.to_string().starts_with(beginning))
}

fn is_tool(call: &CallHistory, wanted: &str) -> bool {
    call.latest(|record| record.tool.as_deref())
        .is_some_and(|tool| {
            // A recipe stands before the tool that it calls.
            let is_it = |tool: &str| tool == wanted || tool.strip_prefix("wikijs_") == Some(wanted);
            is_it(tool) || tool.split('/').any(is_it)
        })
}

/// True if a call is about a page, as [`CallHistory::page_ids`] has it; without gathering all of them.
pub(super) fn is_about(call: &CallHistory, page: i64) -> bool {
    let mut records = call.records.iter();
    records.any(|record| record.id == Some(page)) && call.pages() > 0
}

fn is_below(call: &CallHistory, prefix: &Prefix) -> bool {
    call.records.iter().any(|record| {
        let locale = record.locale.as_ref();
        let paths = [
            record.path.as_ref(),
            record.new_path.as_ref(),
            record.aside.as_ref(),
        ];
        let is_held = |path| locale.is_some_and(|locale| prefix.holds(locale, path));
        paths.into_iter().flatten().any(is_held)
    })
}
