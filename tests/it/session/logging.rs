//! What happens in a call is told to a client that has set a level.
#![expect(deprecated, reason = "the protocol has logging deprecated (SEP-2577)")]

use std::time::Duration;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, Peer, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wikijs_gate::index::Pace;

use crate::harness::{EAGER, Served, Setup, id_of, sample_wiki};
use crate::http::hosted::{Caller, call};
use crate::testkit::{SEARCH, TREE, UPDATE, is_applied};
use crate::wiki::faulty_wiki::{Fault, FaultyWiki, Reach, Reply};

/// A client that passes on what it is told: the level and the text.
#[derive(Debug, Clone)]
struct Listening(UnboundedSender<(LoggingLevel, Value)>);

impl ClientHandler for Listening {
    async fn on_logging_message(
        &self,
        told: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        assert_eq!(told.logger.as_deref(), Some("wikijs-gate"));
        let _ = self.0.send((told.level, told.data));
    }
}

type Told = UnboundedReceiver<(LoggingLevel, Value)>;

async fn listening(setup: Setup) -> (Served<Listening>, Told) {
    let (told, heard) = unbounded_channel();
    let served = setup
        .serve_to(Listening(told), ClientLifecycleMode::Initialize)
        .await;
    (served, heard)
}

async fn set(client: &Peer<RoleClient>, level: LoggingLevel) {
    let level = SetLevelRequestParams::new(level);
    client.set_level(level).await.unwrap();
}

async fn next(heard: &mut Told) -> (LoggingLevel, String) {
    let told = tokio::time::timeout(Duration::from_secs(20), heard.recv());
    let (level, text) = told.await.unwrap().unwrap();
    (level, text.as_str().unwrap().to_owned())
}

/// The next read is answered so, and told nothing else.
fn fails_once(wiki: &FaultyWiki, status: u16) {
    let reply = Reply::say(status, "text/plain", "secret of the wiki").header("retry-after", "0");
    wiki.on_reads(1, Fault::new(Reach::Never, reply));
}

#[tokio::test]
async fn that_the_wiki_is_asked_again_is_told_from_the_level_of_a_warning_on() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let setup = Setup::at(&faulty.address(), &wiki.keys().readonly);
    let (served, mut heard) = listening(setup).await;
    // Nothing before a level is set, and nothing of less weight than it.
    fails_once(&faulty, 500);
    served.call(TREE, json!({})).await.unwrap();
    for (level, status) in [
        (LoggingLevel::Emergency, 501),
        (LoggingLevel::Error, 502),
        (LoggingLevel::Warning, 503),
        (LoggingLevel::Debug, 504),
    ] {
        set(&served.client, level).await;
        fails_once(&faulty, status);
        served.call(TREE, json!({})).await.unwrap();
    }
    for status in [503, 504] {
        let (level, text) = next(&mut heard).await;
        assert_eq!(level, LoggingLevel::Warning);
        let said = format!("the wiki answered with HTTP status {status}; it is asked again in ");
        let wait = text.strip_prefix(&said).unwrap_or_else(|| panic!("{text}"));
        let wait: u32 = wait.strip_suffix(" ms").unwrap().parse().unwrap();
        assert!((50..1_000).contains(&wait), "{text}");
    }
    // A page as a resource is no call of a tool, and told of all the same.
    fails_once(&faulty, 505);
    let page = rmcp::model::ReadResourceRequestParams::new("wikijs://en/home");
    served.client.read_resource(page).await.unwrap();
    assert!(next(&mut heard).await.1.contains(" 505;"));
    assert!(heard.is_empty());
}

#[tokio::test]
async fn no_more_is_told_of_a_call_than_a_few_messages() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let setup =
        Setup::at(&faulty.address(), &wiki.keys().readonly).with("WIKI_HTTP_MAX_RETRIES", "10");
    let (served, mut heard) = listening(setup).await;
    set(&served.client, LoggingLevel::Info).await;
    let again = Reply::say(429, "text/plain", "").header("retry-after", "0");
    faulty.on_reads(10, Fault::new(Reach::Never, again));
    served.call(TREE, json!({})).await.unwrap();
    // The last one asks whose key it is.
    assert_eq!(faulty.seen().len(), 12);
    // The next call has its own few.
    fails_once(&faulty, 503);
    served.call(TREE, json!({})).await.unwrap();
    for _ in 0..8 {
        let (_, text) = next(&mut heard).await;
        assert_eq!(
            text,
            "the wiki asks for fewer requests; it is asked again in 0 ms"
        );
    }
    assert!(next(&mut heard).await.1.contains(" 503;"));
    assert!(heard.is_empty());
}

#[tokio::test]
async fn that_a_write_is_being_settled_is_told_once() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let mut setup = Setup::at(&faulty.address(), &wiki.keys().editor);
    setup.patience.settling = Duration::from_secs(30);
    let (served, mut heard) = listening(setup).await;
    set(&served.client, LoggingLevel::Warning).await;
    faulty.on_mutations(Fault::new(Reach::Meanwhile, Reply::Cut));
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Home again" });
    is_applied(&served, UPDATE, change).await;
    assert_eq!(
        next(&mut heard).await,
        (
            LoggingLevel::Warning,
            "the outcome of the write is not clear yet; the page is read until it is, and nothing is sent again".to_owned()
        )
    );
    assert!(heard.is_empty());
}

#[tokio::test]
async fn that_the_index_is_still_being_filled_is_told_as_information() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::readonly(&wiki).indexed();
    setup.pace = Pace {
        patience: Duration::ZERO,
        ..EAGER
    };
    wiki.hold_content_reads(0..usize::MAX);
    let (served, mut heard) = listening(setup).await;
    set(&served.client, LoggingLevel::Info).await;
    let search = json!({ "query": "linux", "in": "content" });
    // Until the wiki has said how many pages it has, nobody knows that some are wanting.
    let answer = loop {
        let answer = served.call(SEARCH, search.clone()).await;
        let answer = answer.unwrap();
        if !heard.is_empty() {
            break answer;
        }
    };
    let (level, text) = next(&mut heard).await;
    assert_eq!(level, LoggingLevel::Info);
    let of = &answer["index"]["of"];
    assert!(
        text.starts_with("the content index is still being filled: ")
            && text.ends_with(&format!(" of {of} pages")),
        "{text}"
    );
}

#[tokio::test]
async fn over_http_a_level_is_its_session_s_own() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let server = Setup::at(&faulty.address(), &wiki.keys().readonly)
        .host()
        .await;
    let connect = async || {
        let (told, heard) = unbounded_channel();
        let transport =
            StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", server.address));
        let client = Listening(told)
            .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
            .await
            .unwrap();
        (client, heard)
    };
    let ((ours, mut heard), (theirs, others)) = (connect().await, connect().await);
    set(&ours, LoggingLevel::Info).await;
    for (client, status) in [(&theirs, 502), (&ours, 503)] {
        fails_once(&faulty, status);
        let request = rmcp::model::CallToolRequestParams::new(TREE);
        client.call_tool(request).await.unwrap();
    }
    assert!(next(&mut heard).await.1.contains(" 503;"));
    assert!(others.is_empty());
    // Whoever has no session has nothing that could keep a level.
    let level = json!({ "jsonrpc": "2.0", "id": 3, "method": "logging/setLevel",
        "params": { "level": "info" } });
    let refused = server.post(&Caller::default(), &level).await.message();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}

#[tokio::test]
async fn from_2026_07_28_on_each_request_says_its_own_level() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let server = Setup::at(&faulty.address(), &wiki.keys().readonly)
        .host()
        .await;
    let caller = Caller::default()
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/call")
        .with("mcp-name", TREE);
    for (level, is_told) in [
        (Value::Null, false),
        (json!("error"), false),
        (json!("no level"), false),
        (json!("warning"), true),
    ] {
        let mut message = call(TREE, json!({}));
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
        });
        if !level.is_null() {
            message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level.clone();
        }
        fails_once(&faulty, 503);
        let answer = server.post(&caller, &message).await;
        assert!(answer.message()["result"]["structuredContent"].is_object());
        let told = answer.body.matches("notifications/message").count();
        assert_eq!(told, usize::from(is_told), "{level}: {}", answer.body);
        assert!(!answer.body.contains("secret"));
    }
}
