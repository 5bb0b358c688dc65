//! Pages at paths that the wiki makes no more (W28): said before they go, brought back elsewhere.

use crate::prelude::*;
use crate::session::person::{Generation, serve};

const OLD: &str = "old notes/release 2.4";

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::scripter(wiki).toolsets("pages,undo,proposals")
}

/// A page at such a path.
fn old_page(wiki: &DemoWiki, path: &str) -> i64 {
    let id = id_of(wiki, "releases/2-4");
    wiki.set_old_path(id, path);
    id
}

fn at(wiki: &DemoWiki, path: &str) -> Option<PageRow> {
    wiki.with_store(|store| store.page_at("en", path).cloned())
}

/// A page without its place and what every write changes.
fn placeless(page: &PageRow) -> PageRow {
    timeless(page).but(|row| row.path.clear())
}

fn says_so(answer: &Value) -> bool {
    let warnings = answer.get("warnings").and_then(Value::as_array);
    warnings
        .into_iter()
        .flatten()
        .any(|warning| said(warning).starts_with("cannot_return: "))
}

async fn undo(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::new(&[&["undo", "--yes"], arguments].concat())
        .at(&wiki.address(), &wiki.keys().scripter, served.dir.path())
        .writing()
        .quiet()
        .end()
        .await
}

#[tokio::test]
async fn a_page_that_leaves_for_good_is_said_to_before_it_goes_and_others_are_not() {
    let (wiki, served) = sample(|wiki| setup(wiki).with("WIKI_TRASH_PREFIX", "trash")).await;
    for path in ["a b", "docs/v1.0", "docs/a\\b", "docs//x", "docs/x"] {
        let id = wiki.with_page(titled("docs/made", "Old", "Old\n"));
        wiki.set_old_path(id, path);
        for (tool, arguments, leaves) in [
            (DELETE, json!({ "id": id }), true),
            (DELETE, json!({ "id": id, "trash": true }), true),
            (UPDATE, json!({ "id": id, "path": "docs/new" }), true),
            (UPDATE, json!({ "id": id, "title": "New" }), false),
        ] {
            let preview = served.call(tool, arguments.clone()).await.unwrap();
            let is_for_good = leaves && path != "docs/x";
            let says_so = says_so(&preview);
            assert_eq!(says_so, is_for_good, "{path} {arguments} {preview}");
        }
        wiki.with_store(|store| store.page_mut(id).unwrap().path = format!("docs/done-{id}"));
    }
}

#[tokio::test]
async fn a_page_without_content_is_refused_before_the_wiki_would_and_is_said_to_go_for_good() {
    let (wiki, served) = sample(|wiki| setup(wiki).toolsets("pages,drafts")).await;
    let id = wiki.with_page(titled("docs/blank", "Blank", "Text\n"));
    wiki.with_store(|store| store.page_mut(id).unwrap().content.clear());
    let retitled = json!({ "id": id, "title": "New" });
    fails(&served, UPDATE, retitled, "EDIT_NOT_APPLICABLE").await;
    let moved = json!({ "id": id, "path": "docs/moved" });
    assert!(!says_so(&served.call(UPDATE, moved).await.unwrap()));
    let tagged = json!({ "ids": [id, id_of(&wiki, "releases/2-4")], "addTags": ["new"] });
    let set = served.call(BULK, tagged).await.unwrap();
    assert_eq!(set["leftOut"][0]["why"], "it would be left without content");
    let deleted = served.call(DELETE, json!({ "id": id })).await.unwrap();
    assert!(says_so(&deleted), "{deleted}");
}

#[tokio::test]
async fn a_person_is_told_that_a_page_leaves_for_good() {
    let wiki = sample_wiki().await;
    let id = old_page(&wiki, OLD);
    let (served, mut person) =
        serve(crate::session::person::setup(&wiki), Generation::Within).await;
    let asking = async {
        let asked = person.is_asked().await;
        let told = "\nCannot return: the wiki makes no page at this path any more\n";
        assert!(asked.message.contains(told), "{}", asked.message);
        asked.answers("no");
    };
    let call = served.call(DELETE, json!({ "id": id }));
    assert!(tokio::join!(call, asking).0.is_err());
}

#[tokio::test]
async fn a_deleted_page_comes_back_at_another_path_and_not_at_its_own() {
    let (wiki, served) = sample(setup).await;
    let id = old_page(&wiki, OLD);
    let before = placeless(&at(&wiki, OLD).unwrap());
    let gone = served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    assert!(says_so(&gone), "{gone}");
    let call = json!({ "callId": gone["callId"] });
    let sent = mutations(&wiki).len();
    let refused = fails(&served, UNDO, call.clone(), "INVALID_INPUT").await;
    assert_eq!(refused["details"]["fields"][0]["path"], "path");
    for bad in [OLD, "login/x", ""] {
        let undo = json!({ "callId": gone["callId"], "path": bad });
        fails(&served, UNDO, undo, "INVALID_INPUT").await;
    }
    assert_eq!(mutations(&wiki).len(), sent);
    let elsewhere = |path: &str| json!({ "callId": gone["callId"], "path": path });
    let preview = served.call(UNDO, elsewhere("docs/old")).await.unwrap();
    // The token is for the place that was shown, said again or not.
    let mut other = elsewhere("docs/other");
    other["confirm"] = preview["confirm"].clone();
    fails(&served, UNDO, other, "CONFIRM_MISMATCH").await;
    let mut confirmed = call.clone();
    confirmed["confirm"] = preview["confirm"].clone();
    is_applied(&served, UNDO, confirmed).await;
    assert_eq!(placeless(&at(&wiki, "docs/old").unwrap()), before);
    fails(&served, UNDO, elsewhere("docs/x"), "NOTHING_TO_UNDO").await;
}

#[tokio::test]
async fn a_moved_page_goes_to_another_path_and_its_other_fields_go_back() {
    let (wiki, served) = sample(setup).await;
    let id = old_page(&wiki, OLD);
    let before = placeless(&at(&wiki, OLD).unwrap());
    let edit = json!({ "id": id, "path": "docs/new", "title": "New", "tags": [] });
    let moved = served.confirmed(UPDATE, edit).await.unwrap();
    let call = moved["callId"].as_str().unwrap();
    undo(&wiki, &served, &[call]).await.exits(2).warns("--path");
    undo(&wiki, &served, &[call, "--path", "docs/old"])
        .await
        .good();
    assert_eq!(placeless(&at(&wiki, "docs/old").unwrap()), before);
    assert_eq!(at(&wiki, "docs/new"), None);
}

#[tokio::test]
async fn a_place_that_was_taken_meanwhile_is_no_end_either() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "docs/configuration");
    let gone = served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let page = crate::harness::new_page("docs/configuration");
    served.confirmed(CREATE, page).await.unwrap();
    let undo = json!({ "callId": gone["callId"] });
    fails(&served, UNDO, undo, "PAGE_EXISTS").await;
    let undo = json!({ "callId": gone["callId"], "path": "docs/configuration-2" });
    is_applied(&served, UNDO, undo).await;
}

#[tokio::test]
async fn a_path_is_for_a_page_that_comes_back_alone() {
    let (wiki, served) = sample(setup).await;
    let id = id_of(&wiki, "home");
    let edit = json!({ "id": id, "title": "New" });
    let updated = served.confirmed(UPDATE, edit).await.unwrap();
    let page = crate::harness::new_page("docs/x");
    let created = served.confirmed(CREATE, page).await.unwrap();
    for write in [updated, created] {
        let undo = json!({ "callId": write["callId"], "path": "docs/y" });
        let refused = fails(&served, UNDO, undo, "INVALID_INPUT").await;
        assert_eq!(refused["details"]["fields"][0]["path"], "path");
    }
}

#[tokio::test]
async fn the_gate_of_paths_holds_for_the_place_where_a_page_comes_back() {
    let (wiki, first) = sample(setup).await;
    let id = id_of(&wiki, "docs/configuration");
    let gone = first.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let setup = setup(&wiki).with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs");
    let served = setup.in_dir_of(&first).serve().await;
    let undo = json!({ "callId": gone["callId"], "path": "team/x" });
    fails(&served, UNDO, undo, "PATH_NOT_ALLOWED").await;
}

#[tokio::test]
async fn an_undo_to_another_path_can_be_proposed() {
    let (wiki, first) = sample(setup).await;
    let id = old_page(&wiki, OLD);
    let gone = first.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let dry = setup(&wiki).dry().in_dir_of(&first).serve().await;
    let undo = json!({ "callId": gone["callId"], "path": "docs/old" });
    let proposed = dry.call(UNDO, undo).await.unwrap();
    let id = proposed["proposal"].as_str().unwrap();
    Command::new(&["proposals", "apply", id, "--yes"])
        .at(&wiki.address(), &wiki.keys().scripter, first.dir.path())
        .writing()
        .good()
        .await;
    assert!(at(&wiki, "docs/old").is_some());
}
