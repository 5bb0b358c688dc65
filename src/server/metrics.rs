//! The server's metrics, written as Prometheus text. Every name is in [`METRICS`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::ErrorData;
use rmcp::model::CallToolResponse;
use tokio::runtime::Handle;

use super::app::App;
use super::site::Site;
use crate::meter::{Gauge, Histogram};
use crate::site::SiteName;
use crate::wiki::KeyStatus;

/// The most clients that are counted separately.
const MOST_CLIENTS: usize = 50;
/// The label of all others.
const OTHER: &str = "other";
/// The label of callers without a name.
const UNNAMED: &str = "unnamed";

/// A metric as the documentation shows it.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Its labels.
    pub labels: &'static str,
    /// A description of what it counts.
    pub meaning: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $name:literal, $kind:literal, $labels:literal, $meaning:literal;)*) => {
        $(const $constant: Metric = Metric {
            name: $name, kind: $kind, labels: $labels, meaning: $meaning,
        };)*

        /// All metrics, in the order of the output.
        pub const METRICS: &[Metric] = &[$($constant,)*];
    };
}

metrics! {
    CALLS = "wikijs_gate_calls_total", "counter", "`tool`, `outcome`", "Calls of tools by their end: `ok`, an error's code, `asked`, `cancelled` or `unknown_tool`.";
    CLIENT_CALLS = "wikijs_gate_client_calls_total", "counter", "`client`, `outcome`", "Calls of each client by their end: `ok`, `asked` or `failed`. `client` is the name of a named client, `unnamed`, or `other` beyond the first 50.";
    CLIENT_WRITES = "wikijs_gate_client_writes_total", "counter", "`client`, `outcome`", "Writes of each client that were sent, by outcome: `applied`, `partly_applied`, `unknown` and the like.";
    CALL_TIME = "wikijs_gate_call_duration_seconds", "histogram", "", "How long calls took as a whole.";
    CALLS_NOW = "wikijs_gate_calls_in_flight", "gauge", "", "Calls under way.";
    REFUSALS = "wikijs_gate_write_refusals_total", "counter", "`gate`", "Writes that were refused, by the gate that did.";
    WRONG_TOKENS = "wikijs_gate_wrong_confirm_tokens_total", "counter", "", "Static confirm tokens that were wrong.";
    TURNED_AWAY = "wikijs_gate_http_refusals_total", "counter", "`status`", "Requests over HTTP that were refused before they became calls, by status.";
    WIKI_TIME = "wikijs_gate_wiki_request_duration_seconds", "histogram", "", "How long requests to the wiki took.";
    WIKI_NOW = "wikijs_gate_wiki_requests_in_flight", "gauge", "", "Requests to the wiki under way.";
    RETRIES = "wikijs_gate_wiki_retries_total", "counter", "", "Reads of the wiki that were tried again.";
    KEY_DAYS = "wikijs_gate_key_days_left", "gauge", "", "Days until the server's own key ends by its own word, with decimals; below 0 once it has; absent if it does not say.";
    KEY_STANDING = "wikijs_gate_key_standing", "gauge", "`standing`", "What the wiki takes the server's own key for, as last heard: 1 for one of `unknown`, `good`, `guest`, `expired`, `revoked` and `api_disabled`, 0 for the others.";
    TASKS = "wikijs_gate_tasks", "gauge", "", "Tasks of the runtime that have not ended: connections, sessions, calls and what runs in the background.";
    INDEXED = "wikijs_gate_index_pages", "gauge", "", "Pages in the content index of the server's own key.";
    OF = "wikijs_gate_index_pages_seen", "gauge", "", "Pages of the wiki that this key sees, when the index last looked.";
    INDEXING = "wikijs_gate_index_running", "gauge", "", "Whether pages are being indexed: 1 or 0.";
}

/// The table of metrics, as the documentation shows it.
#[must_use]
pub fn table() -> String {
    let mut table = String::from("| name | kind | labels | meaning |\n|---|---|---|---|\n");
    for metric in METRICS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            metric.name, metric.kind, metric.labels, metric.meaning
        );
    }
    table
}

/// The server's counters; those of other rooms are only written here.
#[derive(Debug, Default)]
pub struct Metrics {
    calls: Mutex<BTreeMap<(&'static str, String), u64>>,
    clients: Mutex<Clients>,
    call_time: Histogram,
    /// Calls under way.
    pub(super) in_flight: Gauge,
    turned_away: Mutex<BTreeMap<u16, u64>>,
}

/// Calls and writes by client. Bounded: names are what clients are called, and those come and go.
#[derive(Debug, Default)]
struct Clients {
    calls: BTreeMap<(String, &'static str), u64>,
    writes: BTreeMap<(String, String), u64>,
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
    /// The tool; empty where there is none of that name.
    pub(super) tool: &'static str,
    /// True if it may write.
    pub(super) can_write: bool,
    /// The named client that calls.
    pub(super) client: Option<&'a str>,
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
        let answer = call.await;
        self.call_time.took(began.elapsed());
        let outcome = outcome(called.tool, &answer);
        let ended = match outcome.as_str() {
            "ok" => "ok",
            "asked" => "asked",
            _ => "failed",
        };
        let written = called.can_write.then(|| written(&answer)).flatten();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.count(called.client, ended, written);
        drop(clients);
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls.entry((called.tool, outcome)).or_default() += 1;
        answer
    }

    /// Counts a request that was refused before it became a call.
    pub(super) fn turned_away(&self, status: u16) {
        let mut all = self
            .turned_away
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *all.entry(status).or_default() += 1;
    }
}

/// The outcome of a write that was sent.
fn written(answer: &Result<CallToolResponse, ErrorData>) -> Option<String> {
    let Ok(CallToolResponse::Complete(result)) = answer else {
        return None;
    };
    if result.is_error == Some(true) {
        let code = result
            .meta
            .as_ref()?
            .0
            .get("error")?
            .get("code")?
            .as_str()?;
        // Of all errors these alone are of writes that were sent.
        let outcome = match code {
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

fn outcome(tool: &str, answer: &Result<CallToolResponse, ErrorData>) -> String {
    let word = match answer {
        Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => result
            .meta
            .as_ref()
            .and_then(|meta| meta.0.get("error")?.get("code")?.as_str())
            .unwrap_or("error"),
        Ok(CallToolResponse::Complete(_)) => "ok",
        Ok(_) => "asked",
        Err(_) if tool.is_empty() => "unknown_tool",
        Err(_) => "cancelled",
    };
    word.to_owned()
}

/// All metrics of sites of a server, as Prometheus text. Those of several sites have the label `site`.
#[must_use]
pub fn tell(sites: &[Arc<Site>]) -> String {
    let of_each = sites.iter().map(|site| (site.name(), tell_of(&site.app())));
    let of_each: Vec<(Option<&SiteName>, String)> = of_each.collect();
    match of_each.as_slice() {
        [(None, text)] => text.clone(),
        of_each => merged(of_each),
    }
}

/// One text of those of several sites: each metric once, with the lines of all.
fn merged(of_each: &[(Option<&SiteName>, String)]) -> String {
    let mut text = String::new();
    for metric in METRICS {
        let mut is_begun = false;
        for (number, (site, own)) in of_each.iter().enumerate() {
            // What is the process's own is told once.
            if metric.name == TASKS.name && number > 0 {
                continue;
            }
            for line in own.lines().filter(|line| is_of(metric, line)) {
                if !std::mem::replace(&mut is_begun, true) {
                    head(&mut text, *metric);
                }
                let site = site.filter(|_| metric.name != TASKS.name);
                let _ = writeln!(text, "{}", labelled(line, site));
            }
        }
    }
    text
}

/// True if a line is one of a metric's numbers.
fn is_of(metric: &Metric, line: &str) -> bool {
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    let of_histogram = ["_bucket", "_sum", "_count"];
    let rest = name.strip_prefix(metric.name);
    rest.is_some_and(|rest| rest.is_empty() || of_histogram.contains(&rest))
}

/// A line with its site as its first label.
fn labelled(line: &str, site: Option<&SiteName>) -> String {
    let Some(site) = site else {
        return line.to_owned();
    };
    match (line.split_once('{'), line.split_once(' ')) {
        (Some((name, rest)), _) => format!("{name}{{site=\"{site}\",{rest}"),
        (None, Some((name, number))) => format!("{name}{{site=\"{site}\"}} {number}"),
        (None, None) => line.to_owned(),
    }
}

fn tell_of(app: &App) -> String {
    let mut text = String::new();
    let metrics = &app.metrics;
    let traffic = app.wiki.traffic();
    let (index, is_running) = app.index.now();
    let whole = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    {
        let calls = metrics.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let labelled = calls.iter().map(|((tool, outcome), number)| {
            (format!("tool=\"{tool}\",outcome=\"{outcome}\""), *number)
        });
        numbers(&mut text, CALLS, labelled);
    }
    {
        let clients = metrics
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let calls = clients.calls.iter();
        let calls = calls.map(|((client, outcome), number)| (of(client, outcome), *number));
        numbers(&mut text, CLIENT_CALLS, calls);
        let writes = clients.writes.iter();
        let writes = writes.map(|((client, outcome), number)| (of(client, outcome), *number));
        numbers(&mut text, CLIENT_WRITES, writes);
    }
    histogram(&mut text, CALL_TIME, &metrics.call_time);
    number(&mut text, CALLS_NOW, metrics.in_flight.get());
    let refusals = app.desk.refusals().by_gate();
    let by_gate = refusals.map(|(gate, number)| (format!("gate=\"{}\"", gate.as_str()), number));
    numbers(&mut text, REFUSALS, by_gate);
    number(&mut text, WRONG_TOKENS, app.desk.wrong_tokens());
    {
        let all = metrics
            .turned_away
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let by_status = all
            .iter()
            .map(|(status, number)| (format!("status=\"{status}\""), *number));
        numbers(&mut text, TURNED_AWAY, by_status);
    }
    histogram(&mut text, WIKI_TIME, &traffic.latency);
    number(&mut text, WIKI_NOW, traffic.in_flight.get());
    number(&mut text, RETRIES, traffic.retries.get());
    key(&mut text, app);
    let runtime = Handle::try_current().map(|runtime| runtime.metrics());
    let tasks = runtime.map_or(0, |runtime| runtime.num_alive_tasks());
    number(&mut text, TASKS, whole(tasks));
    number(&mut text, INDEXED, whole(index.pages));
    number(&mut text, OF, whole(index.of));
    number(&mut text, INDEXING, u64::from(is_running));
    text
}

/// The labels of what a client did.
fn of(client: &str, outcome: &str) -> String {
    format!("client=\"{client}\",outcome=\"{outcome}\"")
}

fn head(text: &mut String, metric: Metric) {
    let Metric {
        name,
        kind,
        meaning,
        ..
    } = metric;
    let _ = writeln!(text, "# HELP {name} {meaning}\n# TYPE {name} {kind}");
}

fn number(text: &mut String, metric: Metric, number: u64) {
    head(text, metric);
    let _ = writeln!(text, "{} {number}", metric.name);
}

fn numbers(text: &mut String, metric: Metric, all: impl Iterator<Item = (String, u64)>) {
    head(text, metric);
    for (labels, number) in all {
        let _ = writeln!(text, "{}{{{labels}}} {number}", metric.name);
    }
}

fn key(text: &mut String, app: &App) {
    if let Some(left) = app.wiki.key().left() {
        head(text, KEY_DAYS);
        let days = left.as_seconds_f64() / 86_400.0;
        let _ = writeln!(text, "{} {days:.3}", KEY_DAYS.name);
    }
    let now = app
        .wiki
        .known_standing()
        .map_or("unknown", KeyStatus::as_str);
    let all = std::iter::once("unknown").chain(KeyStatus::ALL.map(KeyStatus::as_str));
    let all = all.map(|standing| {
        let label = format!("standing=\"{standing}\"");
        (label, u64::from(standing == now))
    });
    numbers(text, KEY_STANDING, all);
}

fn histogram(text: &mut String, metric: Metric, histogram: &Histogram) {
    head(text, metric);
    histogram.tell(metric.name, text);
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
