//! The ways to say what changes: edits, patches, sections, tags, an old version.

use crate::prelude::*;

const TEXT: &str = "---\ntitle: # no heading\n---\nLead\r\n\n# Install\n\n## Linux\n\napt\n\n```\n# no heading\n```\n\n## Windows\n\nmsi\n\n# Notes\n\nsame\nsame\n";

/// The page `home` with a content of our own, known to nobody.
async fn page(content: &str) -> (DemoWiki, Served, i64) {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let content = content.to_owned();
    wiki.with_store(|store| store.page_mut(id).unwrap().content = content);
    let served = Setup::editor(&wiki).serve().await;
    (wiki, served, id)
}

fn content(wiki: &DemoWiki, id: i64) -> String {
    wiki.with_store(|store| store.page_mut(id).unwrap().content.clone())
}

async fn update(served: &Served, id: i64, mut arguments: Value) -> Result<Value, Value> {
    arguments["id"] = json!(id);
    served.confirmed(UPDATE, arguments).await
}

/// Both: the change made and the change previewed are of the whole page.
async fn becomes(arguments: Value, before: &str, after: &str) {
    let (wiki, served, id) = page(before).await;
    let applied = update(&served, id, arguments.clone()).await.unwrap();
    assert_eq!(applied["outcome"], "applied", "{arguments}");
    assert_eq!(applied["changed"], json!(["content"]), "{arguments}");
    assert_eq!(content(&wiki, id), after, "{arguments}");
}

#[tokio::test]
async fn edits_replace_exactly_what_they_name_one_after_another() {
    let edits = json!({ "edits": [
        { "oldText": "apt", "newText": "dnf" },
        { "oldText": "dnf\n", "newText": "dnf or apt\n" },
        { "oldText": "Lead\r\n", "newText": "Lead, changed\r\n" },
    ] });
    let after = TEXT
        .replace("apt", "dnf or apt")
        .replace("Lead\r\n", "Lead, changed\r\n");
    becomes(edits, TEXT, &after).await;
}

#[tokio::test]
async fn an_edit_whose_text_is_not_there_once_is_refused_with_the_places() {
    let (wiki, served, id) = page(TEXT).await;
    let edit = |old: &str| json!({ "edits": [{ "oldText": old, "newText": "x" }] });

    let error = update(&served, id, edit("same")).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_NOT_APPLICABLE");
    let lines = error["details"]["places"].as_array().unwrap().iter();
    let lines: Vec<&Value> = lines.map(|place| &place["line"]).collect();
    assert_eq!(lines, [22, 23]);

    let error = update(&served, id, edit("Lead\n")).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_NOT_APPLICABLE");
    assert_eq!(error["details"]["differsIn"], "lineEndings");
    assert_eq!(error["details"]["places"][0]["line"], 4);

    // The second does not fit what the first left; then the first is not made either.
    let two = json!({ "edits": [{ "oldText": "apt", "newText": "dnf" }, { "oldText": "apt", "newText": "x" }] });
    let error = update(&served, id, two).await.unwrap_err();
    assert_eq!(error["details"]["edit"], 1);

    let error = update(&served, id, edit("")).await.unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
    assert_eq!(error["details"]["fields"][0]["path"], "edits[0].oldText");
    assert_eq!(content(&wiki, id).as_str(), TEXT);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_patch_applies_exactly_or_is_refused_with_the_hunk() {
    let patch = "--- a\n+++ b\n@@ -9,3 +9,3 @@\n \n-apt\n+dnf\n \n";
    becomes(json!({ "patch": patch }), TEXT, &TEXT.replace("apt", "dnf")).await;

    let (wiki, served, id) = page(TEXT).await;
    let moved = patch.replace("-9,3 +9,3", "-8,3 +8,3");
    let error = update(&served, id, json!({ "patch": moved }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "EDIT_NOT_APPLICABLE");
    error["details"].shows(json!({ "hunk": 1, "line": 8 }));
    let found = error["details"]["found"].as_array().unwrap();
    assert!(
        found.contains(&json!({ "line": 8, "text": "## Linux" })),
        "{error}"
    );
    let elsewhere = "@@ -21,2 +21 @@\n-Lead\n \n";
    let error = update(&served, id, json!({ "patch": elsewhere }))
        .await
        .unwrap_err();
    assert_eq!(error["details"]["differsIn"], "lineEndings");
    assert_eq!(error["details"]["nearest"][0]["line"], 4);
    says(
        &error["hint"].as_str().unwrap(),
        "line 4, but for its line endings",
    );
    let error = update(&served, id, json!({ "patch": "no diff" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
    assert_eq!(content(&wiki, id).as_str(), TEXT);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_section_changes_and_all_else_stays_to_the_byte() {
    let linux = "## Linux\n\napt\n\n```\n# no heading\n```\n\n";
    let of = |section: &str, mode: &str, content: &str| json!({ "section": section, "sectionMode": mode, "sectionContent": content });
    for selector in ["heading:h2[0]", "Linux", "Install/Linux", " Linux "] {
        let after = TEXT.replace(linux, "## Linux\n\ndnf\n\n");
        becomes(of(selector, "replace", "## Linux\n\ndnf\n"), TEXT, &after).await;
    }
    becomes(
        of("section[0]", "append", "More.\n"),
        TEXT,
        &TEXT.replace("Lead\r\n\n", "Lead\r\n\nMore.\n\n"),
    )
    .await;
    becomes(
        of("section[2]", "prepend", "First.\n"),
        TEXT,
        &TEXT.replace("# Notes\n\nsame", "# Notes\n\nFirst.\n\nsame"),
    )
    .await;
    becomes(
        of("Linux", "insertAfter", "## BSD\n\npkg\n"),
        TEXT,
        &TEXT.replace("## Windows", "## BSD\n\npkg\n\n## Windows"),
    )
    .await;
    let arguments = json!({ "section": "Linux", "sectionMode": "remove" });
    becomes(arguments, TEXT, &TEXT.replace(linux, "")).await;
}

#[tokio::test]
async fn a_section_that_is_not_there_once_is_never_guessed() {
    let (wiki, served, id) = page("# A\n\n## Same\n\n# B\n\n## Same\n").await;
    let section = |name: &str| json!({ "section": name, "sectionContent": "x" });
    let error = update(&served, id, section("Same")).await.unwrap_err();
    assert_eq!(error["code"], "AMBIGUOUS_SECTION");
    let selectors = error["details"]["candidates"].as_array().unwrap().iter();
    let selectors: Vec<&Value> = selectors.map(|one| &one["selector"]).collect();
    assert_eq!(selectors, ["heading:h2[0]", "heading:h2[1]"]);
    let in_any_case = update(&served, id, section("same")).await.unwrap_err();
    assert_eq!(in_any_case["code"], "AMBIGUOUS_SECTION");
    for name in ["Sam", "heading:h2[2]", "section[0]", "C/Same"] {
        let error = update(&served, id, section(name)).await.unwrap_err();
        assert_eq!(error["code"], "SECTION_NOT_FOUND", "{name}");
        assert!(error["details"]["headings"].as_array().unwrap().len() >= 2);
    }
    let error = update(&served, id, section("heading:h7[0]"))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
    says(&error["message"], "at character 9");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn other_editors_take_content_edits_and_patches_but_no_sections() {
    let (wiki, served, id) = page("<h1>One</h1>\n").await;
    wiki.with_store(|store| "code".clone_into(&mut store.page_mut(id).unwrap().editor));
    let asked = json!({ "section": "One", "sectionContent": "x" });
    let error = update(&served, id, asked).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_NOT_APPLICABLE");
    for (arguments, after) in json_rows::<(Value, &str)>(&json!([
        [{ "edits": [{ "oldText": "One", "newText": "Two" }] }, "<h1>Two</h1>\n"],
        [{ "patch": "@@ -1 +1 @@\n-<h1>Two</h1>\n+<h1>Three</h1>\n" }, "<h1>Three</h1>\n"],
        [{ "content": "<h1>Four</h1>\n" }, "<h1>Four</h1>\n"],
    ])) {
        update(&served, id, arguments).await.unwrap();
        assert_eq!(content(&wiki, id), after);
    }
}

#[tokio::test]
async fn nothing_may_be_left_without_content() {
    let (wiki, served, id) = page("# One\n\ntext\n").await;
    for arguments in [
        json!({ "edits": [{ "oldText": "# One\n\ntext\n", "newText": " " }] }),
        json!({ "patch": "@@ -1,3 +0,0 @@\n-# One\n-\n-text\n" }),
        json!({ "section": "One", "sectionMode": "remove" }),
    ] {
        let error = update(&served, id, arguments).await.unwrap_err();
        assert_eq!(error["code"], "EDIT_NOT_APPLICABLE");
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn only_one_way_to_change_the_content_is_taken() {
    let (wiki, served, id) = page(TEXT).await;
    let ways = [
        ("content", json!("x")),
        ("edits", json!([{ "oldText": "apt", "newText": "x" }])),
        ("patch", json!("@@ -1 +1 @@\n-a\n+b\n")),
        ("section", json!("Linux")),
        ("fromVersion", json!(1)),
    ];
    for (first, value) in &ways {
        for (second, other) in ways.iter().filter(|(second, _)| second != first) {
            let mut arguments = json!({ "sectionContent": "x" });
            if *first != "section" && *second != "section" {
                arguments = json!({});
            }
            arguments[*first] = value.clone();
            arguments[*second] = other.clone();
            let error = update(&served, id, arguments).await.unwrap_err();
            assert_eq!(error["code"], "INVALID_INPUT", "{first} {second}");
        }
    }
    for (arguments, path) in json_rows::<(Value, &str)>(&json!([
        [{ "sectionContent": "x", "title": "T" }, "sectionContent"],
        [{ "sectionMode": "remove", "title": "T" }, "sectionMode"],
        [{ "section": "Linux" }, "sectionContent"],
        [{ "section": "Linux", "sectionMode": "remove", "sectionContent": "x" }, "sectionContent"],
        [{ "tags": ["a"], "addTags": ["b"] }, "tags"],
        [{ "addTags": ["A"], "removeTags": ["a"] }, "removeTags"],
        [{ "edits": [] }, "edits"],
        [{ "edits": [{ "oldText": "a" }] }, "edits[0]"],
        [{ "edits": [{ "oldText": "a", "newText": "b\0" }] }, "edits[0].newText"],
        [{ "edits": [{ "oldText": "a", "newText": "b", "all": true }] }, "edits[0].all"],
    ])) {
        let error = update(&served, id, arguments.clone()).await.unwrap_err();
        assert_eq!(error["code"], "INVALID_INPUT", "{arguments}");
        assert_eq!(
            error["details"]["fields"][0]["path"], path,
            "{arguments}: {error}"
        );
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn tags_come_and_go_while_the_others_stay() {
    let (wiki, served, id) = page(TEXT).await;
    update(&served, id, json!({ "tags": ["one", "two"] }))
        .await
        .unwrap();
    let arguments = json!({ "addTags": [" Three ", "one"], "removeTags": ["two", "none"] });
    let applied = update(&served, id, arguments).await.unwrap();
    assert_eq!(applied["changed"], json!(["tags"]));
    let tags = |wiki: &DemoWiki| {
        let mut tags = wiki.with_store(|store| store.page_mut(id).unwrap().tags.clone());
        tags.sort();
        tags
    };
    assert_eq!(tags(&wiki), ["one", "three"]);
    let arguments = json!({ "addTags": ["one"], "removeTags": ["two"] });
    let unchanged = update(&served, id, arguments).await.unwrap();
    assert_eq!(unchanged["outcome"], "unchanged");
}

#[tokio::test]
async fn an_old_version_comes_back_without_what_versions_lack() {
    let (wiki, served, id) = page("Old.\n").await;
    let first =
        json!({ "title": "Old title", "description": "old", "tags": ["old"], "scriptJs": "" });
    update(&served, id, first).await.unwrap();
    update(
        &served,
        id,
        json!({ "content": "New.\n", "title": "New title", "description": "new", "tags": ["new"] }),
    )
    .await
    .unwrap();
    update(&served, id, json!({ "path": "moved" }))
        .await
        .unwrap();
    let history = served.call(HISTORY, json!({ "id": id })).await.unwrap();
    let versions: Vec<i64> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["versionId"].as_i64().unwrap())
        .collect();
    let mut restored = false;
    for version in versions {
        // The newest that is older than the new content has it all.
        let preview = call_ok(&served, UPDATE, json!({ "id": id, "fromVersion": version })).await;
        if preview["diff"]
            .as_str()
            .is_none_or(|diff| !diff.contains("+Old."))
        {
            continue;
        }
        let arguments = json!({ "fromVersion": version, "description": "mine" });
        let applied = update(&served, id, arguments).await.unwrap();
        assert_eq!(applied["outcome"], "applied");
        restored = true;
        break;
    }
    assert!(restored);
    wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        assert_eq!(page.content.as_str(), "Old.\n");
        assert_eq!(page.title.as_str(), "Old title");
        assert_eq!(page.path.as_str(), "moved");
        assert_eq!(page.description.as_deref(), Some("mine"));
        assert_eq!(page.tags, ["new"]);
    });
    let error = update(&served, id, json!({ "fromVersion": 2_000_000 }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "VERSION_NOT_FOUND");
}

#[tokio::test]
async fn a_token_confirms_an_edit_by_itself_and_beside_the_same_edit_alone() {
    let (wiki, served, id) = page(TEXT).await;
    let edit = |new: &str| json!({ "id": id, "edits": [{ "oldText": "apt", "newText": new }] });
    let preview = served.call(UPDATE, edit("dnf")).await.unwrap();
    let mut other = edit("pkg");
    other["confirm"] = preview["confirm"].clone();
    fails(&served, UPDATE, other, "CONFIRM_MISMATCH").await;
    let mut same = edit("dnf");
    same["confirm"] = preview["confirm"].clone();
    is_applied(&served, UPDATE, same).await;
    fails(&served, UPDATE, edit("x"), "EDIT_NOT_APPLICABLE").await;
    assert_eq!(content(&wiki, id), TEXT.replace("apt", "dnf"));
}

#[tokio::test]
async fn a_failure_that_names_headings_is_bounded() {
    let (_wiki, served, id) =
        page(&format!("# {}\n\n# Same\n\n# Same\n", "x".repeat(900_000))).await;
    for name in ["Other", "Same"] {
        let section = json!({ "section": name, "sectionContent": "y" });
        let error = update(&served, id, section).await.unwrap_err();
        assert!(error.to_string().len() < 10_000, "{name}");
    }
}
