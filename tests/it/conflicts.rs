//! No silent overwrite: what a page is held against, and what is told of what was overwritten.

use serde_json::{Value, json};
use wikijs_mcp::demo::{DemoWiki, OperationKind};

use crate::harness::{Served, Setup, id_of, sample_wiki};

/// Somebody else's edit: a real write, which leaves a version behind.
async fn somebody_edits(wiki: &DemoWiki, id: i64, arguments: Value) {
    let other = Setup::of(wiki, |keys| &keys.admin).serve().await;
    let mut arguments = arguments;
    arguments["id"] = json!(id);
    other
        .confirmed("wikijs_update_page", arguments)
        .await
        .unwrap();
    wiki.clear_requests();
}

fn mutations(wiki: &DemoWiki) -> usize {
    wiki.requests()
        .iter()
        .filter(|request| request.kind == OperationKind::Mutation)
        .count()
}

async fn update(served: &Served, arguments: Value) -> Result<Value, Value> {
    served.confirmed("wikijs_update_page", arguments).await
}

#[tokio::test]
async fn a_page_that_is_newer_than_the_caller_says_is_a_conflict() {
    let wiki = sample_wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.editor).serve().await;
    let id = id_of(&wiki, "home");
    let known = served
        .call("wikijs_list_pages", json!({ "limit": 1 }))
        .await
        .unwrap()["pages"][0]
        .clone();
    assert_eq!(known["id"], id);
    somebody_edits(
        &wiki,
        id,
        json!({ "title": "Theirs", "content": "Theirs.\n" }),
    )
    .await;
    let time = &known["updatedAt"];
    for (tool, arguments) in [
        (
            "wikijs_update_page",
            json!({ "id": id, "description": "x", "ifUpdatedAt": time }),
        ),
        (
            "wikijs_delete_page",
            json!({ "id": id, "ifUpdatedAt": time }),
        ),
    ] {
        let error = served.call(tool, arguments).await.unwrap_err();
        assert_eq!(error["code"], "EDIT_CONFLICT");
        assert_eq!(error["details"]["fields"], json!(["title", "content"]));
        assert_eq!(error["details"]["changedBy"], "Administrator");
        assert!(
            error["details"]["diff"]
                .as_str()
                .unwrap()
                .contains("+Theirs.")
        );
    }
    assert_eq!(mutations(&wiki), 0);
    let now = served
        .call("wikijs_get_page_by_id", json!({ "id": id }))
        .await
        .unwrap()["updatedAt"]
        .clone();
    let applied = update(
        &served,
        json!({ "id": id, "description": "x", "ifUpdatedAt": now }),
    )
    .await
    .unwrap();
    assert_eq!(applied["outcome"], "applied");
    assert_eq!(applied.get("conflictCheck"), None);
}

#[tokio::test]
async fn a_change_of_content_is_held_against_what_the_session_read() {
    let wiki = sample_wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.editor).serve().await;
    let id = id_of(&wiki, "home");
    // Not read yet: only the state of this very call counts, and the answer says so.
    let applied = update(&served, json!({ "id": id, "content": "One.\n" }))
        .await
        .unwrap();
    assert_eq!(applied["outcome"], "applied");
    let unread = served
        .call(
            "wikijs_update_page",
            json!({ "id": id_of(&wiki, "docs"), "content": "x" }),
        )
        .await;
    assert_eq!(unread.unwrap()["conflictCheck"], "none");
    // Its own write counts as read; somebody else's after it is a conflict.
    update(&served, json!({ "id": id, "content": "Two.\n" }))
        .await
        .unwrap();
    somebody_edits(&wiki, id, json!({ "content": "Theirs.\n" })).await;
    let error = update(&served, json!({ "id": id, "content": "Three.\n" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    // A change of something else is not held against it.
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    assert_eq!(applied["outcome"], "applied");
    assert_eq!(mutations(&wiki), 1);
}

#[tokio::test]
async fn a_page_that_was_only_touched_is_no_conflict() {
    let wiki = sample_wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.editor).serve().await;
    let id = id_of(&wiki, "home");
    let page = served
        .call("wikijs_get_page_by_id", json!({ "id": id }))
        .await
        .unwrap();
    // A page that it links to came or went: another time, no version.
    wiki.with_store(|store| store.touch(id));
    let applied = update(
        &served,
        json!({ "id": id, "content": "x", "ifUpdatedAt": page["updatedAt"] }),
    )
    .await
    .unwrap();
    assert_eq!(applied["outcome"], "applied");
}

#[tokio::test]
async fn what_was_overwritten_between_reading_and_sending_is_told() {
    let wiki = sample_wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.editor).serve().await;
    let id = id_of(&wiki, "home");
    wiki.before_next_mutation(move |store| {
        "Theirs.\n".clone_into(&mut store.page_mut(id).unwrap().content);
    });
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    let warning = applied["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("overwrote_newer: somebody changed content"),
        "{warning}"
    );
    // Nobody wrote: nothing is told.
    let applied = update(&served, json!({ "id": id, "title": "Mine again" }))
        .await
        .unwrap();
    assert_eq!(applied["warnings"], json!([]));
}

#[tokio::test]
async fn without_read_history_the_answer_says_that_it_was_not_checked() {
    let wiki = sample_wiki().await;
    let rights = [
        "read:pages",
        "read:source",
        "write:pages",
        "manage:pages",
        "delete:pages",
    ];
    let key = wiki.key_with(&rights, "");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let id = id_of(&wiki, "home");
    let page = served
        .call("wikijs_get_page_by_id", json!({ "id": id }))
        .await
        .unwrap();
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    assert!(
        applied["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("overwrite_not_checked:")
    );
    let stale = json!({ "id": id, "title": "Stale", "ifUpdatedAt": page["updatedAt"] });
    let error = update(&served, stale).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert!(error["message"].as_str().unwrap().contains("read:history"));
}
