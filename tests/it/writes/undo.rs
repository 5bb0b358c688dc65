//! Every applied write can be taken back, deletions too.

use std::process::Command;

use proptest::prelude::*;

use crate::prelude::*;

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::scripter(wiki).toolsets("pages,undo")
}

fn page(wiki: &DemoWiki, id: i64) -> Option<PageRow> {
    wiki.with_store(|store| store.page(id).cloned())
}

/// A page without what every write changes.
fn kept(wiki: &DemoWiki, id: i64) -> PageRow {
    timeless(&page(wiki, id).unwrap())
}

async fn undo(served: &Served, applied: &Value) -> Result<Value, Value> {
    served
        .confirmed(UNDO, json!({ "callId": applied["callId"] }))
        .await
}

#[tokio::test]
async fn an_update_is_taken_back_and_so_is_its_undo() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "releases/2-4");
    let before = kept(&wiki, id);
    let edits = json!({ "id": id, "path": "moved/x", "title": "T", "tags": [], "scriptCss": "", "content": "c\n" });
    let applied = served.confirmed(UPDATE, edits).await.unwrap();
    let changed = kept(&wiki, id);
    // What somebody else changed since, in other fields, stays.
    wiki.with_store(|store| store.page_mut(id).unwrap().description = Some("Theirs".to_owned()));
    let undone = undo(&served, &applied).await.unwrap();
    assert_eq!(undone["outcome"], "applied");
    let description = Some("Theirs".to_owned());
    assert_eq!(
        kept(&wiki, id),
        before.but(|row| row.description = description.clone())
    );
    let code = &undo(&served, &applied).await.unwrap_err()["code"];
    assert_eq!(code, "NOTHING_TO_UNDO");
    undo(&served, &undone).await.unwrap();
    assert_eq!(
        kept(&wiki, id),
        changed.but(|row| row.description = description)
    );
}

#[tokio::test]
async fn a_deletion_is_taken_back_with_every_field_and_a_new_id() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "releases/2-4");
    let before = kept(&wiki, id);
    served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    assert_eq!(page(&wiki, id), None);
    let undone = confirmed_ok(&served, UNDO, json!({ "callId": "last" })).await;
    assert_eq!(undone["operation"], "create");
    let new = undone["target"]["id"].as_i64().unwrap();
    assert_ne!(new, id);
    assert_eq!(kept(&wiki, new), before);
}

#[tokio::test]
async fn a_create_is_taken_back_unless_somebody_changed_the_page_since() {
    let (wiki, served) = sample(setup).await;
    let created = served.confirmed(CREATE, new_page("docs/x")).await.unwrap();
    let id = created["target"]["id"].as_i64().unwrap();
    wiki.with_store(|store| "Theirs\n".clone_into(&mut store.page_mut(id).unwrap().content));
    let error = undo(&served, &created).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert_eq!(error["details"]["fields"], json!(["content"]));
    let force = json!({ "callId": created["callId"], "force": true });
    let operation = &served.confirmed(UNDO, force).await.unwrap()["operation"];
    assert_eq!(operation, "delete");
    assert_eq!(page(&wiki, id), None);
    let records = served.records();
    let undoes = records.iter().filter_map(|record| record.undoes);
    let undoes: Vec<_> = undoes.map(|call| call.to_string()).collect();
    assert!(
        undoes.iter().all(|call| created["callId"] == call.as_str()),
        "{undoes:?}"
    );
    assert!(undoes.len() >= 2);
}

#[tokio::test]
async fn a_created_page_that_was_moved_is_not_deleted_by_an_undo_even_with_force() {
    let (wiki, served) = sample(setup).await;
    let create = new_page("docs/x");
    let created = served.confirmed(CREATE, create).await.unwrap();
    let id = created["target"]["id"].as_i64().unwrap();
    wiki.with_store(|store| "docs/y".clone_into(&mut store.page_mut(id).unwrap().path));
    let force = json!({ "callId": created["callId"], "force": true });
    let error = confirmed_fails(&served, UNDO, force, "EDIT_CONFLICT").await;
    assert_eq!(error["details"]["path"], "docs/y");
    assert!(page(&wiki, id).is_some());
}

#[tokio::test]
async fn what_is_not_there_cannot_be_taken_back() {
    let (_wiki, served) = sample(setup).await;
    for call in ["last", "0123456789abcdef", "0123"] {
        let error = call_err(&served, UNDO, json!({ "callId": call })).await;
        assert_eq!(error["code"], "NOTHING_TO_UNDO", "{call}");
    }
    fails(&served, UNDO, json!({ "callId": "xyz" }), "INVALID_INPUT").await;
}

#[tokio::test]
async fn a_call_for_which_nothing_was_sent_cannot_be_taken_back_and_is_not_called_unknown() {
    let (wiki, served) = sample(setup).await;
    let update = json!({ "id": id_of(&wiki, "home"), "title": "x" });
    served.call(UPDATE, update).await.unwrap();
    let previewed = served.records().last().unwrap().call.unwrap();
    let arguments = json!({ "callId": previewed.to_string() });
    let error = fails(&served, UNDO, arguments, "NOTHING_TO_UNDO").await;
    assert_eq!(
        error["message"],
        "Nothing was sent to the wiki for that call."
    );
}

#[tokio::test]
async fn the_gates_hold_for_an_undo() {
    let (wiki, first) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let applied = confirmed_ok(&first, UPDATE, json!({ "id": id, "title": "x" })).await;
    let second = |name: &'static str, value: &'static str| {
        let setup = Setup::scripter(&wiki).toolsets("undo");
        setup.with(name, value).in_dir_of(&first)
    };
    for (name, value, code) in [
        ("WIKI_MUTATIONS_ENABLED", "false", "MUTATIONS_DISABLED"),
        (
            "WIKI_ALLOWED_MUTATION_PATH_PREFIXES",
            "docs",
            "PATH_NOT_ALLOWED",
        ),
    ] {
        let served = second(name, value).serve().await;
        assert_eq!(undo(&served, &applied).await.unwrap_err()["code"], code);
    }
    let dry = second("WIKI_MUTATION_DRY_RUN", "true").serve().await;
    assert_eq!(undo(&dry, &applied).await.unwrap()["preview"], true);
    assert_eq!(page(&wiki, id).unwrap().title, "x");
}

#[tokio::test]
async fn an_operator_takes_a_write_back_from_the_command_line() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "docs/configuration");
    let before = kept(&wiki, id);
    served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let run = |arguments: &'static [&'static str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"));
        command
            .args(arguments)
            .env_clear()
            .env("WIKI_BASE_URL", wiki.address())
            .env("WIKI_API_TOKEN", &wiki.keys().scripter)
            .env("WIKI_AUDIT_DIR", served.dir.path())
            // The operator's yes stands for the end of the dry run, and for nothing else.
            .env("WIKI_MUTATIONS_ENABLED", "true")
            .env("WIKI_MUTATION_DRY_RUN", "false")
            .env("WIKI_LOG", "error");
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let none = run(&["undo", "0000000000000000"]).await.unwrap();
    assert_eq!(none.status.code(), Some(3), "{none:?}");
    let asked = run(&["undo", "last"]).await.unwrap();
    assert_eq!(asked.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&asked.stderr).contains("pass --yes"),
        "{asked:?}"
    );
    let undone = run(&["undo", "last", "--yes", "--json"]).await.unwrap();
    assert_eq!(undone.status.code(), Some(0), "{undone:?}");
    let answer: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert_eq!(answer["outcome"], "applied");
    let back = kept(&wiki, answer["target"]["id"].as_i64().unwrap());
    assert_eq!(back, before);
    let again = run(&["undo", "0000000000000000", "--yes"]).await.unwrap();
    assert_eq!(again.status.code(), Some(3), "{again:?}");
    let records = served.records();
    let gates = vec_of(records.iter().filter_map(|record| record.gate.clone()));
    // With --yes nobody decided.
    assert!(!gates.contains(&"operator".to_owned()), "{gates:?}");
    assert!(told(&records).contains(&"outcome create applied".to_owned()));
}

#[tokio::test]
async fn an_empty_log_has_nothing_to_take_back_whoever_could_be_asked() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    for arguments in [&["undo", "last"][..], &["undo", "last", "--yes"]] {
        let ended = crate::command::Command::new(arguments)
            .at(&wiki.address(), &wiki.keys().scripter, dir.path())
            .writing()
            .end()
            .await;
        assert_eq!(ended.code, 3, "{}", ended.told);
        let expected = "error: NOTHING_TO_UNDO: No applied write is on record that was not taken back. \
             `wikijs-gate audit list --outcome applied` has the writes that there are.\n";
        assert_eq!(ended.stderr, expected);
    }
}

/// Somebody writes between our write and our reading it back: what is theirs stays theirs.
#[tokio::test]
async fn what_somebody_else_wrote_meanwhile_is_not_taken_back() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "releases/2-4");
    let before = page(&wiki, id).unwrap();
    let preview = json!({ "id": id, "title": "Ours" });
    let token = served.call(UPDATE, preview).await.unwrap()["confirm"].clone();
    wiki.before_operation(2, move |store| {
        store.rewrite(id, |page| {
            "Theirs.\n".clone_into(&mut page.content);
            page.tags.push("theirs".to_owned());
        });
    });
    let confirmed = json!({ "id": id, "confirm": token });
    let applied = served.call(UPDATE, confirmed).await.unwrap();
    let warning = said(&applied["warnings"][0]);
    assert!(warning.starts_with("changed_since: "), "{warning}");
    says(&warning, "somebody changed content, tags, ");

    let undone = undo(&served, &applied).await.unwrap();
    assert_eq!(undone["changed"], json!(["title"]));
    let after = page(&wiki, id).unwrap();
    assert_eq!(after.title, before.title);
    assert_eq!(after.content.as_str(), "Theirs.\n");
    assert!(after.tags.contains(&"theirs".to_owned()));
}

/// With the static token nothing is read before the turn: an undo takes that of its page.
#[tokio::test]
async fn an_undo_and_an_update_of_one_page_go_out_one_after_another() {
    let (wiki, served) = sample(|wiki| {
        Setup::scripter(wiki)
            .toolsets("pages,undo")
            .with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
    })
    .await;
    let id = id_of(&wiki, "home");
    let before = page(&wiki, id).unwrap();
    let edit = json!({ "id": id, "description": "Ours", "confirm": "open-sesame-please" });
    let applied = served.call(UPDATE, edit).await.unwrap();
    wiki.set_write_delay(Duration::from_millis(50));
    let undo = json!({ "callId": applied["callId"], "confirm": "open-sesame-please" });
    let tag = json!({ "id": id, "addTags": ["added"], "confirm": "open-sesame-please" });
    let (undone, tagged) = tokio::join!(served.call(UNDO, undo), served.call(UPDATE, tag));
    assert_eq!(&undone.unwrap()["outcome"], "applied");
    assert_eq!(&tagged.unwrap()["outcome"], "applied");
    let after = page(&wiki, id).unwrap();
    assert_eq!(after.description, before.description);
    assert!(after.tags.contains(&"added".to_owned()));
}

#[tokio::test]
async fn a_conflict_of_an_undo_is_bounded() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "releases/2-4");
    let large = |word: &str| format!("{word} and more\n").repeat(50_000);
    let ours = json!({ "id": id, "content": large("ours"), "scriptJs": large("ours") });
    let applied = served.confirmed(UPDATE, ours).await.unwrap();
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            page.content = large("theirs");
            page.script_js = large("theirs");
        });
    });
    let error = undo(&served, &applied).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert!(
        error.to_string().len() < 100_000,
        "{}",
        error.to_string().len()
    );
}

/// Any update: of some fields, to any value that the wiki takes.
fn any_update() -> impl Strategy<Value = Value> {
    let text = || "[a-zäé#\u{a0} <&\"'\\r\\n]{0,40}";
    let some = |name: &'static str, values: BoxedStrategy<Value>| {
        prop::option::weighted(0.4, values).prop_map(move |value| (name, value))
    };
    let of_text = |pattern: &'static str| pattern.prop_map(Value::from).boxed();
    let date = prop::sample::select(&["", "2031-02-03T04:05:06Z", "2031-02-03"][..]);
    (
        some("title", of_text("[a-z<&\"]{1,20}")),
        some(
            "content",
            (text(), text())
                .prop_map(|(a, b)| json!(format!("# A\n{a}\n{b}.")))
                .boxed(),
        ),
        some("description", of_text("[a-zä<&]{0,20}")),
        some(
            "tags",
            prop::collection::vec("[a-z]{1,4}", 0..4)
                .prop_map(Value::from)
                .boxed(),
        ),
        some("isPublished", any::<bool>().prop_map(Value::from).boxed()),
        some(
            "publishStartDate",
            date.clone().prop_map(Value::from).boxed(),
        ),
        some("publishEndDate", date.prop_map(Value::from).boxed()),
        some(
            "scriptCss",
            prop::sample::select(&["", "a{b:c}", ".x .y{top:0}"][..])
                .prop_map(Value::from)
                .boxed(),
        ),
        some("scriptJs", of_text("[a-z</>\"\\n]{0,20}")),
        some("path", of_text("docs/[a-z]{2,6}/[a-z]{2,6}")),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| {
            let given = [a, b, c, d, e, f, g, h, i, j];
            given
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        })
}

#[test]
fn undoing_any_applied_update_restores_the_page_exactly() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let wiki = runtime.block_on(sample_wiki());
    let served = runtime.block_on(setup(&wiki).serve());
    let id = id_of(&wiki, "releases/2-4");
    let before = kept(&wiki, id);
    let config = ProptestConfig::with_cases(40).but(|config| config.failure_persistence = None);
    proptest!(config, |(update in any_update())| {
        runtime.block_on(async {
            let mut update = update;
            if update.as_object().unwrap().is_empty() {
                return;
            }
            update["id"] = json!(id);
            let applied = served.confirmed(UPDATE, update).await.unwrap();
            if applied["outcome"] == "applied" {
                assert_eq!(undo(&served, &applied).await.unwrap()["outcome"], "applied");
            }
            assert_eq!(kept(&wiki, id), before);
        });
    });
}

#[tokio::test]
async fn last_is_the_sessions_own_last_write_and_stays_what_the_preview_named() {
    let (wiki, ours) = sample(setup).await;
    let theirs = Setup::scripter(&wiki).in_dir_of(&ours).serve().await;
    let [one, two] = ["docs", "releases/2-4"].map(|path| id_of(&wiki, path));
    let write = async |served: &Served, id: i64, title: &str| {
        let edits = json!({ "id": id, "title": title });
        served.confirmed(UPDATE, edits).await.unwrap()["callId"].clone()
    };
    let last = json!({ "callId": "last" });
    // Before it wrote, the newest on record is meant, and the preview says so.
    let other = write(&theirs, two, "Theirs").await;
    let preview = ours.call(UNDO, last.clone()).await.unwrap();
    assert_eq!(preview["undoes"], other);
    says(&preview["warnings"].to_string(), "not_of_this_session");
    let first = write(&ours, one, "First").await;
    let second = write(&ours, one, "Second").await;
    write(&theirs, two, "Theirs again").await;
    let preview = ours.call(UNDO, last.clone()).await.unwrap();
    assert_eq!(preview["undoes"], second);
    lacks(&preview.to_string(), "not_of_this_session");
    // Whatever is written in between, the confirmed call takes back what was shown.
    let third = write(&ours, two, "Ours").await;
    let confirm = json!({ "callId": "last", "confirm": preview["confirm"] });
    let undone = ours.call(UNDO, confirm).await.unwrap();
    undone.shows(json!({ "outcome": "applied", "undoes": second }));
    assert_eq!(page(&wiki, one).unwrap().title, "First");
    assert_eq!(page(&wiki, two).unwrap().title, "Ours");
    // `last` is never an undo: it means the newest write before it, and the preview names the undo.
    let preview = ours.call(UNDO, last).await.unwrap();
    assert_eq!(preview["undoes"], third);
    assert_ne!(preview["undoes"], first);
    let warnings = preview["warnings"].to_string();
    let undo = undone["callId"].as_str().unwrap();
    assert!(warnings.contains("after_undo"), "{preview}");
    assert!(warnings.contains(undo), "{preview}");
    // By its id the undo can be taken back, too.
    let redo = json!({ "callId": undo });
    let preview = ours.call(UNDO, redo).await.unwrap();
    assert_eq!(preview["undoes"], undone["callId"]);
}

async fn two_edits(wiki: &DemoWiki, served: &Served, second: &str) -> (i64, Value, Value) {
    let id = id_of(wiki, "home");
    let text = "one\ntwo\nthree\nfour\nfive\n";
    wiki.with_store(|store| store.rewrite(id, |page| text.clone_into(&mut page.content)));
    let edit = async |old: &str, new: &str| {
        let edits = json!([{ "oldText": old, "newText": new }]);
        let arguments = json!({ "id": id, "edits": edits });
        served.confirmed(UPDATE, arguments).await.unwrap()
    };
    let older = edit("one", "ONE").await;
    let newer = edit(second, &second.to_uppercase()).await;
    (id, older, newer)
}

#[tokio::test]
async fn the_older_of_two_edits_is_taken_back_and_the_newer_one_stays() {
    let (wiki, served) = sample(setup).await;
    let (id, older, _) = two_edits(&wiki, &served, "four").await;
    let arguments = json!({ "callId": older["callId"] });
    let shown = served.call(UNDO, arguments).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap().iter();
    let codes: Vec<&str> = warnings.map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["undo_merged"], "{shown}");
    undo(&served, &older).await.unwrap();
    let text = page(&wiki, id).unwrap().content;
    assert_eq!(text, "one\ntwo\nthree\nFOUR\nfive\n");
}

#[tokio::test]
async fn edits_of_neighbouring_lines_are_a_conflict_that_shows_both_and_force_says_what_it_loses() {
    let (wiki, served) = sample(setup).await;
    let (id, older, newer) = two_edits(&wiki, &served, "two").await;
    let refused = undo(&served, &older).await.unwrap_err();
    assert_eq!(refused["code"], "EDIT_CONFLICT", "{refused}");
    let conflict = refused["details"]["conflict"].as_str().unwrap();
    for line in [
        "+<<<<<<< as before that write",
        "+one",
        "+two",
        " ONE",
        " TWO",
    ] {
        assert!(
            conflict.lines().any(|one| one == line),
            "{line}: {conflict}"
        );
    }
    let forced = json!({ "callId": older["callId"], "force": true });
    let shown = served.call(UNDO, forced.clone()).await.unwrap();
    let warned = said(&shown["warnings"][0]);
    let call = newer["callId"].as_str().unwrap();
    let part = "takes_along: force also takes back what was written since in content";
    begins(&warned, part);
    assert!(warned.contains(call), "{warned}");
    served.confirmed(UNDO, forced).await.unwrap();
    let text = page(&wiki, id).unwrap().content;
    assert_eq!(text, "one\ntwo\nthree\nfour\nfive\n");
}

#[tokio::test]
async fn an_undo_follows_a_page_that_undos_created_again() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "docs/configuration");
    let before = kept(&wiki, id);
    let title = json!({ "id": id, "title": "Other" });
    let edited = served.confirmed(UPDATE, title).await.unwrap();
    let mut now = id;
    // Twice: what came back goes and comes back once more.
    for _ in 0..2 {
        let deleted = confirmed_ok(&served, DELETE, json!({ "id": now })).await;
        let back = undo(&served, &deleted).await.unwrap();
        now = back["target"]["id"].as_i64().unwrap();
    }
    assert_ne!(now, id);
    assert_eq!(page(&wiki, now).unwrap().title, "Other");
    let undone = undo(&served, &edited).await.unwrap();
    assert_eq!(undone["target"]["id"], now, "{undone}");
    assert_eq!(kept(&wiki, now), before);
    // The same write cannot be taken back twice.
    let again = undo(&served, &edited).await.unwrap_err();
    assert_eq!(again["code"], "NOTHING_TO_UNDO", "{again}");
}

#[tokio::test]
async fn an_undo_of_a_set_that_came_after_an_undo_warns_of_none() {
    let (wiki, served) = sample(|wiki| setup(wiki).toolsets("pages,undo,drafts")).await;
    let id = id_of(&wiki, "home");
    let title = json!({ "id": id, "title": "One" });
    let done = served.confirmed(UPDATE, title).await.unwrap();
    undo(&served, &done).await.unwrap();
    let bulk = json!({ "ids": [id], "addTags": ["seen"] });
    served.confirmed(BULK, bulk).await.unwrap();
    let last = ["undo", "last", "--yes"];
    let undone = crate::command::Command::operator(&wiki, served.dir.path(), &last);
    let told = undone.writing().good().await.told;
    says(&told, "taken back: 1 change");
    lacks(&told, "after_undo");
    let tags = page(&wiki, id).unwrap().tags;
    assert!(!tags.iter().any(|tag| tag == "seen"), "{tags:?}");
}

#[tokio::test]
async fn last_means_no_older_write_while_the_newest_is_under_way() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let title = |text: &str| json!({ "id": id, "title": text });
    served.confirmed(UPDATE, title("One")).await.unwrap();
    wiki.set_write_delay(Duration::from_mins(1));
    let asked = async {
        while mutations(&wiki).len() < 2 {
            tokio::task::yield_now().await;
        }
        fails(
            &served,
            UNDO,
            json!({ "callId": "last" }),
            "NOTHING_TO_UNDO",
        )
        .await
    };
    let refused = tokio::select! {
        written = served.confirmed(UPDATE, title("Two")) => panic!("{written:?}"),
        refused = asked => refused,
    };
    says(&refused["message"], "its outcome is not known yet");
}

#[tokio::test]
async fn a_second_undo_of_the_last_write_says_how_to_redo_the_first() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let title = |text: &str| json!({ "id": id, "title": text });
    let last = json!({ "callId": "last" });
    served.confirmed(UPDATE, title("One")).await.unwrap();
    let undone = served.confirmed(UNDO, last.clone()).await.unwrap();
    let redo = undone["callId"].as_str().unwrap();
    let nothing = fails(&served, UNDO, last.clone(), "NOTHING_TO_UNDO").await;
    assert_eq!(nothing["details"]["redo"], redo);
    says(&nothing["hint"], redo);
    let command = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
        .args(["undo", "last", "--yes"])
        .env_clear()
        .env("WIKI_BASE_URL", wiki.address())
        .env("WIKI_API_TOKEN", &wiki.keys().scripter)
        .env("WIKI_MUTATIONS_ENABLED", "true")
        .env("WIKI_AUDIT_DIR", served.dir.path())
        .output()
        .unwrap();
    says(&String::from_utf8_lossy(&command.stderr).into_owned(), redo);
    // As it says: the undo is taken back by its id.
    undo(&served, &undone).await.unwrap();
    assert_eq!(page(&wiki, id).unwrap().title, "One");
    // With an older write there is something to take back, and how to redo is said as well.
    served.confirmed(UPDATE, title("Two")).await.unwrap();
    let undone = served.confirmed(UNDO, last.clone()).await.unwrap();
    let shown = served.call(UNDO, last).await.unwrap();
    let warned = said(&shown["warnings"][0]);
    begins(&warned, "after_undo");
    says(&warned, undone["callId"].as_str().unwrap());
}
