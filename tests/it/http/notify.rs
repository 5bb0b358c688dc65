//! Telling people elsewhere (`[[notify]]`): what waits, what was decided, what went wrong.

use std::fs::Permissions;
use std::sync::Mutex;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::prelude::*;

/// Hears what is told; answers with these statuses first, then with 200.
struct Hook {
    address: String,
    told: mpsc::UnboundedReceiver<Value>,
}

type Heard = (mpsc::UnboundedSender<Value>, Arc<Mutex<Vec<StatusCode>>>);

async fn hear(State((told, first)): State<Heard>, body: String) -> StatusCode {
    let status = first.lock().unwrap().pop().unwrap_or(StatusCode::OK);
    if status == StatusCode::OK {
        told.send(serde_json::from_str(&body).unwrap()).unwrap();
    }
    status
}

impl Hook {
    async fn answering(first: Vec<StatusCode>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/hook/s3cret-path", listener.local_addr().unwrap());
        let (sender, told) = mpsc::unbounded_channel();
        let routes = Router::new()
            .route("/hook/s3cret-path", post(hear))
            .with_state((sender, Arc::new(Mutex::new(first))));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, told }
    }

    async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(Duration::from_secs(20), self.told.recv());
        next.await.unwrap().unwrap()
    }

    fn table(&self) -> String {
        format!("[[notify]]\nname = \"hook\"\nurl = {:?}\n", self.address)
    }
}

fn setup(wiki: &DemoWiki, tables: &str) -> Setup {
    let mut setup = Setup::admin(wiki)
        .with("WIKI_CONFIRM", "review")
        .with("WIKI_REVIEW_URL", "https://mcp.example.org/review")
        .toolsets("pages,drafts")
        .with_tables(tables);
    setup.thinking = Some(Duration::ZERO);
    setup
}

/// Decides in another process, which tells it itself.
async fn decide(wiki: &DemoWiki, dir: &Path, tables: &str, arguments: &[&str]) {
    let settings = TempDir::new().unwrap();
    let file = settings.path().join("config.toml");
    fs::write(&file, tables).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let arguments = [
        &["--config", file.to_str().unwrap(), "proposals"],
        arguments,
    ]
    .concat();
    Command::operator(wiki, dir, &arguments).good().await;
}

#[tokio::test]
async fn over_http_people_are_told_an_address_and_no_command() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "B\n")]).await;
    let mut hook = Hook::answering(Vec::new()).await;
    let names = Names::new();
    let agent = names.client("agent");
    for (name, hosts) in [("docs/a", ""), ("docs/b", "mcp.example.org")] {
        let mut setup = Setup::admin(&wiki)
            .with("WIKI_CONFIRM", "review")
            .with("WIKI_SERVE_ALLOWED_HOSTS", hosts)
            .with_tables(&hook.table())
            .naming(&names);
        if hosts.is_empty() {
            setup = setup.without("WIKI_SERVE_ALLOWED_HOSTS");
        }
        setup.thinking = Some(Duration::ZERO);
        let hosted = setup.host().await;
        let change = json!({ "id": id_of(&wiki, name), "title": "New" });
        let answer = hosted.call(&agent, UPDATE, change).await.unwrap();
        let id = answer["proposal"].as_str().unwrap();
        let told = hook.next().await;
        let at = match hosts {
            "" => format!("http://{}", hosted.address),
            host => format!("https://{host}"),
        };
        assert_eq!(told["review"], format!("{at}/review/sets/{id}"));
        assert!(!told.to_string().contains("wikijs-gate review"), "{told}");
    }
}

#[tokio::test]
async fn people_are_told_that_a_set_was_withdrawn_and_its_waiting_call_ends() {
    let wiki = wiki_of(&[("docs/a", "A\n")]).await;
    let mut hook = Hook::answering(Vec::new()).await;
    let mut setup = setup(&wiki, &hook.table()).toolsets("pages,proposals");
    setup.thinking = Some(Duration::from_mins(1));
    let served = setup.serve().await;
    let write = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let withdrawing = async {
        let id = hook.next().await["set"].clone();
        // It is told of once its making is on record, before its file is there.
        while served.app.desk.proposals().all().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let withdrawn = served.call(WITHDRAW, json!({ "id": id })).await.unwrap();
        (withdrawn, hook.next().await)
    };
    let (waited, (withdrawn, told)) = tokio::join!(served.call(UPDATE, write), withdrawing);
    assert_eq!(withdrawn["state"], "withdrawn");
    assert_eq!(waited.unwrap()["outcome"], "withdrawn");
    told.shows(json!({ "event": "decided", "set": withdrawn["id"], "decision": "withdrawn" }));
}

#[tokio::test]
async fn people_are_told_what_waits_and_what_was_decided_with_ids_alone() {
    let wiki = wiki_of(&[("docs/a", "Secret text\n"), ("docs/b", "B\n")]).await;
    let mut hook = Hook::answering(Vec::new()).await;
    let served = setup(&wiki, &hook.table()).serve().await;
    let a = id_of(&wiki, "docs/a");
    let write = json!({ "id": a, "content": "Hidden words\n", "note": "because" });
    let answer = served.call(UPDATE, write).await.unwrap();
    let id = answer["proposal"].as_str().unwrap();
    let review = format!("https://mcp.example.org/review/sets/{id}");
    let name = served.app.wiki.settings().name.clone();
    let expected = json!({
        "v": 1,
        "event": "waiting",
        "wiki": name,
        "text": format!("{name}: A change waits for a decision: {review}"),
        "set": id,
        "changes": 1,
        "review": review,
    });
    assert_eq!(hook.next().await, expected);
    decide(
        &wiki,
        served.dir.path(),
        &hook.table(),
        &["apply", id, "--yes"],
    )
    .await;
    let decided = hook.next().await;
    decided.shows(json!({ "event": "decided", "set": id, "decision": "applied" }));

    let both = json!({ "path": "docs", "addTags": ["new"] });
    let answer = served.call(BULK, both).await.unwrap();
    let told = hook.next().await;
    told.shows(json!({ "set": answer["proposal"], "changes": 2 }));
    let id = answer["proposal"].as_str().unwrap();
    decide(
        &wiki,
        served.dir.path(),
        &hook.table(),
        &["reject", id, "--why", "no"],
    )
    .await;
    let decided = hook.next().await;
    assert_eq!(decided["decision"], "rejected");
    for told in [&decided, &told] {
        let told = told.to_string();
        for word in ["Secret", "Hidden", "because", "docs/"] {
            assert!(!told.contains(word), "{told}");
        }
    }
}

#[tokio::test]
async fn an_unknown_outcome_is_told_again_if_it_does_not_arrive_and_a_dead_target_stops_nothing() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    // The first try fails; the second arrives.
    let mut hook = Hook::answering(vec![StatusCode::BAD_GATEWAY]).await;
    let tables = format!(
        "[[notify]]\nname = \"dead\"\nurl = \"http://127.0.0.1:9/\"\ntimeout = 1\n\
         [[notify]]\nname = \"gone\"\nargv = [\"./not-there\"]\n\
         {}on = \"unknown\"\n",
        hook.table()
    );
    let mut setup = Setup::at(&faulty.address(), &wiki.keys().scripter).with_tables(&tables);
    setup.patience.settling = Duration::from_millis(100);
    let served = setup.serve().await;
    faulty.watch(served.dir.path());
    faulty.on_mutations(Fault::new(Reach::Afterwards, Reply::Cut));
    let home = id_of(&wiki, "home");
    let write = json!({ "id": home, "title": "Ours" });
    let unknown = confirmed_fails(&served, UPDATE, write, "OUTCOME_UNKNOWN").await;
    let told = hook.next().await;
    told.shows(json!({ "event": "unknown", "call": unknown["details"]["callId"] }));
}

#[tokio::test]
async fn a_command_gets_it_on_standard_input_and_none_of_our_settings() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let told = dir.path().join("told");
    let script = format!("cat > {0}.json; env > {0}.env", told.display());
    let tables = format!(
        "[[notify]]\nname = \"mail\"\nargv = [\"sh\", \"-c\", {script:?}]\ncwd = \"/\"\non = \"waiting\"\n"
    );
    let served = setup(&wiki, &tables).serve().await;
    let home = id_of(&wiki, "home");
    let write = json!({ "id": home, "title": "Ours" });
    let answer = served.call(UPDATE, write).await.unwrap();
    served.app.writer.finish().await;
    let read = |end: &str| fs::read_to_string(told.with_extension(end)).unwrap();
    let json: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!(json["set"], answer["proposal"]);
    let env = read("env");
    lacks(&env, "WIKI_");
    lacks(&env, &wiki.keys().admin);
}
