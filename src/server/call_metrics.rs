//! Counts and times calls of tools.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult};
use time::OffsetDateTime;

use crate::audit::CallId;
use crate::meter::{Gauge, Histogram};
use crate::trace::{self, SpanEnd, SpanKind};
use crate::write::WriteContext;

/// The most clients that are counted separately.
const MOST_CLIENTS: usize = 50;
/// The time for which a look at the proposals counts: it reads every one of them.
const PROPOSALS_FRESH: Duration = Duration::from_mins(1);
/// The label of all others.
const OTHER: &str = "other";
/// The label of callers without a name.
const UNNAMED: &str = "unnamed";
/// The label of all people who signed in.
pub(super) const PEOPLE: &str = "people";
/// The labels that are no client's name.
pub(super) const OWN_LABELS: [&str; 3] = [OTHER, UNNAMED, PEOPLE];

/// The server's counters; those of other rooms are only written here.
#[derive(Debug, Default)]
pub struct Metrics {
    pub(super) calls: Mutex<BTreeMap<(&'static str, String), u64>>,
    pub(super) clients: Mutex<Clients>,
    pub(super) call_time: Histogram,
    /// Calls under way.
    pub(super) in_flight: Gauge,
    pub(super) turned_away: Mutex<BTreeMap<u16, u64>>,
    /// The proposals that waited at the last look, and its time; one caller at a time looks.
    waiting: tokio::sync::Mutex<Option<(Instant, WaitingProposals)>>,
}

/// The proposals that nobody has decided on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitingProposals {
    pub(super) count: u64,
    /// The time at which the oldest was made.
    oldest: Option<OffsetDateTime>,
}

impl WaitingProposals {
    /// Age of the oldest; 0 without any.
    pub(super) fn oldest_seconds(&self) -> u64 {
        let age = self.oldest.map(|made| OffsetDateTime::now_utc() - made);
        let age = age.map(time::Duration::whole_seconds);
        age.and_then(|age| u64::try_from(age).ok()).unwrap_or(0)
    }
}

/// Calls and writes by client. Bounded: names are what clients are called, and those come and go.
#[derive(Debug, Default)]
pub(super) struct Clients {
    pub(super) calls: BTreeMap<(String, &'static str), u64>,
    pub(super) writes: BTreeMap<(String, String), u64>,
    names: BTreeSet<String>,
}

impl Clients {
    /// The name under which a client is counted.
    fn name(&mut self, client: Option<&str>) -> String {
        let Some(client) = client else {
            return UNNAMED.to_owned();
        };
        if self.names.len() < MOST_CLIENTS {
            self.names.insert(client.to_owned());
        }
        let known = self.names.get(client).map(String::as_str);
        known.unwrap_or(OTHER).to_owned()
    }

    fn count(&mut self, client: Option<&str>, ended: &'static str, write: Option<String>) {
        let client = self.name(client);
        if let Some(outcome) = write {
            *self.writes.entry((client.clone(), outcome)).or_default() += 1;
        }
        *self.calls.entry((client, ended)).or_default() += 1;
    }
}

/// A call of a tool, as it is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called<'a> {
    /// Its id.
    pub(super) id: CallId,
    /// The tool; empty where there is none of that name.
    pub(super) tool: &'static str,
    /// True if it may write.
    pub(super) can_write: bool,
    /// The named client that calls.
    pub(super) client: Option<&'a str>,
}

impl Called<'_> {
    /// The end of its span.
    fn ended(&self, answer: &Result<CallToolResponse, ErrorData>) -> SpanEnd {
        let outcome = outcome(self.tool, answer);
        let is_error = !matches!(outcome.as_str(), "ok" | "asked");
        let mut attributes = vec![
            ("mcp.method.name", "tools/call".into()),
            ("gen_ai.tool.name", self.tool.into()),
            ("wikijs_gate.call", self.id.to_string().into()),
            ("wikijs_gate.outcome", outcome.into()),
        ];
        if let Some(client) = self.client {
            attributes.push(("wikijs_gate.client", client.into()));
        }
        SpanEnd {
            attributes,
            is_error,
        }
    }
}

impl Metrics {
    /// Counts and times a call of a tool.
    pub(super) async fn call(
        &self,
        called: Called<'_>,
        call: impl Future<Output = Result<CallToolResponse, ErrorData>>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _under_way = self.in_flight.enter();
        let began = Instant::now();
        let name = || format!("tools/call {}", called.tool).into();
        let answer = trace::span(name, SpanKind::Server, call, |answer| called.ended(answer)).await;
        self.call_time.took(began.elapsed());
        let outcome = outcome(called.tool, &answer);
        let ended = match outcome.as_str() {
            "ok" => "ok",
            "asked" => "asked",
            _ => "failed",
        };
        let written = called.can_write.then(|| written(&answer)).flatten();
        self.clients.lock().count(called.client, ended, written);
        *self.calls.lock().entry((called.tool, outcome)).or_default() += 1;
        answer
    }

    /// The proposals that wait, as of the last minute; `None` if they cannot be read.
    pub(super) async fn waiting(&self, desk: &WriteContext) -> Option<WaitingProposals> {
        let mut known = self.waiting.lock().await;
        if let Some((_, waiting)) = known.filter(|(at, _)| at.elapsed() < PROPOSALS_FRESH) {
            return Some(waiting);
        }
        let all = desk.audit().proposals.all().await.ok()?;
        let open = all.iter().filter(|proposal| proposal.is_open());
        let waiting = WaitingProposals {
            count: u64::try_from(open.clone().count()).unwrap_or(u64::MAX),
            oldest: open.filter_map(|proposal| proposal.created.instant()).min(),
        };
        *known = Some((Instant::now(), waiting));
        Some(waiting)
    }

    /// Counts a request that was refused before it became a call.
    pub(super) fn turned_away(&self, status: u16) {
        *self.turned_away.lock().entry(status).or_default() += 1;
    }
}

/// The outcome of a write that was sent.
fn written(answer: &Result<CallToolResponse, ErrorData>) -> Option<String> {
    let result = match answer {
        Ok(CallToolResponse::Complete(result)) => result,
        Ok(CallToolResponse::Task(_)) => return Some("waiting".to_owned()),
        _ => return None,
    };
    if result.is_error == Some(true) {
        // Of all errors these alone are of writes that were sent.
        let outcome = match error_code(result)? {
            "OUTCOME_UNKNOWN" => "unknown",
            "PARTLY_APPLIED" => "partly_applied",
            "NOT_APPLIED" => "not_applied",
            _ => return None,
        };
        return Some(outcome.to_owned());
    }
    let answer = result.structured_content.as_ref()?;
    answer.get("outcome")?.as_str().map(str::to_owned)
}

/// The code of an answer that is an error.
fn error_code(result: &CallToolResult) -> Option<&str> {
    let meta = &result.meta.as_ref()?.0;
    meta.get("error")?.get("code")?.as_str()
}

fn outcome(tool: &str, answer: &Result<CallToolResponse, ErrorData>) -> String {
    let word = match answer {
        Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
            error_code(result).unwrap_or("error")
        }
        Ok(CallToolResponse::Complete(_) | CallToolResponse::Task(_)) => "ok",
        Ok(_) => "asked",
        Err(_) if tool.is_empty() => "unknown_tool",
        Err(_) => "cancelled",
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Clients, MOST_CLIENTS};

    #[test]
    fn clients_beyond_the_first_are_counted_as_one() {
        let mut clients = Clients::default();
        for number in 0..1_000 {
            clients.count(Some(&format!("c{number}")), "ok", None);
        }
        clients.count(Some("c0"), "ok", None);
        clients.count(None, "failed", None);
        assert_eq!(clients.calls.len(), MOST_CLIENTS + 2);
        let count = |client: &str, ended| clients.calls.get(&(client.to_owned(), ended)).copied();
        assert_eq!(count("c0", "ok"), Some(2));
        assert_eq!(count("other", "ok"), Some(950));
        assert_eq!(count("unnamed", "failed"), Some(1));
    }
}
