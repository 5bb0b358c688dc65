//! The W3C trace context of callers, and spans of calls for a collector.

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::http::hosted::{call, speaking};
use crate::http::{answer, nobody};
use crate::prelude::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// The traces on the record of a preview that is asked for with these headers and this `_meta`.
async fn recorded(
    server: &Hosted,
    wiki: &DemoWiki,
    caller: &Caller,
    meta: Value,
) -> Option<String> {
    let mut message = call(UPDATE, json!({ "id": id_of(wiki, "home"), "title": "T" }));
    message["params"]["_meta"] = meta;
    let answer = server.post(caller, &message).await;
    says(&answer.body, "confirm");
    let records = server.records();
    let last = serde_json::to_value(records.last().unwrap()).unwrap();
    assert_eq!(last["event"], "preview");
    last["trace"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn the_trace_of_a_caller_goes_on_the_record_and_nothing_new_to_the_wiki() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    let by_header = nobody()
        .with("traceparent", PARENT)
        .with("tracestate", "a=b");
    wiki.clear_requests();
    for (caller, meta, expected) in [
        (nobody(), json!({}), None),
        (by_header.clone(), json!({}), Some(TRACE)),
        (nobody(), json!({ "traceparent": PARENT }), Some(TRACE)),
        // What the call itself says is nearer to it than its request.
        (
            by_header.clone(),
            json!({ "traceparent": OTHER }),
            OTHER.get(3..35),
        ),
        // What is wrong is ignored, and so is what stands beside it.
        (by_header.clone(), json!({ "traceparent": "00-xyz" }), None),
        (
            nobody().with("traceparent", &PARENT.to_uppercase()),
            json!({}),
            None,
        ),
        (
            nobody().with("traceparent", &"0".repeat(5_000)),
            json!({}),
            None,
        ),
        (
            nobody()
                .with("traceparent", PARENT)
                .with("tracestate", &"x".repeat(5_000)),
            json!({}),
            Some(TRACE),
        ),
        (
            nobody(),
            json!({ "traceparent": 7, "tracestate": [] }),
            None,
        ),
    ] {
        let found = recorded(&server, &wiki, &caller, meta.clone()).await;
        assert_eq!(found.as_deref(), expected, "{caller:?} {meta}");
    }
    let mut twice = by_header;
    twice
        .headers
        .push(("traceparent".to_owned(), OTHER.to_owned()));
    assert_eq!(recorded(&server, &wiki, &twice, json!({})).await, None);
    let requests = wiki.requests();
    assert!(requests.len() > 10);
    for request in requests {
        assert!(!request.headers.contains_key("traceparent"), "{request:?}");
        assert!(!request.headers.contains_key("tracestate"), "{request:?}");
    }
}

#[tokio::test]
async fn a_confirmed_write_has_its_trace_on_attempt_and_outcome() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    let caller = nobody().with("traceparent", PARENT);
    let mut arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let preview = server.ok(&caller, UPDATE, arguments.clone()).await;
    arguments["confirm"] = preview["confirm"].clone();
    server.call(&caller, UPDATE, arguments).await.unwrap();
    let records = server.records();
    let traced = records.iter().filter(|record| {
        let event = serde_json::to_value(record.event).unwrap();
        let is_of_write = event == "attempt" || event == "outcome";
        is_of_write && record.trace.map(|trace| trace.to_string()).as_deref() == Some(TRACE)
    });
    assert_eq!(traced.count(), 2);
}

type Came = mpsc::UnboundedSender<(HeaderMap, Value)>;

/// A collector on loopback: the spans that came, with the headers of their request.
struct FakeCollector {
    address: String,
    came: mpsc::UnboundedReceiver<(HeaderMap, Value)>,
}

/// A span as a test asks for it.
#[derive(Debug, Clone)]
struct Span(Value);

impl Span {
    fn get(&self, member: &str) -> &str {
        self.0[member].as_str().unwrap_or_default()
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let all = self.0["attributes"].as_array().unwrap();
        let own = all.iter().find(|it| it["key"] == name)?;
        let value = own["value"].as_object().unwrap().values().next().unwrap();
        Some(value.as_str().unwrap().to_owned())
    }
}

impl FakeCollector {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, came) = mpsc::unbounded_channel();
        let take = async |State(sender): State<Came>, headers: HeaderMap, body: String| {
            sender
                .send((headers, serde_json::from_str(&body).unwrap()))
                .unwrap();
        };
        let routes = Router::new()
            .route("/v1/traces", post(take))
            .with_state(sender);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, came }
    }

    /// All spans until the one of a name, which is the last of its call.
    async fn until(&mut self, name: &str) -> (HeaderMap, Vec<Span>) {
        let mut spans = Vec::new();
        loop {
            let next = tokio::time::timeout(Duration::from_secs(20), self.came.recv());
            let (headers, body) = next.await.unwrap().unwrap();
            let resource = &body["resourceSpans"][0];
            says(&resource["resource"].to_string(), "wikijs-gate");
            let own = resource["scopeSpans"][0]["spans"].as_array().unwrap();
            spans.extend(own.iter().cloned().map(Span));
            if spans.iter().any(|span| span.get("name") == name) {
                return (headers, spans);
            }
        }
    }
}

/// A server as a process of its own, whose spans go to a collector.
fn traced_server(wiki: &DemoWiki, dir: &TempDir, collector: &str) -> Program {
    let headers = dir.path().join("headers");
    fs::write(&headers, "Authorization: Bearer collectors-secret\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&headers, mode).unwrap();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
        ("WIKI_OTLP_HEADERS_FILE", headers.to_str().unwrap()),
        ("WIKI_INDEX", "off"),
    ];
    let audit = dir.path().join("audit");
    Program::writing(&wiki.address(), &wiki.keys().editor, &audit, &variables)
}

/// Calls a tool with a trace.
fn call_traced(
    program: &mut Program,
    id: u32,
    tool: &str,
    arguments: Value,
    parent: &str,
) -> Value {
    let mut message = call(tool, arguments);
    message["id"] = id.into();
    message["params"]["_meta"] = json!({ "traceparent": parent, "tracestate": "a=b" });
    program.say(&message.to_string());
    program.answer(id)["result"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_gets_a_span_a_call_a_stage_and_a_request_of_one_trace() {
    let wiki = sample_wiki().await;
    let mut collector = FakeCollector::new().await;
    let dir = TempDir::new().unwrap();
    let mut program = traced_server(&wiki, &dir, &collector.address);
    let mut arguments = json!({ "id": id_of(&wiki, "home"), "title": "A secret title" });
    let preview = call_traced(&mut program, 90, UPDATE, arguments.clone(), OTHER);
    // The caller's trace is not collected: no span, but its place is passed on.
    let passed_on = wiki.requests();
    let passed_on = passed_on
        .iter()
        .filter(|it| it.headers.get("traceparent").is_some_and(|it| it == OTHER));
    assert!(passed_on.count() > 0);
    wiki.clear_requests();
    arguments["confirm"] = preview["structuredContent"]["confirm"].clone();
    let applied = call_traced(&mut program, 91, UPDATE, arguments, PARENT);
    let applied = &applied["structuredContent"];
    assert_eq!(applied["outcome"], "applied");
    let (headers, spans) = collector.until(&format!("tools/call {UPDATE}")).await;
    assert_eq!(headers["authorization"], "Bearer collectors-secret");
    let find = |name: &str| {
        let mut found = spans.iter().filter(|span| span.get("name") == name);
        found.next().unwrap_or_else(|| panic!("{name}: {spans:#?}"))
    };
    let of_call = find(&format!("tools/call {UPDATE}"));
    assert_eq!(of_call.get("parentSpanId"), "00f067aa0ba902b7");
    assert_eq!(of_call.get("traceState"), "a=b");
    assert_eq!(of_call.0["kind"], 2);
    let id = applied["callId"].as_str().map(str::to_owned);
    assert_eq!(of_call.attribute("wikijs_gate.call"), id);
    let attribute = of_call.attribute("wikijs_gate.outcome");
    assert_eq!(attribute.as_deref(), Some("ok"));
    let page = Some(id_of(&wiki, "home").to_string());
    for stage in ["lock", "read", "check", "rules", "record", "send", "verify"] {
        let span = find(&format!("write.{stage}"));
        assert_eq!(span.get("parentSpanId"), of_call.get("spanId"), "{stage}");
        assert_eq!(span.attribute("wikijs_gate.call"), id, "{stage}");
        if stage == "send" {
            assert_eq!(span.attribute("wikijs_gate.page"), page);
        }
    }
    // Each request to the wiki is a span, and the wiki was told that it is one of this trace.
    let requests: Vec<&Span> = spans
        .iter()
        .filter(|span| span.get("name") == "wiki request")
        .collect();
    assert_eq!(requests.len(), wiki.requests().len());
    for request in wiki.requests() {
        assert_eq!(request.headers["tracestate"], "a=b");
        let told = request.headers["traceparent"].clone();
        let is_it = |span: &&&Span| told == format!("00-{TRACE}-{}-01", span.get("spanId"));
        let span = requests
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{told}"));
        let attribute = span.attribute("http.response.status_code");
        assert_eq!(attribute.as_deref(), Some("200"));
    }
    for span in &spans {
        assert_eq!(span.get("traceId"), TRACE);
        assert!(span.get("startTimeUnixNano") <= span.get("endTimeUnixNano"));
        let text = span.0.to_string();
        for secret in ["secret", "home", wiki.keys().editor.as_str()] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    let end = program.stopped();
    assert!(!end.stderr.concat().contains("collectors-secret"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_a_trace_begins_one_that_is_on_its_record() {
    let wiki = sample_wiki().await;
    let mut collector = FakeCollector::new().await;
    let dir = TempDir::new().unwrap();
    let mut program = traced_server(&wiki, &dir, &collector.address);
    program.call(UPDATE, &json!({ "id": id_of(&wiki, "home"), "title": "T" }));
    let refused = program.call(UPDATE, &json!({ "id": 999_999, "title": "T" }));
    assert_eq!(refused["code"], "PAGE_NOT_FOUND");
    // What is left when the server ends is sent, too.
    program.stopped();
    let (mut calls, mut traces) = (Vec::new(), Vec::new());
    while calls.len() < 2 {
        let (_, spans) = collector.until(&format!("tools/call {UPDATE}")).await;
        calls.extend(
            spans
                .into_iter()
                .filter(|span| span.get("name").starts_with("tools/")),
        );
    }
    for record in records(&dir.path().join("audit")) {
        traces.extend(record.trace.map(|trace| trace.to_string()));
    }
    let told: Vec<&str> = calls.iter().map(|span| span.get("traceId")).collect();
    assert_eq!(traces, told);
    assert_eq!(calls[0].get("parentSpanId"), "");
    assert_eq!(calls[0].0["status"], json!({}));
    assert_eq!(calls[1].0["status"], json!({ "code": 2 }));
    let attribute = calls[1].attribute("wikijs_gate.outcome");
    assert_eq!(attribute.as_deref(), Some("PAGE_NOT_FOUND"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_hangs_or_is_away_does_no_harm() {
    let wiki = sample_wiki().await;
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hanging = format!("http://{}", hanging.local_addr().unwrap()).into_boxed_str();
    for collector in [&*hanging, "http://127.0.0.1:9"] {
        let dir = TempDir::new().unwrap();
        let mut program = traced_server(&wiki, &dir, collector);
        for _ in 0..50 {
            assert!(program.call(TREE, &json!({})).get("code").is_none());
        }
        let end = program.stopped();
        assert_eq!(end.code, Some(0));
        assert!(end.took < Duration::from_secs(8), "{:?}", end.took);
        says(&end.stderr.concat(), "the collector d");
        assert!(!end.stderr.concat().contains("collectors-secret"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_that_are_lost_are_counted() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let variables = [
        ("WIKI_BASE_URL", &*wiki.address()),
        ("WIKI_API_TOKEN", &wiki.keys().readonly),
        ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
        ("WIKI_INDEX", "off"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
    ];
    let (mut program, port) = Program::listening(&["serve", "--http", "127.0.0.1:0"], &variables);
    let ask = async |method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        for (name, value) in speaking(&nobody()).headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes())
            .await
            .unwrap();
        answer(stream).await
    };
    assert_eq!(
        ask("POST", "/mcp", &call(TREE, json!({})).to_string())
            .await
            .status,
        200
    );
    program.logged("the collector does not take spans: it cannot be reached");
    let told = ask("GET", "/metrics", "").await.body;
    says(&told, "\nwikijs_gate_spans_total{end=\"sent\"} 0\n");
    let lost = told
        .lines()
        .find_map(|line| line.strip_prefix("wikijs_gate_spans_total{end=\"dropped\"} "));
    assert_ne!(lost.unwrap(), "0", "{told}");
    program.kill();
}

#[tokio::test]
async fn over_stdio_the_trace_comes_in_meta() {
    let wiki = sample_wiki().await;
    let server: Served = Setup::editor(&wiki).serve().await;
    let mut request = rmcp::model::CallToolRequestParams::new(UPDATE);
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    request.arguments = arguments.as_object().cloned();
    let meta: rmcp::model::RequestMetaObject =
        serde_json::from_value(json!({ "traceparent": PARENT })).unwrap();
    request.meta = Some(meta);
    server.client.call_tool(request).await.unwrap();
    let records = records(Arc::as_ref(&server.dir).path());
    let trace = records.last().unwrap().trace.map(|trace| trace.to_string());
    assert_eq!(trace.as_deref(), Some(TRACE));
}
