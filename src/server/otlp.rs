//! Sends spans to a collector, by OTLP over HTTP as JSON.
//!
//! Nothing waits for it: what the collector does not take in time is lost, and counted.
#![expect(
    clippy::disallowed_types,
    reason = "the operator's own collector, never the wiki"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::config::CollectorSettings;
use crate::trace::{self, FinishedSpan, SpanQueue};
use crate::wiki::{Network, http_client};

/// The most spans of one request.
const MOST: usize = 256;
/// Time between two requests.
const APART: Duration = Duration::from_secs(1);
/// Timeout for a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for what is left when the server ends.
const AT_THE_END: Duration = Duration::from_secs(2);

/// A collector that gets the spans of this process.
pub struct Collector {
    sending: JoinHandle<()>,
    stop: CancellationToken,
}

impl Collector {
    /// Begins to make spans and to send them; `None` if that has begun already.
    ///
    /// # Errors
    /// One sentence about this system's certificate authorities.
    pub fn begin(settings: CollectorSettings) -> Result<Option<Self>, String> {
        // Headers for the gateway before the wiki are not the collector's to see.
        let network = Network {
            headers: HeaderMap::new(),
            ..settings.network
        };
        let client = http_client(&settings.traces, &network)?;
        let (Some(spans), Some(queue)) = (trace::begin(), trace::queue()) else {
            return Ok(None);
        };
        let exporter = Exporter {
            client,
            to: settings.traces,
            headers: settings.headers,
            queue,
            is_away: false,
        };
        let stop = CancellationToken::new();
        Ok(Some(Self {
            sending: tokio::spawn(exporter.run(spans, stop.clone())),
            stop,
        }))
    }

    /// Sends what is left, for a short time.
    pub async fn finish(self) {
        self.stop.cancel();
        if tokio::time::timeout(AT_THE_END, self.sending)
            .await
            .is_err()
        {
            tracing::warn!("the collector did not take the last spans in time");
        }
    }
}

struct Exporter {
    client: Client,
    to: Url,
    headers: HeaderMap,
    queue: &'static SpanQueue,
    /// True if the last request failed, which was logged then.
    is_away: bool,
}

impl Exporter {
    async fn run(mut self, mut spans: Receiver<FinishedSpan>, stop: CancellationToken) {
        let mut batch = Vec::new();
        while !stop.is_cancelled() {
            tokio::select! {
                _ = spans.recv_many(&mut batch, MOST) => {
                    self.send(&mut batch).await;
                    tokio::select! {
                        () = tokio::time::sleep(APART) => {}
                        () = stop.cancelled() => {}
                    }
                }
                () = stop.cancelled() => {}
            }
        }
        while let Ok(span) = spans.try_recv() {
            batch.push(span);
            if batch.len() == MOST {
                self.send(&mut batch).await;
            }
        }
        self.send(&mut batch).await;
    }

    /// Sends spans once; a collector that does not take them loses them.
    async fn send(&mut self, batch: &mut Vec<FinishedSpan>) {
        if batch.is_empty() {
            return;
        }
        let request = self
            .client
            .post(self.to.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(export_request(batch).to_string());
        let fault = match tokio::time::timeout(PATIENCE, request.send()).await {
            Ok(Ok(answer)) if answer.status().is_success() => None,
            Ok(Ok(answer)) => Some(format!("it answered {}", answer.status().as_u16())),
            Ok(Err(_)) => Some("it cannot be reached".to_owned()),
            Err(_) => Some("it did not answer in time".to_owned()),
        };
        let counter = match &fault {
            None => &self.queue.sent,
            Some(_) => &self.queue.dropped,
        };
        batch.drain(..).for_each(|_| counter.add());
        if fault.is_some() != self.is_away {
            self.is_away = fault.is_some();
            if let Some(why) = fault {
                tracing::warn!("the collector does not take spans: {why}");
            } else {
                tracing::info!("the collector takes spans again");
            }
        }
    }
}

/// The body of a request, `ExportTraceServiceRequest` as JSON.
fn export_request(spans: &[FinishedSpan]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let spans: Vec<Value> = spans.iter().map(exported).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            attribute("service.name", &json!("wikijs-gate")),
            attribute("service.version", &json!(version)),
        ] },
        "scopeSpans": [{
            "scope": { "name": "wikijs-gate", "version": version },
            "spans": spans,
        }],
    }] })
}

fn exported(span: &FinishedSpan) -> Value {
    let hex = |id: u64| format!("{id:016x}");
    let nanos = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_nanos().to_string()
    };
    let end = span.end.iter();
    let attributes = end.flat_map(|end| &end.attributes);
    let attributes: Vec<Value> = attributes
        .map(|(name, value)| attribute(name, value))
        .collect();
    // 2 is an error; what was cut off is one, too.
    let is_error = span.end.as_ref().is_none_or(|end| end.is_error);
    json!({
        "traceId": span.context.trace.to_string(),
        "spanId": hex(span.context.span),
        "parentSpanId": span.parent.map(hex).unwrap_or_default(),
        "traceState": span.context.state().unwrap_or_default(),
        "name": span.name,
        "kind": span.kind.number(),
        "startTimeUnixNano": nanos(span.began),
        "endTimeUnixNano": nanos(span.ended),
        "attributes": attributes,
        "status": if is_error { json!({ "code": 2 }) } else { json!({}) },
    })
}

fn attribute(name: &str, value: &Value) -> Value {
    let value = match value {
        // Numbers of 64 bits are texts in JSON.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({ "key": name, "value": value })
}
