//! What a session knows of the pages that its own sets wrote: its next edit is not refused as
//! changed by somebody else.

use crate::prelude::*;

const PAGES: [&str; 2] = ["docs/a", "docs/b"];

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n\nFirst.\n"),
        ("docs/b", "# B\n\nSee [a](/docs/a).\n"),
    ])
    .await
}

fn setup(address: &str, wiki: &DemoWiki) -> Setup {
    Setup::at(address, &wiki.keys().admin).toolsets("pages,undo,drafts")
}

/// Reads both pages whole.
async fn read(served: &Served, wiki: &DemoWiki) {
    for path in PAGES {
        let one = json!({ "id": id_of(wiki, path) });
        served.call(BY_ID, one).await.unwrap();
    }
}

/// Writes both pages' whole texts, without naming the state that they are made of.
async fn rewrite(served: &Served, ids: [i64; 2]) {
    for id in ids {
        let whole = json!({ "id": id, "content": "Written anew.\n" });
        let shown = served.call(UPDATE, whole).await.unwrap();
        assert_eq!(shown.get("conflictCheck"), None, "{shown}");
    }
}

fn ids(wiki: &DemoWiki) -> [i64; 2] {
    PAGES.map(|path| id_of(wiki, path))
}

async fn tag(served: &Served, ids: [i64; 2]) -> Value {
    let tag = json!({ "ids": ids, "addTags": ["set"] });
    is_applied(served, BULK, tag).await
}

#[tokio::test]
async fn a_session_knows_the_pages_as_its_bulk_edit_and_its_undo_left_them() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    let done = tag(&served, ids).await;
    rewrite(&served, ids).await;

    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undo).await;
    rewrite(&served, ids).await;
}

#[tokio::test]
async fn a_session_knows_the_pages_as_its_draft_left_them() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    for (id, old) in ids.into_iter().zip(["First", "See"]) {
        let edit = json!({
            "id": id, "draft": "d", "edits": [{ "oldText": old, "newText": "Other" }],
        });
        served.call(UPDATE, edit).await.unwrap();
    }
    let submit = json!({ "draft": "d" });
    let done = served.confirmed(SUBMIT, submit).await;
    assert_eq!(done.unwrap()["applied"], 2);
    rewrite(&served, ids).await;
}

#[tokio::test]
async fn a_session_knows_the_pages_as_its_move_with_links_left_them() {
    let wiki = wiki().await;
    let setup = setup(&wiki.address(), &wiki).indexed();
    let served = setup.serve().await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    let moved = json!({ "id": ids[0], "path": "docs/c", "updateLinks": true });
    let done = served.confirmed(UPDATE, moved).await.unwrap();
    assert_eq!(done["applied"], 2, "{done}");
    rewrite(&served, ids).await;
}

#[tokio::test]
async fn a_session_knows_the_pages_of_a_set_that_was_taken_back() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = setup(&faulty.address(), &wiki).serve().await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    let mut arguments = json!({ "ids": ids, "addTags": ["set"] });
    let shown = served.call(BULK, arguments.clone()).await.unwrap();
    arguments["confirm"] = shown["confirm"].clone();
    let refusal = json!({ "data": { "pages": { "update": { "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No." } } } } });
    let reply = Reply::say(200, "application/json", &refusal.to_string());
    faulty.on_mutation_number(1, Fault::new(Reach::Never, reply));
    let failed = served.call(BULK, arguments).await.unwrap_err();
    assert_eq!(failed["details"]["outcome"], "not_applied", "{failed}");
    let tags = |id| wiki.with_store(|store| store.page(id).unwrap().tags.len());
    assert_eq!(ids.map(tags), [0, 0]);
    rewrite(&served, ids).await;
}

/// A page gets a new time when a page that it links to comes or goes.
#[tokio::test]
async fn a_session_knows_a_page_as_its_edits_left_it_that_was_only_touched_before() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let [id, _] = ids(&wiki);
    let edit =
        |old: &str, new: &str| json!({ "id": id, "edits": [{ "oldText": old, "newText": new }] });
    read(&served, &wiki).await;
    wiki.with_store(|store| store.touch(id));
    is_applied(&served, UPDATE, edit("First", "Second")).await;
    wiki.with_store(|store| store.touch(id));
    tag(&served, ids(&wiki)).await;
    is_applied(&served, UPDATE, edit("Second", "Third")).await;
}

/// The page was not as the session knew it before its own set, so it is not afterwards either.
#[tokio::test]
async fn a_set_does_not_teach_a_session_what_somebody_else_wrote_before() {
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    let other = setup(&wiki.address(), &wiki).serve().await;
    let theirs = json!({ "id": ids[0], "content": "Theirs.\n" });
    other.confirmed(UPDATE, theirs).await.unwrap();
    tag(&served, ids).await;
    let whole = json!({ "id": ids[0], "content": "Written anew.\n" });
    fails(&served, UPDATE, whole, "EDIT_CONFLICT").await;
    // The other page it still knows.
    let whole = json!({ "id": ids[1], "content": "Written anew.\n" });
    served.call(UPDATE, whole).await.unwrap();
}

/// A state that a write of ours left is named as ours, with its call; one of another server's is not.
#[tokio::test]
async fn a_state_that_our_record_has_is_named_as_ours_with_its_call() {
    const AUTHOR: &str = "Administrator (account 1: that person, or any API key)";
    let (wiki, served) = with_server(wiki().await, |wiki| setup(&wiki.address(), wiki)).await;
    let [id, _] = ids(&wiki);
    read(&served, &wiki).await;
    let beside = setup(&wiki.address(), &wiki).in_dir_of(&served);
    let beside = beside.serve().await;
    let theirs = json!({ "id": id, "content": "Beside.\n" });
    let done = beside.confirmed(UPDATE, theirs).await.unwrap();
    let whole = json!({ "id": id, "content": "Written anew.\n" });
    let refused = served.call(UPDATE, whole.clone()).await.unwrap_err();
    let details = &refused["details"];
    assert_eq!(details["changedBy"], json!(AUTHOR), "{refused}");
    assert_eq!(details["ours"], true, "{refused}");
    assert_eq!(details["byCallId"], done["callId"], "{refused}");
    let since = json!({ "since": "2026-01-01" });
    let changes = served.call(HISTORY, since).await.unwrap();
    let pages = changes["changes"]["pages"].as_array().unwrap();
    let page = pages.iter().find(|page| page["id"] == id).unwrap();
    page.shows(json!({ "ours": true, "byCallId": done["callId"] }));

    // A server with a record of its own writes the same page.
    let other = setup(&wiki.address(), &wiki).serve().await;
    let theirs = json!({ "id": id, "content": "Elsewhere.\n" });
    other.confirmed(UPDATE, theirs).await.unwrap();
    let refused = served.call(UPDATE, whole).await.unwrap_err();
    let details = &refused["details"];
    assert_eq!(details["changedBy"], AUTHOR);
    assert!(details.get("ours").is_none() && details.get("byCallId").is_none());
    // The entry of the state that ours left is ours, the one before is nobody's of this record.
    let one = json!({ "id": id });
    let history = served.call(HISTORY, one).await.unwrap();
    let entries = history["entries"].as_array().unwrap();
    assert_eq!(entries[0]["authorName"], AUTHOR, "{history}");
    entries[0].shows(json!({ "ours": true, "byCallId": done["callId"] }));
    assert_eq!(entries[1].get("ours"), None, "{history}");
}

/// A set that people decide on: it asked for exactly this change and was told that it was made.
#[tokio::test]
async fn a_session_knows_the_pages_as_people_s_yes_to_its_set_left_them() {
    let wiki = wiki().await;
    let mut setup = setup(&wiki.address(), &wiki).with("WIKI_CONFIRM", "review");
    setup.thinking = Some(Duration::ZERO);
    let served = setup.serve().await;
    let ids = ids(&wiki);
    read(&served, &wiki).await;
    let tag = json!({ "ids": ids, "addTags": ["set"] });
    let waiting = served.call(BULK, tag).await.unwrap();
    assert_eq!(waiting["outcome"], "waiting", "{waiting}");
    let id = waiting["proposal"].as_str().unwrap();
    let apply = Command::operator(&wiki, &served, &["proposals", "apply", id, "--yes"]);
    apply.with("WIKI_CONFIRM", "review").good().await;
    let became = served.call(BULK, json!({ "confirm": id })).await.unwrap();
    assert_eq!(became["applied"], 2, "{became}");
    rewrite(&served, ids).await;
}
