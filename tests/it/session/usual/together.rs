//! Tasks with others: undo, conflicts, refusals, attached files, comments, memories, proposals, and
//! naive mistakes.

use super::player::Player;

use crate::prelude::*;

pub(super) async fn play(player: &mut Player<'_>) {
    undone_out_of_order(player).await;
    conflicts(player).await;
    without_right(player).await;
    image(player).await;
    comment(player).await;
    memory(player).await;
    proposal(player).await;
    mistakes(player).await;
}

async fn undone_out_of_order(player: &mut Player<'_>) {
    let title = json!({ "page": "runbooks/r06", "title": "Runbook six" });
    let first = player.write(UPDATE, title).await;
    let text = json!({ "page": "runbooks/r06", "edits": [{ "oldText": "Restart it", "newText": "Stop it" }] });
    player.write(UPDATE, text).await;
    player
        .write(UNDO, json!({ "callId": first["callId"] }))
        .await;
    player.page("runbooks/r06", |page| {
        assert_eq!(page.title, "Runbook 6");
        assert!(page.content.contains("Stop it"));
    });
    player.done("the first of two changes taken back, the second kept");
}

/// One that goes together with the other's change, and one that does not.
async fn conflicts(player: &mut Player<'_>) {
    let id = player.page("runbooks/r07", |page| page.id);
    let mine =
        json!({ "id": id, "edits": [{ "oldText": "for 7 minutes", "newText": "for 9 minutes" }] });
    for other in ["Wait, then escalate.", "for 8 minutes"] {
        let preview = player.call(UPDATE, mine.clone()).await;
        player.wiki.with_store(|store| {
            store.rewrite(id, |page| {
                page.content = if other.starts_with("for") {
                    page.content.replace("for 9 minutes", other)
                } else {
                    format!("{}\n{other}\n", page.content)
                };
            });
        });
        let confirm = json!({ "id": id, "confirm": preview["confirm"] });
        if let Err(error) = player.attempt(UPDATE, confirm).await {
            assert_eq!(error["code"], "EDIT_CONFLICT", "{error}");
            player.write(UPDATE, mine.clone()).await;
        }
        assert!(player.content("runbooks/r07").contains("for 9 minutes"));
        if !other.starts_with("for") {
            player.wiki.with_store(|store| {
                store.rewrite(id, |page| {
                    page.content = page.content.replace("for 9 minutes", "for 7 minutes");
                });
            });
        }
    }
    player.done("two conflicts with other people");
}

async fn without_right(player: &mut Player<'_>) {
    let edit = json!({ "page": "policies/retention", "title": "Retention of logs" });
    let error = player.fails(UPDATE, edit, "PATH_DENIED").await;
    says(&error["hint"], "Leave this page alone");
    player.done("a page that may not be written");
}

async fn image(player: &mut Player<'_>) {
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XrPwAAAABJRU5ErkJggg==";
    let upload = json!({ "path": "plans/rack.png", "base64": picture, "createFolders": true });
    player.write(UPLOAD, upload).await;
    let link = json!({
        "page": "services/s05", "section": "Contact", "sectionMode": "prepend", "sectionContent": "![Rack](/plans/rack.png)",
    });
    player.write(UPDATE, link).await;
    let part = "## Contact\n\n![Rack](/plans/rack.png)";
    says(&player.content("services/s05"), part);
    player.done("an image put on a page");
}

async fn comment(player: &mut Player<'_>) {
    let comment = json!({ "page": "services/s06", "content": "Is port 8006 still right?" });
    player.write(ADD_COMMENT, comment).await;
    player.done("a comment");
}

async fn memory(player: &mut Player<'_>) {
    player
        .call(REMEMBER, json!({ "content": "Ports of services are on their own pages, in the first paragraph." }))
        .await;
    let found = player.call(RECALL, json!({ "query": "ports" })).await;
    assert!(found.to_string().contains("first paragraph"), "{found}");
    player.done("something to remember for later");
}

async fn proposal(player: &mut Player<'_>) {
    let proposed = json!({ "page": "policies/travel", "title": "Travel and days off", "note": "As asked in the meeting.", "propose": true });
    player.call(UPDATE, proposed).await;
    let open = player.call(LIST_PROPOSALS, json!({})).await;
    let proposals = open["proposals"].as_array().unwrap();
    assert_eq!(proposals.len(), 1, "{open}");
    player
        .call(GET_PROPOSAL, json!({ "id": proposals[0]["id"] }))
        .await;
    player.page("policies/travel", |page| assert_eq!(page.title, "Travel"));
    player.done("a proposal for people to decide");
}

/// Ten calls of somebody who has not read the schema, and what each hint leads to.
async fn mistakes(player: &mut Player<'_>) {
    for (tool, wrong, next, right) in json_rows::<(&str, Value, &str, Value)>(&json!([
        [SEARCH, { "q": "backup" }, SEARCH, { "query": "backup", "limit": 1 }],
        [LIST, { "tag": "policy" }, LIST, { "tags": ["policy"], "limit": 1 }],
        [LIST, { "orderBy": "updated" }, LIST, { "orderBy": "UPDATED", "limit": 1 }],
        [LIST, { "tags": ["!owner:team-1"] }, LIST, { "withoutTags": ["owner:team-1"], "limit": 1 }],
        [BY_ID, { "id": "policies/leave" }, BY_PATH, { "path": "policies/leave", "view": "metadata" }],
        [BY_PATH, { "path": "policies/leaves" }, SEARCH, { "query": "leave", "limit": 1 }],
        [UPDATE, { "path": "policies/leave", "title": "A" }, UPDATE, { "page": "policies/leave", "title": "A" }],
        [UPDATE, { "page": "policies/leave" }, UPDATE, { "page": "policies/leave", "description": "A" }],
        [UPDATE, { "page": "policies/leave", "addTags": "a" },
         UPDATE, { "page": "policies/leave", "addTags": ["a"] }],
        ["get_page", { "path": "home" }, BY_PATH, { "path": "home" }],
    ])) {
        let answer = player.attempt(tool, wrong.clone()).await;
        assert!(answer.is_err(), "{tool} {wrong}: {answer:?}");
        player.call(next, right).await;
    }
    player.done("ten naive mistakes, and what their hints lead to");
}
