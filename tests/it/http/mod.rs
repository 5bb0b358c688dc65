//! The server over HTTP: the protocol, its bounds, its health, its end.

pub(crate) mod bad_input;
mod clients;
mod delegation;
pub(crate) mod hosted;
pub(crate) mod issuer;
mod memory;
mod messages;
mod notify;
mod people;
mod replicas;
mod roles;
mod shares;
mod traced;
mod wire;

use std::fs::Permissions;

use rmcp::service::ClientServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wikijs_gate::config::ServeSettings;
use wikijs_gate::server::Sites;
use wikijs_gate::server::http::{HttpLimits, HttpServer, refused_start};

use crate::http::hosted::{answer, call, initialize, speaking};
use crate::prelude::*;

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

fn nobody() -> Caller {
    Caller::default()
}

/// A call of the protocol's newest version, which knows no sessions.
fn modern(caller: &Caller, tool: &str, arguments: &Value) -> (Caller, Value) {
    let caller = caller
        .clone()
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/call")
        .with("mcp-name", tool);
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
        },
    } });
    (caller, message)
}

/// On whose behalf the first call was made, as the record has it.
fn client_of_call(server: &Hosted) -> wikijs_gate::audit::Client {
    let mut records = server.records().into_iter();
    let call = records.find(|record| record.tool.is_some());
    call.unwrap().client.unwrap()
}

#[tokio::test]
async fn every_version_is_spoken_with_a_session_and_without() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    for version in LEGACY {
        let first = server.post(&nobody(), &initialize(version)).await;
        assert_eq!(first.message()["result"]["protocolVersion"], version);
        let with = nobody()
            .with("mcp-session-id", &first.headers["mcp-session-id"])
            .with("mcp-protocol-version", version);
        let without = nobody().with("mcp-protocol-version", version);
        for caller in [with, without] {
            assert_eq!(server.tools(&caller).await.len(), 10, "{version}");
            let tree = server.call(&caller, TREE, json!({})).await.unwrap();
            assert!(!tree["nodes"].as_array().unwrap().is_empty(), "{version}");
        }
    }
    let (caller, message) = modern(&nobody(), TREE, &json!({}));
    let answer = server.post(&caller, &message).await;
    assert!(!answer.headers.contains_key("mcp-session-id"));
    assert!(answer.message()["result"]["structuredContent"]["nodes"].is_array());
}

#[tokio::test]
async fn a_real_client_reads_and_writes_on_both_generations() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    let generations = [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28],
        },
    ];
    for (number, generation) in generations.into_iter().enumerate() {
        let uri = format!("http://{}/mcp", server.address);
        let transport = StreamableHttpClientTransport::from_uri(uri);
        let client = ().serve_with_lifecycle(transport, generation).await.unwrap();
        let title = format!("Title {number}");
        let arguments = json!({ "id": id_of(&wiki, "home"), "title": title });
        let update = async |arguments: &Value| {
            let mut request = CallToolRequestParams::new(UPDATE);
            request.arguments = arguments.as_object().cloned();
            read(&client.call_tool(request).await.unwrap()).unwrap()
        };
        let preview = update(&arguments).await;
        let mut arguments = arguments.clone();
        arguments["confirm"] = preview["confirm"].clone();
        assert_eq!(update(&arguments).await["outcome"], "applied");
        client.cancel().await.unwrap();
    }
    let client = client_of_call(&server);
    assert_eq!(client.subject, None);
    assert_eq!(client.address.as_deref(), Some("127.0.0.1"));
}

#[tokio::test]
async fn a_client_without_a_handshake_is_not_recorded_under_another_name() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    server.call(&nobody(), UPDATE, arguments).await.unwrap();
    assert_eq!(client_of_call(&server).name, "");
}

#[tokio::test]
async fn a_page_of_another_site_cannot_call() {
    let wiki = sample_wiki().await;
    let hosts = "mcp.example.com, other.example.com:8443";
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_ALLOWED_HOSTS", hosts);
    let setup = setup.with("WIKI_SERVE_ALLOWED_ORIGINS", "https://app.example.com");
    let server = setup.host().await;
    let status = async |name: &str, value: &str| {
        let caller = nobody().with(name, value);
        server.post(&caller, &initialize("2025-11-25")).await.status
    };
    let hosts = "localhost LOCALHOST:1 127.0.0.1:9 [::1]:80 mcp.example.com:99 MCP.example.com \
        other.example.com:8443";
    for host in hosts.split(' ') {
        assert_eq!(status("host", host).await, 200, "{host}");
    }
    let hosts = "evil.example.com,127.0.0.1.evil.example.com,localhost@evil.example.com,\
        other.example.com,mcp.example.com.,192.0.2.1,a b";
    for host in hosts.split(',') {
        assert_eq!(status("host", host).await, 403, "{host}");
    }
    assert_eq!(status("origin", "https://app.example.com").await, 200);
    let origins = "https://evil.example.com,http://app.example.com,https://app.example.com:8443,\
        null,https://app.example.com/,";
    for origin in origins.split(',') {
        assert_eq!(status("origin", origin).await, 403, "{origin}");
    }
    // The address in the request line is looked at as well.
    let (target, caller) = ("http://evil.example.com/mcp", speaking(&nobody()));
    assert_eq!(server.send("POST", target, &caller, "{}").await.status, 403);
    let caller = nobody().with("host", "evil");
    assert_eq!(
        server.send("GET", "/metrics", &caller, "").await.status,
        403
    );
}

#[tokio::test]
async fn browsers_are_let_in_for_listed_sites_alone() {
    let wiki = sample_wiki().await;
    let site = nobody().with("origin", "https://app.example.com");
    let plain = Setup::readonly(&wiki).host().await;
    let asked = plain.send("OPTIONS", "/mcp", &site, "").await;
    assert_eq!(asked.status, 403);
    let answer = plain.post(&nobody(), &initialize("2025-11-25")).await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    let expected = "https://app.example.com";
    let open = Setup::readonly(&wiki).with("WIKI_SERVE_ALLOWED_ORIGINS", expected);
    let open = open.host().await;
    let asked = open.send("OPTIONS", "/mcp", &site, "").await;
    assert_eq!(asked.status, 204);
    assert_eq!(asked.headers["access-control-allow-origin"], expected);
    let answer = open.post(&site, &initialize("2025-11-25")).await;
    assert_eq!(answer.headers["access-control-allow-origin"], expected);
    assert!(answer.headers["access-control-expose-headers"].contains("mcp-session-id"));
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_before_it_is_read_and_while() {
    let wiki = sample_wiki().await;
    let limits = LIMITS().but(|limits| limits.body = 2_000);
    let server = Setup::readonly(&wiki).host_within(limits).await;
    let caller = speaking(&nobody());
    // Nothing of the body is ever sent, and the answer comes.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = server.head("POST", "/mcp", &caller, "content-length: 2001\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(answer(stream).await.status, 413);
    // Of unknown length, and without an end.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = server.head("POST", "/mcp", &caller, "transfer-encoding: chunked\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1_000));
    stream.write_all(chunk.repeat(3).as_bytes()).await.unwrap();
    assert_eq!(answer(stream).await.status, 413);
    // The limit as it is has room for the largest page.
    assert_eq!(HttpLimits::default().body, 7 * 1024 * 1024);
}

#[tokio::test]
async fn whoever_sends_slowly_is_not_waited_for() {
    let wiki = sample_wiki().await;
    let limits = HttpLimits {
        idle: Duration::from_millis(100),
        request: Duration::from_millis(100),
        ..LIMITS()
    };
    let server = Setup::readonly(&wiki).host_within(limits).await;
    let connect = async |sent: &str| {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).await.unwrap();
        told
    };
    // A head without an end, a connection that says nothing, and one that has nothing more to say.
    let told = connect("POST /mcp HTTP/1.1\r\nhost: localhost\r\n").await;
    lacks(&told, " 200 ");
    assert!(!connect("").await.contains(" 200 "));
    let told = connect("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    says(&told, " 200 ");
    let caller = speaking(&nobody());
    let body = server.head("POST", "/mcp", &caller, "content-length: 100\r\n");
    assert!(connect(&format!("{body}{{")).await.contains(" 408 "));
}

#[tokio::test]
async fn calls_sessions_and_connections_are_bounded_with_a_503() {
    let wiki = sample_wiki().await;
    let refused = |answer: &crate::http::hosted::Answer| {
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    };
    let limits = HttpLimits {
        calls: 1,
        sessions: 1,
        // A peer has half of them.
        connections: 6,
        ..LIMITS()
    };
    let server = Setup::readonly(&wiki).host_within(limits).await;
    let (mut first, body) = server.begin(&nobody(), &call(TREE, json!({}))).await;
    refused(&server.post(&nobody(), &call(TREE, json!({}))).await);
    first.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(first).await.status, 200);
    // Its place is free again, and there is one for a session.
    let caller = server.open(&nobody()).await;
    refused(&server.post(&nobody(), &initialize("2025-11-25")).await);
    assert_eq!(server.send("DELETE", "/mcp", &caller, "").await.status, 202);
    server.open(&nobody()).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut some = [0; 64];
        assert!(stream.read(&mut some).await.unwrap() > 0);
        held.push(stream);
    }
    refused(&server.get("/healthz").await);
}

#[tokio::test]
async fn connections_that_send_no_head_keep_nobody_out() {
    let wiki = sample_wiki().await;
    let limits = LIMITS().but(|limits| limits.connections = 32);
    let server = Setup::readonly(&wiki).host_within(limits).await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let begun = b"POST /mcp HTTP/1.1\r\nhost: ";
        stream.write_all(begun).await.unwrap();
        silent.push(stream);
        if silent.len() % 50 == 0 {
            assert_eq!(server.get("/healthz").await.status, 200);
            server.call(&nobody(), TREE, json!({})).await.unwrap();
        }
    }
    // The oldest have gone, and the newest are still waited for.
    let (mut first, mut last) = (silent.remove(0), silent.pop().unwrap());
    assert!(matches!(first.read(&mut [0; 1]).await, Ok(0) | Err(_)));
    let rest = b"localhost\r\nconnection: close\r\n\r\n";
    last.write_all(rest).await.unwrap();
    assert_eq!(answer(last).await.status, 400);
}

#[tokio::test]
async fn whoever_comes_too_often_is_told_to_wait() {
    let wiki = sample_wiki().await;
    let names = Names::new();
    let slow = names.granted("slow", |may| may.rate = Some(2));
    let usual = names.granted("usual", |may| may.rate = Some(1_000));
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_RATE", "3");
    let server = setup.naming(&names).host().await;
    for (caller, rate) in [(&slow, 2), (&usual, 3)] {
        for _ in 0..rate {
            assert_eq!(server.status_of(caller).await, 200);
        }
        let answer = server.post(caller, &call(TREE, json!({}))).await;
        assert_eq!(answer.status, 429);
        assert!((15..=30).contains(&answer.headers["retry-after"].parse::<u64>().unwrap()));
    }
}

fn serving(variables: &[(&str, &str)]) -> ServeSettings {
    let get = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).into())
    };
    ServeSettings::read(&wikijs_gate::config::SettingsSource::new(&get)).unwrap()
}

#[tokio::test]
async fn without_named_clients_nobody_from_elsewhere_is_let_in() {
    let address = |text: &str| text.parse().unwrap();
    for open in ["0.0.0.0:1", "192.0.2.1:1", "[::]:1", "[::ffff:192.0.2.1]:1"] {
        let fault = refused_start(&serving(&[]), address(open));
        assert!(fault.is_some(), "{open}");
    }
    for loopback in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        let fault = refused_start(&serving(&[]), address(loopback));
        assert_eq!(fault, None, "{loopback}");
    }
    // A proxy on this machine may bring anybody.
    let proxied = serving(&[("WIKI_SERVE_TRUSTED_PROXIES", "127.0.0.1")]);
    assert!(refused_start(&proxied, address("127.0.0.1:1")).is_some());
    // A file that names nobody is no protection that anybody meant.
    let (wiki, names) = (sample_wiki().await, Names::new());
    let start = async || {
        let (app, settings, _dir) = Setup::readonly(&wiki).naming(&names).app();
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        HttpServer::new(Sites::only(app), settings, LIMITS(), listener).map(|_| ())
    };
    assert!(start().await.is_err());
    names.client("ci");
    assert_eq!(start().await, Ok(()));
}

#[tokio::test]
async fn health_says_what_is_wrong() {
    let wiki = sample_wiki().await;
    let names = Names::new();
    names.client("ci");
    let limits = HttpLimits {
        reached: Duration::ZERO,
        asked: Duration::from_secs(5),
        ..LIMITS()
    };
    let setup = Setup::readonly(&wiki).naming(&names);
    let server = setup.host_within(limits).await;
    assert_eq!(server.get("/healthz").await.status, 200);
    for path in ["/", "/mcp/", "/mcp/docs/"] {
        let nothing = server.get(path).await;
        assert_eq!(nothing.status, 404, "{path}");
        let told = "there is nothing here; MCP is at /mcp, and people decide at /review\n";
        assert_eq!(&*nothing.body, told);
    }
    let ready = async || {
        let answer = server.get("/readyz").await;
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(answer.status == 200, body["ready"] == true);
        body
    };
    let good = json!({ "settings": "ok", "wiki": "ok", "audit": "ok" });
    let first = ready().await;
    first.shows(json!({ "ready": true, "checks": good }));
    let whole = fs::read_to_string(names.path()).unwrap();
    fs::write(names.path(), "nonsense").unwrap();
    let broken = ready().await;
    begins(&broken["checks"]["settings"], "line 1 of the tokens file");
    fs::remove_file(names.path()).unwrap();
    let gone = ready().await;
    let expected = "the tokens file is missing or names no client: nobody may call";
    assert_eq!(gone["checks"]["settings"], expected);
    names.client("ci");
    assert_eq!(ready().await["ready"], true);
    fs::write(names.path(), "").unwrap();
    assert_eq!(ready().await["ready"], false);
    fs::write(names.path(), whole).unwrap();
    assert_eq!(ready().await["ready"], true);
    let may = |mode| fs::set_permissions(names.path(), Permissions::from_mode(mode)).unwrap();
    may(0o620);
    let foreign = ready().await;
    let expected =
        "the tokens file may be written by others than its owner; take that away with chmod go-w";
    assert_eq!(foreign["checks"]["settings"], expected);
    may(0o600);
    assert_eq!(ready().await["ready"], true);
    // Root may write anywhere, but not into a file as if it were a directory.
    let audit = server.dir.path();
    let of_wiki = wiki_dir(audit);
    fs::remove_dir_all(&of_wiki).unwrap();
    fs::write(&of_wiki, "").unwrap();
    let checks = ready().await["checks"].clone();
    begins(&checks["audit"], "the store of the record cannot be used");
    fs::remove_file(of_wiki).unwrap();
    drop(wiki);
    let gone = ready().await["checks"]["wiki"].clone();
    begins(&gone.as_str().unwrap(), "it does not answer: ");
    // The process lives all the same.
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn the_end_waits_for_calls_under_way_and_takes_no_more() {
    let wiki = sample_wiki().await;
    let server = Arc::new(Setup::editor(&wiki).host().await);
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "Last" });
    let caller = server.open(&nobody()).await;
    let preview = server.ok(&caller, UPDATE, arguments.clone()).await;
    let mut confirmed = arguments.clone();
    confirmed["confirm"] = preview["confirm"].clone();
    // A connection that is there already, for a call that comes too late.
    let (mut late, body) = {
        let body = call(TREE, json!({})).to_string();
        let stream = TcpStream::connect(server.address).await.unwrap();
        let length = format!("content-length: {}\r\n", body.len());
        let head = server.head("POST", "/mcp", &speaking(&caller), &length);
        (stream, format!("{head}{body}"))
    };
    wiki.set_write_delay(Duration::from_millis(300));
    let (sent, reached) = oneshot::channel();
    wiki.before_next_mutation(move |_| sent.send(()).unwrap());
    let write = tokio::spawn({
        let (server, caller) = (Arc::clone(&server), caller.clone());
        async move { server.call(&caller, UPDATE, confirmed).await }
    });
    reached.await.unwrap();
    server.stop.cancel();
    late.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(late).await.status, 503);
    assert_eq!(write.await.unwrap().unwrap()["outcome"], "applied");
    let server = Arc::into_inner(server).unwrap();
    let Hosted { dir, ended, .. } = server;
    ended.await.unwrap();
    let expected = ["preview", "attempt update", "outcome update applied"];
    assert_eq!(told(&records(dir.path())), expected);
}

#[tokio::test]
async fn a_call_that_outlasts_the_end_leaves_its_write_settled() {
    let wiki = sample_wiki().await;
    let limits = LIMITS().but(|limits| limits.last_calls = Duration::ZERO);
    let server = Setup::editor(&wiki).host_within(limits).await;
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "Last" });
    let caller = server.open(&nobody()).await;
    let preview = server.ok(&caller, UPDATE, arguments.clone()).await;
    let mut confirmed = arguments;
    confirmed["confirm"] = preview["confirm"].clone();
    wiki.set_write_delay(Duration::from_millis(300));
    let (sent, reached) = oneshot::channel();
    wiki.before_next_mutation(move |_| sent.send(()).unwrap());
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let message = call(UPDATE, confirmed).to_string();
    let length = format!("content-length: {}\r\n", message.len());
    let head = server.head("POST", "/mcp", &speaking(&caller), &length);
    let request = format!("{head}{message}");
    stream.write_all(request.as_bytes()).await.unwrap();
    reached.await.unwrap();
    server.stop.cancel();
    server.ended.await.unwrap();
    let records = records(server.dir.path());
    assert_eq!(told(&records).last().unwrap(), "outcome update applied");
    assert_eq!(records.last().unwrap().event, AuditEvent::Closed);
}

#[tokio::test]
async fn metrics_tell_calls_refusals_and_times_under_the_documented_names() {
    let wiki = sample_wiki().await;
    let setup = Setup::readonly(&wiki).with("WIKI_MUTATIONS_ENABLED", "false");
    let server = setup.host().await;
    server.call(&nobody(), TREE, json!({})).await.unwrap();
    let (caller, delete) = (nobody(), json!({ "id": 1 }));
    server
        .fails(&caller, DELETE, delete, "MUTATIONS_DISABLED")
        .await;
    server.post(&caller, &call("made_up", json!({}))).await;
    server
        .status_of(&caller.with("origin", "https://evil"))
        .await;
    let told = server.get("/metrics").await.body;
    for line in [
        "wikijs_gate_calls_total{tool=\"wikijs_get_page_tree\",outcome=\"ok\"} 1",
        "wikijs_gate_calls_total{tool=\"wikijs_delete_page\",outcome=\"MUTATIONS_DISABLED\"} 1",
        "wikijs_gate_calls_total{tool=\"\",outcome=\"unknown_tool\"} 1",
        "wikijs_gate_call_duration_seconds_count 3",
        "wikijs_gate_calls_in_flight 0",
        "wikijs_gate_write_refusals_total{gate=\"enabled\"} 1",
        "wikijs_gate_http_refusals_total{status=\"403\"} 1",
        "wikijs_gate_wiki_requests_in_flight 0",
        "wikijs_gate_wiki_retries_total 0",
        "wikijs_gate_index_pages 0",
    ] {
        assert!(told.lines().any(|other| other == line), "{line}:\n{told}");
    }
    // This connection is one of them, and the server another.
    let mut lines = told.lines();
    let tasks = lines.find_map(|line| line.strip_prefix("wikijs_gate_tasks "));
    assert!(tasks.unwrap().parse::<usize>().unwrap() >= 2, "{told}");
    for metric in wikijs_gate::server::metrics::METRICS {
        says(&told, &format!("# TYPE {} {}\n", metric.name, metric.kind));
    }
    let named = told.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    assert_eq!(named.count(), wikijs_gate::server::metrics::METRICS.len());
}

#[tokio::test]
async fn metrics_tell_what_was_found_last_while_the_wiki_hangs() {
    let wiki = sample_wiki().await;
    let between = FaultyWiki::before(&wiki).await;
    let limits = HttpLimits {
        reached: Duration::ZERO,
        asked: Duration::from_mins(2),
        told: Duration::ZERO,
        ..LIMITS()
    };
    let setup = Setup::at(&between.address(), &wiki.keys().reader);
    let server = setup.host_within(limits).await;
    let ok = "wikijs_gate_check_ok{check=\"wiki\"} 1";
    let metrics = async || server.get("/metrics").await.body;
    // The first look may not have ended yet.
    while !metrics().await.contains(ok) {
        tokio::task::yield_now().await;
    }
    between.on_reads(usize::MAX, Fault::new(Reach::Never, Reply::Silence));
    for _ in 0..3 {
        let told = tokio::time::timeout(Duration::from_secs(20), metrics()).await;
        assert!(told.unwrap().contains(ok));
    }
    between.recovers();
}

#[tokio::test]
async fn one_id_goes_through_the_record_and_the_requests_of_a_call() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    let arguments = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let preview = server.ok(&nobody(), UPDATE, arguments.clone()).await;
    let mut confirmed = arguments;
    confirmed["confirm"] = preview["confirm"].clone();
    wiki.clear_requests();
    let applied = server.call(&nobody(), UPDATE, confirmed).await.unwrap();
    let id = applied["callId"].as_str().unwrap();
    assert_eq!(id.len(), 16);
    let requests = wiki.requests();
    assert!(requests.len() > 1);
    for request in requests {
        assert_eq!(request.headers["x-request-id"], id);
    }
    let calls = server
        .records()
        .into_iter()
        .filter_map(|record| record.call);
    assert_eq!(calls.filter(|call| call.to_string() == id).count(), 2);
}

#[tokio::test]
async fn the_tokens_file_is_made_private() {
    let names = Names::new();
    names.client("ci");
    let mode = fs::metadata(names.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[tokio::test]
async fn only_who_asks_by_a_name_of_this_server_is_told_what_is_wrong() {
    let wiki = sample_wiki().await;
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_ALLOWED_HOSTS", "mcp.example.com");
    let server = setup.host().await;
    // A probe of a cluster asks for the address of the pod, a page of another site for its own.
    for (host, is_known) in [
        ("localhost", true),
        ("mcp.example.com", true),
        ("10.1.2.3:8765", false),
        ("evil.example.com", false),
    ] {
        let caller = nobody().with("host", host);
        let answer = server.send("GET", "/readyz", &caller, "").await;
        assert_eq!(answer.status, 200, "{host}");
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body["ready"], true, "{host}");
        assert_eq!(body.get("checks").is_some(), is_known, "{host}: {body}");
    }
}

#[tokio::test]
async fn a_file_that_the_server_cannot_open_makes_it_unready() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host().await;
    server.ok(&nobody(), CREATE, new_page("docs/new")).await;
    let audit = async || {
        let answer = server.get("/readyz").await;
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let is_good = body["checks"]["audit"] == "ok";
        assert_eq!(answer.status == 200, is_good, "{body}");
        body["checks"]["audit"].as_str().unwrap().to_owned()
    };
    assert_eq!(audit().await, "ok");
    let wiki_dir = wiki_dir(server.dir.path());
    // Root opens what it likes, but no socket. The name of one must be short.
    let elsewhere = TempDir::new().unwrap();
    let short = elsewhere.path().join("d");
    std::os::unix::fs::symlink(&wiki_dir, &short).unwrap();
    for name in ["tree.lock", "runs/20300101T000000Z-00000000000000ff.jsonl"] {
        let path = wiki_dir.join(name);
        let _ = fs::remove_file(&path);
        let socket = std::os::unix::net::UnixListener::bind(short.join(name)).unwrap();
        let expected = "1 file or directory in the audit directory cannot be opened";
        assert_eq!(audit().await, expected, "{name}");
        drop(socket);
        fs::remove_file(&path).unwrap();
        assert_eq!(audit().await, "ok", "{name}");
    }
    let may = |mode| fs::set_permissions(&wiki_dir, Permissions::from_mode(mode)).unwrap();
    may(0o770);
    let expected = "others than its owner may write the audit directory";
    assert_eq!(audit().await, expected);
    may(0o700);
    assert_eq!(audit().await, "ok");
}
