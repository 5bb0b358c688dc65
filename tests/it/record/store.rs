//! What an operator does with all that is kept: check it, back it up, bring it back.

use std::fs::File;
use std::time::SystemTime;

use crate::prelude::*;

/// The operator's static token.
const TOKEN: &str = "sesame-sesame-sesame";

async fn store(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Ended {
    let arguments = [&["store"], arguments].concat();
    Command::operator(wiki, dir, &arguments).end().await
}

async fn checked(wiki: &DemoWiki, dir: &Path) -> (i32, Value) {
    let ended = store(wiki, dir, &["check", "--json"]).await;
    let told = ended.json();
    (ended.code, told)
}

/// A server that has written a page, and one whose proposal is open.
async fn with_a_record() -> (DemoWiki, Served, String) {
    let (wiki, served) = sample(|wiki| Setup::admin(wiki).toolsets("pages,drafts")).await;
    let home = id_of(&wiki, "home");
    confirmed_ok(&served, UPDATE, json!({ "id": home, "title": "Ours" })).await;
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
    told.shows(json!({ "whole": true, "repaired": [] }));
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

/// A document of each kind that is spoilt, beside one that is whole: what is whole still counts, what is
/// not is named and refused with this sentence.
async fn spoilt_beside_whole(spoil: impl Fn(&Path), sentence: &str) {
    let (wiki, served, id) = with_a_record().await;
    let dir = served.dir.path();
    let docs = id_of(&wiki, "docs/configuration");
    for name in ["spoilt", "whole"] {
        let change = json!({ "id": docs, "title": name, "draft": name });
        served.call(UPDATE, change).await.unwrap();
    }
    let dry = Setup::admin(&wiki).dry().in_dir(&served.dir).serve().await;
    let change = json!({ "id": docs, "title": "Whole" });
    let whole = dry.call(UPDATE, change).await.unwrap()["proposal"].clone();
    let drafts = fs::read_dir(wiki_dir(dir).join("drafts")).unwrap();
    let mut drafts = { drafts }.map(|one| one.unwrap().path());
    let draft = drafts.find(|path| path.to_string_lossy().contains(".spoilt."));
    spoil(&draft.unwrap());
    spoil(&proposal_file(dir, &id));

    let (code, told) = checked(&wiki, dir).await;
    assert_eq!((code, &told["documents"]), (1, &json!(2)), "{told}");
    let broken = told["broken"].to_string();
    says(&broken, &format!("the proposal {id} cannot be read"));
    says(&broken, "draft spoilt");
    let list = Command::operator(&wiki, dir, &["proposals", "list", "--json"]);
    let list = list.good().await.json();
    assert_eq!(members(&list, "proposals", "id"), [whole.as_str().unwrap()]);
    let drafts = call_ok(&served, CHANGE_SET, json!({})).await;
    assert_eq!(members(&drafts, "drafts", "draft"), ["whole"]);
    let refused = Command::operator(&wiki, dir, &["proposals", "apply", &id, "--yes"]);
    let refused = refused.end().await;
    assert_ne!(refused.code, 0);
    says(&refused.stderr, "file of the proposal is damaged");
    let submit = served.call(SUBMIT, json!({ "draft": "spoilt" })).await;
    says(&submit.unwrap_err().to_string(), sentence);
    confirmed_ok(&served, SUBMIT, json!({ "draft": "whole" })).await;
}

#[tokio::test]
async fn a_damaged_or_cut_document_is_named_and_the_rest_goes_on() {
    let damaged = "The draft is damaged, or a newer version wrote it";
    let nonsense = |path: &Path| fs::write(path, [0xff; 9]).unwrap();
    spoilt_beside_whole(nonsense, damaged).await;
    let cut = |path: &Path| {
        let whole = fs::read(path).unwrap();
        fs::write(path, &whole[..whole.len() / 2]).unwrap();
    };
    spoilt_beside_whole(cut, damaged).await;
}

#[tokio::test]
async fn a_document_of_a_hundred_megabytes_is_named_and_the_rest_goes_on() {
    let huge = |path: &Path| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_len(100 << 20).unwrap();
    };
    spoilt_beside_whole(huge, "The draft is damaged").await;
}

#[tokio::test]
async fn a_document_of_a_newer_version_is_refused_with_a_sentence() {
    let newer = |path: &Path| {
        let mut told: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(told["v"], 1);
        told["v"] = json!(2);
        fs::write(path, told.to_string()).unwrap();
    };
    spoilt_beside_whole(newer, "or a newer version wrote it").await;
}

#[tokio::test]
async fn a_run_of_a_newer_version_is_refused_with_a_sentence() {
    let (wiki, served, _) = with_a_record().await;
    let dir = served.dir.path();
    let newer = wiki_dir(dir).join("runs/20200101T000000Z-0123456789abcdef.jsonl");
    fs::write(&newer, "{\"v\":2,\"what\":\"ever\"}\n").unwrap();
    let list = Command::operator(&wiki, dir, &["audit", "list"])
        .good()
        .await;
    says(&list.told, "1 line");
    let tail = Command::operator(&wiki, dir, &["audit", "verify"])
        .end()
        .await;
    assert_eq!(tail.code, 5, "{}", tail.told);
    says(&tail.stdout, "20200101T000000Z-0123456789abcdef.jsonl");
    // Our own go on beside it, and it stays as it is.
    let title = json!({ "id": id_of(&wiki, "home"), "title": "Beside" });
    confirmed_ok(&served, UPDATE, title).await;
    assert!(newer.exists());
}

#[tokio::test]
async fn a_file_where_a_directory_should_be_refuses_what_needs_it_and_nothing_is_sent() {
    let mut found = Vec::new();
    for name in ["pages", "turns", "runs", "proposals", "drafts", "memory"] {
        let (wiki, served) = sample(|wiki| Setup::admin(wiki).toolsets("pages,drafts")).await;
        let home = id_of(&wiki, "home");
        let of_wiki = served.app.desk.audit().runs.dir();
        fs::create_dir_all(&of_wiki).unwrap();
        fs::write(of_wiki.join(name), "").unwrap();
        let change = |title: &str| json!({ "id": home, "title": title });
        let written = served.confirmed(UPDATE, change("Ours")).await;
        let sent = usize::from(written.is_ok());
        assert_eq!(mutations(&wiki).len(), sent, "{name}: {written:?}");
        let dry = Setup::admin(&wiki).dry().in_dir(&served.dir).serve().await;
        let proposed = dry.call(UPDATE, change("Proposed")).await;
        let mut draft = change("Drafted");
        draft["draft"] = json!("d");
        let drafted = served.call(UPDATE, draft).await;
        let all = [written, proposed, drafted];
        for refused in all.iter().filter_map(|done| done.as_ref().err()) {
            assert_eq!(refused["code"], "AUDIT_UNAVAILABLE", "{name}: {refused}");
            says(&refused["message"], "not a directory");
        }
        found.push((name, all.map(|done| done.is_ok())));
        assert_eq!(fs::read(of_wiki.join(name)).unwrap(), b"", "{name}");
    }
    // A write, a proposal, a draft.
    let expected = [
        ("pages", [false, false, true]),
        ("turns", [false, true, false]),
        ("runs", [false, false, false]),
        ("proposals", [true, false, true]),
        ("drafts", [true, true, false]),
        ("memory", [true, true, true]),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_directory_whose_documents_are_deleted_opens_nothing_and_says_what_is_lost() {
    let (wiki, served, rejected) = with_a_record().await;
    let dir = served.dir.path();
    let command = |arguments: &[&str]| Command::operator(&wiki, dir, arguments);
    command(&["proposals", "reject", &rejected, "--why", "no"])
        .good()
        .await;
    let dry = Setup::admin(&wiki).dry().in_dir(&served.dir).serve().await;
    let docs = id_of(&wiki, "docs/configuration");
    let change = json!({ "id": docs, "title": "Proposed" });
    let open = dry.call(UPDATE, change).await.unwrap()["proposal"].clone();
    let open = open.as_str().unwrap().to_owned();
    command(&["pause", "restoring a backup"]).good().await;
    let title = || json!({ "id": id_of(&wiki, "home"), "title": "Theirs" });
    fails(&served, UPDATE, title(), "WRITES_PAUSED").await;

    let delete = || {
        let of_wiki = wiki_dir(dir);
        for name in ["proposals", "drafts", "memory"] {
            let _ = fs::remove_dir_all(of_wiki.join(name));
        }
        fs::remove_file(dir.join("PAUSED.json")).unwrap();
    };
    delete();
    let sent = mutations(&wiki).len();
    // The server that ran all along, and another.
    confirmed_fails(&served, UPDATE, title(), "WRITES_PAUSED").await;
    delete();
    let next = Setup::admin(&wiki).in_dir(&served.dir).serve().await;
    let refused = confirmed_fails(&next, UPDATE, title(), "WRITES_PAUSED").await;
    says(&refused.to_string(), "restoring a backup");
    assert_eq!(mutations(&wiki).len(), sent);
    delete();
    let (code, told) = checked(&wiki, dir).await;
    assert_eq!(code, 1, "{told}");
    says(&told["repaired"].to_string(), "PAUSED.json");
    for id in [&open, &rejected] {
        let missing = format!("the file of the proposal {id} is missing");
        says(&told["broken"].to_string(), &missing);
        let applied = command(&["proposals", "apply", id, "--yes"]).end().await;
        assert_eq!(applied.code, 2, "{}", applied.told);
    }
    // A pause ends by a resume, and does not come back.
    command(&["resume"]).good().await;
    let last = Setup::admin(&wiki).in_dir(&served.dir).serve().await;
    confirmed_ok(&last, UPDATE, title()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_while_servers_write_is_whole_and_brings_all_back() {
    let (wiki, served, id) = with_a_record().await;
    let dir = served.dir.path();
    let home = id_of(&wiki, "home");
    let elsewhere = TempDir::new().unwrap();
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
            // Another run, which tells how long this one is by now.
            let other = Setup::admin(&wiki).in_dir(&served.dir).serve().await;
            let change = json!({ "id": home, "title": format!("Other title {count}") });
            confirmed_ok(&other, UPDATE, change).await;
            count += 1;
        }
    };
    let (ended, ()) = tokio::join!(backup, writing);
    let told = ended.good().json();
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
    let file = elsewhere.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("below");
    for to in [file.to_str().unwrap(), below.to_str().unwrap()] {
        for command in [["store", "backup"], ["audit", "export"]] {
            let arguments = [&command[..], &[to]].concat();
            let command = Command::operator(&wiki, dir, &arguments).with("WIKI_LOG", "error");
            let refused = command.end().await.exits(1);
            let why = "it, or what it should lie in, is no directory; name another directory";
            let told = format!("error: {to} cannot be written: {why}\n");
            assert_eq!(refused.stderr, told);
        }
    }
}

#[tokio::test]
async fn an_export_of_files_is_those_files() {
    let (wiki, served, _) = with_a_record().await;
    let dir = served.dir.path();
    let elsewhere = TempDir::new().unwrap();
    let to = elsewhere.path().join("export");
    let export = ["audit", "export", to.to_str().unwrap(), "--json"];
    let told = Command::operator(&wiki, dir, &export).good().await.json();
    assert_eq!(told["whole"], true, "{told}");
    let mut compared = 0;
    for of in ["runs", "pages", "proposals", "."] {
        let there = wiki_dir(&to).join(of);
        for entry in fs::read_dir(&there).unwrap().flatten() {
            // The check of the copy took leases there.
            let is_lock = entry.path().extension().is_some_and(|it| it == "lock");
            if entry.file_type().unwrap().is_file() && !is_lock {
                let ours = wiki_dir(dir).join(of).join(entry.file_name());
                let same = fs::read(ours).unwrap() == fs::read(entry.path()).unwrap();
                assert!(same, "{}", entry.path().display());
                compared += 1;
            }
        }
    }
    assert!(compared >= 5, "{compared}");
    let verify = Command::operator(&wiki, &to, &["audit", "verify"]);
    says(&verify.good().await.stdout, "holds");
    let again = Command::operator(&wiki, dir, &export).end().await;
    assert_eq!(again.code, 1);
    says(&again.stderr, "empty or missing directory");
}

#[tokio::test]
async fn the_hammer_loads_a_store_of_its_own_which_is_whole_and_no_other() {
    let dir = TempDir::new().unwrap();
    let own = dir.path().join("hammer");
    let hammer = |more: &[&str]| {
        let usual = ["store", "hammer", "--dir", own.to_str().unwrap(), "--json"];
        Command::new(&[&usual, more].concat())
    };
    let load = ["--events", "203", "--proposals", "7", "--writers", "3"];
    let told = hammer(&load).good().await.json();
    told.shows(json!({ "events": 203, "whole": true }));
    assert_eq!(told["figures"][1]["count"], 7, "{told}");
    for figure in told["figures"].as_array().unwrap() {
        assert!(
            figure["medianMs"].as_f64() <= figure["p99Ms"].as_f64(),
            "{figure}"
        );
    }
    let on_record = |arguments: &[&str]| {
        Command::new(arguments)
            .log_of("https://hammer.invalid", &own)
            .good()
    };
    says(&on_record(&["audit", "verify"]).await.stdout, "holds");
    let check = on_record(&["store", "check", "--json"]).await.stdout;
    let check: Value = serde_json::from_str(&check).unwrap();
    check.shows(json!({ "runs": 3, "documents": 7 }));
    // Never what holds anything, be it its own.
    for held in [&own, &dir.path().to_owned()] {
        let more = ["--dir", held.to_str().unwrap(), "--events", "1"];
        let arguments = [&["store", "hammer"], &more[..]].concat();
        let refused = Command::new(&arguments).end().await.exits(2);
        says(&refused.stderr, "holds something");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    for wrong in [
        ["--events", "0"],
        ["--writers", "65"],
        ["--proposals", "10001"],
    ] {
        assert_eq!(hammer(&wrong).end().await.code, 2);
    }
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
        let proposed = json!({ "id": id, "title": format!("P{title}"), "propose": true });
        program.begin(UPDATE, &proposed);
    }
    let proposed = json!({ "ids": ids, "addTags": [format!("p{title}")], "propose": true });
    program.begin(BULK, &proposed);
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
    let dir = Arc::new(TempDir::new().unwrap());
    let ids: Vec<i64> = ["home", "docs/configuration", "glossary"]
        .map(|path| id_of(&wiki, path))
        .to_vec();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let mut moment = u64::from(now.subsec_nanos());
    // So that there is a record, however early the first kill comes.
    let first = Setup::admin(&wiki).in_dir(&dir).serve().await;
    let title = json!({ "id": ids[0], "title": "First" });
    confirmed_ok(&first, UPDATE, title).await;
    drop(first);
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
