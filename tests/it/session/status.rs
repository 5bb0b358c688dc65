//! What a session is told of itself: a sentence at the handshake, and `wikijs://status`.

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, ReadResourceRequestParams,
};
use wikijs_gate::server::http::ClientConfirm;

use crate::http::hosted::initialize;
use crate::prelude::*;

const MODERN: fn() -> ClientLifecycleMode = || ClientLifecycleMode::Discover {
    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
};

/// A client that can ask its user.
#[derive(Debug, Clone, Default)]
struct Asking;

impl ClientHandler for Asking {
    fn get_info(&self) -> ClientConfig {
        let can = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(can, Implementation::new("asking", "1"))
    }
}

/// The sentence about the session, out of the server's instructions.
fn sentence(instructions: &str) -> String {
    let (_, of_session) = instructions.split_once("In this session ").unwrap();
    let unknown = " What the key itself may do is not known yet: resource wikijs://status asks for that, and tells more.";
    let told = of_session.strip_suffix(unknown);
    let told = told.unwrap_or_else(|| panic!("{instructions}"));
    told.strip_suffix('.').unwrap().to_owned()
}

fn told<C: Service<RoleClient>>(served: &Served<C>) -> String {
    let told = served.client.peer_info().unwrap();
    sentence(told.instructions.as_deref().unwrap())
}

pub(crate) async fn status<C: Service<RoleClient>>(served: &Served<C>) -> Value {
    let request = ReadResourceRequestParams::new("wikijs://status");
    let read = served.client.read_resource(request).await.unwrap();
    let read = serde_json::to_value(read).unwrap();
    assert_eq!(read["contents"][0]["mimeType"], "application/json");
    let status: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    status
}

#[tokio::test]
async fn the_handshake_says_what_a_write_comes_to_and_asks_the_wiki_nothing() {
    let wiki = sample_wiki().await;
    let preview = "answers with a preview and is sent when called again with its confirm token (level preview: you may confirm by yourself)";
    let proposal = "ends as a preview, kept as a proposal that people decide on (level dry_run)";
    let no_index = "the content of pages is not indexed";
    for (settings, says, level) in json_rows::<(BTreeMap<&str, &str>, &str, &str)>(&json!([
        [{}, format!("a write {preview}; {no_index}"), "preview"],
        [{ "WIKI_MUTATIONS_ENABLED": "false" },
         format!("nothing can be written (the operator does not allow it); {no_index}"), "off"],
        [{ "WIKI_TOOLS": LIST }, format!("nothing can be written (no tool that writes is offered); {no_index}"), "preview"],
        [{ "WIKI_MUTATION_DRY_RUN": "true", "WIKI_ALLOWED_MUTATION_PATH_PREFIXES": "docs,de:notes",
           "WIKI_DENIED_MUTATION_PATH_PREFIXES": "docs/secret" },
         format!("a write at or below docs, de:notes (never at or below docs/secret) {proposal}; {no_index}"), "dry_run"],
        [{ "WIKI_MUTATION_CONFIRM_TOKEN": "open sesame, please" },
         format!("a write needs the operator's token as confirm (level token); {no_index}"), "token"],
        [{ "WIKI_MUTATION_CONFIRM_TOKEN": "open sesame, please", "WIKI_MUTATION_DRY_RUN": "true" },
         format!("a write {proposal}; {no_index}"), "dry_run"],
        [{ "WIKI_CONFIRM": "person", "WIKI_INDEX": "memory" },
         "nothing can be written (the user must say yes, and this client cannot ask); the content index is begun by the first search",
         "person"],
    ])) {
        let mut setup = Setup::editor(&wiki);
        for (name, value) in &settings {
            setup = setup.with(name, value);
        }
        wiki.clear_requests();
        let served = setup.serve().await;
        assert_eq!(told(&served), says);
        assert_eq!(wiki.requests().len(), 0, "{says}");
        let status = status(&served).await;
        assert_eq!(status["writes"]["level"], level, "{status}");
        let line = status["writes"]["setBy"].as_str().unwrap();
        let set = settings
            .iter()
            .any(|(name, _)| line == format!("{name} (environment)"));
        assert!(set || line == "WIKI_CONFIRM (default)", "{status}");
        let is_refused = says.starts_with("nothing can be written");
        assert_eq!(status["writes"].get("refused").is_some(), is_refused);
        assert_eq!(status["summary"], format!("In this session {says}."));
    }
}

#[tokio::test]
async fn the_handshake_names_sets_undo_memory_and_comments_as_far_as_the_session_has_them() {
    let wiki = sample_wiki().await;
    let tools = [SUBMIT, CHANGE_SET, UNDO, RECALL, REMEMBER, LIST_COMMENTS];
    for (toolsets, offered) in [
        ("pages", &[][..]),
        ("pages,undo", &tools[2..3]),
        ("pages,drafts,undo,memory,comments", &tools),
    ] {
        let served = Setup::editor(&wiki).toolsets(toolsets).serve().await;
        let told = served.client.peer_info().unwrap().instructions.clone();
        let told = told.unwrap();
        for tool in tools {
            assert_eq!(
                told.contains(tool),
                offered.contains(&tool),
                "{tool} in {told}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_can_ask_its_user_is_told_so_in_both_generations() {
    let wiki = sample_wiki().await;
    for lifecycle in [ClientLifecycleMode::Initialize, MODERN()] {
        let setup = Setup::editor(&wiki).with("WIKI_CONFIRM", "person");
        let served = setup.serve_to(Asking, lifecycle).await;
        begins(
            &told(&served),
            "a write is sent when the user says yes, who is asked during the call (level person);",
        );
        assert_eq!(status(&served).await["writes"]["level"], "person");
    }
}

/// The sentence and the status of a caller over HTTP.
async fn over_http(server: &Hosted, caller: &Caller) -> (String, Value) {
    let opened = server.post(caller, &initialize("2025-11-25")).await;
    let told = opened.message()["result"]["instructions"].clone();
    let session = caller
        .clone()
        .with("mcp-session-id", &opened.headers["mcp-session-id"])
        .with("mcp-protocol-version", "2025-11-25");
    let read = json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/read",
        "params": { "uri": "wikijs://status" } });
    let read = server.post(&session, &read).await.message();
    let text = read["result"]["contents"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{read}"));
    (
        sentence(told.as_str().unwrap()),
        serde_json::from_str(text).unwrap(),
    )
}

#[tokio::test]
async fn each_named_client_is_told_what_holds_for_itself() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let below = names.granted("below", |grant| grant.prefixes = some(["docs", "other"]));
    let dry = names.add(
        "dry",
        Grant {
            dry_run: true,
            tools: Some(vec![CREATE.to_owned()]),
            ..Grant::default()
        },
    );
    let reading = names.granted("reading", |grant| grant.read_only = true);
    let person = names.granted("person", |grant| {
        grant.confirm = Some(ClientConfirm::Person);
    });
    let setup = Setup::editor(&wiki).with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,notes");
    let server = setup.naming(&names).host().await;
    let (told, status) = over_http(&server, &below).await;
    begins(&told, "a write at or below docs answers");
    assert_eq!(status["writes"]["allowedPrefixes"], json!(["docs"]));
    let at = status["key"]["rights"]["at"].as_str().unwrap();
    assert!(
        at.starts_with("en/docs") || at.starts_with("de/docs"),
        "{at}"
    );
    let (told, status) = over_http(&server, &dry).await;
    assert!(told.contains("kept as a proposal"), "{told}");
    status["writes"].shows(json!({ "level": "dry_run", "setBy": "dry-run (this client's grant)" }));
    // It may read no pages, so it is told of none.
    assert_eq!(status["unavailable"], json!(["key.rights"]));
    let (told, _) = over_http(&server, &reading).await;
    assert!(told.starts_with("nothing can be written ("), "{told}");
    let (told, _) = over_http(&server, &person).await;
    assert!(told.contains("this client cannot ask"), "{told}");
}

#[tokio::test]
async fn each_key_of_a_caller_is_told_of_its_own_rights() {
    let wiki = sample_wiki().await;
    let setup = Setup::admin(&wiki).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.host().await;
    let of = async |key: &str| {
        let caller = Caller::default().with("x-wiki-api-token", key);
        over_http(&server, &caller).await
    };
    let (told, status) = of(&wiki.keys().readonly).await;
    assert!(!told.contains("key"), "nothing is known of it yet: {told}");
    assert_eq!(status["key"]["standing"], "good");
    let rights = &status["key"]["rights"];
    let expected = json!(["read:pages", "read:source", "read:history"]);
    assert_eq!(rights["has"], expected);
    assert!(rights["lacks"].to_string().contains("write:pages"));
    let (told, status) = of("nonsense").await;
    assert!(!told.contains("guest"), "{told}");
    assert_eq!(status["key"]["standing"], "guest");
    assert!(status["summary"].as_str().unwrap().contains("as a guest's"));
    // What the wiki has said is known at the next handshake.
    let (told, _) = of("nonsense").await;
    assert!(told.contains("treats it as a guest's"), "{told}");
    let (told, status) = of(&wiki.expired_key()).await;
    assert!(told.contains("the key has expired"), "{told}");
    assert!(status["key"]["expiresAt"].is_string());
}

#[tokio::test]
async fn open_proposals_are_told_to_the_client_that_made_them() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let own = names.client("own");
    let other = names.client("other");
    let server = Setup::editor(&wiki).dry().naming(&names).host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Proposed" });
    let answer = server.call(&own, UPDATE, change).await.unwrap();
    let (_, status) = over_http(&server, &own).await;
    assert_eq!(status["proposals"]["open"], 1);
    let open = &status["proposals"]["newest"][0];
    open.shows(json!({ "id": answer["proposal"], "operation": "update", "path": "home" }));
    let (_, status) = over_http(&server, &other).await;
    assert_eq!(status["proposals"], json!({ "open": 0, "newest": [] }));
}

#[tokio::test]
async fn the_index_is_told_as_it_is() {
    let (wiki, served) = sample(|wiki| Setup::readonly(wiki).indexed()).await;
    let expected = json!({ "state": "not begun" });
    assert_eq!(status(&served).await["index"], expected);
    let search = json!({ "query": "linux", "in": "content" });
    served.call(SEARCH, search).await.unwrap();
    let now = status(&served).await;
    let pages = wiki.with_store(|store| store.pages().count());
    now["index"].shows(json!({ "state": "made", "complete": true, "of": pages }));
    let says = format!("the content of all {pages} pages is indexed");
    assert!(now["summary"].as_str().unwrap().contains(&says), "{now}");
}

#[tokio::test]
async fn a_wiki_that_does_not_answer_is_said_to_be_unknown() {
    let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x").with("WIKI_HTTP_MAX_RETRIES", "0");
    let served = setup.serve().await;
    let status = status(&served).await;
    assert_eq!(status["key"]["standing"], "unknown");
    assert_eq!(status["unavailable"], json!(["key.rights"]));
    assert_eq!(status["writes"]["level"], "preview");
}
