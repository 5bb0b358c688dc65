//! A share for each named client over HTTP: none of them can take everything.

use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{InitializeRequestParams, InitializeResult};
use rmcp::service::{RequestContext, RoleServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use wikijs_gate::server::Sites;
use wikijs_gate::server::http::{HttpLimits, HttpServer};

use crate::http::hosted::{Answer, answer, call, initialize, speaking};
use crate::prelude::*;

/// Four of each, and two of them at most for one client.
const FOUR: fn() -> HttpLimits = || HttpLimits {
    sessions: 4,
    calls: 4,
    shares: 2,
    ..LIMITS()
};

fn two(names: &Names) -> (Caller, Caller) {
    (names.client("own"), names.client("other"))
}

fn keyed(caller: &Caller, key: &str) -> Caller {
    caller.clone().with("x-wiki-api-token", key)
}

/// It was turned away for now, for this reason.
fn refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    let message = answer.message()["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains(why), "{message}");
}

#[tokio::test]
async fn calls_whose_bodies_never_end_take_the_share_of_their_client_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let tree = call(TREE, json!({}));
    let setup = Setup::readonly(&wiki).naming(&names);
    let server = setup.host_within(FOUR()).await;
    let (mut first, body) = server.begin(&other, &tree).await;
    let _second = server.begin(&other, &tree).await;
    let share = "this client has its whole share of the calls";
    refused(&server.post(&other, &tree).await, share);
    let _mine = server.begin(&own, &tree).await;
    server.call(&own, TREE, json!({})).await.unwrap();
    // A call that ends gives its place back.
    first.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(first).await.status, 200);
    server.call(&other, TREE, json!({})).await.unwrap();
}

#[tokio::test]
async fn callers_without_names_are_one_and_have_all_there_is() {
    let wiki = sample_wiki().await;
    let (nobody, tree) = (Caller::default(), call(TREE, json!({})));
    let server = Setup::readonly(&wiki).host_within(FOUR()).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        server.open(&nobody).await;
        held.push(server.begin(&nobody, &tree).await);
    }
    server.open(&nobody).await;
    let full = server.post(&nobody, &initialize("2025-11-25")).await;
    refused(&full, "too many sessions");
    held.push(server.begin(&nobody, &tree).await);
    refused(&server.post(&nobody, &tree).await, "too many calls");
}

#[tokio::test]
async fn a_client_opens_its_share_of_sessions_whatever_keys_it_brings() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.naming(&names).host_within(FOUR()).await;
    let own = keyed(&own, &wiki.keys().editor);
    let one = server.open(&keyed(&other, &wiki.keys().editor)).await;
    server.open(&keyed(&other, "junk-a")).await;
    let more = keyed(&other, "junk-b");
    let share = "this client has its whole share of the sessions";
    let refusal = server.post(&more, &initialize("2025-11-25")).await;
    refused(&refusal, share);
    let session = server.open(&own).await;
    server.call(&session, TREE, json!({})).await.unwrap();
    // One that has ended counts no more.
    assert_eq!(server.send("DELETE", "/mcp", &one, "").await.status, 202);
    server.open(&more).await;
}

/// Answers nobody's first message before it may.
struct Slow {
    asked: CancellationToken,
    may: CancellationToken,
}

impl ServerHandler for Slow {
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.asked.cancel();
        self.may.cancelled().await;
        self.negotiate_initialize(&request)
    }
}

#[tokio::test]
async fn a_session_whose_client_hung_up_while_it_was_opened_counts_for_that_client() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let limits = HttpLimits {
        sessions: 2,
        // A peer has half of them.
        connections: 2,
        ..FOUR()
    };
    let (asked, may) = (CancellationToken::new(), CancellationToken::new());
    let handler = {
        let (asked, may) = (asked.clone(), may.clone());
        move || Slow {
            asked: asked.clone(),
            may: may.clone(),
        }
    };
    let (app, settings, dir) = Setup::readonly(&wiki).naming(&names).app();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server =
        HttpServer::answering(Sites::only(app), handler, settings, limits, listener).unwrap();
    let (address, stop) = (server.address(), CancellationToken::new());
    let ended = tokio::spawn(server.run(stop.clone()));
    let server = Hosted {
        address,
        dir,
        stop,
        ended,
    };
    let message = initialize("2025-11-25");
    let body = message.to_string();
    let length = format!("content-length: {}\r\n", body.len());
    let head = server.head("POST", "/mcp", &speaking(&other), &length);
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    asked.cancelled().await;
    drop(stream);
    // The one connection that there may be is free: the server saw that the client is gone.
    let gone = async { while server.get("/healthz").await.status != 200 {} };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .unwrap();
    may.cancel();
    let share = "this client has its whole share of the sessions";
    refused(&server.post(&other, &message).await, share);
    assert_eq!(server.post(&own, &message).await.status, 200);
}

/// Previews a title of the page `home`: its id and token, as they confirm it.
async fn previewed(server: &Hosted, caller: &Caller, id: i64, title: &str) -> Value {
    let arguments = json!({ "id": id, "title": title });
    let preview = server.call(caller, UPDATE, arguments).await.unwrap();
    json!({ "id": id, "confirm": preview["confirm"] })
}

#[tokio::test]
async fn previews_of_one_client_do_not_push_out_those_of_another() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let id = id_of(&wiki, "home");
    let ours = previewed(&server, &own, id, "Ours").await;
    let takers = [server.open(&other).await, other];
    let first = previewed(&server, &takers[0], id, "First").await;
    for number in 0..100 {
        let title = format!("Title {number}");
        previewed(&server, &takers[number % 2], id, &title).await;
    }
    let expired = server.call(&takers[0], UPDATE, first).await.unwrap_err();
    assert_eq!(expired["code"], "CONFIRM_EXPIRED");
    let applied = server.call(&own, UPDATE, ours).await.unwrap();
    assert_eq!(applied["outcome"], "applied");
}

#[tokio::test]
async fn junk_keys_of_one_client_do_not_make_anothers_forgotten() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let limits = LIMITS().but(|limits| limits.keys = 2);
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.naming(&names).host_within(limits).await;
    let key = &wiki.keys().editor;
    let own = keyed(&own, key);
    let ours = previewed(&server, &own, id_of(&wiki, "home"), "Ours").await;
    // The same key is another's too: what was brought with it stays its own.
    for key in [key, "junk-a", "junk-b", "junk-c"] {
        let answer = server
            .post(&keyed(&other, key), &call(TREE, json!({})))
            .await;
        assert_eq!(answer.status, 200);
    }
    let applied = server.call(&own, UPDATE, ours).await.unwrap();
    assert_eq!(applied["outcome"], "applied");
}

#[tokio::test]
async fn a_key_that_the_wiki_does_not_know_gets_no_index_and_is_asked_about_once() {
    let wiki = sample_wiki().await;
    let limits = LIMITS().but(|limits| limits.keys = 1);
    let setup = Setup::readonly(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.indexed().host_within(limits).await;
    let search = json!({ "query": "linux", "in": "content" });
    let keys = ["junk-a", "junk-b", "junk-a", "junk-b"];
    for key in keys {
        let caller = keyed(&Caller::default(), key);
        let error = server.call(&caller, SEARCH, search.clone()).await;
        let error = error.unwrap_err();
        assert_eq!(error["code"], "KEY_REJECTED");
    }
    let asked = vec_of(wiki.requests().into_iter().flat_map(|seen| seen.fields));
    let profiles = asked.iter().filter(|field| *field == "users.profile");
    let profiles = profiles.count();
    let pages = asked.iter().filter(|field| field.starts_with("pages."));
    assert_eq!((profiles, pages.count()), (2, 0), "{asked:?}");
    let known = keyed(&Caller::default(), &wiki.keys().readonly);
    let found = server.call(&known, SEARCH, search).await.unwrap();
    assert!(!found["hits"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn whatever_keys_are_made_up_few_requests_are_under_way_to_the_wiki() {
    let (mute, address) = mute_wiki().await;
    let server = Setup::at(&address, "e30.e30.x")
        .with("WIKI_SERVE_CALLER_KEYS", "true")
        .host_within(LIMITS().but(|limits| limits.fresh = Duration::from_mins(10)))
        .await;
    let metric = async |name: &str| -> u64 {
        let told = server.get("/metrics").await.body;
        let value = told.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap().trim().parse().unwrap()
    };
    // The metrics tell of one look at the wiki, which is over now.
    metric("wikijs_gate_calls_in_flight ").await;
    while mute.accept().now_or_never().is_some() {}
    let mut calls = Vec::new();
    for key in 0..24 {
        let caller = keyed(&Caller::default(), &format!("junk-{key}"));
        let (mut stream, body) = server.begin(&caller, &numbered(1)).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        calls.push(stream);
    }
    let mut asked = Vec::new();
    for _ in 0..8 {
        asked.push(mute.accept().await.unwrap());
    }
    while metric("wikijs_gate_calls_in_flight ").await < 24 {}
    for _ in 0..50 {
        assert_eq!(metric("wikijs_gate_wiki_requests_in_flight ").await, 8);
        // Nor does the wiki see any more of them.
        assert!(mute.accept().now_or_never().is_none());
    }
}

/// A wiki that takes connections and never answers.
async fn mute_wiki() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    (listener, address)
}

fn numbered(id: u32) -> Value {
    // Whole lists, as a tree asks for, are requested one at a time.
    let mut message = call(BY_ID, json!({ "id": 1 }));
    message["id"] = json!(id);
    message
}

#[tokio::test]
async fn a_call_counts_until_it_has_ended_though_its_client_hung_up() {
    let (mute, address) = mute_wiki().await;
    let names = Names::new();
    let (own, other) = two(&names);
    let setup = Setup::at(&address, "e30.e30.x").naming(&names);
    let server = setup.host_within(FOUR()).await;
    let session = server.open(&other).await;
    let mut kept = Vec::new();
    for id in 1..=2 {
        let (mut stream, body) = server.begin(&session, &numbered(id)).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        // The wiki is asked, so the call is under way; then its client is gone.
        let (asked, _) = mute.accept().await.unwrap();
        asked.readable().await.unwrap();
        drop(stream);
        // Kept open, so that the wiki goes on saying nothing.
        kept.push(asked);
    }
    let share = "this client has its whole share of the calls";
    refused(&server.post(&session, &numbered(3)).await, share);
    // Another client has its own.
    let session = server.open(&own).await;
    assert_eq!(server.tools(&session).await.len(), 10);
}

#[tokio::test]
async fn a_client_holds_its_share_of_streams_alone() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let (own, other) = two(&names);
    let server = Setup::readonly(&wiki)
        .naming(&names)
        .host_within(HttpLimits {
            connections: 16,
            shares: 4,
            ..FOUR()
        })
        .await;
    let session = server.open(&other).await;
    let listen = |caller: &Caller| {
        let head = server.head("GET", "/mcp", &speaking(caller), "");
        async move {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).await.unwrap();
            (stream, String::from_utf8_lossy(&first).into_owned())
        }
    };
    let mut held = Vec::new();
    for _ in 0..4 {
        let (stream, status) = listen(&session).await;
        assert!(status.ends_with("200"), "{status}");
        held.push(stream);
    }
    assert!(listen(&session).await.1.ends_with("503"));
    let session = server.open(&own).await;
    assert!(listen(&session).await.1.ends_with("200"));
}

#[tokio::test]
async fn a_request_of_an_id_that_is_under_way_is_refused() {
    let (mute, address) = mute_wiki().await;
    let server = Setup::at(&address, "e30.e30.x").host().await;
    let session = server.open(&Caller::default()).await;
    let (mut stream, body) = server.begin(&session, &numbered(7)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let (_asked, _) = mute.accept().await.unwrap();
    // However the number is written.
    for id in ["7", "7.0", "7e0"] {
        let again = numbered(7).to_string();
        let again = again.replace("\"id\":7", &format!("\"id\":{id}"));
        let session = speaking(&session);
        let again = server.send("POST", "/mcp", &session, &again);
        let again = tokio::time::timeout(Duration::from_secs(5), again).await;
        assert_eq!(again.unwrap().status, 400, "{id}");
    }
    // One that has ended may be used again, as some clients do.
    let ping = json!({ "jsonrpc": "2.0", "id": 8, "method": "ping" });
    for _ in 0..3 {
        assert_eq!(server.post(&session, &ping).await.status, 200);
    }
}
