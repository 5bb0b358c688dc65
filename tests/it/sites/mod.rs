//! Several wikis on one server, and settings that change while it runs.

mod as_tools;
mod key_changes;
mod peers;
mod site_commands;

use std::io::{Read as _, Write as _};

use regex::{Captures, Regex};
use rmcp::ServiceExt as _;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{ClientServiceExt as _, NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wikijs_gate::config::{CommandLineSettings, Layers, Settings};
use wikijs_gate::server::http::HttpServer;
use wikijs_gate::server::{App, Handler, Reload, Site, Sites};

use crate::http::hosted::{Answer, call, initialize, speaking};
use crate::prelude::*;
use crate::review::{Browser, reviewer};
use crate::session::subscriptions::{Listening, MODERN, next, rewrite, subscribe};

/// A server of a settings file.
pub(crate) struct Many {
    pub(crate) hosted: Hosted,
    sites: Arc<Sites>,
    ask: mpsc::Sender<oneshot::Sender<()>>,
    dir: Arc<TempDir>,
}

fn config(dir: &TempDir) -> PathBuf {
    dir.path().join("config.toml")
}

pub(crate) fn put(dir: &TempDir, text: &str) {
    let new = dir.path().join("new.toml");
    let audit = dir.path().join("audit");
    let audit = audit.to_str().unwrap();
    let text = format!("audit_dir = {audit:?}\nindex = \"off\"\n{text}");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&new, config(dir)).unwrap();
}

pub(crate) fn site(name: &str, wiki: &DemoWiki, more: &str) -> String {
    let (address, key) = (wiki.address(), &wiki.keys().editor);
    format!("[sites.{name}]\nbase_url = {address:?}\napi_token = {key:?}\n{more}\n")
}

impl Many {
    pub(crate) async fn start(text: &str) -> Self {
        let dir = Arc::new(TempDir::new().unwrap());
        put(&dir, text);
        let given = CommandLineSettings::default().but(|given| given.config = Some(config(&dir)));
        let layers = Layers::load(&given).unwrap();
        let all = Settings::load_every(&layers).unwrap();
        let serve = all[0].serve.clone();
        let of = |settings: Settings| {
            let name = settings.site.clone();
            Site::new(name, App::new(settings, Timeouts::default()).unwrap())
        };
        let all = all.into_iter().map(of).collect();
        let sites = Sites::new(all, layers.default_site().cloned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = HttpServer::new(Arc::clone(&sites), serve, LIMITS(), listener).unwrap();
        let (ask, asked) = mpsc::channel(1);
        let reload = Reload::new(given, layers, Arc::clone(&sites), true);
        tokio::spawn(reload.serving(server.settings_taker()).run(asked));
        let (address, stop) = (server.address(), CancellationToken::new());
        let ended = tokio::spawn(server.run(stop.clone()));
        Self {
            hosted: Hosted {
                address,
                dir: Arc::clone(&dir),
                stop,
                ended,
            },
            sites,
            ask,
            dir,
        }
    }

    /// Changes the settings file and has it looked at; why it is not in force, if it is not.
    pub(crate) async fn change(&self, text: &str) -> Option<String> {
        put(&self.dir, text);
        let (done, is_done) = oneshot::channel();
        self.ask.send(done).await.unwrap();
        is_done.await.unwrap();
        self.sites.fault()
    }

    pub(crate) async fn post(&self, place: &str, caller: &Caller, message: &Value) -> Answer {
        let (path, caller) = (format!("/mcp{place}"), speaking(caller));
        let message = message.to_string();
        self.hosted.send("POST", &path, &caller, &message).await
    }

    async fn open(&self, place: &str, caller: &Caller) -> Caller {
        let answer = self.post(place, caller, &initialize("2025-11-25")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        caller
            .clone()
            .with("mcp-session-id", &answer.headers["mcp-session-id"])
            .with("mcp-protocol-version", "2025-11-25")
    }

    /// A tool's structured answer, or its error.
    pub(crate) async fn call(
        &self,
        place: &str,
        caller: &Caller,
        tool: &str,
        arguments: Value,
    ) -> Value {
        let answer = self.post(place, caller, &call(tool, arguments)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let result = &answer.message()["result"];
        match result.get("structuredContent") {
            Some(content) => content.clone(),
            None => result["_meta"]["error"].clone(),
        }
    }

    async fn home(&self, place: &str, caller: &Caller) -> String {
        let arguments = json!({ "path": "home" });
        let answer = self.call(place, caller, BY_PATH, arguments).await;
        answer["content"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        records(&self.dir.path().join("audit"))
    }
}

pub(crate) async fn three() -> [DemoWiki; 3] {
    let of = async |text| wiki_of(&[("home", text)]).await;
    [of("first").await, of("second").await, of("third").await]
}

/// A settings file of these wikis under the names `a`, `b`…, with these lines before them.
fn sites_of(lines: &str, wikis: &[&DemoWiki]) -> String {
    let sites = { wikis.iter().zip(["a", "b", "c"]) }.map(|(wiki, name)| site(name, wiki, ""));
    format!("{lines}{}", vec_of(sites).concat())
}

/// The line of a settings file that names the file of clients.
fn of_names(names: &Names) -> String {
    format!("serve_tokens_file = {:?}\n", names.path().to_str().unwrap())
}

/// The titles of a wiki's page, one after another.
fn another_title(wiki: &DemoWiki) -> Value {
    let id = id_of(wiki, "home");
    let title = wiki.with_store(|store| store.page(id).unwrap().title.clone());
    json!({ "id": id, "title": format!("{title}+") })
}

/// Whether a write goes out to the wiki, confirmed by its preview where that gives a token.
pub(crate) async fn writes(
    wiki: &DemoWiki,
    mut call: impl AsyncFnMut(&'static str, Value) -> Value,
) -> bool {
    let before = mutations(wiki).len();
    let mut arguments = another_title(wiki);
    let shown = call(UPDATE, arguments.clone()).await;
    if let Some(token) = shown.get("confirm") {
        arguments["confirm"] = token.clone();
        call(UPDATE, arguments).await;
    }
    mutations(wiki).len() > before
}

/// What closes a gate, at the top of a settings file.
const CLOSED: [&str; 10] = [
    "mutations_enabled = false",
    "mutation_dry_run = true",
    "confirm = \"person\"",
    "allowed_mutation_path_prefixes = [\"docs\"]",
    "denied_mutation_path_prefixes = [\"home\"]",
    "read_only = true",
    "toolsets = [\"undo\"]",
    "exclude_tools = [\"wikijs_update_page\"]",
    "allowed_read_path_prefixes = [\"docs\"]",
    "denied_read_path_prefixes = [\"home\"]",
];

/// The lines of a server that writes, with one gate closed.
pub(crate) fn with_gate(closed: &str) -> String {
    let name = closed.split(" =").next().unwrap();
    let is_kept = |line: &&str| name.is_empty() || !line.starts_with(name);
    let lines = WRITES.lines().filter(is_kept);
    let lines = lines.chain([closed]).map(|line| format!("{line}\n"));
    lines.collect()
}

#[tokio::test]
async fn a_gate_closed_at_the_top_closes_every_wiki_over_http() {
    let [a, unnamed, _] = three().await;
    let (address, key) = (unnamed.address(), &unnamed.keys().editor);
    let server = format!("base_url = {address:?}\napi_token = {key:?}\n");
    let text = |closed: &str| format!("{server}{}{}", with_gate(closed), site("a", &a, ""));
    let many = Many::start(&text("")).await;
    let nobody = Caller::default();
    for closed in CLOSED {
        for (lines, expected) in [("", true), (closed, false)] {
            assert_eq!(many.change(&text(lines)).await, None, "{lines}");
            for (place, wiki) in [("/a", &a), ("", &unnamed)] {
                let found = writes(wiki, async |tool, arguments| {
                    let message = call(tool, arguments);
                    let answer = many.post(place, &nobody, &message).await.message();
                    answer["result"]["structuredContent"].clone()
                });
                assert_eq!(found.await, expected, "{place:?}: {lines:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_gate_closed_at_the_top_closes_the_one_site_of_a_client() {
    let [a, ..] = three().await;
    let text = |closed: &str| format!("{}{}", with_gate(closed), site("a", &a, ""));
    let dir = Arc::new(TempDir::new().unwrap());
    put(&dir, &text(""));
    let given = CommandLineSettings::default().but(|given| given.config = Some(config(&dir)));
    let layers = Layers::load(&given).unwrap();
    let settings = Settings::load(&layers).unwrap();
    let name = settings.site.clone();
    let one = Site::new(name, App::new(settings, Timeouts::default()).unwrap());
    let sites = Sites::new(vec![one], None);
    let (ask, asked) = mpsc::channel(1);
    let reload = Reload::new(given, layers, Arc::clone(&sites), false);
    tokio::spawn(reload.run(asked));
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = Handler::alone(Arc::clone(&sites), SessionId::new("test"));
    tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
    let client = ().serve(ours).await.unwrap();
    for closed in CLOSED {
        for (lines, expected) in [("", true), (closed, false)] {
            put(&dir, &text(lines));
            let (done, is_done) = oneshot::channel();
            ask.send(done).await.unwrap();
            is_done.await.unwrap();
            assert_eq!(sites.fault(), None, "{lines}");
            let found = writes(&a, async |tool, arguments| {
                let mut request = CallToolRequestParams::new(tool);
                request.arguments = Some(arguments.as_object().unwrap().clone());
                let answer = client.call_tool(request).await.ok();
                let content = answer.and_then(|answer| answer.structured_content);
                content.unwrap_or_default()
            });
            assert_eq!(found.await, expected, "{lines:?}");
        }
    }
}

const WRITES: &str = "mutations_enabled = true\nmutation_dry_run = false\n";

#[tokio::test]
async fn each_site_is_another_wiki_and_no_session_reaches_two() {
    let [a, b, _] = three().await;
    let many = Many::start(&sites_of("default_site = \"b\"\n", &[&a, &b])).await;
    let nobody = Caller::default();
    assert_eq!(many.home("/a", &nobody).await, "first");
    assert_eq!(many.home("/b", &nobody).await, "second");
    assert_eq!(many.home("", &nobody).await, "second");
    let none = many.post("/c", &nobody, &initialize("2025-11-25")).await;
    assert_eq!(none.status, 404);
    assert!(none.body.contains("no such site"));
    let session = many.open("/a", &nobody).await;
    assert_eq!(many.home("/a", &session).await, "first");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let strayed = many.post("/b", &session, &list).await;
    assert_eq!(strayed.status, 404, "{strayed:?}");
    // Nothing that a tool takes can name a site.
    let tools = many.post("/a", &session, &list).await.message();
    assert!(!tools.to_string().contains("\"site\""), "{tools}");
}

#[tokio::test]
async fn a_client_sees_its_sites_alone() {
    let [a, b, c] = three().await;
    let names = Names::new();
    let one = names.granted("one", |may| may.sites = some(["a"]));
    let two = names.granted("two", |may| may.sites = some(["a", "c"]));
    let old = names.client("old");
    let lines = format!("{}default_site = \"b\"\n", of_names(&names));
    let many = Many::start(&sites_of(&lines, &[&a, &b, &c])).await;
    let mut seen = Vec::new();
    for (name, caller) in [("one", &one), ("two", &two), ("old", &old)] {
        for place in ["", "/a", "/b", "/c"] {
            let answer = many.post(place, caller, &initialize("2025-11-25")).await;
            seen.push(format!("{name} {place:2} {}", answer.status));
        }
    }
    insta::assert_snapshot!(seen.join("\n"), @r"
    one    200
    one /a 200
    one /b 404
    one /c 404
    two    404
    two /a 200
    two /b 404
    two /c 200
    old    200
    old /a 404
    old /b 200
    old /c 404
    ");
    // Whoever has one site alone need not name it.
    assert_eq!(many.home("", &one).await, "first");
    let metrics = many.hosted.send("GET", "/metrics", &one, "").await.body;
    let names = |name: &str| metrics.contains(&format!("site=\"{name}\""));
    assert!(names("a") && !names("b") && !names("c"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_sees_no_site_is_told_who_names_them() {
    let [a, b, _] = three().await;
    let names = Names::new();
    let none = names.client("none");
    let people = "[oauth]\nissuer = \"http://127.0.0.1:9\"\naudiences = [\"x\"]\n\
        [[oauth.grants]]\neverybody = true\nrole = \"agent\"\n";
    let sites = sites_of(&of_names(&names), &[&a, &b]);
    let many = Many::start(&format!("{sites}{people}")).await;
    let said = "its operator names your sites";
    for place in ["", "/a", "/x"] {
        let answer = many.post(place, &none, &initialize("2025-11-25")).await;
        assert_eq!(answer.status, 404, "{place}");
        says(&answer.body, said);
    }
    let url = format!("http://{}", many.hosted.address);
    let new = ["token", "new", "anna", "--reviewer", "--url", &url];
    let made = many.hosted.command(&names, &new).good().await;
    let (anna, path) = Browser::led(made.stdout.trim()).await;
    let page = anna.open(&path).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    says(&page.text, said);
    let file = config(&many.dir);
    let new = ["--config", file.to_str().unwrap(), "token", "new", "ben"];
    let made = Command::new(&new).good().await;
    says(
        &made.stderr,
        "without --sites it sees the wiki that /mcp means",
    );
    let doctor = ["--config", file.to_str().unwrap(), "--site", "a", "doctor"];
    let told = Command::new(&doctor).end().await.stdout;
    says(
        &told,
        "a grant without sites opens the wiki that /mcp means",
    );
}

#[tokio::test]
async fn a_delegate_sees_the_site_alone_on_which_it_was_made() {
    let [a, b, _] = three().await;
    let names = Names::new();
    let maker = names.granted("ci", |grant| grant.sites = some(["a", "b"]));
    let lines = format!("{}toolsets = [\"pages\", \"delegate\"]\n", of_names(&names));
    let many = Many::start(&sites_of(&lines, &[&a, &b])).await;
    let wanted = json!({ "task": "look around" });
    let made = many.call("/a", &maker, DELEGATE, wanted).await;
    let token = made["token"].as_str().unwrap_or_else(|| panic!("{made}"));
    let delegate = Caller::default().with("authorization", &format!("Bearer {token}"));
    assert_eq!(many.home("/a", &delegate).await, "first");
    // It has one site, and need not name it.
    assert_eq!(many.home("", &delegate).await, "first");
    let elsewhere = many.post("/b", &delegate, &initialize("2025-11-25")).await;
    assert_eq!(elsewhere.status, 404);
    let end = json!({ "delegate": made["delegate"] });
    let refused = many.call("/b", &maker, END, end.clone()).await;
    assert_eq!(refused["code"], "INVALID_INPUT", "{refused}");
    let did = many.call("/a", &maker, "wikijs_end_delegation", end).await;
    assert_eq!(did["writesUsed"], 0, "{did}");
    // A maker that loses the site takes it from its delegates.
    let wanted = json!({ "task": "look around" });
    let made = many.call("/b", &maker, DELEGATE, wanted).await;
    let token = made["token"].as_str().unwrap();
    let delegate = Caller::default().with("authorization", &format!("Bearer {token}"));
    let initialized = async || many.post("/b", &delegate, &initialize("2025-11-25")).await;
    assert_eq!(initialized().await.status, 200);
    let text = fs::read_to_string(names.path()).unwrap();
    fs::write(names.path(), text.replace("[\"a\",\"b\"]", "[\"a\"]")).unwrap();
    assert_eq!(initialized().await.status, 404);
}

#[tokio::test]
async fn a_gate_of_the_file_holds_from_then_on_and_its_previews_end() {
    let [a, b, _] = three().await;
    let with = |more: &str| format!("{WRITES}{}{}", site("a", &a, more), site("b", &b, ""));
    let many = Many::start(&with("")).await;
    let nobody = Caller::default();
    let (of_a, of_b) = (
        many.open("/a", &nobody).await,
        many.open("/b", &nobody).await,
    );
    let update = |wiki: &DemoWiki| json!({ "id": id_of(wiki, "home"), "title": "New" });
    let mut tokens = Vec::new();
    for (place, caller, wiki) in [("/a", &of_a, &a), ("/b", &of_b, &b)] {
        many.home(place, caller).await;
        let shown = many.call(place, caller, UPDATE, update(wiki)).await;
        assert!(shown["confirm"].is_string(), "{shown}");
        tokens.push(shown["confirm"].clone());
    }
    let narrower = with("denied_mutation_path_prefixes = [\"hr\"]");
    assert_eq!(many.change(&narrower).await, None);
    // The other site's preview still counts, and what was read stays known at both.
    let mut confirmed = Vec::new();
    let calls = [("/a", &of_a, &a), ("/b", &of_b, &b)].into_iter();
    for ((place, caller, wiki), token) in calls.zip(tokens) {
        let arguments = update(wiki).but(|it| it["confirm"] = token);
        let told = many.call(place, caller, UPDATE, arguments).await;
        let outcome = told.get("outcome").or_else(|| told.get("code"));
        confirmed.push(format!("{place} {}", outcome.unwrap_or(&told)));
    }
    insta::assert_snapshot!(confirmed.join("\n"), @r#"
    /a "CONFIRM_EXPIRED"
    /b "applied"
    "#);
    let records = many.records();
    let changed = records.iter().filter_map(|record| record.reason.as_deref());
    let changed: Vec<&str> = changed.filter(|why| why.starts_with("changed: ")).collect();
    assert_eq!(changed, ["changed: denied_mutation_path_prefixes"]);
}

#[tokio::test]
async fn what_is_bad_leaves_the_old_in_force_and_is_said() {
    let [a, b, c] = three().await;
    let good = sites_of("", &[&a, &b]);
    let many = Many::start(&good).await;
    let nobody = Caller::default();
    let mut told = Vec::new();
    let dir = many.dir.path().to_str().unwrap().to_owned();
    let moved = sites_of("", &[&a, &c]);
    for bad in [
        format!("mutations_enabled = \"maybe\"\n{good}"),
        format!("{good}[sites.c]\nbase_url = {:?}\n", c.address()),
        format!("{good}{}", site("c", &a, "")),
        format!("{good}{}", site("\"C!\"", &c, "")),
        format!("{good}{}", site("c", &c, "serve_rate = 5")),
        format!("{good}{}", site("c", &c, "mutations_enabled = true")),
        format!("default_site = \"x\"\n{good}"),
        format!("serve_address = \"127.0.0.1:1\"\n{good}"),
        moved,
    ] {
        let fault = many.change(&bad).await.unwrap_or_else(|| panic!("{bad}"));
        told.push(fault.replace(&dir, "DIR"));
        assert_eq!(many.home("/b", &nobody).await, "second");
    }
    let ready: Value = serde_json::from_str(&many.hosted.get("/readyz").await.body).unwrap();
    assert_eq!(ready["ready"], true);
    assert!(ready["settingsNotTaken"].is_string(), "{ready}");
    let told = told.join("\n").replace(&a.address(), "A");
    insta::assert_snapshot!(told, @r"
    DIR/config.toml:3: mutations_enabled must be true or false, without quotes
    DIR/config.toml:11: sites.c.api_token is missing; a site's key is never inherited, so give it its own (or api_token_file, or token_command)
    DIR/config.toml:12: sites.c.base_url is the address of sites.a, too; one wiki is one site, with one key and one record
    DIR/config.toml:11: a site's name is 1 to 32 small letters, digits and hyphens, and does not begin with a hyphen
    DIR/config.toml:14: serve_rate holds for the whole server; it stands before the tables of sites
    DIR/config.toml:14: sites.c.mutations_enabled is true where the server's is false; a site's gates can only be narrower, so set it for the server, and narrower for the other sites
    DIR/config.toml:3: default_site must be the name of one of the sites, in quotes
    a change of serve_address takes a restart; put it back, or restart the server
    a change of sites.b.base_url takes a restart; put it back, or restart the server
    ");
    assert_eq!(many.change(&good).await, None);
    let ready: Value = serde_json::from_str(&many.hosted.get("/readyz").await.body).unwrap();
    assert!(ready.get("settingsNotTaken").is_none(), "{ready}");
}

#[tokio::test]
async fn a_site_comes_and_goes_while_others_are_used() {
    let [a, b, c] = three().await;
    let first = sites_of("", &[&a, &b]);
    let many = Many::start(&first).await;
    let nobody = Caller::default();
    let session = many.open("/a", &nobody).await;
    let all = sites_of("", &[&a, &b, &c]);
    assert_eq!(many.change(&all).await, None);
    assert_eq!(many.home("/c", &nobody).await, "third");
    assert_eq!(many.home("/a", &session).await, "first");
    let metrics = many.hosted.get("/metrics").await.body;
    for name in ["a", "b", "c"] {
        let line = format!("wikijs_gate_calls_in_flight{{site=\"{name}\"}} 0");
        assert!(metrics.contains(&line), "{metrics}");
    }
    let heads = metrics.matches("# TYPE wikijs_gate_calls_in_flight gauge");
    assert_eq!(heads.count(), 1, "{metrics}");
    assert_eq!(many.change(&site("a", &a, "")).await, None);
    let gone = many.post("/c", &nobody, &initialize("2025-11-25")).await;
    assert_eq!(gone.status, 404);
    assert_eq!(many.home("/a", &session).await, "first");
}

#[tokio::test]
async fn nothing_of_a_site_counts_at_a_later_one_of_its_name() {
    let [a, b, other] = three().await;
    let of_b = site("b", &b, "");
    let many = Many::start(&format!("{WRITES}{}{of_b}", site("a", &a, ""))).await;
    let nobody = Caller::default();
    let session = many.open("/a", &nobody).await;
    let create = json!({ "path": "new", "title": "New", "content": "Text." });
    let shown = many.call("/a", &session, CREATE, create.clone()).await;
    let sessionless = nobody.clone().with("mcp-protocol-version", "2026-07-28");
    assert_eq!(many.change(&format!("{WRITES}{of_b}")).await, None);
    let text = format!("{WRITES}{}{of_b}", site("a", &other, ""));
    assert_eq!(many.change(&text).await, None);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(many.post("/a", &session, &list).await.status, 404);
    assert_eq!(many.home("/a", &nobody).await, "third");
    let mut confirmed = create;
    confirmed["confirm"] = shown["confirm"].clone();
    for caller in [&nobody, &sessionless] {
        let message = call(CREATE, confirmed.clone());
        let answer = many.post("/a", caller, &message).await;
        assert!(!answer.body.contains("applied"), "{answer:?}");
    }
    let pages = other.with_store(|store| store.pages().count());
    assert_eq!(pages, 1);
}

#[tokio::test]
async fn a_dead_site_leaves_the_server_ready_and_is_named() {
    let [a, b, _] = three().await;
    let many = Many::start(&sites_of("http_max_retries = 0\n", &[&a, &b])).await;
    drop(b);
    let answer = many.hosted.get("/readyz").await;
    let ready: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer.status, 200, "{ready}");
    assert_eq!(ready["ready"], true, "{ready}");
    assert_eq!(ready["sites"]["a"]["ready"], true, "{ready}");
    assert_eq!(ready["sites"]["b"]["ready"], false, "{ready}");
    assert_eq!(many.home("/a", &Caller::default()).await, "first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_the_review_page_sites_are_told_apart() {
    let [a, b, c] = three().await;
    let names = Names::new();
    let agent = names.granted("agent", |grant| grant.sites = some(["a", "b", "c"]));
    let lines = of_names(&names) + WRITES + "confirm = \"review\"\nperson_timeout_s = 5\n";
    let many = Many::start(&sites_of(&lines, &[&a, &b, &c])).await;
    let propose = async |place: &str, wiki: &DemoWiki| {
        let caller = many.open(place, &agent).await;
        let (id, title) = (id_of(wiki, "home"), format!("New{place}"));
        let update = json!({ "id": id, "title": title, "content": "New text\n" });
        many.home(place, &caller).await;
        let told = many.call(place, &caller, UPDATE, update).await;
        assert_eq!(told["outcome"], "waiting", "{told}");
        let set = told["proposal"].as_str().unwrap();
        let (address, site) = (many.hosted.address, place.trim_start_matches('/'));
        let page = format!("http://{address}/review/sets/{set}?site={site}");
        assert_eq!(told["review"], page, "{told}");
        set.to_owned()
    };
    let (of_a, of_b, of_c) = tokio::join!(propose("/a", &a), propose("/b", &b), propose("/c", &c));
    let anna = ["anna", "--reviewer", "--sites", "a,b"];
    let anna = reviewer(&many.hosted, &names, &anna).await;
    let queue = anna.open("/review").await;
    assert!(queue.text.contains(&of_a), "{}", queue.text);
    assert!(!queue.text.contains(&of_b) && !queue.text.contains("site=c"));
    let queue = anna.open("/review?site=b").await;
    assert!(queue.text.contains(&of_b) && !queue.text.contains(&of_a));
    // Another site is as if it were not there, whatever the address says.
    for hidden in [of_a.clone(), format!("{of_c}?site=c")] {
        let hidden = format!("/review/sets/{hidden}");
        assert_eq!(anna.open(&hidden).await.status, 404, "{hidden}");
    }
    // An address of a site shows its set, whichever was looked at before.
    let shown = anna.open(&format!("/review/sets/{of_a}?site=a")).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    anna.open("/review?site=b").await;
    let decided = anna.decide(&of_b, "apply", &[]).await;
    assert_eq!(decided.status, 303, "{}", decided.text);
    let title = |wiki: &DemoWiki| {
        let id = id_of(wiki, "home");
        wiki.with_store(|store| store.page(id).unwrap().title.clone())
    };
    assert_eq!(title(&a), "Page home".to_owned());
    assert_eq!(title(&b), "New/b".to_owned());
    let of_site = |name: &str| {
        let mut of_it = many.records();
        of_it.retain(|record| record.site.as_deref() == Some(name));
        of_it.len()
    };
    assert!(of_site("a") > 0 && of_site("b") > of_site("a"));
    let list = anna.open("/review/record?site=b").await;
    assert!(
        list.text.contains("New/b") || list.text.contains("home"),
        "{}",
        list.text
    );
    // A decision in one tab leads to its set, whatever another tab looked at meanwhile.
    let page = format!("/review/sets/{of_a}?site=a");
    let shown = anna.open(&page).await;
    anna.open("/review?site=b").await;
    let (token, digest) = (shown.hidden("form_token"), shown.hidden("digest"));
    let form = [
        ("form_token", &*token),
        ("digest", &digest),
        ("decision", "apply"),
    ];
    let decided = anna.send(&page, &form).await;
    assert_eq!(decided.status, 303, "{}", decided.text);
    assert_eq!(title(&a), "New/a");
    let after = anna.open(&decided.leads_to()).await;
    assert_eq!(after.status, 200, "{}", after.text);
    every_link_stays_at_its_site(&anna).await;
    // An address that names no site that is there leads to one that does, and so does what goes wrong.
    let many_members = format!("?{}site=", "x=&".repeat(3_000));
    for unnamed in ["", "?site=", "?xsite=a", "?words=x&site=c", &many_members] {
        let led = anna.get(&format!("/review{unnamed}")).await;
        assert_eq!(led.status, 303, "{unnamed}: {}", led.text);
        let shown = anna.get(&led.leads_to()).await;
        assert_eq!(shown.status, 200, "{unnamed}: {}", shown.text);
    }
    for wrong in ["/review/sets/zz?site=b", "/review/record/calls/zz?site=b"] {
        let told = anna.open(wrong).await;
        assert_eq!(told.status, 404, "{wrong}");
        let is_of_b = |link: &String| link.ends_with("site=b");
        assert!(told.links().iter().all(is_of_b), "{:?}", told.links());
    }
}

/// Follows all links of two tabs in turns, each at a site of its own.
async fn every_link_stays_at_its_site(anna: &Browser) {
    let mut tabs = ["a", "b"].map(|site| (site, vec![format!("/review?site={site}")], 0));
    while tabs.iter().any(|(_, pages, at)| *at < pages.len()) {
        for (site, pages, at) in &mut tabs {
            let Some(address) = pages.get(*at).cloned() else {
                continue;
            };
            *at += 1;
            let page = anna.open(&address).await;
            assert_eq!(page.status, 200, "{address}: {}", page.text);
            for mut link in page.links() {
                if link.starts_with('?') {
                    link.insert_str(0, address.split('?').next().unwrap());
                }
                let of = link.split_once("site=").and_then(|(_, rest)| rest.get(..1));
                assert!(of.is_some(), "{address} of {site} leads to {link}");
                if of == Some(*site) && !pages.contains(&link) {
                    pages.push(link);
                }
            }
        }
    }
    for kind in [
        "/review/sets/",
        "/undo?",
        "/new/0",
        "/record/calls/",
        "view=two",
    ] {
        for (site, pages, _) in &tabs {
            let is_seen = pages.iter().any(|link| link.contains(kind));
            assert!(is_seen, "{kind} of {site}: {pages:?}");
        }
    }
}

/// A client that hears of changed tools.
struct Hearing(UnboundedSender<()>);

impl ClientHandler for Hearing {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(());
    }
}

type Heard = (RunningService<RoleClient, Hearing>, UnboundedReceiver<()>);

async fn hearing(site: Arc<Site>, name: &str) -> Heard {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = Handler::alone(Sites::new(vec![site], None), SessionId::new(name));
    tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
    let (told, heard) = unbounded_channel();
    (Hearing(told).serve(ours).await.unwrap(), heard)
}

#[tokio::test]
async fn exactly_the_sessions_whose_tools_changed_are_told() {
    let [a, b, _] = three().await;
    let with = |more: &str| {
        let sets = "toolsets = [\"pages\", \"undo\"]\n";
        format!("{sets}{}{}", site("a", &a, more), site("b", &b, ""))
    };
    let many = Many::start(&with("")).await;
    let of = |name: &str| many.sites.find(Some(name)).unwrap();
    let (first, mut first_heard) = hearing(of("a"), "first").await;
    let (_second, mut second_heard) = hearing(of("b"), "second").await;
    // From protocol 2026-07-28 on a request listens, here over HTTP.
    let listening = async |place: &str| {
        let address = format!("http://{}/mcp/{place}", many.hosted.address);
        let transport = StreamableHttpClientTransport::from_uri(address);
        let client = ().serve_with_lifecycle(transport, MODERN()).await.unwrap();
        let wanted = SubscriptionFilter::builder().tools_list_changed().build();
        let listening = client.listen(wanted).await.unwrap();
        (client, listening)
    };
    let (_of_a, mut at_a) = listening("a").await;
    let (_of_b, mut at_b) = listening("b").await;
    let count = async || first.list_all_tools().await.unwrap().len();
    let before = count().await;
    // The tools stay the same, so nobody is told.
    assert_eq!(many.change(&with("default_locale = \"de\"")).await, None);
    assert_eq!(many.change(&with("toolsets = [\"pages\"]")).await, None);
    first_heard.recv().await.unwrap();
    let told = at_a.next().await.unwrap().unwrap();
    let is_it = matches!(told, ServerNotification::ToolListChangedNotification(_));
    assert!(is_it, "{told:?}");
    assert!(count().await < before);
    assert_eq!(many.change(&with("")).await, None);
    first_heard.recv().await.unwrap();
    assert_eq!(count().await, before);
    assert!(first_heard.try_recv().is_err());
    assert!(second_heard.try_recv().is_err());
    let quiet = tokio::time::timeout(Duration::from_millis(1), at_b.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
}

#[tokio::test]
async fn nobody_is_told_of_a_page_that_they_may_not_read_any_more() {
    let wiki = wiki_of(&[("home", "# Home\n"), ("docs/a", "A\n")]).await;
    let with = |more: &str| sites_of(more, &[&wiki]);
    let many = Many::start(&with("")).await;
    let site = many.sites.find(Some("a")).unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = Handler::alone(
        Sites::new(vec![Arc::clone(&site)], None),
        SessionId::new("x"),
    );
    tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
    let (told, mut heard) = unbounded_channel();
    let client = Listening(told).serve(ours).await.unwrap();
    for page in ["home", "docs/a"] {
        subscribe(&client, &format!("wikijs://en/{page}"))
            .await
            .unwrap();
    }
    let denied = with("denied_read_path_prefixes = [\"docs\"]\n");
    assert_eq!(many.change(&denied).await, None);
    rewrite(&wiki, "docs/a");
    rewrite(&wiki, "home");
    site.app().watch.written();
    assert_eq!(next(&mut heard).await, "wikijs://en/home");
    assert!(heard.is_empty());
    // A right that comes back brings the page back.
    assert_eq!(many.change(&with("")).await, None);
    rewrite(&wiki, "docs/a");
    site.app().watch.written();
    assert_eq!(next(&mut heard).await, "wikijs://en/docs/a");
}

/// A settings file of two sites, told step by step: what docs/sites.md shows.
#[tokio::test]
async fn the_walk_in_the_docs_is_what_the_program_says() {
    let [docs, handbook, _] = three().await;
    let dir = TempDir::new().unwrap();
    put(&dir, "");
    let bare = |wiki: &DemoWiki| wiki.address().split_once("://").unwrap().1.to_owned();
    let home = dir.path().to_str().unwrap().to_owned();
    let hidden = [
        (bare(&docs), "docs.lan"),
        (bare(&handbook), "handbook.lan"),
        (home, "~/.config/wikijs-gate"),
    ];
    let run = async |arguments: &[&str], stdin: &str| {
        let command = Command::new(arguments).with("WIKI_CONFIG", config(&dir).to_str().unwrap());
        let mut command = command.with("WIKI_LOG", "off").stdin(stdin);
        for (text, word) in &hidden {
            command = command.hide(text.clone(), word);
        }
        command.end().await
    };
    // A port has four or five digits, and the name of a record is made from it.
    let columns = Regex::new(r"(http://\w+\.lan/) +").unwrap();
    let record = Regex::new(r"127_0_0_1_\d+~[0-9a-f]{32}").unwrap();
    let shown = |marker: &str, told: &str| {
        let told = columns.replace_all(told, |found: &Captures<'_>| format!("{:20}  ", &found[1]));
        let told = record.replace_all(&told, "docs.lan~0c2f41d67e8b95a3");
        let told = told.replace("address                 ", "address             ");
        let block = format!("```console\n{told}```\n");
        generated("docs/sites.md", marker, &block, str::to_owned);
    };
    let mut told = String::new();
    for (name, wiki) in [("docs", &docs), ("handbook", &handbook)] {
        let address = wiki.address();
        let add = ["site", "add", name, "--base-url", &address, "--key-stdin"];
        let ended = run(&add, &wiki.keys().editor).await.good();
        if name == "docs" {
            told = ended.told;
        }
    }
    shown("add", &told);
    let ended = run(&["site", "list"], "").await.good();
    shown("list", &ended.told);
    let status = run(&["site", "status", "docs"], "").await;
    assert!(status.told.contains("docs.lan"), "{}", status.told);
    let missing = run(&["--site", "hr", "site", "status", "hr"], "").await;
    missing.exits(2);
    let good = fs::read_to_string(config(&dir)).unwrap();
    let wider = format!("{good}mutation_dry_run = false\n");
    fs::write(config(&dir), wider).unwrap();
    let ended = run(&["config", "check"], "").await.exits(2);
    shown("wider", &ended.told);
    fs::write(config(&dir), &good).unwrap();
    let pause = ["--site", "docs", "pause", "spring cleaning"];
    run(&pause, "").await.good();
    let ended = run(&["site", "remove", "docs", "--yes"], "").await.good();
    shown("remove", &ended.told);
    let left = fs::read_to_string(config(&dir)).unwrap();
    says(&left, "[sites.handbook]");
    lacks(&left, "[sites.docs]");
}

/// Answers every request with a page that is none of a wiki.
fn no_wiki() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(20) {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let body = "<h1>Hello</h1>";
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[tokio::test]
async fn what_is_no_wiki_or_there_already_is_not_added_and_the_file_stays() {
    let [a, b, _] = three().await;
    let dir = TempDir::new().unwrap();
    put(&dir, &site("a", &a, ""));
    let before = fs::read_to_string(config(&dir)).unwrap();
    let closed = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let add = async |name: &str, address: &str, key: &str| {
        let arguments = ["site", "add", name, "--base-url", address, "--key-stdin"];
        let command = Command::new(&arguments).with("WIKI_HTTP_RETRY_TOTAL_MS", "5000");
        let command = command.with("WIKI_CONFIG", config(&dir).to_str().unwrap());
        let ended = command.quiet().stdin(key).end().await;
        (ended.code, ended.told)
    };
    let key = &b.keys().editor;
    let unwritten = (1, "nothing was written");
    let garbage = "garbage".to_owned();
    for (name, address, key, expected) in [
        ("b", no_wiki(), key, unwritten),
        ("b", closed, key, unwritten),
        ("b", b.address(), &garbage, unwritten),
        ("b", a.address(), key, (2, "has this address already")),
        ("a", b.address(), key, (2, "the settings file has a site a")),
        ("B", b.address(), key, (2, "a site's name is")),
        ("b", "ftp://b".to_owned(), key, (2, "must be an address")),
        ("b", b.address(), &String::new(), (2, "no key was given")),
    ] {
        let (code, told) = add(name, &address, key).await;
        assert_eq!(code, expected.0, "{name} {address}: {told}");
        assert!(told.contains(expected.1), "{name} {address}: {told}");
        assert!(!told.contains(key.as_str()) || key.is_empty(), "{told}");
        assert_eq!(fs::read_to_string(config(&dir)).unwrap(), before);
    }
    // A list names what is wrong with each, beside what is good.
    let broken = "[sites.c]\nbase_url = \"http://127.0.0.1:1\"\napi_token = \"k\"\n";
    put(&dir, &format!("{}{broken}", site("a", &a, "")));
    let command = Command::new(&["site", "list", "--json"]).quiet();
    let command = command.with("WIKI_CONFIG", config(&dir).to_str().unwrap());
    let listed = command.end().await.exits(1).json();
    assert!(listed["sites"][0].get("fault").is_none(), "{listed}");
    assert!(listed["sites"][1]["fault"].is_string(), "{listed}");
}
