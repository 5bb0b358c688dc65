//! A real server over HTTP on a port of its own, and plain requests to it.

use std::net::SocketAddr;

use rmcp::model::CallToolResult;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wikijs_gate::audit::Role;
use wikijs_gate::server::Sites;
use wikijs_gate::server::http::{ClientToken, HttpLimits, HttpServer, NamedClient, TokensFile};

use crate::prelude::*;

/// Bounds as they are, with nothing remembered for a second that a test has just changed.
pub(crate) const LIMITS: fn() -> HttpLimits = || HttpLimits {
    fresh: Duration::ZERO,
    told: Duration::from_mins(1),
    ..HttpLimits::default()
};

/// A server over HTTP.
pub(crate) struct Hosted {
    pub(crate) address: SocketAddr,
    pub(crate) dir: Arc<TempDir>,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: JoinHandle<()>,
}

/// What came back: status, headers in lower case, body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// A caller: what it sends with each request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    pub(crate) headers: Vec<(String, String)>,
}

/// A file of named clients.
pub(crate) struct Names {
    pub(crate) dir: Arc<TempDir>,
}

/// Changes each line of a file of named clients, or a delegate.
pub(crate) fn rewrite(path: &Path, change: impl Fn(&mut Value)) {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let mut line = serde_json::from_str(line).unwrap();
        change(&mut line);
        format!("{line}\n")
    });
    let text: String = lines.collect();
    fs::write(path, text).unwrap();
}

impl Names {
    pub(crate) fn new() -> Self {
        let dir = Arc::new(TempDir::new().unwrap());
        Self { dir }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("tokens")
    }

    pub(crate) fn file(&self) -> TokensFile {
        TokensFile::new(self.path())
    }

    /// Makes a client that may do all that the server may.
    pub(crate) fn client(&self, name: &str) -> Caller {
        self.add(name, Grant::default())
    }

    /// Makes a client of a grant with this changed.
    pub(crate) fn granted(&self, name: &str, change: impl FnOnce(&mut Grant)) -> Caller {
        self.add(name, Grant::default().but(change))
    }

    /// Makes a client that may do so much less than the server.
    pub(crate) fn add(&self, name: &str, may: Grant) -> Caller {
        let token = ClientToken::new().unwrap();
        let client = NamedClient::new(name, Role::Agent, Some(&token), may).unwrap();
        self.file().add(client).unwrap();
        Caller::default().with("authorization", &format!("Bearer {}", token.reveal()))
    }
}

impl Setup {
    /// With these named clients.
    pub(crate) fn naming(self, names: &Names) -> Self {
        self.with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
    }

    /// The same over HTTP.
    pub(crate) async fn host(self) -> Hosted {
        self.host_within(LIMITS()).await
    }

    /// The same with bounds of its own.
    #[expect(clippy::large_types_passed_by_value, reason = "once a server")]
    pub(crate) async fn host_within(self, limits: HttpLimits) -> Hosted {
        let (app, settings, dir) = self.app();
        app.ask_schema().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = HttpServer::new(Sites::only(app), settings, limits, listener).unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let ended = tokio::spawn(server.run(stop.clone()));
        Hosted {
            address,
            dir,
            stop,
            ended,
        }
    }
}

impl Caller {
    /// With one header more, or another.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The id of its session.
    pub(crate) fn session(&self) -> &str {
        let mut headers = self.headers.iter();
        let id = headers.find(|(name, _)| name == "mcp-session-id");
        &id.expect("a session").1
    }
}

impl Hosted {
    /// A command on the file of clients and the store of this server.
    pub(crate) fn command(&self, names: &Names, arguments: &[&str]) -> Command {
        // A server of several sites has it below the directory of its settings file.
        let below = self.dir.path().join("audit");
        let dir = Some(&*below).filter(|dir| dir.is_dir());
        let dir = dir.unwrap_or(self.dir.path());
        Command::new(arguments)
            .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
            .with("WIKI_AUDIT_DIR", dir.to_str().unwrap())
    }

    /// One request on a connection of its own.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        caller: &Caller,
        body: &str,
    ) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = self.head(
            method,
            path,
            caller,
            &format!("content-length: {}\r\n", body.len()),
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
        answer(stream).await
    }

    /// The head of a request that ends its connection.
    pub(crate) fn head(&self, method: &str, path: &str, caller: &Caller, more: &str) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n{more}");
        if !caller.headers.iter().any(|(name, _)| name == "host") {
            write!(head, "host: {}\r\n", self.address).unwrap();
        }
        for (name, value) in &caller.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        head + "\r\n"
    }

    /// The status of a call that only reads.
    pub(crate) async fn status_of(&self, caller: &Caller) -> u16 {
        self.post(caller, &call(TREE, json!({}))).await.status
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &Caller::default(), "").await
    }

    /// One message of the protocol.
    pub(crate) async fn post(&self, caller: &Caller, message: &Value) -> Answer {
        self.send("POST", "/mcp", &speaking(caller), &message.to_string())
            .await
    }

    /// Opens a session of protocol 2025-11-25: the caller with it.
    pub(crate) async fn open(&self, caller: &Caller) -> Caller {
        let answer = self.post(caller, &initialize("2025-11-25")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let caller = caller
            .clone()
            .with("mcp-session-id", &answer.headers["mcp-session-id"])
            .with("mcp-protocol-version", "2025-11-25");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&caller, &initialized).await.status, 202);
        caller
    }

    /// Calls a tool: its structured answer, or its error.
    pub(crate) async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Value> {
        let answer = self.post(caller, &call(tool, arguments)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let message = answer.message();
        let result: CallToolResult = serde_json::from_value(message["result"].clone())
            .unwrap_or_else(|_| panic!("{message}"));
        read(&result)
    }

    /// The answer of a call that must succeed.
    pub(crate) async fn ok(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let call = format!("{tool} {arguments}");
        let answer = self.call(caller, tool, arguments).await;
        answer.unwrap_or_else(|error| panic!("{call}: {error}"))
    }

    /// The error of a call that must fail with this code.
    pub(crate) async fn fails(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Value,
        code: &str,
    ) -> Value {
        let call = format!("{tool} {arguments}");
        let answer = self.call(caller, tool, arguments).await;
        let error = answer.expect_err(&call);
        assert_eq!(error["code"], code, "{call}: {error}");
        error
    }

    /// The answer of a write that must be applied, once it is confirmed.
    pub(crate) async fn applied(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let preview = self.ok(caller, tool, arguments.clone()).await;
        let confirmed = arguments.but(|it| it["confirm"] = preview["confirm"].clone());
        let answer = self.ok(caller, tool, confirmed).await;
        assert_eq!(answer["outcome"], "applied", "{tool}: {answer}");
        answer
    }

    /// A call that has its place, and will not end before the rest of its body comes.
    pub(crate) async fn begin(&self, caller: &Caller, message: &Value) -> (TcpStream, String) {
        let message = message.to_string();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let length = format!(
            "content-length: {}\r\nexpect: 100-continue\r\n",
            message.len()
        );
        let head = self.head("POST", "/mcp", &speaking(caller), &length);
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server asks for the body: the request is past its guard.
        let mut told = [0; 25];
        stream.read_exact(&mut told).await.unwrap();
        assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
        (stream, message)
    }

    /// The tools that a caller is offered.
    pub(crate) async fn tools(&self, caller: &Caller) -> Vec<String> {
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let message = self.post(caller, &list).await.message();
        let tools = message["result"]["tools"].as_array().unwrap().iter();
        vec_of(tools.map(|tool| tool["name"].as_str().unwrap().to_owned()))
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        records(self.dir.path())
    }
}

/// The caller with what every client of the protocol sends.
pub(crate) fn speaking(caller: &Caller) -> Caller {
    caller
        .clone()
        .with("content-type", "application/json")
        .with("accept", "application/json, text/event-stream")
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": { "name": "plain", "version": "1" },
    } })
}

pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" });
    message["params"]["name"] = tool.into();
    message["params"]["arguments"] = arguments;
    message
}

/// Reads an answer to the end of its connection.
pub(crate) async fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that refuses a body may close the connection before all of it has come.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let status = status.parse().unwrap();
    let headers: HashMap<String, String> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let is_chunked = headers
        .get("transfer-encoding")
        .is_some_and(|coding| coding == "chunked");
    let body = if is_chunked {
        dechunked(body)
    } else {
        body.to_owned()
    };
    Answer {
        status,
        headers,
        body,
    }
}

fn dechunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        let (chunk, rest) = rest.split_at(size);
        whole.push_str(chunk);
        body = rest.trim_start_matches("\r\n");
    }
    whole
}

impl Answer {
    /// The protocol's message in it, whether as JSON or as an event.
    pub(crate) fn message(&self) -> Value {
        let is_stream = self.headers["content-type"].starts_with("text/event-stream");
        if !is_stream {
            return serde_json::from_str(&self.body).unwrap();
        }
        let events = self.body.lines();
        let events = events.filter_map(|line| line.strip_prefix("data:"));
        let mut messages =
            events.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
        messages
            .find(|message| message.get("id").is_some())
            .unwrap_or_else(|| panic!("no answer in {}", self.body))
    }
}
