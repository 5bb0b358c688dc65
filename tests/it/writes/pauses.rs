//! An operator pauses all writes, and lets them go on: no server is restarted for it.

use rmcp::model::ReadResourceRequestParams;

use crate::prelude::*;

const REASON: &str = "restoring a backup";

/// Runs a command of the operator on this audit directory.
async fn run(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Ended {
    let command = Command::new(arguments).at(&wiki.address(), &wiki.keys().editor, dir);
    command.writing().quiet().end().await
}

async fn pause(wiki: &DemoWiki, dir: &Path) {
    let ended = run(wiki, dir, &["pause", REASON]).await;
    assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
}

async fn resume(wiki: &DemoWiki, dir: &Path) {
    let ended = run(wiki, dir, &["resume"]).await;
    assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
}

async fn status(served: &Served) -> Value {
    let request = ReadResourceRequestParams::new("wikijs://status");
    let read = served.client.read_resource(request).await.unwrap();
    let read = serde_json::to_value(read).unwrap();
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_pause_stops_the_writes_of_every_server_and_a_resume_lets_them_go_on() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let first = Setup::editor(&wiki).serve().await;
    let second = Setup::editor(&wiki);
    let second = second.in_dir_of(&first).serve().await;
    let update = json!({ "id": id, "title": "T" });
    // What was previewed before is stopped as well.
    let preview = first.call(UPDATE, update.clone()).await.unwrap();
    let mut confirmed = update.clone();
    confirmed["confirm"] = preview["confirm"].clone();

    pause(&wiki, first.dir.path()).await;
    for (served, arguments) in [(&first, &confirmed), (&first, &update), (&second, &update)] {
        let error = fails(served, UPDATE, arguments.clone(), "WRITES_PAUSED").await;
        assert_eq!(error["details"]["reason"], REASON);
        assert!(error["details"]["since"].is_string(), "{error}");
        says(&error["hint"], "wikijs-gate resume");
    }
    let page = second.call(BY_ID, json!({ "id": id }));
    assert_eq!(page.await.unwrap()["id"], id);
    let writes = status(&first).await["writes"].take();
    let arguments =
        json!({ "level": "preview", "refused": "an operator has paused all writes for now" });
    writes.shows(arguments);
    assert_eq!(writes["paused"]["reason"], REASON);
    assert_eq!(mutations(&wiki), []);

    resume(&wiki, first.dir.path()).await;
    assert!(status(&first).await["writes"].get("paused").is_none());
    is_applied(&first, UPDATE, confirmed).await;
    let told: Vec<(String, String)> = first
        .records()
        .into_iter()
        .filter(|record| record.event == AuditEvent::Pause)
        .map(|record| {
            assert!(record.actor.unwrap().as_str().starts_with("user:"));
            assert!(record.reason.unwrap().ends_with(REASON));
            (record.tool.unwrap(), record.decision.unwrap())
        })
        .collect();
    let word = |word: &str| word.to_owned();
    let expected = [
        (word("pause"), word("paused")),
        (word("resume"), word("resumed")),
    ];
    assert_eq!(told, expected);
    run(&wiki, first.dir.path(), &["audit", "verify"])
        .await
        .good();
    let again = run(&wiki, first.dir.path(), &["resume", "--json"]).await;
    assert_eq!(again.stdout, "{\"resumed\":false}\n");
}

/// The write is past the gates and reads the page when the pause comes.
#[tokio::test]
async fn a_pause_that_comes_between_the_gates_and_the_sending_stops_the_write() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().editor);
    let served = served.serve().await.acquainted().await;
    let mut update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let preview = served.call(UPDATE, update.clone()).await.unwrap();
    update["confirm"] = preview["confirm"].clone();
    let count = faulty.seen().len();
    faulty.on_request_after(0, Fault::new(Reach::Before, Reply::WikiHeld));
    let (answer, ()) = tokio::join!(served.call(UPDATE, update), async {
        faulty.requests_arrive(count + 1).await;
        pause(&wiki, served.dir.path()).await;
        faulty.let_late_ones_through().await;
    });
    let error = answer.unwrap_err();
    assert_eq!(error["code"], "WRITES_PAUSED", "{error}");
    assert_eq!(error["details"]["reason"], REASON);
    assert_eq!(faulty.mutations(), []);
    let attempts = |record: &wikijs_gate::audit::Record| record.event == AuditEvent::Attempt;
    assert!(!served.records().iter().any(attempts));
}

/// It is what a pause is for: nothing more comes from agents while what they did goes back.
#[tokio::test]
async fn an_operator_takes_a_write_back_in_a_pause() {
    let (wiki, served) = sample(Setup::editor).await;
    let update = json!({ "id": id_of(&wiki, "home"), "title": "Nonsense" });
    served.confirmed(UPDATE, update).await.unwrap();
    pause(&wiki, served.dir.path()).await;
    run(&wiki, served.dir.path(), &["undo", "last", "--yes"])
        .await
        .good();
    let title = wiki.with_store(|store| store.page_at("en", "home").unwrap().title.clone());
    assert_ne!(title, "Nonsense");
}

#[tokio::test]
async fn what_cannot_be_read_as_a_pause_stops_writes_until_a_resume() {
    let (wiki, served) = sample(Setup::editor).await;
    let file = served.dir.path().join("PAUSED.json");
    fs::write(&file, "nonsense").unwrap();
    let update = json!({ "id": id_of(&wiki, "home"), "title": "T" });
    let error = fails(&served, UPDATE, update.clone(), "WRITES_PAUSED").await;
    let why = "the file that pauses writes does not tell of a pause";
    assert_eq!(error["details"]["reason"], why);
    resume(&wiki, served.dir.path()).await;
    served.confirmed(UPDATE, update).await.unwrap();
}

#[tokio::test]
async fn readyz_and_doctor_tell_of_a_pause() {
    let wiki = sample_wiki().await;
    let server = Setup::editor(&wiki).host_within(LIMITS());
    let server = server.await;
    let ready = async || -> Value {
        let answer = server.get("/readyz").await;
        assert_eq!(answer.status, 200);
        serde_json::from_str(&answer.body).unwrap()
    };
    assert!(ready().await.get("writesPaused").is_none());
    pause(&wiki, server.dir.path()).await;
    let told = ready().await["writesPaused"].take();
    assert!(told.as_str().unwrap().ends_with(REASON), "{told}");
    let doctor = run(&wiki, server.dir.path(), &["doctor"]).await;
    let told = doctor.stdout.lines().map(str::trim);
    let told: Vec<&str> = told.filter(|line| line.contains("paused")).collect();
    assert_eq!(told.len(), 1, "{}", doctor.told);
    assert!(told[0].starts_with("policy    warning  all writes are paused since "));
    assert!(told[0].ends_with(REASON));
}

#[tokio::test]
async fn a_reason_is_one_line_of_visible_text() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    for bad in ["", "a\nb", "a\u{202e}b"] {
        assert_eq!(run(&wiki, dir.path(), &["pause", bad]).await.code, 2);
    }
    assert_eq!(run(&wiki, dir.path(), &["pause"]).await.code, 2);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_pause_where_no_server_has_written_says_so() {
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let first = run(&wiki, dir.path(), &["pause", REASON]).await.good();
    says(&first.stderr, "no server has written to ");
    says(&first.stderr, "look at WIKI_AUDIT_DIR");
    run(&wiki, dir.path(), &["resume"]).await.good();
    pause(&wiki, dir.path()).await;
}
