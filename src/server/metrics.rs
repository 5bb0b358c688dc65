//! The server's metrics, written as Prometheus text. Every name is in [`METRICS`].

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::{App, Site};
use crate::meter::Histogram;
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
    CLIENT_CALLS = "wikijs_gate_client_calls_total", "counter", "`client`, `outcome`", "Calls of each client by their end: `ok`, `asked` or `failed`. `client` is the name of a named client, `people` for all who signed in, `unnamed`, or `other` beyond the first 50; a client of such a name is `client other` and the like.";
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

/// The lines of each metric, as they gather.
#[derive(Default)]
struct MetricLines {
    of_each: HashMap<&'static str, String>,
    /// The label of the site whose lines follow; empty for the only one, and for the server.
    site: String,
}

impl MetricLines {
    fn line(&mut self, metric: Metric, end: &str, labels: &str, number: impl Display) {
        let is_alone = self.site.is_empty() || labels.is_empty();
        let joint = if is_alone { "" } else { "," };
        let labels = match [&*self.site, joint, labels].concat() {
            none if none.is_empty() => none,
            labels => format!("{{{labels}}}"),
        };
        let lines = self.of_each.entry(metric.name).or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{}{end}{labels} {number}", metric.name);
    }

    fn number(&mut self, metric: Metric, number: impl Display) {
        self.line(metric, "", "", number);
    }

    fn numbers(&mut self, metric: Metric, all: impl IntoIterator<Item = (String, u64)>) {
        // Its head is there without any, too.
        self.of_each.entry(metric.name).or_default();
        for (labels, number) in all {
            self.line(metric, "", &labels, number);
        }
    }

    fn histogram(&mut self, metric: Metric, histogram: &Histogram) {
        for (end, labels, number) in histogram.lines() {
            self.line(metric, end, &labels, number);
        }
    }

    /// Each metric with its head.
    fn text(&self) -> String {
        let mut text = String::new();
        for Metric {
            name,
            kind,
            meaning,
            ..
        } in METRICS
        {
            if let Some(lines) = self.of_each.get(name) {
                let _ = write!(
                    text,
                    "# HELP {name} {meaning}\n# TYPE {name} {kind}\n{lines}"
                );
            }
        }
        text
    }
}

/// All metrics of a server and its sites, as Prometheus text; those of a site with a name have the label
/// `site`.
pub(super) async fn tell(
    sites: &[Arc<Site>],
    checks: &[Option<SiteChecks>],
    server: &ServerMetrics,
) -> String {
    let mut told = MetricLines::default();
    for (site, checks) in sites.iter().zip(checks) {
        let app = site.app();
        told.site = site
            .name()
            .map_or_else(String::new, |name| format!("site=\"{name}\""));
        tell_of(&mut told, &app);
        tell_of_checks(&mut told, &app, checks.as_ref()).await;
    }
    told.site.clear();
    tell_of_server(&mut told, server);
    told.text()
}

/// The facts of the whole server.
pub(super) struct ServerMetrics {
    /// The digest of its settings.
    pub(super) digest: String,
    /// Number of people whose tokens have not ended.
    pub(super) people: usize,
    /// True if their issuer did not answer when last asked.
    pub(super) is_issuer_away: bool,
}

fn tell_of_server(told: &mut MetricLines, server: &ServerMetrics) {
    let runtime = Handle::try_current().map(|runtime| runtime.metrics());
    let tasks = runtime.map_or(0, |runtime| runtime.num_alive_tasks());
    told.number(TASKS, tasks);
    told.numbers(SETTINGS, [(format!("digest=\"{}\"", server.digest), 1)]);
    let counts = trace::queue().map_or((0, 0), |queue| (queue.sent.get(), queue.dropped.get()));
    let spans = [("sent", counts.0), ("dropped", counts.1)];
    told.numbers(
        SPANS,
        spans.map(|(end, number)| (format!("end=\"{end}\""), number)),
    );
    told.number(PEOPLE, server.people);
    told.number(ISSUER_AWAY, u64::from(server.is_issuer_away));
}

fn tell_of(told: &mut MetricLines, app: &App) {
    let metrics = &app.metrics;
    let traffic = app.wiki.traffic();
    let (index, is_running) = app.index.now();
    let labelled = |((tool, outcome), number): (&(&str, String), &u64)| {
        (format!("tool=\"{tool}\",outcome=\"{outcome}\""), *number)
    };
    told.numbers(CALLS, metrics.calls.lock().iter().map(labelled));
    {
        let clients = metrics.clients.lock();
        told.numbers(CLIENT_CALLS, of_clients(&clients.calls));
        told.numbers(CLIENT_WRITES, of_clients(&clients.writes));
    }
    told.histogram(CALL_TIME, &metrics.call_time);
    told.number(CALLS_NOW, metrics.in_flight.get());
    let refusals = app.desk.refusals().by_gate();
    let by_gate = refusals.map(|(gate, number)| (format!("gate=\"{}\"", gate.as_str()), number));
    told.numbers(REFUSALS, by_gate);
    told.number(WRONG_TOKENS, app.desk.policy().wrong_tokens());
    let by_status = |(status, number): (&u16, &u64)| (format!("status=\"{status}\""), *number);
    told.numbers(
        TURNED_AWAY,
        metrics.turned_away.lock().iter().map(by_status),
    );
    told.histogram(WIKI_TIME, &traffic.latency);
    told.number(WIKI_NOW, traffic.in_flight.get());
    told.number(RETRIES, traffic.retries.get());
    key(told, app);
    told.number(INDEXED, index.pages);
    told.number(OF, index.of);
    told.number(INDEXING, u64::from(is_running));
}

/// The metrics of what was found at one site; what is not known yet is left out.
async fn tell_of_checks(told: &mut MetricLines, app: &Arc<App>, checks: Option<&SiteChecks>) {
    if let Some(checks) = checks {
        let all = checks.are_ok;
        let all = all.map(|(check, is_ok)| (format!("check=\"{check}\""), u64::from(is_ok)));
        told.numbers(CHECKS, all);
        told.number(PAUSED, u64::from(checks.is_paused));
    }
    told.number(RECOVERED, app.desk.recovered_unknown());
    // Counted to the end for the next time, if it takes longer.
    let counts = Arc::clone(app);
    let waiting = tokio::spawn(async move { counts.metrics.waiting(&counts.desk).await });
    if let Ok(Ok(Some(waiting))) = timeout(AT_ONCE, waiting).await {
        told.number(WAITING, waiting.count);
        told.number(OLDEST, waiting.oldest_seconds());
    }
    told.numbers(LOOKED, []);
    if let Some(mirror) = &app.mirror
        && let Ok(Ok(Some(looked))) = timeout(AT_ONCE, mirror.last_looked()).await
    {
        let age = OffsetDateTime::now_utc() - looked.instant();
        told.number(LOOKED, age.whole_seconds().max(0));
    }
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

fn key(told: &mut MetricLines, app: &App) {
    if let Some(left) = app.wiki.key().left() {
        let days = left.as_seconds_f64() / 86_400.0;
        told.number(KEY_DAYS, format_args!("{days:.3}"));
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
    told.numbers(KEY_STANDING, all);
}
