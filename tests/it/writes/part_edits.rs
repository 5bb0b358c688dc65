//! Writes that say what changes by the parts of a page: rows and items, blocks, properties, texts
//! outside of code, a part of a version, a part as a new page.

use crate::prelude::*;

const TEXT: &str = "---\nstatus: draft # soon\nteams:\n  - ops\n---\n\n# Requests\n\n| who | what |\n|---|---|\n| ann | `a \\| b` |\n\n# Steps\n\n- one\n- two word\n\n```\nword | --- |\n```\n";

async fn served(pages: &[(&str, &str)]) -> (DemoWiki, Served) {
    let wiki = wiki_of(pages).await;
    let setup = Setup::admin(&wiki).indexed().toolsets("pages,undo,drafts");
    (wiki, setup.serve().await)
}

fn content(wiki: &DemoWiki, path: &str) -> Option<String> {
    wiki.with_store(|store| Some(store.page_at("en", path)?.content.clone()))
}

/// Each change made of the text, with what it replaces and by what.
fn changes() -> Vec<(Value, &'static str, &'static str)> {
    let of = |section: &str, mode: &str, content: &str| json!({ "section": section, "sectionMode": mode, "sectionContent": content });
    let row = "| ann | `a \\| b` |\n";
    let edit = json!([{ "oldText": "word", "newText": "term" }]);
    let (new, with_new) = ("| bo | c |", "| ann | `a \\| b` |\n| bo | c |\n");
    let first = "| bo | c |\n| ann | `a \\| b` |\n";
    let remove = json!({ "section": "block:table[0]", "sectionMode": "remove" });
    let table = "| who | what |\n|---|---|\n| ann | `a \\| b` |\n\n";
    let by = json!(["a", "b: c"]);
    let head = json!({ "status": "done", "teams": null, "since": 2026, "by": by });
    let old_head = "status: draft # soon\nteams:\n  - ops\n";
    let new_head = "status: done # soon\nsince: 2026\nby: [a, \"b: c\"]\n";
    let all = json!({ "edits": edit, "replaceAll": true });
    let outside = json!({ "edits": edit, "replaceAll": true, "outsideCode": true });
    let (words, terms) = ("two word\n\n```\nword", "two term\n\n```\nterm");
    let (list, code) = ("- one\n- two word\n", "```\nword");
    vec![
        (of("Requests", "append", new), row, with_new),
        (of("Requests/block:table[0]", "append", new), row, with_new),
        (of("h1[0]/block:table[0]", "prepend", new), row, first),
        (
            of("Steps/block:list[0]", "replace", "- three"),
            list,
            "- three\n",
        ),
        (
            of("block:code[0]", "insertBefore", "Run:"),
            code,
            "Run:\n\n```\nword",
        ),
        (
            of("block:list[0]", "insertAfter", "Then:"),
            "two word\n",
            "two word\n\nThen:\n",
        ),
        (
            of("block:list[0]", "replace", "- 1\n- 2\n"),
            list,
            "- 1\n- 2\n",
        ),
        (
            json!({ "edits": [{ "oldText": "two word", "newText": "two\n- three" }] }),
            "two word",
            "two\n- three",
        ),
        (remove, table, "\n"),
        (
            of("Steps", "insertBefore", "# Before\n"),
            "# Steps",
            "# Before\n\n# Steps",
        ),
        (json!({ "frontMatter": head }), old_head, new_head),
        (outside, "two word", "two term"),
        (all, words, terms),
    ]
}

#[tokio::test]
async fn each_way_to_change_a_part_is_confirmed_written_and_taken_back() {
    for end in ["\n", "\r\n"] {
        let text = TEXT.replace('\n', end);
        let (wiki, served) = served(&[("docs/a", &text)]).await;
        let id = id_of(&wiki, "docs/a");
        for (mut arguments, old, new) in changes() {
            let told = arguments.to_string();
            let expected = text.replacen(&old.replace('\n', end), &new.replace('\n', end), 1);
            arguments["id"] = json!(id);
            let applied = is_applied(&served, UPDATE, arguments).await;
            assert_eq!(content(&wiki, "docs/a"), Some(expected), "{told}");
            is_applied(&served, UNDO, json!({ "callId": applied["callId"] })).await;
            assert_eq!(content(&wiki, "docs/a").as_deref(), Some(&*text), "{told}");
        }
    }
}

#[tokio::test]
async fn what_is_not_sensible_is_refused_with_the_right_form() {
    let html = "<h1>A</h1>";
    let (wiki, served) = served(&[("docs/a", TEXT), ("docs/html", html)]).await;
    let html = id_of(&wiki, "docs/html");
    wiki.with_store(|store| store.page_mut(html).unwrap().editor = "code".to_owned());
    let id = id_of(&wiki, "docs/a");
    let before = mutations(&wiki).len();
    let refused = async |code: &str, mut arguments: Value, hint: &str| {
        arguments["id"] = arguments.get("id").cloned().unwrap_or_else(|| json!(id));
        let told = arguments.to_string();
        let error = served.call(UPDATE, arguments).await.expect_err(&told);
        assert_eq!(error["code"], code, "{told}: {error}");
        assert!(error.to_string().contains(hint), "{told}: {error}");
        error
    };
    let of = |section: &str, mode: &str| json!({ "section": section, "sectionMode": mode, "sectionContent": "text" });
    let unfit = "EDIT_NOT_APPLICABLE";
    refused(unfit, of("block:table[0]", "append"), "| a | b |").await;
    refused(unfit, of("block:list[0]", "prepend"), "- item").await;
    refused(unfit, of("block:code[0]", "append"), "sectionMode replace").await;
    let invalid = "INVALID_INPUT";
    refused(invalid, of("block:table", "append"), "index").await;
    let for_reading = of("block:table[0]?full=true", "append");
    refused(invalid, for_reading, "for reading").await;
    let missing = of("Requests/block:list[3]", "append");
    let missing = refused("SECTION_NOT_FOUND", missing, "block:list[0]").await;
    let blocks = json!(["1 block:code[0]", "1 block:list[0]", "1 block:table[0]"]);
    assert_eq!(missing["details"]["blocks"], blocks);
    let set = |key: &str, value: Value| json!({ "frontMatter": { key: value } });
    refused(unfit, set("status", json!({ "a": 1 })), "with edits").await;
    refused(unfit, set("status", json!("a\nb")), "with edits").await;
    let arguments = json!({ "frontMatter": "status: done" });
    refused(invalid, arguments, "frontMatter").await;
    let of_html = json!({ "id": html, "frontMatter": { "a": 1 } });
    refused(unfit, of_html, "Markdown editor").await;
    let edits = json!([{ "oldText": "--- |", "newText": "x" }]);
    let arguments = json!({ "edits": edits, "replaceAll": true, "outsideCode": true });
    refused(unfit, arguments, "only in code").await;
    let arguments = json!({ "edits": edits, "outsideCode": true });
    refused(invalid, arguments, "needs replaceAll").await;
    let arguments = json!({ "title": "T", "replaceAll": true });
    refused(invalid, arguments, "needs edits").await;
    let arguments = json!({ "content": "T", "frontMatter": { "a": 1 } });
    refused(invalid, arguments, "one way").await;
    let patch = json!({ "patch": "@@ -1,3 +1,3 @@\n - one\n-- two words\n+- 2\n \n" });
    let error = refused(unfit, patch, "line 15").await;
    let expected = json!({ "line": 15, "text": "- one" });
    assert_eq!(error["details"]["nearest"][0], expected);
    assert_eq!(mutations(&wiki).len(), before);
}

#[tokio::test]
async fn text_in_code_that_is_replaced_is_counted_in_the_preview() {
    let pages = [
        ("docs/a", TEXT),
        ("docs/b", "`word` word"),
        ("docs/c", "word"),
    ];
    let (wiki, served) = served(&pages).await;
    let edits = json!([{ "oldText": "word", "newText": "term" }]);
    let code = |answer: &Value| {
        let mut warnings = warnings(answer).into_iter();
        warnings.find(|warning| warning.starts_with("in_code: "))
    };
    let one = json!({ "id": id_of(&wiki, "docs/a"), "edits": edits, "replaceAll": true });
    let shown = call_ok(&served, UPDATE, one.clone()).await;
    says(&code(&shown).unwrap(), "1 of the replaced texts");
    let mut outside = one;
    outside["outsideCode"] = json!(true);
    assert_eq!(code(&call_ok(&served, UPDATE, outside).await), None);

    let mut all = json!({ "path": "docs", "replaceAll": edits });
    let shown = call_ok(&served, BULK, all.clone()).await;
    says(&code(&shown).unwrap(), "docs/a: 1 of the replaced texts");
    let part = "docs/b: 1 of the replaced texts";
    says(&shown["warnings"].to_string(), part);
    all["outsideCode"] = json!(true);
    let done = confirmed_ok(&served, BULK, all).await;
    assert_eq!(content(&wiki, "docs/b").as_deref(), Some("`word` term"));
    assert_eq!(content(&wiki, "docs/c").as_deref(), Some("term"));
    is_applied(&served, UNDO, json!({ "callId": done["callId"] })).await;
    assert_eq!(content(&wiki, "docs/b").as_deref(), Some("`word` word"));

    let copy = json!({ "path": "docs/d", "title": "D", "fromPage": id_of(&wiki, "docs/b"), "replaceAll": edits });
    let shown = call_ok(&served, CREATE, copy.clone()).await;
    says(&code(&shown).unwrap(), "1 of the replaced texts");
    let mut outside = copy;
    outside["outsideCode"] = json!(true);
    is_applied(&served, CREATE, outside).await;
    assert_eq!(content(&wiki, "docs/d").as_deref(), Some("`word` term"));
}

#[tokio::test]
async fn one_part_comes_back_from_a_version_and_the_rest_stays() {
    let (wiki, served) = served(&[("docs/a", "# X\n\n# A\n\nold\n")]).await;
    let id = id_of(&wiki, "docs/a");
    let now = "# A\n\nnew\n\n# B\n\nb\n";
    let asked = json!({ "id": id, "content": now, "title": "New title" });
    is_applied(&served, UPDATE, asked).await;
    is_applied(&served, UPDATE, json!({ "id": id, "description": "d" })).await;
    let history = call_ok(&served, HISTORY, json!({ "id": id })).await;
    let entries = history["entries"].as_array().unwrap().iter();
    let versions = entries.filter_map(|entry| entry["versionId"].as_i64());
    let version = versions.min().unwrap();
    let back = |section: &str| json!({ "id": id, "fromVersion": version, "section": section });
    let expected = "# A\n\nold\n\n# B\n\nb\n";
    // The number counts the headings of the page as it is.
    for section in ["A", "h1[0]", "A/block:paragraph[0]"] {
        let applied = is_applied(&served, UPDATE, back(section)).await;
        assert_eq!(applied["changed"], json!(["content"]), "{section}");
        let old = content(&wiki, "docs/a");
        assert_eq!(old.as_deref(), Some(expected), "{section}");
        is_applied(&served, UNDO, json!({ "callId": applied["callId"] })).await;
        assert_eq!(content(&wiki, "docs/a").as_deref(), Some(now), "{section}");
    }
    let missing = fails(&served, UPDATE, back("B"), "SECTION_NOT_FOUND").await;
    let part = "The version has no such section";
    says(&missing["message"].as_str().unwrap(), part);
    says(&missing["details"]["headings"].to_string(), "\"X\"");
    let gone = fails(&served, UPDATE, back("X"), "SECTION_NOT_FOUND").await;
    says(&gone["hint"].as_str().unwrap(), "insertAfter");
    for (name, value) in [("sectionContent", "x"), ("sectionMode", "append")] {
        let arguments = back("A").but(|it| it[name] = json!(value));
        let error = fails(&served, UPDATE, arguments, "INVALID_INPUT").await;
        assert_eq!(error["details"]["fields"][0]["path"], name);
    }
}

#[tokio::test]
async fn a_title_and_a_folder_make_the_path_which_the_preview_shows() {
    let (wiki, served) = served(&[("docs/a", TEXT)]).await;
    let new = json!({ "folder": "docs/", "title": "Release 2.4: Über „A/B“", "content": "x\n" });
    let shown = call_ok(&served, CREATE, new.clone()).await;
    let path = "docs/release-2-4-über-a-b";
    assert_eq!(shown["target"]["path"], path, "{shown}");
    // It is confirmed by the same words, or by the path that was shown.
    let made = is_applied(&served, CREATE, new.clone()).await;
    assert_eq!(content(&wiki, path).as_deref(), Some("x\n"));
    fails(&served, CREATE, new.clone(), "PAGE_EXISTS").await;
    is_applied(&served, UNDO, json!({ "callId": made["callId"] })).await;
    let confirm = call_ok(&served, CREATE, new.clone()).await["confirm"].clone();
    let by_path = json!({ "path": path, "confirm": confirm });
    is_applied(&served, CREATE, by_path).await;
    // The token alone names no page.
    let mut other = new;
    other["title"] = json!("Other");
    let confirm = call_ok(&served, CREATE, other).await["confirm"].clone();
    let asked = json!({ "confirm": confirm });
    fails(&served, CREATE, asked, "INVALID_INPUT").await;
    let long = "t".repeat(254);
    for (more, at) in json_rows::<(Value, &str)>(&json!([
        [{ "title": "T" }, "path"],
        [{ "folder": "docs" }, "folder"],
        [{ "folder": "docs", "path": "docs/x", "title": "T" }, "folder"],
        [{ "folder": "docs", "title": "!?" }, "title"],
        [{ "folder": "login", "title": "T" }, "path"],
        [{ "folder": "", "title": "T" }, "path"],
        [{ "folder": "docs", "title": long }, "title"],
        [{ "folder": 1, "title": "T" }, "folder"],
    ])) {
        let arguments = more.but(|more| more["content"] = json!("x"));
        let error = fails(&served, CREATE, arguments, "INVALID_INPUT").await;
        assert_eq!(error["details"]["fields"][0]["path"], at, "{error}");
    }
}

#[tokio::test]
async fn a_page_is_split_in_one_set() {
    let text = "# Guide\n\nLead.\n\n## Install\n\na\n\n### Linux\n\n| a |\n|---|\n\n## Use\n\nb\n";
    let (wiki, served) = served(&[("docs/a", text)]).await;
    let id = id_of(&wiki, "docs/a");
    let part = json!({ "folder": "docs", "title": "Install", "fromPage": id, "section": "Guide/Install", "draft": "split" });
    call_ok(&served, CREATE, part).await;
    let gone = json!({ "id": id, "section": "Install", "sectionContent": "[Install](/docs/install)\n", "draft": "split" });
    call_ok(&served, UPDATE, gone).await;
    let row = json!({ "id": id, "section": "Use", "sectionMode": "append", "sectionContent": "c\n", "draft": "split" });
    call_ok(&served, UPDATE, row).await;
    assert_eq!(mutations(&wiki).len(), 0);
    call_ok(&served, CHANGE_SET, json!({ "id": "split" }))
        .await
        .shows(json!({ "pages": 2 }));
    let done = confirmed_ok(&served, SUBMIT, json!({ "draft": "split" })).await;
    done.shows(json!({ "outcome": "applied", "applied": 2 }));
    // The heading that is the title goes, and those below it rise.
    let made = content(&wiki, "docs/install");
    assert_eq!(made.as_deref(), Some("a\n\n## Linux\n\n| a |\n|---|\n\n"));
    let left = "# Guide\n\nLead.\n\n[Install](/docs/install)\n\n## Use\n\nb\n\nc\n";
    assert_eq!(content(&wiki, "docs/a").as_deref(), Some(left));
    is_applied(&served, UNDO, json!({ "callId": done["callId"] })).await;
    assert_eq!(content(&wiki, "docs/a").as_deref(), Some(text));
    assert_eq!(content(&wiki, "docs/install"), None);

    let other =
        json!({ "path": "docs/i", "title": "Setting up", "fromPage": id, "section": "Install" });
    is_applied(&served, CREATE, other).await;
    let made = content(&wiki, "docs/i");
    let made = made.as_deref();
    assert_eq!(made, Some("# Install\n\na\n\n## Linux\n\n| a |\n|---|\n\n"));
    let missing = json!({ "path": "docs/j", "title": "J", "fromPage": id, "section": "Instal" });
    let error = fails(&served, CREATE, missing, "SECTION_NOT_FOUND").await;
    assert_eq!(error["details"]["headings"][0]["text"], "Install");
    let alone = json!({ "path": "docs/j", "title": "J", "content": "x", "section": "A" });
    fails(&served, CREATE, alone, "INVALID_INPUT").await;
}
