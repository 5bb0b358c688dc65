//! A write that waits for people is a task for clients that declare the extension, over stdio and
//! HTTP; its id is the set's. Others see no change.

use std::any::Any;

use futures_util::future::join_all;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig,
    CreateTaskResult, GetTaskParams, Implementation, UpdateTaskParams,
};
use rmcp::service::{ClientServiceExt as _, Peer, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;

use super::subscriptions::MODERN;
use crate::http::bad_input::{Listening, Memory};
use crate::http::hosted::call;
use crate::prelude::*;
use crate::review::reviewer;
use crate::sites::{Many, site, three};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A client that declares the extension, and its server's audit directory.
struct Polling {
    peer: Peer<RoleClient>,
    dir: Arc<TempDir>,
    _held: Box<dyn Any>,
}

fn declaring(capabilities: ClientCapabilities) -> ClientConfig {
    ClientConfig::new(capabilities, Implementation::new("polling", "1"))
}

fn with_tasks() -> ClientCapabilities {
    ClientCapabilities::builder().enable_tasks().build()
}

impl Polling {
    async fn over_stdio(setup: Setup) -> Self {
        let served = setup.serve_to(declaring(with_tasks()), MODERN()).await;
        Self {
            peer: served.client.peer().clone(),
            dir: Arc::clone(&served.dir),
            _held: Box::new(served),
        }
    }

    async fn over_http(setup: Setup) -> Self {
        let hosted = setup.host().await;
        let uri = format!("http://{}/mcp", hosted.address);
        let transport = StreamableHttpClientTransport::from_uri(uri);
        let client = declaring(with_tasks()).serve_with_lifecycle(transport, MODERN());
        let client = client.await.unwrap();
        Self {
            peer: client.peer().clone(),
            dir: Arc::clone(&hosted.dir),
            _held: Box::new((hosted, client)),
        }
    }

    async fn both(setup: impl Fn() -> Setup) -> [Self; 2] {
        [
            Self::over_stdio(setup()).await,
            Self::over_http(setup()).await,
        ]
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallToolResponse {
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = arguments.as_object().cloned();
        self.peer.call_tool_once(request).await.unwrap()
    }

    /// The task that a call is answered with.
    async fn task(&self, tool: &str, arguments: Value) -> CreateTaskResult {
        match self.call(tool, arguments).await {
            CallToolResponse::Task(task) => task,
            other => panic!("{other:?}"),
        }
    }

    /// The answer of a call that is no task.
    async fn complete(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments).await {
            CallToolResponse::Complete(result) => read(&result).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn get(&self, id: &str) -> Result<Value, ServiceError> {
        let task = self.peer.get_task(GetTaskParams::new(id)).await?;
        Ok(serde_json::to_value(task).unwrap())
    }

    async fn cancel(&self, id: &str) -> Result<(), ServiceError> {
        self.peer.cancel_task(CancelTaskParams::new(id)).await
    }
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).with("WIKI_CONFIRM", "review")
}

async fn decide(wiki: &DemoWiki, dir: impl AsRef<Path>, arguments: &[&str]) {
    let arguments = [&["proposals"], arguments].concat();
    let command = Command::operator(wiki, dir, &arguments);
    command.with("WIKI_CONFIRM", "review").good().await;
}

/// The answer that an ended task holds, of the form that a call has.
fn result(task: &Value) -> Value {
    assert_eq!(task["status"], "completed", "{task}");
    read(&serde_json::from_value(task["result"].clone()).unwrap()).unwrap()
}

/// The code and the message of a refusal.
fn refusal<T: std::fmt::Debug>(refused: Result<T, ServiceError>) -> (i32, String) {
    match refused.unwrap_err() {
        ServiceError::McpError(error) => (error.code.0, error.message.into_owned()),
        other => panic!("{other:?}"),
    }
}

fn title_of(wiki: &DemoWiki, id: i64) -> String {
    wiki.with_store(|store| store.page(id).unwrap().title.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_waits_is_a_task_that_ends_with_what_a_waiting_call_is_answered() {
    let wiki = sample_wiki().await;
    let home = id_of(&wiki, "home");
    let clients =
        Polling::both(|| setup(&wiki).with("WIKI_REVIEW_URL", "https://r.example.org/review"));
    for (number, polling) in clients.await.into_iter().enumerate() {
        let title = format!("Title {number}");
        let began = Instant::now();
        let created = polling
            .task(UPDATE, json!({ "id": home, "title": title }))
            .await;
        // A call without tasks would wait for a minute.
        assert!(began.elapsed() < Duration::from_secs(20));
        let created = serde_json::to_value(created).unwrap();
        let id = created["taskId"].as_str().unwrap().to_owned();
        created.shows(json!({ "resultType": "task", "status": "working", "ttlMs": 2_592_000_000_u64, "pollIntervalMs": 5_000 }));
        created["_meta"]["waiting"].shows(json!({ "outcome": "waiting", "proposal": id }));
        let page = format!("https://r.example.org/review/sets/{id}");
        assert_eq!(created["_meta"]["waiting"]["review"], page);
        let waiting = polling.get(&id).await.unwrap();
        waiting.shows(json!({ "resultType": "complete", "taskId": id, "status": "working" }));
        let message = waiting["statusMessage"].as_str().unwrap();
        says(message, "Nobody has decided yet.");
        says(message, &page);
        for part in ["statusMessage", "createdAt", "lastUpdatedAt", "ttlMs"] {
            assert_eq!(waiting[part], created[part], "{part}");
        }
        // Nothing is asked of the client: what it brings is ignored.
        let brought = [("x".to_owned(), json!({}))].into();
        let update = UpdateTaskParams::new(id.clone(), brought);
        polling.peer.update_task(update).await.unwrap();

        decide(&wiki, polling.dir.path(), &["apply", &id, "--yes"]).await;
        let applied = polling.get(&id).await.unwrap();
        let answer = result(&applied);
        answer.shows(json!({ "outcome": "applied", "proposal": id, "applied": 1 }));
        assert_eq!(title_of(&wiki, home), title);
        assert_ne!(applied["lastUpdatedAt"], applied["createdAt"]);
        assert!(applied["ttlMs"].as_u64().unwrap() >= 2_592_000_000);
        let heard = polling.complete(UPDATE, json!({ "confirm": id })).await;
        assert_eq!(heard, answer);
        // What has ended stays as it is.
        polling.cancel(&id).await.unwrap();
        assert_eq!(polling.get(&id).await.unwrap(), applied);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewers_no_ends_the_task_with_the_reason() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let agent = names.client("agent");
    let hosted = setup(&wiki).naming(&names).host().await;
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let task = asked(&hosted, &agent, UPDATE, change).await;
    let id = task["result"]["taskId"].as_str().unwrap();
    let decided = anna
        .decide(id, "reject", &[("reason", "Not <b>ours</b>")])
        .await;
    assert_eq!(decided.status, 303, "{}", decided.text);
    let task = &polled(&hosted, &agent, id).await["result"];
    result(task)
        .shows(json!({ "outcome": "rejected", "reason": "Not <b>ours</b>", "proposal": id }));
    assert_eq!(task["statusMessage"], "A person said no: Not <b>ours</b>");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_task_is_withdrawn_and_one_that_a_later_write_replaced_says_so() {
    let wiki = sample_wiki().await;
    let (home, about) = (id_of(&wiki, "home"), id_of(&wiki, "docs/configuration"));
    for polling in Polling::both(|| setup(&wiki)).await {
        let change = json!({ "id": home, "title": "New" });
        let id = polling.task(UPDATE, change.clone()).await.task.task_id;
        polling.cancel(&id).await.unwrap();
        let cancelled = polling.get(&id).await.unwrap();
        cancelled.shows(json!({ "status": "cancelled", "result": null }));
        polling.cancel(&id).await.unwrap();
        assert_eq!(polling.get(&id).await.unwrap(), cancelled);
        let kept = records(polling.dir.path());
        let last = kept
            .iter()
            .rev()
            .find(|one| one.event == AuditEvent::Proposal);
        let last = last.unwrap();
        assert_eq!(last.decision.as_deref(), Some("withdrawn"));
        assert_eq!(last.tool.as_deref(), Some("wikijs_withdraw_proposal"));
        assert_eq!(last.proposal.as_deref(), Some(&*id));
        // Nobody can decide on it any more.
        let arguments = ["proposals", "apply", &id, "--yes"];
        let refused = Command::operator(&wiki, polling.dir.path(), &arguments);
        refused.with("WIKI_CONFIRM", "review").end().await.exits(3);
    }
    assert_eq!(mutations(&wiki).len(), 0);
    // A session remembers which of its writes of a page waits.
    let polling = Polling::over_stdio(setup(&wiki)).await;
    let first = json!({ "id": about, "title": "First" });
    let first = polling.task(UPDATE, first).await.task.task_id;
    let then = json!({ "id": about, "description": "Second" });
    let then = polling.task(UPDATE, then).await.task.task_id;
    let replaced = result(&polling.get(&first).await.unwrap());
    replaced.shows(json!({ "outcome": "replaced", "replacedBy": then }));
}

/// A call, or a question about a task, by a client of protocol 2026-07-28 that declares this much.
fn modern(caller: &Caller, mut message: Value, declares: bool) -> (Caller, Value) {
    let extensions = if declares {
        json!({ EXTENSION: {} })
    } else {
        json!({})
    };
    let method = message["method"].as_str().unwrap().to_owned();
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions },
        "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
    });
    let params = &message["params"];
    let name = [&params["name"], &params["taskId"]];
    let name = name
        .iter()
        .find_map(|name| name.as_str())
        .unwrap_or_default();
    let caller = caller.clone().with("mcp-protocol-version", "2026-07-28");
    let caller = caller.with("mcp-method", &method).with("mcp-name", name);
    (caller, message)
}

fn about(method: &str, id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": { "taskId": id, "inputResponses": {} } })
}

async fn asked(hosted: &Hosted, caller: &Caller, tool: &str, arguments: Value) -> Value {
    let (caller, message) = modern(caller, call(tool, arguments), true);
    hosted.post(&caller, &message).await.message()
}

async fn polled(hosted: &Hosted, caller: &Caller, id: &str) -> Value {
    let (caller, message) = modern(caller, about("tasks/get", id), true);
    hosted.post(&caller, &message).await.message()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_anybody_else_is_answered_like_one_that_never_was() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let [own, other] = ["own", "other"].map(|name| names.client(name));
    let setup = setup(&wiki).naming(&names).toolsets("pages,delegate");
    let hosted = setup.host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let task = asked(&hosted, &own, UPDATE, change).await;
    let id = task["result"]["taskId"].as_str().unwrap();
    let wanted = json!({ "task": "look", "writes": 1 });
    let made = hosted.call(&own, "wikijs_delegate", wanted).await.unwrap();
    let token = made["token"].as_str().unwrap();
    let delegate = Caller::default().with("authorization", &format!("Bearer {token}"));
    let never = polled(&hosted, &own, "0123456789abcdef").await;
    let expected = json!({ "code": -32602, "message": "there is no such task" });
    assert_eq!(never["error"], expected);
    for caller in [&other, &delegate] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let (caller, message) = modern(caller, about(method, id), true);
            let began = Instant::now();
            let answer = hosted.post(&caller, &message).await.message();
            assert_eq!(answer["error"], never["error"], "{method}");
            assert!(began.elapsed() >= Duration::from_millis(50), "{method}");
        }
    }
    // What is no id is no task; nothing of it is looked for.
    let long = "x".repeat(30_000);
    for made_up in [
        "",
        "..",
        "../proposal/x",
        "0123456789ABCDEF",
        "0123456789abcde",
        "\u{0}",
        "a/b",
        &long,
    ] {
        let (caller, message) = modern(&own, about("tasks/get", made_up), true);
        let answer = hosted.post(&caller.with("mcp-name", ""), &message).await;
        assert!(
            answer.body.contains("error"),
            "{made_up:.20}: {}",
            answer.body
        );
        assert!(answer.body.len() < 40_000);
    }
    let (caller, message) = modern(&own, about("tasks/get", &"x".repeat(1 << 20)), true);
    let answer = hosted.post(&caller.with("mcp-name", "x"), &message).await;
    assert!(answer.body.contains("error"), "{}", answer.body.len());
    assert!(answer.body.len() < 1_000, "{}", answer.body.len());
    // It is still its own client's, and its maker sees a delegate's.
    let status = &polled(&hosted, &own, id).await["result"]["status"];
    assert_eq!(status, "working");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_stdio_no_made_up_id_is_looked_for() {
    let wiki = sample_wiki().await;
    let polling = Polling::over_stdio(setup(&wiki)).await;
    let never = refusal(polling.get("0123456789abcdef").await);
    assert_eq!(never, (-32602, "there is no such task".to_owned()));
    let long = "x".repeat(60_000);
    for made_up in [
        "",
        "..",
        "../../proposal/x",
        "0123456789ABCDEF",
        "\u{0}\u{202e}",
        &long,
    ] {
        assert_eq!(refusal(polling.get(made_up).await), never, "{made_up:.20}");
        assert_eq!(refusal(polling.cancel(made_up).await), never);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_still_there_after_a_restart() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let agent = names.client("agent");
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let first = setup(&wiki).naming(&names).host().await;
    let task = asked(&first, &agent, UPDATE, change.clone()).await;
    let id = task["result"]["taskId"].as_str().unwrap();
    first.stop.cancel();
    first.ended.await.unwrap();
    let dir = first.dir;
    let again = setup(&wiki).naming(&names).in_dir(&dir).host().await;
    let kept = &polled(&again, &agent, id).await["result"];
    kept.shows(json!({ "taskId": id, "status": "working" }));
    assert_eq!(kept["createdAt"], task["result"]["createdAt"]);
    let (caller, cancel) = modern(&agent, about("tasks/cancel", id), true);
    assert_eq!(
        again.post(&caller, &cancel).await.message()["result"],
        json!({ "resultType": "complete" })
    );
    let status = &polled(&again, &agent, id).await["result"]["status"];
    assert_eq!(status, "cancelled");

    let polling = Polling::over_stdio(setup(&wiki)).await;
    let id = polling.task(UPDATE, change).await.task.task_id;
    let dir = Arc::clone(&polling.dir);
    drop(polling);
    let again = Polling::over_stdio(setup(&wiki).in_dir(&dir)).await;
    assert_eq!(again.get(&id).await.unwrap()["status"], "working");
    decide(&wiki, dir.path(), &["apply", &id, "--yes"]).await;
    result(&again.get(&id).await.unwrap()).shows(json!({ "outcome": "applied" }));
}

#[tokio::test]
async fn a_client_without_the_extension_or_of_an_older_protocol_sees_no_change() {
    let wiki = sample_wiki().await;
    let mut setup = setup(&wiki);
    setup.thinking = Some(Duration::ZERO);
    let hosted = setup.host().await;
    let nobody = Caller::default();
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let is_waiting = |told: &Value| {
        told["result"]["structuredContent"].shows(json!({ "outcome": "waiting" }));
        let id = &told["result"]["structuredContent"]["proposal"];
        id.as_str().unwrap().to_owned()
    };
    let (caller, message) = modern(&nobody, call(UPDATE, change.clone()), false);
    let id = is_waiting(&hosted.post(&caller, &message).await.message());
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (caller, message) = modern(&nobody, about(method, &id), false);
        let refused = hosted.post(&caller, &message).await.message();
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
    }
    // The older protocol had tasks of another kind: it is told nothing of these.
    let opened = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": { "extensions": { EXTENSION: {} } },
        "clientInfo": { "name": "older", "version": "1" },
    } });
    let opened = hosted.post(&nobody, &opened).await;
    assert_eq!(
        opened.message()["result"]["capabilities"].get("extensions"),
        None
    );
    let older = nobody
        .clone()
        .with("mcp-session-id", &opened.headers["mcp-session-id"])
        .with("mcp-protocol-version", "2025-11-25");
    let id = is_waiting(&hosted.post(&older, &call(UPDATE, change)).await.message());
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = hosted.post(&older, &about(method, &id)).await.message();
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
    let arguments = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {} });
    let (caller, discover) = modern(&nobody, arguments, false);
    let discovered = hosted.post(&caller, &discover).await.message();
    discovered["result"]["capabilities"]
        .shows(json!({ "extensions": { EXTENSION: {} }, "logging": null }));
}

#[tokio::test]
async fn a_proposed_write_is_a_task_and_a_preview_never() {
    let wiki = sample_wiki().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let mut proposed = change.clone();
    proposed["propose"] = json!(true);
    for setup in [Setup::admin(&wiki), Setup::admin(&wiki).dry()] {
        let polling = Polling::over_stdio(setup).await;
        let preview = polling.complete(UPDATE, change.clone()).await;
        assert_eq!(preview["preview"], true, "{preview}");
        let id = polling.task(UPDATE, proposed.clone()).await.task.task_id;
        assert_eq!(polling.get(&id).await.unwrap()["status"], "working");
        // To ask about it by a call is answered by the same task, at once.
        let again = polling.task(UPDATE, json!({ "confirm": id })).await;
        assert_eq!(again.task.task_id, id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_says_how_far_its_set_is_applied_by_whichever_process() {
    let pages: Vec<String> = (0..6).map(|at| format!("docs/p{at}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (&**path, "old\n")).collect();
    let wiki = wiki_of(&pages).await;
    let polling = Polling::over_stdio(setup(&wiki).toolsets("pages,drafts")).await;
    let bulk = json!({ "path": "docs", "addTags": ["seen"] });
    let id = polling.task(BULK, bulk).await.task.task_id;
    wiki.set_write_delay(Duration::from_millis(300));
    let arguments = ["apply", &id, "--yes"];
    let applying = decide(&wiki, polling.dir.path(), &arguments);
    let looking = async {
        let mut told = Vec::new();
        loop {
            let task = polling.get(&id).await.unwrap();
            if task["status"] != "working" {
                return (told, task);
            }
            let message = task["statusMessage"].as_str().unwrap().to_owned();
            if message.starts_with("It is being applied: ") {
                assert_eq!(task["pollIntervalMs"], 1_000);
                // It cannot be taken back any more, and is not waited for.
                polling.cancel(&id).await.unwrap();
                told.push(message);
            }
        }
    };
    let ((), (told, task)) = tokio::join!(applying, looking);
    assert!(
        told.iter()
            .any(|far| far.ends_with(" of 6 changes are made.")),
        "{told:?}"
    );
    assert!(told.is_sorted(), "{told:?}");
    result(&task).shows(json!({ "outcome": "applied", "applied": 6 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_try_to_apply_it_that_failed_is_told_and_it_waits_on() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let key = &wiki.keys().admin;
    let setup = Setup::at(&faulty.address(), key).with("WIKI_CONFIRM", "review");
    let polling = Polling::over_stdio(setup).await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    let id = polling.task(UPDATE, change).await.task.task_id;
    let apply = async || {
        let arguments = ["proposals", "apply", &id, "--yes"];
        let command = Command::new(&arguments).at(&faulty.address(), key, polling.dir.path());
        command.writing().with("WIKI_CONFIRM", "review").end().await
    };
    faulty.on_mutations(Fault::new(
        Reach::Never,
        Reply::say(400, "text/plain", "no"),
    ));
    apply().await.exits(4);
    let task = polling.get(&id).await.unwrap();
    assert_eq!(task["status"], "working", "{task}");
    let message = task["statusMessage"].as_str().unwrap();
    says(message, "Last, a person tried to apply it with the call ");
    says(message, ": unknown.");
    // Some of it may be written: it is not taken back.
    polling.cancel(&id).await.unwrap();
    assert_eq!(polling.get(&id).await.unwrap(), task);
}

#[tokio::test]
async fn a_task_of_one_site_is_none_of_another() {
    let [a, b, _] = three().await;
    let text = format!(
        "mutations_enabled = true\nmutation_dry_run = false\nconfirm = \"review\"\n{}{}",
        site("a", &a, ""),
        site("b", &b, "")
    );
    let many = Many::start(&text).await;
    let at = async |place: &str, message: Value| {
        let (caller, message) = modern(&Caller::default(), message, true);
        many.post(place, &caller, &message).await.message()
    };
    let change = json!({ "id": id_of(&a, "home"), "title": "New" });
    let task = at("/a", call(UPDATE, change)).await;
    let id = task["result"]["taskId"].as_str().unwrap();
    let get = || about("tasks/get", id);
    assert_eq!(at("/a", get()).await["result"]["status"], "working");
    let never = at("/b", about("tasks/get", "0123456789abcdef")).await;
    assert_eq!(at("/b", get()).await, never);
    at("/b", about("tasks/cancel", id)).await;
    assert_eq!(at("/a", get()).await["result"]["status"], "working");
}

/// The open files of a process.
fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_writes_that_wait_hold_no_connection_and_little_memory() {
    const WRITES: usize = 1_000;
    const AT_ONCE: usize = 20;
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let (address, audit) = (wiki.address(), dir.path().to_str().unwrap());
    let server = Listening::start(&[
        ("WIKI_BASE_URL", &address),
        ("WIKI_API_TOKEN", &wiki.keys().admin),
        ("WIKI_AUDIT_DIR", audit),
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_CONFIRM", "review"),
        ("WIKI_SERVE_RATE", "1000000"),
    ]);
    let say = async |message: Value| {
        let (caller, message) = modern(&Caller::default(), message, true);
        let answer = server.post(&caller, message.to_string().as_bytes()).await;
        let (_, body) = answer.split_once('{').unwrap_or_else(|| panic!("{answer}"));
        let body = body.rsplit_once('}').unwrap().0;
        serde_json::from_str::<Value>(&format!("{{{body}}}")).unwrap()
    };
    let write = |number: usize| {
        call(
            CREATE,
            json!({ "path": format!("new/p{number}"), "title": "New", "content": "# New\n" }),
        )
    };
    let task_of = |told: &Value| {
        told["result"]["taskId"]
            .as_str()
            .unwrap_or_else(|| panic!("{told}"))
            .to_owned()
    };
    let mut tasks = vec![task_of(&say(write(0)).await)];
    let (memory, files) = (Memory::of(server.id()), descriptors(server.id()));
    memory.forget();
    let idle = memory.most();
    for begin in (1..WRITES).step_by(AT_ONCE) {
        let some = (begin..WRITES.min(begin + AT_ONCE)).map(|number| say(write(number)));
        tasks.extend(join_all(some).await.iter().map(task_of));
    }
    let (held, grown) = (descriptors(server.id()), memory.most().saturating_sub(idle));
    assert!(held <= files + AT_ONCE, "{files} files before, {held} then");
    assert!(grown < 64 << 20, "{grown} bytes");
    // All of them are polled as quickly as they are answered, and one is taken back.
    let began = Instant::now();
    for some in tasks.chunks(AT_ONCE) {
        let told = join_all(some.iter().map(|id| say(about("tasks/get", id)))).await;
        assert!(
            told.iter()
                .all(|told| told["result"]["status"] == "working")
        );
    }
    assert!(began.elapsed() < Duration::from_secs(20));
    say(about("tasks/cancel", &tasks[0])).await;
    let told = say(about("tasks/get", &tasks[0])).await;
    assert_eq!(told["result"]["status"], "cancelled");
    assert!(memory.most().saturating_sub(idle) < 64 << 20);
}
