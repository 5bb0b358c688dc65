//! Rights of the key at a place: what it may not do there it is told at the preview, by the right
//! that it lacks; where the wiki does not tell, the preview says so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wikijs_gate::demo::DemoWiki;

use crate::faulty_wiki::{Fault, FaultyWiki, Reach, Reply};
use crate::harness::{Served, Setup, id_of, mutations, said, wiki_of};

const READS: [&str; 3] = ["read:pages", "read:source", "read:history"];
const WRITES: [&str; 3] = ["write:pages", "manage:pages", "delete:pages"];
const ASSETS: [&str; 3] = ["read:assets", "write:assets", "manage:assets"];

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n\nFirst.\n"),
        ("legal/b", "# B\n\nSecond.\n"),
    ])
    .await
}

/// A key that reads everywhere and writes below `docs` alone.
fn section_key(wiki: &DemoWiki) -> String {
    let all: Vec<&str> = WRITES.into_iter().chain(ASSETS).collect();
    wiki.key_with_each(&[(&READS, ""), (&all, "docs/")])
}

async fn section(wiki: &DemoWiki) -> Served {
    let setup = Setup::at(&wiki.address(), &section_key(wiki));
    let setup = setup.with("WIKI_TOOLSETS", "pages,undo,drafts,assets");
    setup.serve().await
}

/// The preview's refusal: the right that is missing, and where.
fn denied(refused: &Value) -> (&str, &str) {
    assert_eq!(refused["code"], "PERMISSION_DENIED", "{refused}");
    let details = &refused["details"];
    let path = details["lacking"][0]["path"].as_str().unwrap();
    (details["right"].as_str().unwrap(), path)
}

#[tokio::test]
async fn what_the_key_may_not_do_at_a_place_is_refused_at_the_preview() {
    let wiki = wiki().await;
    let served = section(&wiki).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "legal/b"));
    for (tool, arguments, right, path) in [
        (
            "wikijs_update_page",
            json!({ "id": b, "title": "x" }),
            "write:pages",
            "legal/b",
        ),
        (
            "wikijs_create_page",
            json!({ "path": "legal/new", "title": "New", "content": "x" }),
            "write:pages",
            "legal/new",
        ),
        (
            "wikijs_update_page",
            json!({ "id": a, "path": "legal/a" }),
            "write:pages",
            "legal/a",
        ),
        (
            "wikijs_delete_page",
            json!({ "id": b }),
            "delete:pages",
            "legal/b",
        ),
        // Nothing of what it may not write can be lost for it.
        (
            "wikijs_update_page",
            json!({ "id": b, "title": "x", "acceptLoss": ["scriptCss", "scriptJs"] }),
            "write:pages",
            "legal/b",
        ),
    ] {
        let refused = served.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(denied(&refused), (right, path), "{tool} {arguments}");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("{right} at en/{path}")),
            "{message}"
        );
    }
    assert_eq!(mutations(&wiki), []);
    // Where it may, nothing is said of rights.
    for (tool, arguments) in [
        ("wikijs_update_page", json!({ "id": a, "title": "x" })),
        (
            "wikijs_create_page",
            json!({ "path": "docs/new", "title": "New", "content": "x" }),
        ),
        ("wikijs_update_page", json!({ "id": a, "path": "docs/c" })),
        ("wikijs_delete_page", json!({ "id": a })),
    ] {
        let shown = served.call(tool, arguments).await.unwrap();
        assert!(shown.get("confirm").is_some(), "{shown}");
        assert!(!shown.to_string().contains("rights"), "{shown}");
    }
}

#[tokio::test]
async fn a_key_that_writes_but_neither_moves_nor_deletes_is_told_so_at_the_preview() {
    let wiki = wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.writer).serve().await;
    let a = id_of(&wiki, "docs/a");
    let moved = json!({ "id": a, "path": "docs/c" });
    let refused = served.call("wikijs_update_page", moved).await.unwrap_err();
    assert_eq!(denied(&refused), ("manage:pages", "docs/a"));
    let gone = json!({ "id": a });
    let refused = served.call("wikijs_delete_page", gone).await.unwrap_err();
    assert_eq!(denied(&refused), ("delete:pages", "docs/a"));
    assert_eq!(mutations(&wiki), []);
}

/// A page with tags: the wiki's views go by rules of tags, its writes do not.
#[tokio::test]
async fn of_a_page_with_tags_the_rules_of_paths_alone_count() {
    let wiki = wiki().await;
    let b = id_of(&wiki, "legal/b");
    wiki.with_store(|store| store.page_mut(b).unwrap().tags.push("t".to_owned()));
    let served = section(&wiki).await;
    let edit = json!({ "id": b, "title": "x" });
    let refused = served.call("wikijs_update_page", edit).await.unwrap_err();
    assert_eq!(denied(&refused), ("write:pages", "legal/b"));
}

#[tokio::test]
async fn where_the_wiki_does_not_tell_a_right_the_preview_says_so() {
    let wiki = wiki().await;
    let served = section(&wiki).await;
    let upload = json!({ "path": "a.csv", "text": "x" });
    let shown = served.call("wikijs_upload_asset", upload).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let unknown = |one: &&Value| one["code"] == "rights_unknown";
    let warning = said(warnings.iter().find(unknown).unwrap());
    assert!(
        warning.contains("rights unknown") && warning.contains("write:assets"),
        "{warning}"
    );
    // So does a create where something before the wiki hides its editor.
    wiki.set_editor_view_blocked(true);
    let new = json!({ "path": "docs/new", "title": "New", "content": "x" });
    let shown = served.call("wikijs_create_page", new).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let warning = said(warnings.iter().find(unknown).unwrap());
    assert!(warning.contains("write:pages"), "{warning}");
    // A key with full access has every right.
    let admin = Setup::of(&wiki, |keys| &keys.admin)
        .with("WIKI_TOOLSETS", "pages,assets")
        .serve()
        .await;
    let upload = json!({ "path": "b.csv", "text": "x" });
    let shown = admin.call("wikijs_upload_asset", upload).await.unwrap();
    assert!(!shown.to_string().contains("rights_unknown"), "{shown}");
}

/// A page without its scripts is better than no page.
#[tokio::test]
async fn a_deleted_page_comes_back_without_scripts_that_the_key_may_not_write_and_says_so_first() {
    let wiki = wiki().await;
    let a = id_of(&wiki, "docs/a");
    wiki.with_store(|store| store.page_mut(a).unwrap().script_js = "f()".to_owned());
    let served = Setup::of(&wiki, |keys| &keys.editor)
        .with("WIKI_TOOLSETS", "pages,undo")
        .serve()
        .await;
    let delete = json!({ "id": a });
    let deleted = served.confirmed("wikijs_delete_page", delete).await;
    let mut undo = json!({ "callId": deleted.unwrap()["callId"] });
    let shown = served
        .call("wikijs_undo_write", undo.clone())
        .await
        .unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let incomplete = |one: &&Value| one["code"] == "cannot_return";
    let warning = said(warnings.iter().find(incomplete).unwrap());
    assert!(warning.contains("lacks write:scripts"), "{warning}");
    undo["confirm"] = shown["confirm"].clone();
    let told = served.call("wikijs_undo_write", undo).await.unwrap_err();
    assert_eq!(told["code"], "PARTLY_APPLIED", "{told}");
    assert_eq!(told["details"]["fields"], json!(["scriptJs"]), "{told}");
    let back = wiki.with_store(|store| store.page_at("en", "docs/a").cloned());
    assert_eq!(back.unwrap().content, "# A\n\nFirst.\n");
}

/// The wiki refused in its own words, so the write was not applied, and nobody waits to learn it.
#[tokio::test]
async fn a_refusal_by_the_wiki_is_no_unknown_outcome_even_where_the_page_cannot_be_read() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().writer)
        .serve()
        .await;
    let a = id_of(&wiki, "docs/a");
    let mut edit = json!({ "id": a, "title": "x" });
    let shown = served
        .call("wikijs_update_page", edit.clone())
        .await
        .unwrap();
    edit["confirm"] = shown["confirm"].clone();
    let refusal = |name: &str, answer: Value| {
        let body = json!({ "data": { "pages": { name: answer } } }).to_string();
        Fault::new(Reach::Never, Reply::say(200, "application/json", &body))
    };
    let status = json!({ "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No." } });
    faulty.on_mutations(refusal("update", status));
    // From then on the key reads nothing of the page either.
    let unreadable = json!({ "data": { "pages": null }, "errors": [{
        "message": "You are not authorized to view this page.", "path": ["pages"],
        "extensions": { "code": "INTERNAL_SERVER_ERROR", "exception": { "code": 6013 } } }] });
    let reply = Reply::say(200, "application/json", &unreadable.to_string());
    faulty.on_reads_after_mutation(Fault::new(Reach::Never, reply));
    let began = Instant::now();
    let refused = served.call("wikijs_update_page", edit).await.unwrap_err();
    assert_eq!(refused["code"], "NOT_APPLIED", "{refused}");
    assert_eq!(refused["details"]["outcome"], "not_applied");
    assert_eq!(refused["details"]["cause"], "PERMISSION_DENIED");
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}
