//! The release binary over HTTP.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::process::Process;
use crate::server::{initialize, message};

/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// A running server that listens.
pub(crate) struct Hosted {
    pub(crate) process: Process,
    address: SocketAddr,
}

impl Hosted {
    /// Starts a server of a wiki; returns as soon as it listens.
    pub(crate) fn start(address: &str, key: &str, settings: &[(&str, &str)]) -> Self {
        // The system gives no port again soon.
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|port| port.local_addr());
        let free = free.expect("a port");
        // The highest rate, so that it bounds nothing here; and nothing is to be told but faults.
        let mut all = vec![("WIKI_SERVE_RATE", "1000000"), ("WIKI_LOG", "warn")];
        all.extend(settings);
        let arguments = ["serve", "--http", &free.to_string()];
        let hosted = Self {
            process: Process::start(&arguments, address, key, &all),
            address: free,
        };
        let began = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(began.elapsed() < PATIENCE, "the server does not listen");
            sleep(LOOK);
        }
        hosted
    }

    /// Opens a session on a connection of its own, for a client that will send this.
    pub(crate) async fn session(&self, body: String) -> Client {
        self.session_at("", body).await
    }

    /// The same at a site: `/NAME`.
    async fn session_at(&self, place: &str, body: String) -> Client {
        const SESSION: &str = "mcp-session-id";
        let client = Client::asking(format!("http://{}/mcp{place}", self.address), body)
            .with("accept", "application/json, text/event-stream");
        let (headers, _) = client.send(Method::POST, initialize()).await;
        let id = headers.get(SESSION).and_then(|id| id.to_str().ok());
        let client = client
            .with(SESSION, id.expect("a session"))
            .with("mcp-protocol-version", "2025-11-25");
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        client.send(Method::POST, note.to_owned()).await;
        client
    }

    /// A client that calls a tool without a session, as the protocol's version 2026-07-28 has it.
    pub(crate) fn without_session(&self, tool: &str, arguments: &Value) -> Client {
        const VERSION: &str = "2026-07-28";
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = message(1, "tools/call", &params);
        Client::asking(format!("http://{}/mcp", self.address), body)
            .with("accept", "application/json, text/event-stream")
            .with("mcp-protocol-version", VERSION)
            .with("mcp-method", "tools/call")
            .with("mcp-name", tool)
    }

    /// So many sessions.
    pub(crate) async fn sessions(&self, count: usize, body: &str) -> Vec<Client> {
        self.sessions_at("", count, body).await
    }

    /// So many sessions at a site.
    pub(crate) async fn sessions_at(&self, place: &str, count: usize, body: &str) -> Vec<Client> {
        let mut sessions = Vec::with_capacity(count);
        for _ in 0..count {
            sessions.push(self.session_at(place, body.to_owned()).await);
        }
        sessions
    }

    /// One of its metrics that have no labels.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let client = Client::asking(format!("http://{}/metrics", self.address), String::new());
        let (_, text) = client.send(Method::GET, String::new()).await;
        let text = String::from_utf8(text).expect("UTF-8");
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value
            .and_then(|value| value.trim().parse().ok())
            .expect(name)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.process.terminate();
    }
}

/// Calls a tool in a session: the result.
pub(crate) async fn call(session: &Client, call: String) -> Value {
    let (_, answer) = session.send(Method::POST, call).await;
    let text = String::from_utf8(answer).expect("UTF-8");
    // As JSON, or as an event among others.
    let mut messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.trim_start_matches("data:")).ok());
    let result = messages.find_map(|mut message| Some(message.get_mut("result")?.take()));
    result.unwrap_or_else(|| panic!("no result in {text}"))
}
