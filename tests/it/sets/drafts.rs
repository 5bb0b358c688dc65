//! Drafts: changes that are gathered without being sent, looked at, and written as one set.

use crate::prelude::*;

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n\nFirst.\n"),
        ("docs/b", "# B\n\nSee [a](/docs/a).\n"),
        ("docs/c", "# C\n\nThird.\n"),
        ("docs/d", "# D\n\nFourth.\n"),
    ])
    .await
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).indexed().toolsets("pages,undo,drafts")
}

fn paths(wiki: &DemoWiki) -> Vec<String> {
    texts(wiki).into_keys().collect()
}

async fn joins(served: &Served, tool: &str, mut arguments: Value) -> Value {
    arguments["draft"] = json!("rework");
    let joined = served.call(tool, arguments).await.unwrap();
    assert_eq!(joined["preview"], true);
    assert_eq!(joined["draft"]["name"], "rework");
    assert_eq!(joined.get("confirm"), None);
    joined
}

fn edit(id: i64, old: &str, new: &str) -> Value {
    json!({ "id": id, "edits": [{ "oldText": old, "newText": new }] })
}

#[tokio::test]
async fn every_kind_of_change_joins_a_draft_and_all_are_written_and_taken_back_as_one() {
    let wiki = wiki().await;
    let before = texts(&wiki);
    let served = setup(&wiki).serve().await;
    let id = |path: &str| id_of(&wiki, path);
    let (a, b, c, d) = (id("docs/a"), id("docs/b"), id("docs/c"), id("docs/d"));
    joins(&served, DELETE, json!({ "id": d })).await;
    let asked = json!({ "path": "docs/new", "title": "New", "content": "new\n" });
    joins(&served, CREATE, asked).await;
    joins(&served, UPDATE, edit(b, "See", "Look at")).await;
    joins(&served, UPDATE, json!({ "id": a, "path": "docs/first" })).await;
    let mut both = edit(c, "Third", "3rd");
    both["path"] = json!("docs/third");
    let last = joins(&served, UPDATE, both).await;
    assert_eq!(last["draft"]["pages"], 5);
    assert_eq!(mutations(&wiki).len(), 0);

    let told = call_ok(&served, CHANGE_SET, json!({ "id": "rework" })).await;
    told.shows(json!({ "pages": 5, "id": last["draft"]["id"] }));
    let own = served.call(CHANGE_SET, json!({})).await.unwrap();
    assert_eq!(own["drafts"][0]["draft"], "rework");

    let shown = call_ok(&served, SUBMIT, full(json!({ "draft": "rework" }))).await;
    let operations: Vec<&str> = shown["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["operation"].as_str().unwrap())
        .collect();
    // Deletes come last.
    assert_eq!(operations, ["create", "update", "move", "update", "delete"]);
    assert_eq!(mutations(&wiki).len(), 0);
    let confirm = json!({ "draft": "rework", "confirm": shown["confirm"] });
    let done = served.call(SUBMIT, confirm).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": 5 }));
    let now = texts(&wiki);
    let expected = [
        ("docs/b", "# B\n\nLook at [a](/docs/a).\n"),
        ("docs/first", "# A\n\nFirst.\n"),
        ("docs/new", "new\n"),
        ("docs/third", "# C\n\n3rd.\n"),
    ];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(now, BTreeMap::from(expected));
    // The draft is over.
    let arguments = json!({ "id": "rework" });
    fails(&served, CHANGE_SET, arguments, "INVALID_INPUT").await;

    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert_eq!(texts(&wiki), before);
}

#[tokio::test]
async fn a_second_change_of_a_page_builds_on_the_first_and_the_page_is_read_so() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    joins(&served, UPDATE, edit(a, "First", "One")).await;
    let second = joins(&served, UPDATE, edit(a, "One", "Uno")).await;
    // The preview is of all that the draft does to the page.
    says(&second["diff"], "-First.");
    says(&second["diff"], "+Uno.");
    assert_eq!(second["draft"]["pages"], 1);
    let read = |draft: Option<&str>| {
        let mut arguments = json!({ "id": a });
        if let Some(draft) = draft {
            arguments["draft"] = json!(draft);
        }
        served.call(BY_ID, arguments)
    };
    let drafted = read(Some("rework")).await.unwrap();
    assert_eq!(drafted["content"], "# A\n\nUno.\n");
    // Nobody wrote it yet: that is no right that the key lacks.
    assert!(drafted["unavailable"]["lastAuthor"].is_null(), "{drafted}");
    assert_eq!(read(None).await.unwrap()["content"], "# A\n\nFirst.\n");
    // Back to what it was, the change is no more.
    let back = joins(&served, UPDATE, edit(a, "Uno", "First")).await;
    assert_eq!(back["draft"]["pages"], 0);
    let arguments = json!({ "draft": "rework" });
    fails(&served, SUBMIT, arguments, "INVALID_INPUT").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_place_that_the_draft_frees_is_free_in_it_and_one_that_it_takes_is_taken() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, c) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/c"));
    let onto = |path: &str| json!({ "path": path, "title": "New", "content": "new\n" });
    let taken = |arguments: Value| {
        let mut arguments = arguments;
        arguments["draft"] = json!("rework");
        arguments
    };
    fails(&served, CREATE, taken(onto("docs/a")), "PAGE_EXISTS").await;
    joins(&served, DELETE, json!({ "id": a })).await;
    joins(&served, CREATE, onto("docs/a")).await;
    let moved = taken(json!({ "id": c, "path": "docs/a" }));
    fails(&served, UPDATE, moved, "PAGE_EXISTS").await;
    // What the draft creates is created anew by another create at its place.
    let again = json!({ "path": "docs/a", "title": "Newer", "content": "newer\n" });
    assert_eq!(joins(&served, CREATE, again).await["draft"]["pages"], 2);
    let there = json!({ "path": "docs/a", "draft": "rework" });
    let there = served.call(BY_PATH, there).await.unwrap();
    there.shows(json!({ "title": "Newer", "content": "newer\n" }));
    let gone = json!({ "id": a, "draft": "rework" });
    fails(&served, BY_ID, gone, "PAGE_NOT_FOUND").await;
    is_applied(&served, SUBMIT, json!({ "draft": "rework" })).await;
    assert_eq!(texts(&wiki)["docs/a"], "newer\n");
}

#[tokio::test]
async fn a_page_that_was_changed_or_deleted_since_is_named_and_nothing_is_sent() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    joins(&served, UPDATE, edit(a, "First", "One")).await;
    joins(&served, UPDATE, edit(b, "See", "Look at")).await;
    let other = Setup::admin(&wiki).serve().await;
    let retitled = json!({ "id": a, "title": "Theirs" });
    other.confirmed(UPDATE, retitled).await.unwrap();
    let sent = mutations(&wiki).len();
    let submit = json!({ "draft": "rework" });
    let refused = fails(&served, SUBMIT, submit.clone(), "EDIT_CONFLICT").await;
    assert_eq!(refused["details"]["id"], a);
    // Its hint, followed to the letter: the change is made on the page as it is.
    joins(&served, UPDATE, edit(a, "One", "Uno")).await;
    other.confirmed(DELETE, json!({ "id": b })).await.unwrap();
    let refused = fails(&served, SUBMIT, submit.clone(), "PAGE_NOT_FOUND").await;
    assert_eq!(refused["details"]["id"], b);
    let out = json!({ "draft": "rework", "id": b });
    let out = served.call(DISCARD, out).await.unwrap();
    out.shows(json!({ "discarded": 1, "left": 1 }));
    assert_eq!(mutations(&wiki).len(), sent + 1);
    is_applied(&served, SUBMIT, submit).await;
    let (title, text) = wiki.with_store(|store| {
        let page = store.page_mut(a).unwrap();
        (page.title.clone(), page.content.clone())
    });
    assert_eq!((&*title, &*text), ("Theirs", "# A\n\nUno.\n"));
}

#[tokio::test]
async fn a_token_counts_for_the_draft_as_it_was_shown() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    joins(&served, UPDATE, edit(a, "First", "One")).await;
    let shown = call_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    joins(&served, UPDATE, edit(b, "See", "Look at")).await;
    let confirm = json!({ "draft": "rework", "confirm": shown["confirm"] });
    fails(&served, SUBMIT, confirm, "CONFIRM_MISMATCH").await;
    // A draft's token confirms no other write, and no other draft.
    let other = json!({ "id": a, "draft": "other", "title": "Other" });
    served.call(UPDATE, other).await.unwrap();
    let confirm = json!({ "draft": "other", "confirm": shown["confirm"] });
    fails(&served, SUBMIT, confirm, "CONFIRM_MISMATCH").await;
    let confirm = json!({ "id": a, "title": "Other", "confirm": shown["confirm"] });
    fails(&served, UPDATE, confirm, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn links_are_mended_for_what_a_draft_moves() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    let plain = json!({ "id": a, "title": "A", "updateLinks": true, "draft": "rework" });
    fails(&served, UPDATE, plain, "INVALID_INPUT").await;
    let arguments = json!({ "id": a, "path": "docs/first", "updateLinks": true });
    joins(&served, UPDATE, arguments).await;
    // The page that links to it is itself in the draft.
    joins(&served, UPDATE, edit(b, "See", "Look at")).await;
    // A place that a delete frees is free with mended links, too.
    let d = id_of(&wiki, "docs/d");
    joins(&served, DELETE, json!({ "id": d })).await;
    let anew = json!({ "path": "docs/d", "title": "New", "content": "new\n" });
    joins(&served, CREATE, anew).await;
    let done = is_applied(&served, SUBMIT, json!({ "draft": "rework" })).await;
    assert_eq!(texts(&wiki)["docs/b"], "# B\n\nLook at [a](/docs/first).\n");
    assert_eq!(texts(&wiki)["docs/d"], "new\n");
    let undo = json!({ "callId": done["callId"] });
    served.confirmed(UNDO, undo).await.unwrap();
    assert_eq!(texts(&wiki)["docs/b"], "# B\n\nSee [a](/docs/a).\n");
}

const OLD: &str = "# Old\n\nSee [linux](#linux) and [tail](#tail).\n\n## Install\n\nBack to [tail](#tail), on to [linux](#linux) and [notes](#notes).\n\n### Linux\n\nx\n\n## Notes\n\nn\n\n## Tail\n\n[i](#install)\n";

/// A wiki with a page to be split, and the draft that splits it.
async fn split(wiki: &DemoWiki, served: &Served) {
    for (path, section, title) in [
        ("docs/install", "Install", "Install"),
        ("docs/all", "Notes", "All notes"),
    ] {
        let part =
            json!({ "path": path, "title": title, "fromPage": "docs/old", "section": section });
        joins(served, CREATE, part).await;
        let id = id_of(wiki, "docs/old");
        let rest = json!({ "id": id, "section": section, "sectionMode": "remove" });
        joins(served, UPDATE, rest).await;
    }
}

#[tokio::test]
async fn links_follow_the_headings_that_a_draft_takes_to_new_pages() {
    let linking = "[i](/docs/old#install) [l](/docs/old#linux) [t](/docs/old#tail) [o](/docs/old)\n\n<code><a href=\"/docs/old#notes\">n</a></code>\n";
    let wiki = wiki_of(&[("docs/old", OLD), ("docs/b", linking)]).await;
    let (wiki, served) = with_server(wiki, setup).await;
    let before = texts(&wiki);
    split(&wiki, &served).await;
    let done = is_applied(&served, SUBMIT, json!({ "draft": "rework" })).await;
    assert_eq!(done["linksLeft"][0]["link"], "/docs/old#notes", "{done}");
    let after = texts(&wiki);
    assert_eq!(
        after["docs/old"],
        "# Old\n\nSee [linux](/docs/install#linux) and [tail](#tail).\n\n## Tail\n\n[i](/docs/install)\n"
    );
    assert_eq!(
        after["docs/install"],
        "Back to [tail](/docs/old#tail), on to [linux](#linux) and [notes](/docs/all#notes).\n\n## Linux\n\nx\n\n"
    );
    let mended = linking.replacen("old#install", "install", 1);
    let mended = mended.replacen("old#linux", "install#linux", 1);
    assert_eq!(after["docs/b"], mended);
    let undo = json!({ "callId": done["callId"] });
    served.confirmed(UNDO, undo).await.unwrap();
    assert_eq!(texts(&wiki), before);
}

#[tokio::test]
async fn without_an_index_a_page_is_split_and_the_links_to_its_headings_are_said_to_break() {
    let wiki = wiki_of(&[("docs/old", OLD), ("docs/b", "[l](/docs/old#linux)\n")]).await;
    let (wiki, served) = with_server(wiki, |wiki| setup(wiki).with("WIKI_INDEX", "off")).await;
    split(&wiki, &served).await;
    let shown = call_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    says(&shown["warnings"].to_string(), "WIKI_INDEX");
    let done = confirmed_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    done.shows(json!({ "outcome": "applied", "pages": 3 }));
    assert_eq!(texts(&wiki)["docs/b"], "[l](/docs/old#linux)\n");
}

#[tokio::test]
async fn a_draft_that_is_submitted_in_a_dry_run_becomes_one_proposal() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(wiki).dry()).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    joins(&served, UPDATE, edit(a, "First", "One")).await;
    joins(&served, DELETE, json!({ "id": b })).await;
    let open = call_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    assert!(open["proposal"].is_string(), "{open}");
    assert_eq!(open["pages"], 2);
    let arguments = json!({ "id": "rework" });
    fails(&served, CHANGE_SET, arguments, "INVALID_INPUT").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_second_write_of_a_page_in_a_dry_run_builds_on_what_is_open() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(wiki).dry()).await;
    let a = id_of(&wiki, "docs/a");
    let first = call_ok(&served, UPDATE, json!({ "id": a, "title": "Title" })).await;
    let second = served.call(UPDATE, edit(a, "First", "One")).await.unwrap();
    assert_eq!(second["replaces"], first["proposal"]);
    assert_eq!(second["changes"]["title"]["after"], "Title", "{second}");
    says(&second["diff"], "+One.");
    // And a third on both, by the text as the second left it.
    let third = served.call(UPDATE, edit(a, "One", "Uno")).await.unwrap();
    assert_eq!(third["replaces"], second["proposal"]);
    assert!(third["diff"].as_str().unwrap().contains("+Uno."), "{third}");
    assert_eq!(third["changes"]["title"]["after"], "Title");
}

#[tokio::test]
async fn another_run_of_the_same_client_takes_a_draft_up_and_another_client_does_not_see_it() {
    let (wiki, first) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let joined = joins(&first, UPDATE, edit(a, "First", "One")).await;
    let second = setup(&wiki).in_dir_of(&first).serve().await;
    let told = call_ok(&second, CHANGE_SET, json!({ "id": "rework" })).await;
    assert_eq!(told["id"], joined["draft"]["id"]);
    let by_id = call_ok(&second, CHANGE_SET, json!({ "id": joined["draft"]["id"] })).await;
    assert_eq!(by_id["draft"], "rework");
    // Another key reads other pages: the draft of the one is none of the other's.
    let setup = Setup::editor(&wiki).toolsets("pages,drafts");
    let other = setup.in_dir_of(&first).serve().await;
    for name in [json!("rework"), joined["draft"]["id"].clone()] {
        for (tool, argument) in [(CHANGE_SET, "id"), (SUBMIT, "draft"), (DISCARD, "draft")] {
            let mut arguments = json!({});
            arguments[argument] = name.clone();
            fails(&other, tool, arguments, "INVALID_INPUT").await;
        }
    }
    let left = call_ok(&second, CHANGE_SET, json!({ "id": "rework" })).await;
    assert_eq!(left["pages"], 1);
}

#[tokio::test]
async fn names_and_drafts_that_there_are_not_are_told_apart() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    for name in ["", "a b", "../x", &"x".repeat(61), "é"] {
        let named = json!({ "id": a, "title": "T", "draft": name });
        let refused = fails(&served, UPDATE, named, "INVALID_INPUT").await;
        let path = &refused["details"]["fields"][0]["path"];
        assert_eq!(path, "draft", "{refused}");
    }
    for tool in [SUBMIT, DISCARD] {
        let refused = fails(&served, tool, json!({ "draft": "none" }), "INVALID_INPUT").await;
        let path = &refused["details"]["fields"][0]["path"];
        assert_eq!(path, "draft", "{refused}");
    }
    let missing = json!({ "id": a, "draft": "none" });
    fails(&served, BY_ID, missing, "INVALID_INPUT").await;
    // Where the toolset is not on, nobody is told of drafts, and the argument is unknown.
    let plain = Setup::admin(&wiki).serve().await;
    let named = json!({ "id": a, "title": "T", "draft": "rework" });
    let refused = fails(&plain, UPDATE, named, "INVALID_INPUT").await;
    let path = &refused["details"]["fields"][0]["path"];
    assert_eq!(path, "draft", "{refused}");
}

#[tokio::test]
async fn gates_and_rules_hold_for_what_joins_a_draft() {
    let wiki = wiki().await;
    let a = id_of(&wiki, "docs/a");
    let joining = json!({ "id": a, "title": "T", "draft": "rework" });
    for (name, value, code) in [
        ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs", "PATH_DENIED"),
        ("WIKI_MUTATIONS_ENABLED", "false", "MUTATIONS_DISABLED"),
    ] {
        let served = setup(&wiki).with(name, value).serve().await;
        fails(&served, UPDATE, joining.clone(), code).await;
    }
    let rules = "[[rules]]\nname = \"no-titles\"\nfields = [\"title\"]\nthen = \"deny\"\nwhy = \"Titles stay.\"\n\n[[rules]]\nname = \"tags\"\nfields = [\"tags\"]\nthen = \"review\"\nwhy = \"Tags.\"\n";
    let served = setup(&wiki).with_tables(rules).serve().await;
    fails(&served, UPDATE, joining, "RULE_DENIED").await;
    let told = joins(&served, UPDATE, json!({ "id": a, "addTags": ["x"] })).await;
    let part = "asks for review when the draft is submitted";
    says(&told["warnings"].to_string(), part);
    let open = confirmed_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    assert!(open["proposal"].is_string(), "{open}");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_client_has_at_most_twenty_drafts() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let joining = |number: usize| {
        let name = format!("draft-{number}");
        served.call(UPDATE, json!({ "id": a, "title": "T", "draft": name }))
    };
    for number in 0..20 {
        joining(number).await.unwrap();
    }
    let refused = joining(20).await.unwrap_err();
    assert_eq!(refused["code"], "INVALID_INPUT", "{refused}");
    call_ok(&served, DISCARD, json!({ "draft": "draft-3" })).await;
    joining(20).await.unwrap();
    assert_eq!(paths(&wiki).len(), 4);
}

#[tokio::test]
async fn a_large_set_is_shown_page_by_page() {
    let big = "line of a page\n".repeat(600);
    let wiki = wiki_of(&[]).await;
    wiki.with_store(|store| {
        for number in 0..8 {
            store.add(page(&format!("big/{number}"), &big));
        }
    });
    let served = setup(&wiki).serve().await;
    for number in 0..8 {
        let id = id_of(&wiki, &format!("big/{number}"));
        joins(&served, UPDATE, json!({ "id": id, "content": "other\n" })).await;
    }
    let shown = call_ok(&served, SUBMIT, json!({ "draft": "rework" })).await;
    for which in [json!("rework"), shown["previewId"].clone()] {
        let (mut offset, mut seen) = (0, Vec::new());
        loop {
            let ask = full(json!({ "id": which, "offset": offset }));
            let told = served.call(CHANGE_SET, ask).await.unwrap();
            assert_eq!(told["pages"], 8);
            let changes = told["changes"].as_array().unwrap();
            for change in changes {
                says(&change["diff"], "+other");
                seen.push(change["target"]["id"].clone());
            }
            match told["nextOffset"].as_i64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        seen.sort_by_key(Value::as_i64);
        seen.dedup();
        assert_eq!(seen.len(), 8, "{which}");
    }
}

#[tokio::test]
async fn a_draft_of_a_page_that_may_not_be_read_any_more_is_as_if_it_were_not_there() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    joins(&served, UPDATE, edit(a, "First", "One")).await;
    joins(&served, UPDATE, edit(b, "See", "Look at")).await;
    let setup = setup(&wiki).with("WIKI_DENIED_READ_PATH_PREFIXES", "docs/a");
    let bounded = setup.in_dir_of(&served).serve().await;
    assert_eq!(
        bounded.call(CHANGE_SET, json!({})).await.unwrap()["drafts"],
        json!([])
    );
    let joining = json!({ "id": b, "title": "T", "draft": "rework" });
    for (tool, arguments) in [
        (CHANGE_SET, json!({ "id": "rework" })),
        (BY_ID, json!({ "id": b, "draft": "rework" })),
        (SUBMIT, json!({ "draft": "rework" })),
        (UPDATE, joining),
    ] {
        let refused = fails(&bounded, tool, arguments, "INVALID_INPUT").await;
        assert!(!refused.to_string().contains("docs/a"), "{refused}");
    }
}

/// What the answer of the set promised: its other changes, by its call.
#[tokio::test]
async fn a_set_that_waits_for_people_is_told_by_its_call_and_so_is_what_became_of_it() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(wiki).dry()).await;
    let ids: Vec<i64> = ["docs/a", "docs/b", "docs/c", "docs/d"]
        .map(|path| id_of(&wiki, path))
        .into();
    let tag = json!({ "ids": ids, "addTags": ["set"] });
    let open = served.call(BULK, tag).await.unwrap();
    let look = json!({ "id": open["previewId"], "offset": 1 });
    let told = served.call(CHANGE_SET, full(look.clone())).await.unwrap();
    told.shows(json!({ "preview": true, "pages": 4, "state": "open" }));
    assert_eq!(told["proposal"], open["proposal"]);
    assert_eq!(told["changes"].as_array().unwrap().len(), 3);
    assert_eq!(told["changes"][0]["target"]["id"], ids[1]);
    assert_eq!(told["changes"][0]["changed"], json!(["tags"]));

    let proposal = open["proposal"].as_str().unwrap().to_owned();
    let apply = ["proposals", "apply", &proposal, "--yes"];
    let ended = Command::new(&apply)
        .at(&wiki.address(), &wiki.keys().admin, served.dir.path())
        .with("WIKI_MUTATIONS_ENABLED", "true")
        .quiet()
        .good()
        .await;
    let told = served.call(CHANGE_SET, look).await.unwrap();
    told.shows(json!({ "state": "applied", "preview": null }));
    let by = told["appliedBy"].as_str().unwrap();
    assert!(ended.stdout.contains(by), "{by}: {}", ended.told);
    // Another client's is as if it were not there.
    let other = json!({ "id": "0123456789abcdef" });
    fails(&served, CHANGE_SET, other, "INVALID_INPUT").await;
}

#[tokio::test]
async fn a_new_page_of_a_draft_links_to_what_the_draft_moves() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let new = |path: &str, content: &str| json!({ "path": path, "title": "N", "content": content });
    joins(
        &served,
        CREATE,
        new("docs/n", "[a](/docs/a#x) [c](/docs/c)\n"),
    )
    .await;
    let arguments = json!({ "id": a, "path": "docs/deep/first", "updateLinks": true });
    joins(&served, UPDATE, arguments).await;
    let submit = json!({ "draft": "rework" });
    is_applied(&served, SUBMIT, submit.clone()).await;
    let expected = "[a](/docs/deep/first#x) [c](/docs/c)\n";
    assert_eq!(texts(&wiki)["docs/n"], expected);
    // A place that a new page takes is that page's: what new pages say of it stays.
    let first = json!({ "id": a, "path": "docs/a", "updateLinks": true });
    joins(&served, UPDATE, first).await;
    let taken = "[me](/docs/deep/first) [near](./x) [b](/docs/b)\n";
    joins(&served, CREATE, new("docs/deep/first", taken)).await;
    is_applied(&served, SUBMIT, submit).await;
    assert_eq!(texts(&wiki)["docs/deep/first"], taken);
    assert_eq!(texts(&wiki)["docs/n"], "[a](/docs/a#x) [c](/docs/c)\n");
}

/// The codes of the warnings of an answer, about all of it and about each change.
fn codes(answer: &Value) -> Vec<String> {
    let changes = answer["changes"].as_array().cloned().unwrap_or_default();
    let lists = std::iter::once(answer).chain(&changes);
    let mut codes: Vec<String> = lists
        .filter_map(|one| one["warnings"].as_array())
        .flatten()
        .map(|warning| warning["code"].as_str().unwrap().to_owned())
        .filter(|code| !["lost_for_good", "drafted"].contains(&&**code))
        .collect();
    codes.sort();
    codes
}

#[tokio::test]
async fn warnings_of_a_draft_are_judged_over_all_of_it() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| id_of(&wiki, &format!("docs/{name}")));
    // The link that the next move would break is mended by a change of the same draft.
    let mended = edit(b, "[a](/docs/a)", "[a](/docs/first)");
    let joined = joins(&served, UPDATE, mended).await;
    assert_eq!(
        codes(&joined),
        ["dead_link"],
        "nothing makes that page yet: {joined}"
    );
    let moved = json!({ "id": a, "path": "docs/first" });
    let joined = joins(&served, UPDATE, moved).await;
    assert_eq!(codes(&joined), Vec::<String>::new(), "{joined}");
    // A page that the draft creates is there for the links of its other changes.
    let new = json!({ "path": "docs/new", "title": "New", "content": "new\n" });
    joins(&served, CREATE, new).await;
    let joined = joins(&served, UPDATE, edit(c, "Third.", "See [new](/docs/new).")).await;
    assert_eq!(codes(&joined), Vec::<String>::new(), "{joined}");
    let submit = json!({ "draft": "rework" });
    let shown = served.call(SUBMIT, submit.clone()).await.unwrap();
    assert_eq!(codes(&shown), Vec::<String>::new(), "{shown}");
    // What the draft deletes is not there, and what loses its heading is told with all the rest.
    joins(&served, DELETE, json!({ "id": d })).await;
    let joined = joins(&served, UPDATE, edit(c, "[new](/docs/new)", "[d](/docs/d)")).await;
    assert_eq!(codes(&joined), ["dead_link"], "{joined}");
    let replaced = json!({ "id": b, "section": "B", "sectionContent": "No heading.\n" });
    let joined = joins(&served, UPDATE, replaced).await;
    assert_eq!(codes(&joined), ["heading_dropped"], "{joined}");
    let shown = served.call(SUBMIT, submit).await.unwrap();
    assert_eq!(codes(&shown), ["dead_link", "heading_dropped"], "{shown}");
}

/// The links are mended when the draft is submitted, so nothing breaks for it.
#[tokio::test]
async fn a_move_that_mends_links_at_the_submit_does_not_break_them_in_the_draft() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    let moved = json!({ "id": a, "path": "docs/first", "updateLinks": true });
    let joined = joins(&served, UPDATE, moved).await;
    assert_eq!(codes(&joined), Vec::<String>::new(), "{joined}");
}
