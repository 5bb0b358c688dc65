//! Agents propose, people apply: dry runs that are kept, reviewed, applied, rejected.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};

use crate::prelude::*;
use crate::record::purge::{written_in, years_ago};

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::scripter(wiki).dry().toolsets("pages,undo,proposals")
}

fn page(wiki: &DemoWiki, id: i64) -> Option<PageRow> {
    wiki.with_store(|store| store.page(id).cloned())
}

/// Proposes a write: the proposal's id.
async fn propose(served: &Served, tool: &str, arguments: Value) -> String {
    let preview = served.call(tool, arguments).await.unwrap();
    preview.shows(json!({ "preview": true, "confirm": null }));
    preview["proposal"].as_str().unwrap().to_owned()
}

async fn edit(served: &Served, id: i64, edit: Value) -> String {
    let mut arguments = edit;
    arguments["id"] = json!(id);
    propose(served, UPDATE, arguments).await
}

/// Runs `proposals …` as the operator, with one more setting.
async fn with(
    wiki: &DemoWiki,
    served: &Served,
    setting: (&str, &str),
    arguments: &[&str],
) -> Ended {
    let command = Command::new(&[&["proposals"], arguments].concat());
    let command = command.at(&wiki.address(), &wiki.keys().scripter, served.dir.path());
    let command = command.with("WIKI_MUTATIONS_ENABLED", "true").quiet();
    command.with(setting.0, setting.1).end().await
}

/// Runs `audit …`.
async fn audit(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    let command = Command::new(&[&["audit"], arguments].concat());
    command
        .log_of(&wiki.address(), served.dir.path())
        .end()
        .await
}

async fn operator(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    with(wiki, served, ("WIKI_LOG", "off"), arguments).await
}

/// Applies a proposal as the operator.
async fn apply(wiki: &DemoWiki, served: &Served, id: &str) -> Ended {
    operator(wiki, served, &["apply", id, "--yes"]).await
}

/// Changes a page as somebody else.
fn theirs(wiki: &DemoWiki, id: i64, change: impl FnOnce(&mut PageRow)) {
    wiki.with_store(|store| store.rewrite(id, change));
}

/// What became of a proposal, as an agent is told.
async fn became(served: &Served, id: &str) -> Value {
    call_ok(served, GET_PROPOSAL, json!({ "id": id })).await
}

fn file(served: &Served, id: &str) -> PathBuf {
    proposal_file(served.dir.path(), id)
}

#[tokio::test]
async fn an_agent_proposes_and_a_person_applies() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let before = page(&wiki, home).unwrap();
    let preview = json!({ "id": home, "title": "Ours", "addTags": ["new"] });
    let preview = served.call(UPDATE, preview).await.unwrap();
    let id = preview["proposal"].as_str().unwrap();
    let warnings = preview["warnings"].to_string();
    says(&warnings, &format!("proposals apply {id}"));
    assert_eq!(mutations(&wiki).len(), 0);

    let show = ["show", id.get(..6).unwrap()];
    let shown = operator(&wiki, &served, &show).await.good();
    says(&shown.stdout, "\"Ours\"");
    lacks(&shown.stdout, "\u{1b}");

    let apply_it = ["apply", id, "--yes", "--json"];
    let applied = operator(&wiki, &served, &apply_it).await.good();
    lacks(&applied.stdout, "null");
    let result = &applied.json()["results"][0];
    result.shows(json!({ "outcome": "applied", "proposal": id }));
    let after = page(&wiki, home).unwrap();
    assert_eq!(after.title, "Ours");
    assert!(after.tags.contains(&"new".to_owned()));
    assert_eq!(after.content, before.content);

    let told_agent = became(&served, id).await;
    told_agent.shows(json!({ "state": "applied", "appliedBy": result["callId"] }));
    let again = apply(&wiki, &served, id).await.exits(3);
    again.warns("PROPOSAL_OUTDATED");
    assert_eq!(mutations(&wiki).len(), 1);

    // An undo of it works as of any write.
    let setup = setup(&wiki).with("WIKI_MUTATION_DRY_RUN", "false");
    let undo = setup.in_dir_of(&served).serve().await;
    let call = json!({ "callId": result["callId"] });
    undo.confirmed(UNDO, call).await.unwrap();
    assert_eq!(page(&wiki, home).unwrap().title, before.title);
}

#[tokio::test]
async fn what_became_of_a_proposal_is_on_record_and_names_the_operator() {
    let (wiki, served) = sample(setup).await;
    let first = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    let second = edit(&served, id_of(&wiki, "home"), json!({ "title": "2" })).await;
    let third = propose(&served, CREATE, new_page("docs/x")).await;
    apply(&wiki, &served, &second).await;
    operator(&wiki, &served, &["reject", &third, "--why", "no"]).await;
    let records = served.records();
    let of = |id: &str| -> Vec<String> {
        let own = { records.iter() }.filter(|record| record.proposal.as_deref() == Some(id));
        vec_of(own.map(|record| {
            let event = serde_json::to_value(record.event).unwrap();
            let gate = record.gate.as_deref().unwrap_or("-");
            let decision = record.decision.as_deref().unwrap_or("-");
            format!("{} {gate} {decision}", event.as_str().unwrap())
        }))
    };
    for (id, expected) in [
        (&first, "proposal - replaced"),
        (
            &second,
            "preview confirm to_be_confirmed, attempt operator yes, outcome - -, \
             proposal operator applied",
        ),
        (&third, "proposal operator rejected"),
    ] {
        let expected = format!("preview dry_run dry_run, proposal - made, {expected}");
        assert_eq!(of(id).join(", "), expected);
    }
    let mut made = records.iter();
    let made = made.find(|record| record.decision.as_deref() == Some("made"));
    let made = made.unwrap();
    assert!(made.before.is_some() && made.after.is_some());
    assert_eq!(became(&served, &first).await["replacedBy"], second.as_str());
    assert_eq!(became(&served, &third).await["reason"], "no");
}

#[tokio::test]
async fn every_kind_of_write_is_applied_as_it_was_proposed() {
    let (wiki, served) = sample(setup).await;
    let (moved, gone) = (id_of(&wiki, "releases/2-4"), id_of(&wiki, "glossary"));
    propose(&served, CREATE, new_page("docs/made")).await;
    let arguments = json!({ "path": "docs/moved", "content": "Moved.\n" });
    edit(&served, moved, arguments).await;
    propose(&served, DELETE, json!({ "id": gone })).await;
    let listed = operator(&wiki, &served, &["list", "--json"]).await;
    assert_eq!(listed.json()["proposals"].as_array().unwrap().len(), 3);
    let applied = apply(&wiki, &served, "--all").await.good();
    let back = applied.stdout.matches("to take it back: wikijs-gate undo");
    assert_eq!(back.count(), 3);
    let made = id_of(&wiki, "docs/made");
    assert_eq!(page(&wiki, made).unwrap().title, "New");
    assert_eq!(page(&wiki, moved).unwrap().path, "docs/moved");
    assert_eq!(page(&wiki, moved).unwrap().content, "Moved.\n");
    assert_eq!(page(&wiki, gone), None);
    let none = operator(&wiki, &served, &["list"]).await;
    assert_eq!(none.stdout, "no proposals\n");
    let place = file(&served, "x");
    let place = place.ancestors().nth(2).unwrap().display();
    assert_eq!(none.stderr, format!("looked for in {place}\n"));
}

#[tokio::test]
async fn an_undo_is_proposed_and_applied_too() {
    let (wiki, dry) = sample(setup).await;
    let setup = setup(&wiki).with("WIKI_MUTATION_DRY_RUN", "false");
    let live = setup.in_dir_of(&dry).serve().await;
    let id = id_of(&wiki, "glossary");
    let deleted = live.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let call = json!({ "callId": deleted["callId"] });
    let proposal = propose(&dry, UNDO, call.clone()).await;
    apply(&wiki, &dry, &proposal).await.good();
    assert!(page(&wiki, id_of(&wiki, "glossary")).is_some());
    // It counts as the undo of that write.
    fails(&live, UNDO, call, "NOTHING_TO_UNDO").await;
}

/// An operator's undo that asks nobody, at level review.
async fn undo_by_operator(wiki: &DemoWiki, served: &Served, call: &str) -> Ended {
    let command = Command::new(&["undo", call, "--force", "--yes"]);
    let command = command.at(&wiki.address(), &wiki.keys().scripter, served.dir.path());
    command
        .writing()
        .with("WIKI_CONFIRM", "review")
        .quiet()
        .end()
        .await
}

#[tokio::test]
async fn an_undo_that_waits_is_not_proposed_again_and_is_told_for_what_it_is() {
    let wiki = sample_wiki().await;
    let live = setup(&wiki).with("WIKI_MUTATION_DRY_RUN", "false");
    let live = live.serve().await;
    let id = id_of(&wiki, "glossary");
    let title = |title: &str| theirs(&wiki, id, |page| title.clone_into(&mut page.title));
    let done = json!({ "id": id, "title": "Ours" });
    let done = live.confirmed(UPDATE, done).await.unwrap();
    let call = done["callId"].as_str().unwrap();
    title("Theirs");
    let proposed = |ended: &Ended| {
        let (_, id) = { &ended.stderr }
            .split_once("`wikijs-gate proposals apply ")
            .unwrap();
        id.split_once('`').unwrap().0.to_owned()
    };
    let first = undo_by_operator(&wiki, &live, call).await.exits(3);
    let waiting = proposed(&first);
    let again = undo_by_operator(&wiki, &live, call).await.exits(3);
    let waits = format!("this undo already waits as the proposal {waiting}");
    assert!(again.stderr.contains(&waits), "{}", again.told);
    assert_eq!(proposed(&again), waiting);
    // Of the page as it is now, it is another.
    title("Theirs again");
    let other = undo_by_operator(&wiki, &live, call).await;
    assert_ne!(proposed(&other), waiting, "{}", other.told);

    // The undone call is named, and what it waits for.
    let listed = audit(&wiki, &live, &["list"]).await;
    let rows: Vec<&str> = { listed.stdout.lines() }
        .filter(|line| line.contains(&format!("undo {call} ")))
        .collect();
    let count = |words: &str| rows.iter().filter(|row| row.contains(words)).count();
    assert_eq!(rows.len(), 3, "{}", listed.told);
    assert_eq!(count("proposal (confirm: review)"), 2, "{}", listed.told);
    assert_eq!(count("preview (confirm: review)"), 1, "{}", listed.told);
    assert!(!listed.stdout.contains("dry_run"), "{}", listed.told);
    let tail = audit(&wiki, &live, &["tail", "--lines", "4"]).await;
    says(&tail.stdout, &format!("undo {call} "));

    // The warning stands there in words, also once it is decided.
    for decision in [None, Some("no")] {
        if let Some(why) = decision {
            operator(&wiki, &live, &["reject", &waiting, "--why", why]).await;
        }
        let shown = operator(&wiki, &live, &["show", &waiting]).await;
        assert!(shown.stdout.contains("risks: "), "{}", shown.told);
        let text = "warning: takes_along: force also takes back what was written since in title;";
        assert!(shown.stdout.contains(text), "{}", shown.told);
    }
}

#[tokio::test]
async fn enabled_paths_and_record_hold_for_the_operator() {
    let (wiki, served) = sample(setup).await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "x" })).await;
    let only = "WIKI_ALLOWED_MUTATION_PATH_PREFIXES";
    for (setting, code) in [
        (("WIKI_MUTATIONS_ENABLED", "false"), "MUTATIONS_DISABLED"),
        ((only, "docs"), "PATH_NOT_ALLOWED"),
        (
            ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "home"),
            "PATH_DENIED",
        ),
    ] {
        let refused = with(&wiki, &served, setting, &["apply", &id, "--yes"]).await;
        refused.exits(3).warns(code);
    }
    let asked = operator(&wiki, &served, &["apply", &id]).await;
    asked.exits(2).warns("pass --yes");
    assert_eq!(mutations(&wiki).len(), 0);
    assert_eq!(became(&served, &id).await["state"], "open");
}

#[tokio::test]
async fn a_proposal_of_a_page_that_changed_since_is_outdated_and_merged_if_that_is_clean() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "releases/2-4");
    let lines = |first: &str, last: &str| format!("{first}\n\nmiddle\n\n{last}\n");
    theirs(&wiki, id, |page| page.content = lines("a", "b"));
    let edited = json!({ "content": lines("ours", "b"), "title": "Ours" });
    let proposal = edit(&served, id, edited).await;
    theirs(&wiki, id, |page| {
        page.content = lines("a", "theirs");
        page.description = Some("Theirs".to_owned());
    });
    let told_agent = became(&served, &proposal).await;
    assert_eq!(told_agent["state"], "outdated");
    says(&told_agent["since"]["diff"], "+theirs");
    let refused = apply(&wiki, &served, &proposal).await;
    assert_eq!(refused.code, 3, "{}", refused.told);
    assert!(refused.stdout.contains("+theirs"), "{}", refused.told);
    assert!(refused.stdout.contains("+ours"), "{}", refused.told);
    says(&refused.stderr, "PROPOSAL_OUTDATED");
    assert_eq!(mutations(&wiki).len(), 0);

    let merge = ["apply", &proposal, "--yes", "--merge"];
    let merged = operator(&wiki, &served, &merge).await.good();
    lacks(&merged.told, "OUTDATED");
    for line in ["\n  +theirs", "\n  +ours"] {
        let count = merged.stdout.matches(line).count();
        assert_eq!(count, 1, "{}", merged.told);
    }
    let after = page(&wiki, id).unwrap();
    assert_eq!(after.content, lines("ours", "theirs"));
    assert_eq!(after.title.as_str(), "Ours");
    assert_eq!(after.description.as_deref(), Some("Theirs"));
    assert_eq!(became(&served, &proposal).await["state"], "applied");
}

#[tokio::test]
async fn what_cannot_be_merged_stays_outdated() {
    let (wiki, served) = sample(setup).await;
    let [same, gone, taken, docs] =
        ["home", "glossary", "releases/2-4", "docs"].map(|path| id_of(&wiki, path));
    let ids = [
        edit(&served, same, json!({ "title": "Ours" })).await,
        edit(&served, gone, json!({ "title": "Ours" })).await,
        edit(&served, taken, json!({ "path": "docs/taken" })).await,
        propose(&served, CREATE, new_page("docs/new")).await,
        propose(&served, DELETE, json!({ "id": docs })).await,
    ];
    wiki.with_store(|store| {
        store.rewrite(same, |page| "Theirs".clone_into(&mut page.title));
        store.rewrite(docs, |page| "Theirs".clone_into(&mut page.content));
        drop(store.remove(gone));
        for path in ["docs/taken", "docs/new"] {
            store.add(titled(path, "Theirs", "x"));
        }
    });
    for id in &ids {
        assert_eq!(became(&served, id).await["state"], "outdated", "{id}");
    }
    let all = vec_of("apply --all --yes --merge --keep-going --json".split(' '));
    let refused = operator(&wiki, &served, &all).await.exits(3);
    let results = refused.json()["results"].clone();
    for result in results.as_array().unwrap() {
        assert_eq!(result["error"]["code"], "PROPOSAL_OUTDATED", "{result}");
    }
    assert_eq!(results.as_array().unwrap().len(), 5);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_page_that_was_only_touched_or_already_is_as_proposed_is_not_outdated() {
    let (wiki, served) = sample(setup).await;
    let (touched, done) = (id_of(&wiki, "home"), id_of(&wiki, "glossary"));
    let first = edit(&served, touched, json!({ "title": "Ours" })).await;
    let second = edit(&served, done, json!({ "title": "Ours" })).await;
    wiki.with_store(|store| {
        store.rewrite(touched, |_| {});
        store.rewrite(done, |page| "Ours".clone_into(&mut page.title));
    });
    let both = ["apply", &first, &second, "--yes", "--json"];
    let applied = operator(&wiki, &served, &both).await.good();
    let results = applied.json()["results"].clone();
    let expected = [&json!("applied"), &json!("unchanged")];
    assert_eq!([&results[0]["outcome"], &results[1]["outcome"]], expected);
    assert_eq!(mutations(&wiki).len(), 1);
    assert_eq!(became(&served, &second).await["state"], "applied");
    for (id, told, not) in [
        (&first, "takes it back", "already was"),
        (&second, "the page already was as proposed", "undo"),
    ] {
        let shown = operator(&wiki, &served, &["show", id]).await.stdout;
        assert!(shown.contains(told) && !shown.contains(not), "{shown}");
    }
}

#[tokio::test]
async fn it_stops_at_the_first_that_is_not_applied_unless_told_to_go_on() {
    let (wiki, served) = sample(setup).await;
    let [a, b, c] = ["home", "glossary", "docs"].map(|path| id_of(&wiki, path));
    for id in [a, b, c] {
        edit(&served, id, json!({ "title": "Ours" })).await;
    }
    theirs(&wiki, b, |page| "Theirs".clone_into(&mut page.title));
    let stopped = apply(&wiki, &served, "--all").await.exits(3);
    assert_eq!(page(&wiki, a).unwrap().title, "Ours");
    assert_ne!(page(&wiki, c).unwrap().title, "Ours");
    assert!(stopped.stdout.contains("left: "), "{}", stopped.told);
    says(&stopped.stdout, "to take it back: wikijs-gate undo ");
    let on = operator(&wiki, &served, &["apply", "--all", "--yes", "--keep-going"]).await;
    assert_eq!(on.code, 3, "{}", on.told);
    assert_eq!(page(&wiki, c).unwrap().title, "Ours");
}

#[tokio::test]
async fn a_later_proposal_of_the_session_replaces_the_earlier_and_no_other() {
    let (wiki, ours) = sample(setup).await;
    let theirs = setup(&wiki).in_dir_of(&ours).serve().await;
    let id = id_of(&wiki, "home");
    let other = edit(&theirs, id, json!({ "title": "Other" })).await;
    let first = edit(&ours, id, json!({ "title": "1" })).await;
    let second = edit(&ours, id, json!({ "title": "2" })).await;
    let made = propose(&ours, CREATE, new_page("docs/x")).await;
    let mut again = new_page("docs/x");
    again["title"] = json!("Again");
    let again = propose(&ours, CREATE, again).await;
    let states = async |id: &str| became(&ours, id).await["state"].clone();
    assert_eq!(states(&first).await, "replaced");
    assert_eq!(states(&made).await, "replaced");
    for id in [&other, &second, &again] {
        assert_eq!(states(id).await, "open");
    }
    let mine = json!({ "mine": true, "state": "open" });
    let mine = ours.call(LIST_PROPOSALS, mine).await.unwrap();
    assert_eq!(members(&mine, "proposals", "id"), [&again, &second]);
    // Nor does a file that is open again, or still is, bring it back.
    forge(&ours, &first, "state", json!("open"));
    let refused = apply(&wiki, &ours, &first).await;
    assert_eq!(refused.code, 3, "{}", refused.told);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_file_that_was_changed_is_not_applied() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let id = edit(&served, home, json!({ "title": "Ours" })).await;
    let other = edit(&served, id_of(&wiki, "docs"), json!({ "title": "Other" })).await;
    let read_file = |id: &str| fs::read_to_string(file(&served, id)).unwrap();
    let state = |text: &str, name: &str| -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        value[name].as_str().unwrap().to_owned()
    };
    let (whole, theirs) = (read_file(&id), read_file(&other));
    let swapped = whole.replace(&state(&whole, "after"), &state(&theirs, "after"));
    let undoes = "\"undoes\": \"0123456789abcdef\",\n  \"before\":";
    let undo = whole.replace("\"before\":", undoes);
    let renamed = whole.replace(&id, &other);
    let value: Value = serde_json::from_str(&whole).unwrap();
    let forged = |name: &str, member: Value| {
        let mut forged = value.clone();
        forged[name] = member;
        forged.to_string()
    };
    let forged = [
        forged("path", json!("home/else")),
        forged("locale", json!("de")),
        forged("operation", json!("move")),
        forged("call", json!("0123456789abcdef")),
        forged("client", json!({ "name": "other", "version": "0" })),
        forged("lost", json!(["scriptJs"])),
    ];
    let forged = forged.iter().map(String::as_str);
    let others = [swapped.as_str(), &undo, &renamed, "{}"];
    for changed in others.into_iter().chain(forged) {
        fs::write(file(&served, &id), changed).unwrap();
        apply(&wiki, &served, &id).await.exits(1);
    }
    assert_eq!(mutations(&wiki).len(), 0);
    // A state that somebody put in the place of the kept one is seen as well.
    fs::write(file(&served, &id), &whole).unwrap();
    let pages = wiki_dir(served.dir.path()).join("pages");
    let kept = |text: &str| pages.join(format!("{}.json.gz", state(text, "after")));
    fs::copy(kept(&theirs), kept(&whole)).unwrap();
    let refused = apply(&wiki, &served, &id).await.exits(1);
    refused.warns("AUDIT_UNAVAILABLE");
    assert_ne!(page(&wiki, home).unwrap().title, "Ours");
}

#[tokio::test]
async fn two_who_apply_one_proposal_at_once_apply_it_once() {
    let (wiki, served) = sample(setup).await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "Ours" })).await;
    wiki.set_write_delay(Duration::from_millis(200));
    let arguments = ["apply", &id, "--yes"];
    let (one, other) = tokio::join!(
        operator(&wiki, &served, &arguments),
        operator(&wiki, &served, &arguments)
    );
    let mut codes = [one.code, other.code];
    codes.sort_unstable();
    assert_eq!(codes, [0, 3], "{}{}", one.told, other.told);
    assert_eq!(mutations(&wiki).len(), 1);
}

/// Four proposals of one page by four servers, applied by four operators, while a fifth server
/// writes to it: whoever comes later builds on what is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn proposals_of_one_page_that_are_applied_at_once_take_turns() {
    const LINES: [&str; 5] = ["zero", "one", "two", "three", "four"];
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let content = LINES.map(|line| format!("{line}\n\nbetween\n\n")).concat();
    theirs(&wiki, id, |page| page.content = content);
    let first = setup(&wiki).serve().await;
    let edits = |line: &str| json!([{ "oldText": line, "newText": format!("new {line}") }]);
    let mut proposals = Vec::new();
    for line in LINES.iter().skip(1) {
        let other = setup(&wiki).in_dir(&first.dir).serve().await;
        proposals.push(edit(&other, id, json!({ "edits": edits(line) })).await);
    }
    let setup = Setup::scripter(&wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", "sesame-sesame-sesame");
    let writes = setup.in_dir(&first.dir).serve().await;
    // Long enough that all would have read the page before the first is written.
    wiki.set_write_delay(Duration::from_millis(200));
    wiki.clear_requests();
    let update = json!({ "id": id, "edits": edits("zero"), "confirm": "sesame-sesame-sesame" });
    let updated = writes.call(UPDATE, update);
    let arguments = vec_of(proposals.iter().map(|id| ["apply", id, "--yes", "--merge"]));
    // What was written since an operator was shown it is shown anew, and nothing was sent.
    let applied = arguments.iter().map(async |apply| {
        loop {
            let ended = operator(&wiki, &first, apply).await;
            if !ended.stderr.contains("EDIT_CONFLICT") {
                return ended;
            }
        }
    });
    let (updated, applied) = tokio::join!(updated, futures_util::future::join_all(applied));
    assert_eq!(updated.unwrap()["outcome"], "applied");
    for ended in applied {
        ended.good();
    }
    let expected = LINES.map(|line| format!("new {line}\n\nbetween\n\n"));
    assert_eq!(page(&wiki, id).unwrap().content, expected.concat());
    assert_eq!(mutations(&wiki).len(), LINES.len());
}

#[tokio::test]
async fn an_apply_that_was_cut_short_behind_its_write_is_known_from_the_log() {
    let (wiki, served) = sample(setup).await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "Ours" })).await;
    let open = fs::read_to_string(file(&served, &id)).unwrap();
    apply(&wiki, &served, &id).await;
    // As if the process had been killed before it wrote the file.
    fs::write(file(&served, &id), &open).unwrap();
    apply(&wiki, &served, &id).await.exits(3);
    assert_eq!(mutations(&wiki).len(), 1);
    assert_eq!(became(&served, &id).await["state"], "applied");
}

#[tokio::test]
async fn without_a_record_there_is_no_proposal_and_no_preview() {
    let (wiki, served) = sample(setup).await;
    let title = |title: &str| json!({ "id": id_of(&wiki, "home"), "title": title });
    let first = propose(&served, UPDATE, title("1")).await;
    let proposals = file(&served, &first).parent().unwrap().to_owned();
    fs::remove_dir_all(&proposals).unwrap();
    fs::write(&proposals, "").unwrap();
    fails(&served, UPDATE, title("2"), "AUDIT_UNAVAILABLE").await;
}

#[tokio::test]
async fn proposals_beyond_the_share_of_their_owner_are_refused_and_leave_no_pages() {
    let (wiki, served) = sample(|wiki| setup(wiki).with("WIKI_AUDIT_KEEP_MB", "1")).await;
    let new = |path: &str| json!({ "path": path, "title": path, "content": path.repeat(500_000) });
    let kept = |proposal: &str| {
        let wiki = file(&served, proposal).parent().unwrap().to_owned();
        let pages = fs::read_dir(wiki.with_file_name("pages")).unwrap();
        pages.count()
    };
    // Eight megabytes at least, of texts as they are.
    propose(&served, CREATE, new("docs/a")).await;
    let second = propose(&served, CREATE, new("docs/b")).await;
    let before = kept(&second);
    for path in ["docs/c", "docs/d"] {
        fails(&served, CREATE, new(path), "TOO_LARGE").await;
    }
    assert_eq!(kept(&second), before);
    let refused = served.records().into_iter();
    let refused = refused.filter(|record| record.event == AuditEvent::Refusal);
    assert_eq!(refused.count(), 2);
    // A small one has room.
    edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
}

#[tokio::test]
async fn what_changes_nothing_is_no_proposal() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let title = json!({ "id": id, "title": page(&wiki, id).unwrap().title });
    let preview = served.call(UPDATE, title).await.unwrap();
    assert_eq!(preview.get("proposal"), None);
    let none = served.call(LIST_PROPOSALS, json!({})).await;
    assert_eq!(none.unwrap()["proposals"], json!([]));
}

#[tokio::test]
async fn a_client_that_cannot_ask_a_person_may_be_left_to_proposals() {
    let wiki = sample_wiki().await;
    let setup = setup(&wiki).with("WIKI_MUTATION_DRY_RUN", "false");
    let setup = setup.with("WIKI_CONFIRM", "person");
    let served = setup
        .with("WIKI_CONFIRM_FALLBACK", "proposal")
        .serve()
        .await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "Ours" })).await;
    assert_eq!(mutations(&wiki).len(), 0);
    apply(&wiki, &served, &id).await.good();
}

#[tokio::test]
async fn an_agent_sees_what_its_own_client_proposed_and_what_its_key_may_read() {
    let (wiki, served) = sample(setup).await;
    let arguments = json!({ "content": "Ours\n" });
    let id = edit(&served, id_of(&wiki, "home"), arguments).await;
    let whole = became(&served, &id).await;
    assert!(whole["diff"].as_str().unwrap().contains("+Ours"), "{whole}");
    let reader = Setup::reader(&wiki).toolsets("proposals");
    let reader = reader.in_dir_of(&served).serve().await;
    let part = became(&reader, &id).await;
    part.shows(json!({ "diff": null, "changes": null }));
    // Another client's is the same as none.
    let named = Implementation::new("other", "1");
    let named = ClientConfig::new(ClientCapabilities::default(), named);
    let setup = setup(&wiki).in_dir_of(&served);
    let other = setup.serve_to(named, ClientLifecycleMode::Initialize).await;
    let error = |id: &str| other.call(GET_PROPOSAL, json!({ "id": id }));
    let (theirs, none) = (error(&id).await, error("0123456789abcdef").await);
    assert_eq!(theirs.unwrap_err(), none.unwrap_err());
    let listed = other.call(LIST_PROPOSALS, json!({})).await;
    assert_eq!(listed.unwrap()["proposals"], json!([]));
    // Nor is it the other's by what somebody wrote into its file.
    let arguments = json!({ "name": "other", "version": "1" });
    forge(&served, &id, "client", arguments);
    let (theirs, none) = (error(&id).await, error("0123456789abcdef").await);
    assert_eq!(theirs.unwrap_err(), none.unwrap_err());
    assert_eq!(became(&served, &id).await["id"], id.as_str());
}

/// Changes one member of a proposal's file.
fn forge(served: &Served, id: &str, name: &str, member: Value) {
    let text = fs::read_to_string(file(served, id)).unwrap();
    let mut forged: Value = serde_json::from_str(&text).unwrap();
    forged[name] = member;
    fs::write(file(served, id), forged.to_string()).unwrap();
}

#[tokio::test]
async fn a_reason_in_a_changed_file_hides_nothing_from_the_agent() {
    let (wiki, served) = sample(setup).await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    forge(&served, &id, "state", json!("rejected"));
    forge(&served, &id, "decided", json!("2030-01-01T00:00:00.000Z"));
    forge(&served, &id, "reason", json!("a\u{1b}[2J\u{202e}b\nc"));
    let shown = "a\\u{1b}[2J\\u{202e}b c";
    assert_eq!(became(&served, &id).await["reason"], shown);
    let listed = served.call(LIST_PROPOSALS, json!({})).await;
    assert_eq!(listed.unwrap()["proposals"][0]["reason"], shown);
}

#[tokio::test]
async fn filters_go_by_the_record_of_the_making() {
    let (wiki, served) = sample(setup).await;
    let id = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    let mut clients = served
        .records()
        .into_iter()
        .filter_map(|record| record.client);
    let own = clients.next().unwrap().name;
    let asked = json!({ "name": "trusted", "version": "1" });
    forge(&served, &id, "client", asked);
    forge(&served, &id, "path", json!("docs/harmless"));
    for (arguments, found) in [
        (&["--client", "trusted"][..], 0),
        (&["--path", "docs"], 0),
        (&["--client", &own, "--path", "home"], 1),
    ] {
        let listed = operator(&wiki, &served, &[&["list", "--json"], arguments].concat()).await;
        let proposals = listed.json()["proposals"].as_array().unwrap().len();
        assert_eq!(proposals, found, "{}", listed.told);
        let yes = ["apply", "--yes", "--json"];
        let applied = operator(&wiki, &served, &[&yes, arguments].concat()).await;
        let results = applied.json()["results"].as_array().unwrap().len();
        assert_eq!(results, found, "{}", applied.told);
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let verified = audit(&wiki, &served, &["verify"]).await.exits(5);
    let wrong = format!("{id} was changed: its file is not as on record in client, path");
    verified.prints(&wrong);
}

#[tokio::test]
async fn verify_holds_whatever_became_of_a_proposal() {
    let (wiki, served) = sample(setup).await;
    let moved = json!({ "path": "docs/moved", "content": "Moved.\n" });
    edit(&served, id_of(&wiki, "glossary"), json!({ "title": "1" })).await;
    let second = edit(&served, id_of(&wiki, "glossary"), json!({ "title": "2" })).await;
    let third = propose(&served, CREATE, new_page("docs/x")).await;
    let same = edit(&served, id_of(&wiki, "home"), json!({ "title": "3" })).await;
    edit(&served, id_of(&wiki, "releases/2-4"), moved).await;
    theirs(&wiki, id_of(&wiki, "home"), |page| {
        page.title = "3".to_owned();
    });
    operator(&wiki, &served, &["apply", &second, &same, "--yes"]).await;
    operator(&wiki, &served, &["reject", &third, "--why", "no"]).await;
    let verified = audit(&wiki, &served, &["verify"]).await.good();
    says(&verified.stdout, ", 5 proposals,");
}

#[tokio::test]
async fn proposals_are_listed_by_state_client_path_and_time() {
    let (wiki, served) = sample(setup).await;
    let home = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    let docs = edit(&served, id_of(&wiki, "docs"), json!({ "title": "1" })).await;
    operator(&wiki, &served, &["reject", &home, "--why", "not \"this\""]).await;
    let ids = async |arguments: &[&str]| -> Vec<Value> {
        let listed = operator(&wiki, &served, &[&["list", "--json"], arguments].concat()).await;
        let proposals = listed.json()["proposals"].clone();
        vec_of(
            proposals
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].clone()),
        )
    };
    assert_eq!(ids(&[]).await, [json!(docs)]);
    assert_eq!(ids(&["--all"]).await, [json!(home), json!(docs)]);
    assert_eq!(ids(&["--all", "--path", "home"]).await, [json!(home)]);
    for path in ["en:docs", "en/docs", "/en/docs"] {
        assert_eq!(ids(&["--path", path]).await, [json!(docs)], "{path}");
    }
    assert_eq!(ids(&["--path", "de:docs"]).await, [json!(null); 0]);
    assert_eq!(ids(&["--client", "nobody"]).await, [json!(null); 0]);
    assert_eq!(ids(&["--since", "2999-01-01"]).await, [json!(null); 0]);
    assert_eq!(ids(&["--since", "2001-01-01"]).await, [json!(docs)]);
    let rejected = json!({ "state": "rejected" });
    let rejected = served.call(LIST_PROPOSALS, rejected).await.unwrap();
    assert_eq!(rejected["proposals"][0]["reason"], "not \"this\"");
    // A decision is told also when what it was about is purged.
    let wiki_dir = file(&served, &home).parent().unwrap().to_owned();
    fs::remove_dir_all(wiki_dir.with_file_name("pages")).unwrap();
    assert_eq!(became(&served, &home).await["reason"], "not \"this\"");
    for (arguments, code) in [
        (&["reject", &docs][..], 2),
        (&["reject", &docs, "--why", "a\nb"][..], 2),
        (&["reject", &home, "--why", "again"][..], 3),
        (&["show", "0123456789abcdef"][..], 2),
        (&["apply", "--yes"][..], 2),
        (&["list", "--since", "yesterday"][..], 2),
    ] {
        operator(&wiki, &served, arguments).await.exits(code);
    }
}

#[tokio::test]
async fn those_that_fit_are_rejected_together() {
    let (wiki, served) = sample(setup).await;
    let home = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    let docs = propose(&served, CREATE, new_page("docs/x")).await;
    let bare = operator(&wiki, &served, &["reject", "--why", "no"]).await;
    assert_eq!(bare.code, 2, "{}", bare.told);
    for (which, states) in [
        (&["--path", "docs"][..], ["open", "rejected"]),
        (&["--client", "nobody"], ["open", "rejected"]),
        (&["--all"], ["rejected", "rejected"]),
    ] {
        let arguments = [&["reject", "--why", "no"], which].concat();
        operator(&wiki, &served, &arguments).await.good();
        let now = [became(&served, &home).await, became(&served, &docs).await];
        assert_eq!(now.map(|one| one["state"].clone()), states, "{which:?}");
    }
}

#[tokio::test]
async fn text_from_the_wiki_does_not_steer_the_terminal() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    theirs(&wiki, id, |page| {
        "a\u{1b}[2Jb".clone_into(&mut page.title);
        "c\u{1b}[2Jd\n".clone_into(&mut page.content);
    });
    let proposal = edit(&served, id, json!({ "title": "T", "content": "e\n" })).await;
    let (show, apply) = (["show", &proposal], ["apply", &proposal, "--yes"]);
    for arguments in [&["list"][..], &show, &apply] {
        let ended = operator(&wiki, &served, arguments).await.good();
        lacks(&ended.told, "\u{1b}");
    }
}

#[tokio::test]
async fn old_proposals_are_purged_on_record_and_young_ones_stay() {
    let (wiki, served) = sample(setup).await;
    let dir = Arc::clone(&served.dir);
    let old = edit(&served, id_of(&wiki, "home"), json!({ "title": "1" })).await;
    served.app.writer.finish().await;
    let old_runs = runs(dir.path());
    written_in(&old_runs[0], &years_ago(2));
    let text = fs::read_to_string(file(&served, &old)).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let created = value["created"].as_str().unwrap();
    let text = text.replace(created, &format!("{}-01-01T00:00:00.000Z", years_ago(2)));
    fs::write(file(&served, &old), text).unwrap();
    // The records have to say that time has passed since.
    let between = setup(&wiki).in_dir(&dir).serve().await;
    let young = edit(&between, id_of(&wiki, "docs"), json!({ "title": "1" })).await;
    between.app.writer.finish().await;
    let mut runs = runs(dir.path());
    runs.retain(|run| !old_runs.contains(run));
    written_in(&runs[0], &years_ago(1));
    // The first proposal of a run purges, since a dry run never writes.
    let setup = setup(&wiki).with("WIKI_AUDIT_KEEP_DAYS", "36500");
    let next = setup.in_dir(&dir).serve().await;
    edit(&next, id_of(&wiki, "glossary"), json!({ "title": "1" })).await;
    next.app.writer.finish().await;
    assert!(!file(&served, &old).exists());
    assert!(file(&served, &young).exists());
    let records = next.records();
    let purges = { records.iter() }.filter(|record| record.event == AuditEvent::Purge);
    let removed = purges.flat_map(|record| record.removed.iter().flatten());
    let removed = vec_of(removed.map(|head| head.file.clone()));
    assert_eq!(removed, [format!("{old}.json")]);
    assert!(told(&records).contains(&"proposal".to_owned()));
}

/// The whole way as it looks in a terminal that shows no colours.
#[tokio::test]
async fn an_operator_reads_what_the_commands_print() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "glossary");
    theirs(&wiki, id, |page| page.content = "one\ntwo\n".to_owned());
    let first = json!({ "content": "one\n2\n", "title": "Words" });
    let first = edit(&served, id, first).await;
    let second = propose(&served, CREATE, new_page("docs/x")).await;
    let mut printed = String::new();
    for arguments in [
        &["list"][..],
        &["show", &first],
        &["reject", &second, "--why", "not now"],
        &["apply", &first, "--yes"],
        &["list", "--all"],
        &["show", &second],
        &["apply", &second, "--yes"],
    ] {
        printed.push_str(&operator(&wiki, &served, arguments).await.told);
    }
    for (text, word) in [
        (first, "<first>"),
        (second, "<second>"),
        (wiki.address(), "http://wiki"),
        (format!("(id {id})"), "(id <id>)"),
    ] {
        printed = printed.replace(&text, word);
    }
    let is_number = |word: &str, sign| {
        let mut bytes = word.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || byte == sign)
    };
    let normal = printed.split_inclusive([' ', '\n']).map(|word| {
        match word.trim_end().trim_end_matches(':') {
            bare if bare.len() == 24 && bare.ends_with('Z') => word.replace(bare, "<time>"),
            bare if bare.len() == 10 && is_number(bare, b'-') => word.replace(bare, "<date>"),
            bare if bare.len() == 5 && is_number(bare, b':') => word.replace(bare, "<minute>"),
            bare if bare.len() == 16 && bare.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                word.replace(bare, "<call>")
            }
            _ => word.to_owned(),
        }
    });
    let normal: String = normal.collect();
    golden("proposals", &normal);
}

#[tokio::test]
async fn a_new_proposal_names_the_one_that_it_replaces() {
    let (wiki, served) = sample(setup).await;
    let home = id_of(&wiki, "home");
    let propose = async |title: &str| {
        let edits = json!({ "id": home, "title": title });
        served.call(UPDATE, edits).await.unwrap()
    };
    let first = propose("First").await;
    assert_eq!(first.get("replaces"), None, "{first}");
    let second = propose("Second").await;
    assert_eq!(second["replaces"], first["proposal"], "{second}");
}

#[tokio::test]
async fn a_no_whose_process_was_killed_before_the_file_said_so_is_made_up_for() {
    let (wiki, served) = sample(setup).await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Ours" });
    let shown = served.call(UPDATE, change).await.unwrap();
    let id = shown["proposal"].as_str().unwrap();
    let open = fs::read(file(&served, id)).unwrap();
    operator(&wiki, &served, &["reject", id, "--why", "not now"]).await;
    // The record is made first, and then the file.
    fs::write(file(&served, id), open).unwrap();
    let applied = apply(&wiki, &served, id).await;
    assert_ne!(applied.code, 0, "{}", applied.told);
    assert_eq!(became(&served, id).await["state"], "rejected");
    says(&fs::read_to_string(file(&served, id)).unwrap(), "not now");
    let verify = Command::operator(&wiki, &served, &["audit", "verify"]);
    verify.good().await;
}
