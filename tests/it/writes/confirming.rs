//! One rule: a write is confirmed with `confirm` beside what names its page; what else is given must
//! be as in the preview.

use crate::prelude::*;

fn with(mut arguments: Value, name: &str, value: &Value) -> Value {
    arguments[name] = value.clone();
    arguments
}

/// Previews a call and gives its token.
async fn token(served: &Served, tool: &str, arguments: &Value) -> Value {
    let preview = served.call(tool, arguments.clone()).await.unwrap();
    assert_eq!(preview["preview"], true);
    preview["confirm"].clone()
}

#[tokio::test]
async fn a_token_confirms_the_call_of_its_own_tool_that_names_its_page_and_no_other() {
    let wiki = sample_wiki().await;
    let setup = Setup::editor(&wiki);
    let served = setup.with("WIKI_TRASH_PREFIX", "trash").serve().await;
    let id = id_of(&wiki, "home");
    // Into the trash is a change that an update could make, too.
    let trash = json!({ "id": id, "trash": true });
    let confirm = token(&served, DELETE, &trash).await;
    let arguments = json!({ "id": id, "confirm": confirm });
    fails(&served, UPDATE, arguments, "CONFIRM_MISMATCH").await;
    let confirm = token(&served, CREATE, &new_page("confirmed/named")).await;
    let arguments = json!({ "confirm": confirm });
    fails(&served, CREATE, arguments, "INVALID_INPUT").await;
    assert_eq!(mutations(&wiki).len(), 0);
    // The token still counts for what it was given for.
    let named = json!({ "path": "confirmed/named", "confirm": confirm });
    is_applied(&served, CREATE, named).await;
}

#[tokio::test]
async fn what_names_the_page_and_the_token_confirm_any_write() {
    let wiki = sample_wiki().await;
    let setup = Setup::editor(&wiki);
    let served = setup.toolsets("pages,undo").serve().await;
    let create = json!({ "path": "confirmed/new", "title": "New", "content": "# New\n", "tags": ["a"],
        "description": "Said", "isPublished": false });
    let confirm = token(&served, CREATE, &create).await;
    let bare = json!({ "path": "confirmed/new", "confirm": confirm });
    let created = is_applied(&served, CREATE, bare.clone()).await;
    let row = wiki.with_store(|store| store.page_at("en", "confirmed/new").unwrap().clone());
    assert_eq!(row.title.as_str(), "New");
    assert_eq!(row.content.as_str(), "# New\n");
    assert_eq!(row.description.as_deref(), Some("Said"));
    assert!(!row.is_published);
    assert_eq!(row.tags, ["a"]);
    // Once used up, the token says so, not that a title is missing.
    fails(&served, CREATE, bare, "CONFIRM_EXPIRED").await;

    let id = created["target"]["id"].clone();
    let update = json!({ "id": id, "title": "Newer", "addTags": ["#b"], "edits": [{ "oldText": "# New", "newText": "# Newer" }] });
    let confirm = token(&served, UPDATE, &update).await;
    let bare = json!({ "id": id, "confirm": confirm });
    is_applied(&served, UPDATE, bare).await;
    // The other arguments may stand beside it, some or all, in another form that means the same.
    for kept in [
        vec!["title"],
        vec!["edits", "addTags"],
        vec!["title", "edits", "addTags"],
    ] {
        let tag = format!("tag-{}", kept.len());
        let update = json!({ "id": id, "title": format!("With {}", kept.len()), "addTags": [tag],
            "edits": [{ "oldText": "# New", "newText": "# New and n" }] });
        let confirm = token(&served, UPDATE, &update).await;
        let mut given = json!({ "id": id, "confirm": confirm });
        for name in &kept {
            given[*name] = update[*name].clone();
        }
        if kept.contains(&"addTags") {
            given["addTags"] = json!([format!("#{tag}")]);
        }
        let applied = served.call(UPDATE, given).await.unwrap();
        assert_eq!(applied["outcome"], "applied", "{kept:?}");
        let expected = json!(["title", "content", "tags"]);
        assert_eq!(applied["changed"], expected, "{kept:?}");
    }
    let undo = json!({ "callId": "last", "force": true });
    let confirm = token(&served, UNDO, &undo).await;
    let bare = json!({ "callId": "last", "confirm": confirm });
    assert_eq!(served.call(UNDO, bare).await.unwrap()["outcome"], "applied");
    let confirm = token(&served, DELETE, &json!({ "id": id })).await;
    let bare = json!({ "id": id, "confirm": confirm });
    is_applied(&served, DELETE, bare).await;
}

#[tokio::test]
async fn what_differs_from_the_preview_is_named_and_the_token_still_counts() {
    let (wiki, served) = sample(Setup::editor).await;
    let (id, other) = (id_of(&wiki, "docs"), id_of(&wiki, "home"));
    let update = json!({ "id": id, "title": "Previewed", "description": "Previewed" });
    let confirm = token(&served, UPDATE, &update).await;
    let bare = json!({ "id": id, "confirm": confirm });
    for (name, value) in [
        ("title", json!("Other")),
        // Even one that is as the page has it is not what was previewed.
        ("title", json!("Documentation")),
        ("content", json!("Slipped in.\n")),
        ("isPublished", json!(false)),
        ("path", json!("docs-moved")),
        ("id", json!(other)),
    ] {
        let error = call_err(&served, UPDATE, with(bare.clone(), name, &value)).await;
        assert_eq!(error["code"], "CONFIRM_MISMATCH", "{name}");
        assert_eq!(error["details"]["differing"], json!([name]), "{error}");
        let hint = error["hint"].as_str().unwrap();
        assert_eq!(
            hint.contains("leave out details.differing"),
            name != "id",
            "{hint}"
        );
    }
    // A token is one tool's.
    fails(&served, DELETE, bare.clone(), "CONFIRM_MISMATCH").await;
    let create = json!({ "path": "docs", "confirm": confirm });
    let error = fails(&served, CREATE, create, "CONFIRM_MISMATCH").await;
    says(&error["message"], UPDATE);
    assert_eq!(mutations(&wiki).len(), 0);
    is_applied(&served, UPDATE, bare).await;

    let confirm = token(&served, CREATE, &new_page("confirmed/one")).await;
    let bare = json!({ "path": "confirmed/one", "confirm": confirm });
    for (name, value) in [
        ("content", json!("Slipped in.\n")),
        ("path", json!("confirmed/two")),
        ("scriptJs", json!("f()")),
    ] {
        let error = call_err(&served, CREATE, with(bare.clone(), name, &value)).await;
        assert_eq!(error["code"], "CONFIRM_MISMATCH", "{name}");
        assert_eq!(error["details"]["differing"], json!([name]), "{error}");
    }
    assert_eq!(mutations(&wiki).len(), 1);
    is_applied(&served, CREATE, bare).await;
}

/// The tokens of a preview are one session's; those of the operator take nothing from anywhere.
#[tokio::test]
async fn only_the_token_of_a_preview_of_this_session_completes_a_call() {
    let (wiki, served) = sample(Setup::editor).await;
    let confirm = token(&served, CREATE, &new_page("confirmed/mine")).await;
    let bare = json!({ "path": "confirmed/mine", "confirm": confirm });
    let mut setup = Setup::editor(&wiki);
    setup.session = wikijs_gate::gates::SessionId::new("another");
    let another = setup.serve().await;
    fails(&another, CREATE, bare.clone(), "CONFIRM_EXPIRED").await;
    let setup = Setup::editor(&wiki);
    let of_operator = setup.with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please");
    let of_operator = of_operator.serve().await;
    let operators = with(bare.clone(), "confirm", &json!("open-sesame-please"));
    let error = fails(&of_operator, CREATE, operators, "INVALID_INPUT").await;
    let missing = error["details"]["fields"].as_array().unwrap().iter();
    let missing: Vec<&Value> = missing.map(|fault| &fault["path"]).collect();
    assert_eq!(missing, ["title"]);
    assert_eq!(mutations(&wiki).len(), 0);
    is_applied(&served, CREATE, bare).await;
}

#[tokio::test]
async fn a_page_written_by_a_bare_confirm_counts_as_read() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    let first = json!({ "id": id, "content": "Ours.\n" });
    let confirm = token(&served, UPDATE, &first).await;
    call_ok(&served, UPDATE, json!({ "id": id, "confirm": confirm })).await;
    let another = Setup::editor(&wiki).serve().await;
    let theirs = json!({ "id": id, "content": "Theirs.\n" });
    another.confirmed(UPDATE, theirs).await.unwrap();
    let ours = json!({ "id": id, "content": "Ours again.\n" });
    fails(&served, UPDATE, ours, "EDIT_CONFLICT").await;
}

#[tokio::test]
async fn a_used_token_names_its_call_and_what_came_of_it() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "docs");
    let page = json!({ "path": "docs/new", "title": "New", "content": "# New\n" });
    for (tool, arguments, name) in [
        (UPDATE, json!({ "id": id, "title": "Once" }), "id"),
        (CREATE, page, "path"),
    ] {
        let confirm = token(&served, tool, &arguments).await;
        let bare = json!({ name: arguments[name], "confirm": confirm });
        let applied = served.call(tool, bare.clone()).await.unwrap();
        let error = fails(&served, tool, bare, "CONFIRM_EXPIRED").await;
        error["details"].shows(json!({ "usedBy": applied["callId"], "outcome": "applied" }));
        let message = error["message"].as_str().unwrap();
        says(&message, applied["callId"].as_str().unwrap());
        says(&error["hint"], "do not repeat");
    }
}

#[tokio::test]
async fn the_hint_of_a_conflict_at_confirming_leads_in_one_call_to_a_new_preview() {
    let (wiki, served) = sample(Setup::editor).await;
    let another = Setup::editor(&wiki).serve().await;
    let id = id_of(&wiki, "docs");
    // It has read the page, so that a change of the whole content is held against that.
    served.call(BY_ID, json!({ "id": id })).await.unwrap();
    for (tool, arguments) in [
        (UPDATE, json!({ "id": id, "content": "Ours.\n" })),
        (UPDATE, json!({ "id": id, "title": "Ours" })),
        (DELETE, json!({ "id": id })),
    ] {
        let confirm = token(&served, tool, &arguments).await;
        let theirs = json!({ "id": id, "content": format!("Theirs before {arguments}.\n") });
        another.confirmed(UPDATE, theirs).await.unwrap();
        let confirmed = json!({ "id": id, "confirm": confirm });
        let error = fails(&served, tool, confirmed, "EDIT_CONFLICT").await;
        let hint = error["hint"].as_str().unwrap();
        says(&hint, "ifUpdatedAt from details.updatedAt");
        let mut again = arguments.clone();
        again["ifUpdatedAt"] = error["details"]["updatedAt"].clone();
        let preview = served.call(tool, again).await.unwrap();
        assert!(preview["confirm"].is_string(), "{preview}");
        // The page is read as it is, before the next round.
        served.call(BY_ID, json!({ "id": id })).await.unwrap();
    }
}
