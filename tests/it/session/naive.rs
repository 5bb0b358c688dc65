//! Calls as models write them who have not read the schema: understood where they can mean one
//! thing, else refused with what to do instead.

use crate::prelude::*;

async fn served() -> (DemoWiki, Served) {
    let (wiki, served) = sample(Setup::editor).await;
    (wiki, served)
}

fn add(wiki: &DemoWiki, locale: &str, path: &str, title: &str, tags: &[&str]) -> i64 {
    wiki.with_store(|store| {
        store.add(PageRow {
            locale: locale.to_owned(),
            path: path.to_owned(),
            title: title.to_owned(),
            content: format!("# {title}\n"),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..PageRow::default()
        })
    })
}

fn paths(answer: &Value, name: &str) -> Vec<String> {
    let pages = answer[name].as_array().unwrap().iter();
    let path = |page: &Value| page["path"].as_str().unwrap().to_owned();
    pages.map(path).collect()
}

fn fault(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

#[tokio::test]
async fn whole_numbers_are_taken_as_text_and_versions_as_numbers() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "docs");
    let by_text = json!({ "id": id.to_string(), "view": "metadata" });
    let page = served.call(BY_ID, by_text).await.unwrap();
    assert_eq!(page["id"], id);
    let several = json!({ "ids": [id.to_string(), id], "view": "metadata" });
    served.call(BY_ID, several).await.unwrap();

    let edit = json!({ "id": id.to_string(), "description": "Other" });
    served.confirmed(UPDATE, edit).await.unwrap();
    let history = call_ok(&served, HISTORY, json!({ "id": id, "limit": "1" })).await;
    let version = &history["entries"][0]["versionId"];
    assert!(version.is_i64());
    let compare = json!({ "id": id, "compare": { "from": version, "to": "current" } });
    let answer = served.call(HISTORY, compare).await.unwrap();
    let after = &answer["comparison"]["changes"]["description"]["after"];
    assert_eq!(after, "Other");
    // What has other characters is no number.
    for text in ["2 40", "-1", "1.0", "", "99999999999999999999"] {
        fails(&served, BY_ID, json!({ "id": text }), "INVALID_INPUT").await;
    }
}

#[tokio::test]
async fn a_path_or_title_where_an_id_is_wanted_leads_to_the_tool_that_takes_it() {
    let (_wiki, served) = served().await;
    for (tool, arguments) in [
        (BY_ID, json!({ "id": "docs/install" })),
        (BY_ID, json!({ "path": "docs/install" })),
        (BY_ID, json!({ "ids": ["docs"] })),
        (SEARCH, json!({ "relatedTo": "docs" })),
    ] {
        let error = fails(&served, tool, arguments, "INVALID_INPUT").await;
        assert!(
            error.to_string().contains("wikijs_get_page_by_path takes"),
            "{tool}: {error}"
        );
    }
    for (tool, arguments) in [
        (HISTORY, json!({ "id": "Documentation" })),
        (HISTORY, json!({ "title": "Documentation" })),
        (UPDATE, json!({ "id": "docs", "title": "x" })),
        (UPDATE, json!({ "title": "x" })),
        (DELETE, json!({ "path": "docs" })),
    ] {
        let error = fails(&served, tool, arguments, "INVALID_INPUT").await;
        says(&error.to_string(), "page");
    }
    let by_id = json!({ "id": 1 });
    let error = served.call(BY_PATH, by_id).await.unwrap_err();
    assert!(fault(&error).contains("wikijs_get_page_by_id takes it"));
}

#[tokio::test]
async fn a_new_path_is_taken_in_every_form_in_which_pages_are_read() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "glossary");
    let address = wiki.address();
    for (path, place) in [
        ("/en/naive/one", ("en", "naive/one")),
        ("en/naive/two", ("en", "naive/two")),
        ("de:naive/three", ("de", "naive/three")),
        (&format!("{address}/en/naive/four"), ("en", "naive/four")),
        ("/naive/five/", ("en", "naive/five")),
    ] {
        let moved = json!({ "id": id, "path": path });
        let applied = served.confirmed(UPDATE, moved).await.unwrap();
        let target = &applied["target"];
        target.shows(json!({ "locale": place.0, "path": place.1 }));
    }
    for (path, locale, message) in [
        ("https://elsewhere.example.org/en/x", None, "another site"),
        ("/en/naive/x", Some("de"), "is in the locale en, not in de"),
        ("naive/a b", None, "a space"),
        ("/en/login", None, "which Wiki.js keeps for itself"),
    ] {
        let mut moved = json!({ "id": id, "path": path });
        if let Some(locale) = locale {
            moved["locale"] = json!(locale);
        }
        let error = served.call(UPDATE, moved).await.unwrap_err();
        assert!(fault(&error).contains(message), "{path}: {error}");
    }
    let created = json!({ "path": "/de/naive/new", "title": "Neu", "content": "x" });
    let applied = served.confirmed(CREATE, created).await.unwrap();
    applied["target"].shows(json!({ "locale": "de", "path": "naive/new" }));
}

#[tokio::test]
async fn a_hash_before_a_tag_counts_only_where_such_a_tag_is() {
    let (wiki, served) = served().await;
    add(&wiki, "en", "naive/plain", "Plain", &["ops"]);
    let marked = add(&wiki, "en", "naive/marked", "Marked", &["#really"]);
    let list = |tag: &str| json!({ "tags": [tag] });
    for (tag, path) in [
        ("#ops", "naive/plain"),
        ("#OPS", "naive/plain"),
        ("#really", "naive/marked"),
    ] {
        let answer = served.call(LIST, list(tag)).await.unwrap();
        assert_eq!(paths(&answer, "pages"), [path], "{tag}");
    }
    let search = json!({ "query": "plain", "tags": ["#ops"], "in": "wiki" });
    let answer = served.call(SEARCH, search).await.unwrap();
    assert_eq!(paths(&answer, "hits"), ["naive/plain"]);
    let tags = served.call(TAGS, json!({ "query": "#ops" })).await.unwrap();
    assert_eq!(tags["tags"][0]["tag"], "ops");

    let edit = json!({ "id": marked, "addTags": ["#Ops", "ops", "#new", "#really"] });
    let preview = served.call(UPDATE, edit.clone()).await.unwrap();
    let expected = json!(["#really", "ops", "new"]);
    assert_eq!(preview["changes"]["tags"]["after"], expected);
    // The same arguments beside the token mean the same.
    let mut confirmed = edit;
    confirmed["confirm"] = preview["confirm"].clone();
    is_applied(&served, UPDATE, confirmed).await;
    // Where all tags are said, it is so as well.
    let all = json!({ "id": marked, "tags": ["#kept", "#really"] });
    let preview = served.call(UPDATE, all).await.unwrap();
    let expected = json!(["kept", "#really"]);
    assert_eq!(preview["changes"]["tags"]["after"], expected);
}

#[tokio::test]
async fn text_with_escapes_in_place_of_line_breaks_is_warned_of() {
    let (wiki, served) = served().await;
    let warned = |answer: &Value| {
        let warnings = answer.get("warnings").and_then(Value::as_array);
        warnings
            .into_iter()
            .flatten()
            .any(|warning| said(warning).starts_with("literal_escapes: "))
    };
    let page = |content: &str| json!({ "path": "naive/escaped", "title": "x", "content": content });
    let preview = served.call(CREATE, page(r"# One\n\nTwo")).await.unwrap();
    assert!(warned(&preview), "{preview}");
    let preview = served.call(CREATE, page("# One\n\nTwo \\n")).await.unwrap();
    assert!(!warned(&preview), "{preview}");
    let id = id_of(&wiki, "home");
    let section = json!({ "id": id, "section": "heading:h1[0]", "sectionMode": "append",
        "sectionContent": r"## More\n\n- a\n- b" });
    let preview = served.call(UPDATE, section).await.unwrap();
    assert!(warned(&preview), "{preview}");
}

#[tokio::test]
async fn a_section_is_found_in_any_letter_case_and_the_nearest_are_named() {
    let (wiki, served) = served().await;
    let steps = (0..30).map(|n| format!("## Step {n}\n\ntext {n}\n\n"));
    let content = steps.collect::<Vec<String>>().concat();
    let id = wiki.with_page(PageRow {
        path: "naive/sections".to_owned(),
        content: format!("# Backing up\n\n{content}# Restoring\n\nx\n"),
        ..PageRow::default()
    });
    let part = json!({ "id": id, "section": "BACKING UP/step 7" });
    let page = served.call(BY_ID, part).await.unwrap();
    assert!(page["content"].as_str().unwrap().starts_with("## Step 7\n"));
    let near = json!({ "id": id, "section": "Backup" });
    let error = fails(&served, BY_ID, near.clone(), "SECTION_NOT_FOUND").await;
    let headings = error["details"]["headings"].as_array().unwrap();
    assert_eq!(headings.len(), 5);
    assert_eq!(headings[0]["text"], "Backing up");
    assert_eq!(error["details"]["notShown"], 27);
    // The selector that it names works.
    let again = json!({ "id": id, "section": headings[0]["selector"] });
    served.call(BY_ID, again).await.unwrap();
    let mut edit = near;
    edit["sectionContent"] = json!("x");
    let error = served.call(UPDATE, edit).await.unwrap_err();
    assert_eq!(error["details"]["headings"][0]["text"], "Backing up");
    // Of an index that is too high, the last ones of that level.
    let high = json!({ "id": id, "section": "heading:h2[30]" });
    let error = served.call(BY_ID, high).await.unwrap_err();
    let selector = &error["details"]["headings"][4]["selector"];
    assert_eq!(selector, "heading:h2[29]");
}

#[tokio::test]
async fn an_edit_whose_text_is_nowhere_names_the_nearest_lines() {
    let (wiki, served) = served().await;
    let id = wiki.with_page(PageRow {
        path: "naive/lines".to_owned(),
        content: "# Jobs\n\nThe nightly job runs at two.\nThe weekly job runs on Sunday.\n"
            .to_owned(),
        ..PageRow::default()
    });
    let edit = |old: &str| json!({ "id": id, "edits": [{ "oldText": old, "newText": "x" }] });
    let error = fails(
        &served,
        UPDATE,
        edit("The nightly job is run at two."),
        "EDIT_NOT_APPLICABLE",
    )
    .await;
    let nearest = &error["details"]["nearest"][0];
    let expected = json!({ "line": 3, "text": "The nightly job runs at two." });
    assert_eq!(*nearest, expected);
    assert!(error["hint"].as_str().unwrap().contains("details.nearest"));
    // The line that it names can be edited.
    let text = nearest["text"].as_str().unwrap();
    served.confirmed(UPDATE, edit(text)).await.unwrap();
}

#[tokio::test]
async fn a_confirm_that_is_no_token_is_told_from_one_that_expired() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "home");
    let call = async |confirm: &str| {
        let edit = json!({ "id": id, "title": "x", "confirm": confirm });
        served.call(UPDATE, edit).await.unwrap_err()["code"].clone()
    };
    for confirm in ["yes", "true", "confirm", "0123"] {
        assert_eq!(call(confirm).await, "CONFIRM_MISMATCH", "{confirm}");
    }
    assert_eq!(call(&"0a".repeat(16)).await, "CONFIRM_EXPIRED");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_name_with_folders_before_it_is_found_by_whole_segments() {
    let (wiki, served) = served().await;
    let one = add(&wiki, "en", "sites/one/operations/backup", "Readme", &[]);
    let two = add(
        &wiki,
        "en",
        "sites/two/operations/backup",
        "Readme of X",
        &[],
    );
    let get = async |path: &str| {
        let page = json!({ "path": path, "view": "metadata" });
        served.call(BY_PATH, page).await
    };
    for (text, id) in [
        ("one/operations/backup", one),
        ("Two/Operations/backup", two),
        ("[[two/operations/Readme of X]]", two),
        ("operations/readme of x", two),
        ("[[one/operations/Readme#Part|shown]]", one),
    ] {
        match get(text).await {
            Ok(page) => assert_eq!(page["id"], id, "{text}"),
            // The page was found, and has no such part.
            Err(error) => assert_eq!(error["code"], "SECTION_NOT_FOUND", "{text}"),
        }
    }
    let error = get("operations/backup").await.unwrap_err();
    assert_eq!(error["code"], "AMBIGUOUS_PAGE");
    assert_eq!(error["details"]["candidates"].as_array().unwrap().len(), 3);
    // No part of a segment counts.
    let code = &get("perations/backup").await.unwrap_err()["code"];
    assert_eq!(code, "PAGE_NOT_FOUND");
}

#[tokio::test]
async fn lists_and_searches_are_of_the_configured_locale_and_count_the_others() {
    let (wiki, served) = served().await;
    for locale in ["en", "de", "fr"] {
        add(&wiki, locale, "naive/page", "Zebra", &["striped"]);
    }
    add(&wiki, "de", "naive/other", "Zebra, too", &["striped"]);
    let list = async |more: Value| {
        let mut arguments = json!({ "path": "naive" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        served.call(LIST, arguments).await.unwrap()
    };
    for filter in [
        json!({}),
        json!({ "tags": ["striped"] }),
        json!({ "orderBy": "UPDATED", "limit": 1 }),
    ] {
        let answer = list(filter).await;
        assert_eq!(paths(&answer, "pages"), ["naive/page"]);
        assert_eq!(answer["pages"][0]["locale"], "en");
        assert_eq!(answer["otherLocales"], 3);
    }
    let all = list(json!({ "locale": "*" })).await;
    assert_eq!(all["pages"].as_array().unwrap().len(), 4);
    assert_eq!(all.get("otherLocales"), None);
    let one = list(json!({ "locale": "de" })).await;
    assert_eq!(one["pages"].as_array().unwrap().len(), 2);
    assert_eq!(one.get("otherLocales"), None);

    for place in ["wiki", "content", "auto"] {
        let indexed = Setup::editor(&wiki).indexed().serve().await;
        let find = async |locale: Option<&str>| {
            let mut arguments = json!({ "query": "zebra", "in": place });
            if let Some(locale) = locale {
                arguments["locale"] = json!(locale);
            }
            indexed.call(SEARCH, arguments).await.unwrap()
        };
        let answer = find(None).await;
        assert_eq!(paths(&answer, "hits"), ["naive/page"], "{place}");
        assert_eq!(answer["otherLocales"], 3, "{place}");
        let all = find(Some("*")).await;
        assert_eq!(paths(&all, "hits").len(), 4, "{place}");
        assert_eq!(all.get("otherLocales"), None, "{place}");
    }
}

#[tokio::test]
async fn a_taken_path_comes_with_a_free_one_that_works() {
    let (wiki, served) = served().await;
    for path in ["naive/taken", "naive/taken-2", "naive/TAKEN-3"] {
        add(&wiki, "en", path, "x", &[]);
    }
    let create = |path: &str| new_page(path);
    let error = fails(&served, CREATE, create("naive/taken"), "PAGE_EXISTS").await;
    let free = error["details"]["freePath"].as_str().unwrap();
    assert_eq!(free, "naive/taken-4");
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.ends_with(&format!("(details.freePath is free: {free}).")),
        "{hint}"
    );
    let applied = served.confirmed(CREATE, create(free)).await.unwrap();
    assert_eq!(applied["target"]["path"], free);
}
