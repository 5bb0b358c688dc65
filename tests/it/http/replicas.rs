//! Several servers on one database, and one client at all of them: the mark in their directory makes its
//! store that of other machines, too.

use super::hosted;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::prelude::*;

/// A wiki of three pages, behind a place where its answers can be held.
async fn wiki() -> (DemoWiki, FaultyWiki) {
    let wiki = wiki_of(&[
        ("docs/a", "# A\n"),
        ("docs/b", "# B\n"),
        ("docs/c", "# C\n"),
    ])
    .await;
    let faulty = FaultyWiki::before(&wiki).await;
    (wiki, faulty)
}

/// A directory that servers elsewhere share.
fn shared() -> Arc<TempDir> {
    let dir = Arc::new(TempDir::new().unwrap());
    fs::write(dir.path().join("remote"), "").unwrap();
    dir
}

fn setup(wiki: &DemoWiki, address: &str, names: &Names, dir: &Arc<TempDir>) -> Setup {
    let setup = Setup::at(address, &wiki.keys().admin).toolsets("pages,undo,drafts");
    setup.naming(names).in_dir(dir)
}

/// The arguments that confirm a call, after its preview.
async fn previewed(server: &Hosted, caller: &Caller, tool: &str, mut arguments: Value) -> Value {
    let preview = server.ok(caller, tool, arguments.clone()).await;
    arguments["confirm"] = preview["confirm"].clone();
    arguments
}

#[tokio::test]
async fn the_last_write_of_a_session_is_its_own_at_every_server() {
    let ((wiki, _faulty), names, dir) = (wiki().await, Names::new(), shared());
    let server = async || setup(&wiki, &wiki.address(), &names, &dir).host().await;
    let (one, two) = (server().await, server().await);
    let caller = one.open(&names.client("own")).await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let written = one.applied(&caller, UPDATE, change).await;
    let undo = previewed(&one, &caller, UNDO, json!({ "callId": "last" })).await;
    let undone = two.ok(&caller, UNDO, undo).await;
    undone.shows(json!({ "outcome": "applied", "warnings": null }));
    assert_eq!(undone["undoes"], written["callId"], "{undone}");
}

/// A session of a caller whose client can ask its person.
async fn asking(server: &Hosted, caller: &Caller) -> Caller {
    let mut opening = hosted::initialize("2025-11-25");
    opening["params"]["capabilities"] = json!({ "elicitation": { "form": {} } });
    let opened = server.post(caller, &opening).await;
    caller
        .clone()
        .with("mcp-session-id", &opened.headers["mcp-session-id"])
        .with("mcp-protocol-version", "2025-11-25")
}

/// A call that waits for a person's answer: its stream, and the question.
async fn asked(server: &Hosted, caller: &Caller, arguments: Value) -> (TcpStream, Value) {
    let call = hosted::call(UPDATE, arguments);
    let (mut stream, message) = server.begin(caller, &call).await;
    stream.write_all(message.as_bytes()).await.unwrap();
    let mut told = Vec::new();
    loop {
        assert_ne!(stream.read_buf(&mut told).await.unwrap(), 0);
        let text = String::from_utf8_lossy(&told);
        let mut events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut events = events
            .by_ref()
            .filter_map(|event| serde_json::from_str(event).ok());
        let question = events.find(|event: &Value| event["method"] == "elicitation/create");
        if let Some(question) = question {
            return (stream, question);
        }
    }
}

/// A person's answer to a question; without a word, that it was declined.
fn replied(question: &Value, word: Option<&str>) -> Value {
    let form = &question["params"]["requestedSchema"];
    let result = match word {
        Some(word) => json!({
            "action": "accept",
            "content": { form["required"][0].as_str().unwrap(): word },
        }),
        None => json!({ "action": "decline" }),
    };
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

/// The end of a call's stream.
async fn rest(mut stream: TcpStream) -> String {
    let mut told = Vec::new();
    stream.read_to_end(&mut told).await.unwrap();
    String::from_utf8(told).unwrap()
}

#[tokio::test]
async fn what_a_person_answers_at_one_server_reaches_the_one_that_asked() {
    let ((wiki, _faulty), names, dir) = (wiki().await, Names::new(), shared());
    let server = async || {
        let setup = setup(&wiki, &wiki.address(), &names, &dir);
        setup.with("WIKI_CONFIRM", "person").host().await
    };
    let (one, two) = (server().await, server().await);
    let caller = asking(&one, &names.client("own")).await;
    let title = |path: &str, title: &str| json!({ "id": id_of(&wiki, path), "title": title });
    for (word, outcome) in [(Some("once"), "applied"), (None, "APPROVAL_DENIED")] {
        let (stream, question) = asked(&one, &caller, title("docs/a", outcome)).await;
        assert_eq!(
            two.post(&caller, &replied(&question, word)).await.status,
            202
        );
        says(&rest(stream).await, outcome);
    }
    assert_eq!(mutations(&wiki).len(), 1);
    // Requests of two servers may have one number: a yes to one's question is none to the other's.
    let (first, of_one) = asked(&one, &caller, title("docs/b", "First")).await;
    let (second, of_two) = asked(&two, &caller, title("docs/c", "Second")).await;
    let mut numbered = replied(&of_one, Some("once"));
    numbered["id"] = of_two["id"].clone();
    assert_eq!(two.post(&caller, &numbered).await.status, 202);
    says(&rest(first).await, "First");
    assert_eq!(mutations(&wiki).len(), 2);
    assert_eq!(
        one.post(&caller, &replied(&of_two, Some("no")))
            .await
            .status,
        202
    );
    says(&rest(second).await, "APPROVAL_DENIED");
    assert_eq!(mutations(&wiki).len(), 2);
}

/// The process of a server over HTTP, which can be killed.
fn process(wiki: &DemoWiki, address: &str, names: &Names, dir: &Arc<TempDir>) -> (Program, Hosted) {
    let (key, tokens) = (wiki.keys().admin.clone(), names.path());
    let variables = [
        ("WIKI_BASE_URL", address),
        ("WIKI_API_TOKEN", &key),
        ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
        ("WIKI_SERVE_TOKENS_FILE", tokens.to_str().unwrap()),
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_TOOLSETS", "pages,undo,drafts"),
        ("WIKI_INDEX", "off"),
    ];
    let (program, port) = Program::listening(&["serve", "--http", "127.0.0.1:0"], &variables);
    let hosted = Hosted {
        address: ([127, 0, 0, 1], port).into(),
        dir: Arc::clone(dir),
        stop: CancellationToken::new(),
        ended: tokio::spawn(async {}),
    };
    (program, hosted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_used_token_of_a_set_whose_server_was_killed_says_what_became_of_it() {
    let ((wiki, faulty), names, dir) = (wiki().await, Names::new(), shared());
    let caller = names.client("own");
    let (program, one) = process(&wiki, &faulty.address(), &names, &dir);
    let two = setup(&wiki, &faulty.address(), &names, &dir);
    let two = two.host().await;
    let caller = two.open(&caller).await;
    let ids = ["docs/a", "docs/b", "docs/c"].map(|path| id_of(&wiki, path));
    let bulk = previewed(
        &two,
        &caller,
        BULK,
        json!({ "ids": ids, "addTags": ["new"] }),
    )
    .await;
    faulty.on_mutations_after(1, Fault::new(Reach::Never, Reply::Silence));
    let (mut cut, message) = one.begin(&caller, &hosted::call(BULK, bulk.clone())).await;
    cut.write_all(message.as_bytes()).await.unwrap();
    faulty.mutations_arrive(2).await;
    let held = two
        .fails(&caller, BULK, bulk.clone(), "CONFIRM_EXPIRED")
        .await;
    says(&held["message"], "under way");
    program.kill();
    let again = two.fails(&caller, BULK, bulk, "CONFIRM_EXPIRED").await;
    lacks(&again["message"], "under way");
    assert_eq!(again["details"]["outcome"], "unknown", "{again}");
    let set = json!({ "id": again["details"]["usedBy"] });
    let set = two.ok(&caller, CHANGE_SET, set).await;
    assert_eq!(set["outcome"], "unknown", "{set}");
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_of_which_a_killed_person_s_command_made_some_is_said_to_be_begun() {
    let ((wiki, faulty), dir) = (wiki().await, Arc::new(TempDir::new().unwrap()));
    let agent = Setup::at(&faulty.address(), &wiki.keys().admin);
    let agent = agent.toolsets("pages,drafts,proposals").in_dir(&dir);
    let mut agent = agent.with("WIKI_CONFIRM", "review");
    // Its calls answer at once that they wait.
    agent.thinking = Some(Duration::ZERO);
    let agent = agent.serve().await;
    let ids = ["docs/a", "docs/b", "docs/c"].map(|path| id_of(&wiki, path));
    let proposed = call_ok(&agent, BULK, json!({ "ids": ids, "addTags": ["new"] })).await;
    let id = proposed["proposal"].as_str().unwrap();
    faulty.on_mutations_after(1, Fault::new(Reach::Never, Reply::Silence));
    let variables = [
        ("WIKI_BASE_URL", &*faulty.address()),
        ("WIKI_API_TOKEN", &wiki.keys().admin),
        ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_CONFIRM", "review"),
    ];
    let command = Program::start(&["proposals", "apply", id, "--yes"], &variables);
    faulty.mutations_arrive(2).await;
    command.kill();
    let waits = call_ok(&agent, BULK, json!({ "confirm": id })).await;
    let records = agent.records();
    let mut sets = records.iter().filter_map(|record| record.set);
    let set = sets.next_back().unwrap().to_string();
    assert_eq!(waits["outcome"], "waiting", "{waits}");
    let told = warnings(&waits).join("\n");
    says(
        &told,
        &format!("made_before: {set} made some of it, or may have"),
    );
    lacks(&told, "tried");
    let reject = ["proposals", "reject", id, "--keep-made", "--why", "not so"];
    let reject = Command::new(&reject).at(&faulty.address(), &wiki.keys().admin, dir.path());
    reject.writing().with("WIKI_CONFIRM", "review").good().await;
    let rejected = call_ok(&agent, BULK, json!({ "confirm": id })).await;
    assert_eq!(rejected["outcome"], "rejected", "{rejected}");
    says(&rejected["hint"], "Nothing more was written.");
    let told = warnings(&rejected).join("\n");
    says(
        &told,
        &format!("made_before: {set} made some of it, or may have, and that stays."),
    );
}

/// A set of three changes whose server was overtaken while it sent one of them, after so many: its answer,
/// the number of changes that were sent, and the ends on record.
async fn overtaken(after: usize, keep: bool) -> (Result<Value, Value>, usize, Vec<Record>) {
    let ((wiki, faulty), dir) = (wiki().await, shared());
    let setup = Setup::at(&faulty.address(), &wiki.keys().admin);
    let server = setup
        .toolsets("pages,undo,drafts")
        .in_dir(&dir)
        .serve()
        .await;
    let ids = ["docs/a", "docs/b", "docs/c"].map(|path| id_of(&wiki, path));
    let mut bulk = json!({ "ids": ids, "addTags": ["new"] });
    if keep {
        bulk["onFailure"] = "keep".into();
    }
    bulk["confirm"] = call_ok(&server, BULK, bulk.clone()).await["confirm"].clone();
    let held = Fault::new(Reach::Before, Reply::WikiHeld);
    faulty.on_mutations_after(after, held.clone());
    let (answer, ()) = tokio::join!(server.call(BULK, bulk), async {
        faulty.mutations_arrive(after + 1).await;
        // By the time of the answer others may have settled what this server had begun.
        fs::write(dir.path().join("overtaken"), "").unwrap();
        faulty.on_mutations_after(usize::MAX, held);
        faulty.let_late_ones_through().await;
    });
    let is_end = |record: &Record| {
        record.event == AuditEvent::Outcome && record.set.is_some() && record.set == record.call
    };
    let mut ends = server.records();
    ends.retain(is_end);
    (answer, mutations(&wiki).len(), ends)
}

#[tokio::test]
async fn a_server_that_stood_still_sends_and_takes_back_nothing_more_of_a_set() {
    for (keep, told) in [(false, "interrupted"), (true, "partly_applied")] {
        let (stopped, sent, ends) = overtaken(1, keep).await;
        let stopped = stopped.unwrap_err();
        assert_eq!(stopped["code"], "PARTLY_APPLIED", "{stopped}");
        assert_eq!(stopped["details"]["outcome"], told, "{stopped}");
        assert_eq!((sent, ends.len()), (2, 1), "{ends:?}");
        assert_eq!(ends[0].outcome, Some(Outcome::PartlyApplied));
    }
}

#[tokio::test]
async fn a_set_that_was_sent_whole_is_applied_though_its_server_stood_still() {
    let (applied, sent, ends) = overtaken(2, false).await;
    let applied = applied.unwrap();
    assert_eq!(applied["outcome"], "applied", "{applied}");
    assert_eq!((sent, ends.len()), (3, 1), "{ends:?}");
}
