//! What an operator does with all that is kept: check it, back it up, bring it back.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use wikijs_gate::audit::AuditEvent;
use wikijs_gate::demo::DemoWiki;

use crate::cli::process::Program;
use crate::command::{Command, Ended};
use crate::harness::{Served, Setup, id_of, mutations, runs, sample_wiki};
use crate::testkit::{BULK, SUBMIT, UNDO, UPDATE, proposal_file, says, wiki_dir};

/// The operator's static token.
const TOKEN: &str = "sesame-sesame-sesame";

async fn store(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Ended {
    let arguments = [&["store"], arguments].concat();
    Command::operator(wiki, dir, &arguments).end().await
}

async fn checked(wiki: &DemoWiki, dir: &Path) -> (i32, Value) {
    let ended = store(wiki, dir, &["check", "--json"]).await;
    let told = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.told));
    (ended.code, told)
}

/// A server that has written a page, and one whose proposal is open.
async fn with_a_record() -> (DemoWiki, Served, String) {
    let wiki = sample_wiki().await;
    let served = Setup::admin(&wiki).toolsets("pages,drafts").serve().await;
    let home = id_of(&wiki, "home");
    served
        .confirmed(UPDATE, json!({ "id": home, "title": "Ours" }))
        .await
        .unwrap();
    let dry = Setup::admin(&wiki).dry().in_dir(&served.dir).serve().await;
    let change = json!({ "id": home, "title": "Proposed" });
    let id = dry.call(UPDATE, change).await.unwrap()["proposal"].clone();
    drop(dry);
    (wiki, served, id.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_store_that_nothing_happened_to_is_whole() {
    let (wiki, served, _) = with_a_record().await;
    let (code, told) = checked(&wiki, served.dir.path()).await;
    assert_eq!(code, 0, "{told}");
    assert_eq!(
        (&told["whole"], &told["repaired"]),
        (&json!(true), &json!([]))
    );
    assert_eq!((&told["runs"], &told["documents"]), (&json!(2), &json!(1)));
    let ended = store(&wiki, served.dir.path(), &["check"]).await.good();
    says(&ended.stdout, ": whole");
}

#[tokio::test]
async fn what_a_killed_process_leaves_is_repaired_and_what_is_damaged_is_named() {
    let (wiki, served, id) = with_a_record().await;
    let dir = served.dir.path();
    let of_wiki = wiki_dir(dir);
    // Half-written files of an hour ago, and those of a process that is at it.
    for (name, minutes) in [
        ("pages/.a.tmp", 61),
        ("proposals/.b.tmp", 61),
        (".c.tmp", 5),
    ] {
        let file = File::create(of_wiki.join(name)).unwrap();
        let ago = SystemTime::now() - Duration::from_mins(minutes);
        file.set_modified(ago).unwrap();
    }
    fs::create_dir_all(of_wiki.join("turns")).unwrap();
    fs::write(of_wiki.join("turns/7.lock"), "").unwrap();
    fs::write(of_wiki.join("index.sqlite"), "no index").unwrap();
    let (code, told) = checked(&wiki, dir).await;
    assert_eq!((code, &told["broken"]), (0, &json!([])), "{told}");
    assert_eq!(told["repaired"].as_array().unwrap().len(), 3, "{told}");
    for (name, stays) in [
        ("pages/.a.tmp", false),
        ("proposals/.b.tmp", false),
        (".c.tmp", true),
        ("turns/7.lock", false),
        ("index.sqlite", false),
    ] {
        assert_eq!(of_wiki.join(name).exists(), stays, "{name}");
    }
    let (code, told) = checked(&wiki, dir).await;
    assert_eq!((code, &told["repaired"]), (0, &json!([])), "{told}");
    // Each damage by itself, and then all of it as it was.
    let proposal = proposal_file(dir, &id);
    let paused = dir.join("PAUSED.json");
    let state = fs::read_dir(of_wiki.join("pages")).unwrap();
    let state = { state }.map(|one| one.unwrap().path());
    let state = { state }.find(|one| one.extension().is_some_and(|it| it == "gz"));
    let run = runs(dir).into_iter().min().unwrap();
    for (path, names) in [
        (proposal, "proposal"),
        (paused, "PAUSED.json"),
        (state.unwrap(), "kept"),
        (run, "line"),
    ] {
        let before = fs::read(&path).ok();
        let damaged = before
            .as_deref()
            .map_or(b"nonsense".to_vec(), |whole| [b"x", &whole[1..]].concat());
        fs::write(&path, damaged).unwrap();
        let (code, told) = checked(&wiki, dir).await;
        assert_eq!((code, &told["whole"]), (1, &json!(false)), "{told}");
        says(&told["broken"].to_string(), names);
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    assert_eq!(checked(&wiki, dir).await.0, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_while_servers_write_is_whole_and_brings_all_back() {
    let (wiki, served, id) = with_a_record().await;
    let dir = served.dir.path();
    let home = id_of(&wiki, "home");
    let elsewhere = tempfile::TempDir::new().unwrap();
    let to = elsewhere.path().join("backup");
    let (is_done, done) = tokio::sync::oneshot::channel();
    let backup = async {
        let ended = store(&wiki, dir, &["backup", to.to_str().unwrap(), "--json"]).await;
        is_done.send(()).unwrap();
        ended
    };
    let writing = async {
        let (mut done, mut count) = (done, 0);
        while done.try_recv().is_err() {
            let change = json!({ "id": home, "title": format!("Title {count}") });
            served.confirmed(UPDATE, change).await.unwrap();
            let all = json!({ "ids": [home], "addTags": [format!("t{count}")] });
            served.confirmed(BULK, all).await.unwrap();
            count += 1;
        }
    };
    let (ended, ()) = tokio::join!(backup, writing);
    let told: Value = serde_json::from_str(&ended.good().stdout).unwrap();
    assert_eq!(told["whole"], true, "{told}");
    // Nothing but the copy is left: it is checked, and its proposal can be applied.
    let (code, checked) = checked(&wiki, &to).await;
    assert_eq!((code, &checked["repaired"]), (0, &json!([])), "{checked}");
    let verify = Command::operator(&wiki, &to, &["audit", "verify"])
        .good()
        .await;
    says(&verify.stdout, "holds");
    let list = Command::operator(&wiki, &to, &["proposals", "list"])
        .good()
        .await;
    says(&list.stdout, &id);
    let again = store(&wiki, dir, &["backup", to.to_str().unwrap()]).await;
    assert_eq!(again.code, 1);
    says(&again.stderr, "empty or missing directory");
}

/// How often a server is killed; `just heavy` says more.
#[expect(clippy::disallowed_methods, reason = "said to this test")]
fn kills() -> u64 {
    let said = std::env::var("STORE_KILLS").ok();
    said.map_or(20, |kills| kills.parse().expect("a number"))
}

/// Writes without a pause until it is killed, some time after its first answer.
fn killed_while_writing(wiki: &DemoWiki, dir: &Path, ids: &[i64], after: Duration) {
    let more = [
        ("WIKI_TOOLSETS", "pages,drafts,undo,proposals"),
        ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
    ];
    let mut program = Program::writing(&wiki.address(), &wiki.keys().admin, dir, &more);
    let title = after.as_nanos().to_string();
    for id in ids {
        let change = json!({ "id": id, "title": title, "confirm": TOKEN });
        program.begin(UPDATE, &change);
        let joined = json!({ "id": id, "description": title, "draft": "together" });
        program.begin(UPDATE, &joined);
    }
    let all = json!({ "ids": ids, "addTags": [title], "confirm": TOKEN });
    program.begin(BULK, &all);
    program.begin(UNDO, &json!({ "call": "last", "confirm": TOKEN }));
    program.begin(SUBMIT, &json!({ "draft": "together", "confirm": TOKEN }));
    program.waits(after);
    program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_leaves_a_store_that_is_whole() {
    let wiki = Arc::new(sample_wiki().await);
    let dir = Arc::new(tempfile::TempDir::new().unwrap());
    let ids: Vec<i64> = ["home", "docs/configuration", "glossary"]
        .map(|path| id_of(&wiki, path))
        .to_vec();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let mut moment = u64::from(now.subsec_nanos());
    for kill in 0..kills() {
        // Any moments will do; the message of a failure says which it was.
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let after = Duration::from_micros((moment >> 33) % 400_000);
        let (own, at, pages) = (Arc::clone(&wiki), Arc::clone(&dir), ids.clone());
        let killed = move || killed_while_writing(&own, at.path(), &pages, after);
        tokio::task::spawn_blocking(killed).await.unwrap();
        let (code, told) = checked(&wiki, dir.path()).await;
        assert_eq!(code, 0, "kill {kill}, after {after:?}: {told}");
    }
    // The next server settles what the others left open, and all is as it is on record.
    let last = Setup::admin(&wiki).in_dir(&dir).serve().await;
    let title = json!({ "id": ids[0], "title": "Settled" });
    last.confirmed(UPDATE, title).await.unwrap();
    let open = last.app.desk.audit().upkeep.health().await.unwrap().open;
    assert_eq!(open, 0);
    let sent = mutations(&wiki).len();
    let mut records = last.records();
    records.retain(|record| record.event == AuditEvent::Attempt);
    let attempts = records.len();
    assert!(sent <= attempts, "{sent} sent, {attempts} on record");
}
