//! Pages that are taken away but not deleted.

use crate::prelude::*;

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::editor(wiki)
        .with("WIKI_TRASH_PREFIX", "bin")
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs")
        .toolsets("pages,undo")
}

fn page(wiki: &DemoWiki, id: i64) -> wikijs_gate::demo::PageRow {
    wiki.with_store(|store| store.page_mut(id).unwrap().clone())
}

async fn delete(served: &Served, arguments: Value) -> Result<Value, Value> {
    served.confirmed(DELETE, arguments).await
}

#[tokio::test]
async fn a_page_goes_to_the_trash_with_all_it_has_and_comes_back_by_undo() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/configuration");
    // Its title is its last segment: a move alone would retitle it (W14).
    wiki.with_store(|store| "configuration".clone_into(&mut store.page_mut(id).unwrap().title));
    let before = page(&wiki, id);
    let served = setup(&wiki).serve().await;
    let trash = json!({ "id": id, "trash": true });
    let preview = served.call(DELETE, trash).await.unwrap();
    let expected = format!("bin/{id}-docs/configuration");
    assert_eq!(preview["changes"]["path"]["after"], expected);
    let confirmed = json!({ "id": id, "confirm": preview["confirm"] });
    let gone = served.call(DELETE, confirmed).await.unwrap();
    gone.shows(json!({ "outcome": "applied", "changed": ["path", "isPublished"] }));
    let there = page(&wiki, id);
    assert_eq!(there.path, format!("bin/{id}-docs/configuration"));
    assert_eq!(there.title.as_str(), "configuration");
    assert!(!there.is_published);
    assert_eq!(there.content, before.content);
    assert_eq!(there.tags, before.tags);

    let back = json!({ "callId": gone["callId"] });
    let back = is_applied(&served, UNDO, back).await;
    let after = page(&wiki, id);
    assert_eq!(after.path, before.path);
    assert_eq!(after.title, before.title);
    assert_eq!(after.is_published, before.is_published);
    // An undo can be undone.
    let again = json!({ "callId": back["callId"] });
    served.confirmed(UNDO, again).await.unwrap();
    assert_eq!(page(&wiki, id).path, there.path);
}

#[tokio::test]
async fn the_trash_is_open_to_that_move_alone() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/configuration");
    let served = setup(&wiki).serve().await;
    for path in [
        "bin/mine".to_owned(),
        format!("bin/{id}-docs/other"),
        format!("bin/{id}0-docs/configuration"),
    ] {
        let arguments = json!({ "id": id, "path": path });
        let error = served.confirmed(UPDATE, arguments).await.unwrap_err();
        assert_eq!(error["code"], "PATH_NOT_ALLOWED", "{path}");
    }
    let retitled =
        json!({ "id": id, "path": format!("bin/{id}-docs/configuration"), "title": "Mine" });
    confirmed_fails(&served, UPDATE, retitled, "PATH_NOT_ALLOWED").await;
    // The page's own place is checked as ever, and a denial wins.
    let elsewhere = json!({ "id": id_of(&wiki, "home"), "trash": true });
    let code = &delete(&served, elsewhere).await.unwrap_err()["code"];
    assert_eq!(code, "PATH_NOT_ALLOWED");
    let setup = setup(&wiki).with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "Bin");
    let denied = setup.serve().await;
    let trash = json!({ "id": id, "trash": true });
    let code = &delete(&denied, trash).await.unwrap_err()["code"];
    assert_eq!(code, "PATH_DENIED");
    assert_eq!(mutations(&wiki).len(), 0);
    // What lies in the trash cannot be changed there.
    delete(&served, json!({ "id": id, "trash": true }))
        .await
        .unwrap();
    let arguments = json!({ "id": id, "title": "Mine" });
    confirmed_fails(&served, UPDATE, arguments, "PATH_NOT_ALLOWED").await;
}

#[tokio::test]
async fn without_a_trash_the_argument_is_refused_with_the_setting_that_makes_one() {
    let (wiki, served) = sample(Setup::editor).await;
    let arguments = json!({ "id": id_of(&wiki, "docs/configuration"), "trash": true });
    let error = delete(&served, arguments).await.unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
    assert_eq!(error["details"]["fields"][0]["path"], "trash");
    says(&error["message"], "WIKI_TRASH_PREFIX");
}

#[tokio::test]
async fn a_token_for_the_trash_deletes_nothing_and_one_for_a_delete_trashes_nothing() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/configuration");
    let served = setup(&wiki).serve().await;
    for (previewed, asked) in [(true, false), (false, true)] {
        let preview = json!({ "id": id, "trash": previewed });
        let token = served.call(DELETE, preview).await.unwrap()["confirm"].clone();
        let other = json!({ "id": id, "trash": asked, "confirm": token });
        fails(&served, DELETE, other, "CONFIRM_MISMATCH").await;
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_page_in_the_trash_is_not_taken_away_once_more() {
    let (wiki, served) = sample(|wiki| Setup::editor(wiki).with("WIKI_TRASH_PREFIX", "bin")).await;
    let id = id_of(&wiki, "docs/configuration");
    delete(&served, json!({ "id": id, "trash": true }))
        .await
        .unwrap();
    let error = delete(&served, json!({ "id": id, "trash": true }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
}
