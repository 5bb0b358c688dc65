//! The server's metrics, written as Prometheus text. Every name is in [`METRICS`].

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::app::App;
use super::site::Site;
use crate::meter::Histogram;
use crate::site::SiteName;
use crate::trace;
use crate::wiki::KeyStatus;

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

/// The findings of `/readyz` for one site.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteChecks {
    /// The checks, each with true if nothing is wrong.
    pub(super) are_ok: [(&'static str, bool); 3],
    /// True if all writes are paused.
    pub(super) is_paused: bool,
}

/// The time that the metrics wait for something to be counted.
const AT_ONCE: Duration = Duration::from_millis(250);

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
    CLIENT_CALLS = "wikijs_gate_client_calls_total", "counter", "`client`, `outcome`", "Calls of each client by their end: `ok`, `asked` or `failed`. `client` is the name of a named client, `people` for all who signed in, `unnamed`, or `other` beyond the first 50.";
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
    CHECKS = "wikijs_gate_check_ok", "gauge", "`check`", "What `/readyz` found: 1 for each of `settings`, `wiki` and `audit` that is fine, 0 otherwise.";
    PAUSED = "wikijs_gate_writes_paused", "gauge", "", "Whether all writes are paused: 1 or 0.";
    WAITING = "wikijs_gate_proposals_waiting", "gauge", "", "Proposals that nobody has decided on, as of the last minute.";
    OLDEST = "wikijs_gate_oldest_proposal_seconds", "gauge", "", "Age of the oldest of them; 0 without any.";
    RECOVERED = "wikijs_gate_recovered_unknown_total", "counter", "", "Attempts of killed servers whose outcome this one could not find out.";
    LOOKED = "wikijs_gate_mirror_look_age_seconds", "gauge", "", "Time since the last look for the mirror began, at any server; absent without a mirror, and before the first look.";
    SETTINGS = "wikijs_gate_settings_info", "gauge", "`digest`", "1, with the digest of the settings that all replicas must share: sites, policies with their rules, tools on offer, the modes of memory and store.";
    SPANS = "wikijs_gate_spans_total", "counter", "`end`", "Spans of calls by their end: `sent` to the collector, or `dropped`; without a collector both are 0.";
    PEOPLE = "wikijs_gate_people", "gauge", "", "People whose tokens came and have not ended.";
    ISSUER_AWAY = "wikijs_gate_issuer_away", "gauge", "", "Whether the issuer of people's tokens did not answer when last asked: 1 or 0.";
}

/// The table of metrics, as the documentation shows it.
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

/// All metrics of sites of a server, as Prometheus text. Those of several sites have the label `site`.
pub(super) async fn tell(sites: &[Arc<Site>], checks: &[Option<SiteChecks>]) -> String {
    let mut of_each: Vec<(Option<&SiteName>, String)> = Vec::new();
    for (site, checks) in sites.iter().zip(checks) {
        let app = site.app();
        let text = tell_of(&app) + &tell_of_checks(&app, checks.as_ref()).await;
        of_each.push((site.name(), text));
    }
    match of_each.as_slice() {
        [(None, text)] => text.clone(),
        of_each => merged(of_each),
    }
}

/// The metrics of the whole server: its settings, and the spans that it makes.
pub fn tell_of_server(digest: &str) -> String {
    let mut text = String::new();
    let labels = format!("digest=\"{digest}\"");
    numbers(&mut text, SETTINGS, std::iter::once((labels, 1)));
    let counts = trace::queue().map_or((0, 0), |queue| (queue.sent.get(), queue.dropped.get()));
    let spans = [("sent", counts.0), ("dropped", counts.1)];
    let spans = spans.map(|(end, number)| (format!("end=\"{end}\""), number));
    numbers(&mut text, SPANS, spans.into_iter());
    text
}

/// The metrics of people's sign-in, which are the whole server's.
pub fn tell_of_people(people: usize, is_away: bool) -> String {
    let mut text = String::new();
    number(&mut text, PEOPLE, u64::try_from(people).unwrap_or(u64::MAX));
    number(&mut text, ISSUER_AWAY, u64::from(is_away));
    text
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
        let calls = metrics.calls.lock();
        let labelled = calls.iter().map(|((tool, outcome), number)| {
            (format!("tool=\"{tool}\",outcome=\"{outcome}\""), *number)
        });
        numbers(&mut text, CALLS, labelled);
    }
    {
        let clients = metrics.clients.lock();
        numbers(&mut text, CLIENT_CALLS, of_clients(&clients.calls));
        numbers(&mut text, CLIENT_WRITES, of_clients(&clients.writes));
    }
    histogram(&mut text, CALL_TIME, &metrics.call_time);
    number(&mut text, CALLS_NOW, metrics.in_flight.get());
    let refusals = app.desk.refusals().by_gate();
    let by_gate = refusals.map(|(gate, number)| (format!("gate=\"{}\"", gate.as_str()), number));
    numbers(&mut text, REFUSALS, by_gate);
    number(&mut text, WRONG_TOKENS, app.desk.policy().wrong_tokens());
    {
        let all = metrics.turned_away.lock();
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

/// The metrics of what was found at one site; what is not known yet is left out.
async fn tell_of_checks(app: &Arc<App>, checks: Option<&SiteChecks>) -> String {
    let mut text = String::new();
    if let Some(checks) = checks {
        let all = checks.are_ok;
        let all = all.map(|(check, is_ok)| (format!("check=\"{check}\""), u64::from(is_ok)));
        numbers(&mut text, CHECKS, all.into_iter());
        number(&mut text, PAUSED, u64::from(checks.is_paused));
    }
    number(&mut text, RECOVERED, app.desk.recovered_unknown());
    // Counted to the end for the next time, if it takes longer.
    let counts = Arc::clone(app);
    let waiting = tokio::spawn(async move { counts.metrics.waiting(&counts.desk).await });
    if let Ok(Ok(Some(waiting))) = timeout(AT_ONCE, waiting).await {
        number(&mut text, WAITING, waiting.count);
        number(&mut text, OLDEST, waiting.oldest_seconds());
    }
    head(&mut text, LOOKED);
    if let Some(mirror) = &app.mirror
        && let Ok(Ok(Some(looked))) = timeout(AT_ONCE, mirror.last_looked()).await
    {
        let age = OffsetDateTime::now_utc() - looked.instant();
        let _ = writeln!(text, "{} {}", LOOKED.name, age.whole_seconds().max(0));
    }
    text
}

/// The labels and numbers of what clients did.
fn of_clients<T: Display>(all: &BTreeMap<(String, T), u64>) -> impl Iterator<Item = (String, u64)> {
    all.iter().map(|((client, outcome), number)| {
        (
            format!("client=\"{client}\",outcome=\"{outcome}\""),
            *number,
        )
    })
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
