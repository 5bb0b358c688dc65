//! What a caller is told that mistyped something: no mistake looks like success, and each hint works.

use crate::prelude::*;

async fn wiki() -> DemoWiki {
    let wiki = wiki_of(&[
        ("guides/a", "# A\n\nThe port is 80.\n\n## End\n\nLast.\n"),
        ("guides/b", "Nothing here.\n"),
        ("docs/c", "# C\n"),
    ])
    .await;
    wiki.with_store(|store| {
        for (path, tags) in [
            ("ops/x", ["service", "owner:team-9"]),
            ("ops/y", ["service", "owner:team-1"]),
        ] {
            store.add(page(path, "Text.\n").but(|row| row.tags = tags.map(str::to_owned).to_vec()));
        }
        store.add(page("guides/a", "Der Port ist 80.\n").but(|row| row.locale = "de".to_owned()));
    });
    wiki
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki)
        .indexed()
        .toolsets("pages,undo,drafts,assets,memory")
}

async fn served() -> (DemoWiki, Served) {
    with_server(wiki().await, setup).await
}

fn warning<'a>(answer: &'a Value, code: &str) -> Option<&'a str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    let mut warnings = warnings.filter(|warning| warning["code"] == code);
    warnings.next()?["message"].as_str()
}

#[tokio::test]
async fn a_text_that_no_page_has_is_said_to_be_nowhere() {
    let (wiki, served) = served().await;
    let replaced = |texts: &[&str]| {
        let edits = texts.iter();
        let edits = edits.map(|text| json!({ "oldText": text, "newText": "x" }));
        json!({ "path": "guides", "replaceAll": edits.collect::<Vec<_>>() })
    };
    let none = call_ok(&served, BULK, replaced(&["The prot is"])).await;
    let part = "\"The prot is\". Check it";
    says(warning(&none, "text_not_there").unwrap(), part);
    assert_eq!(none["outcome"], "unchanged", "{none}");
    let part = "it has none of the texts to replace";
    says(&none["leftOut"].to_string(), part);
    let some = call_ok(&served, BULK, replaced(&["The port is", "prot"])).await;
    let told = warning(&some, "text_not_there").unwrap();
    says(told, "\"prot\"");
    lacks(told, "The port");
    assert_eq!(some["leftOut"].as_array().unwrap().len(), 1, "{some}");
    let found = call_ok(&served, BULK, replaced(&["The port is"])).await;
    assert_eq!(warning(&found, "text_not_there"), None);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn what_selects_no_page_is_named() {
    let (_wiki, served) = served().await;
    let bulk = |which: Value| {
        let mut arguments = json!({ "addTags": ["new"] });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(which.as_object().unwrap().clone());
        arguments
    };
    for (which, fields) in json_rows::<(Value, Value)>(&json!([
        [{ "path": "giudes" }, [{ "path": "path" }]],
        [{ "path": "guides", "tags": ["servize"] }, [{ "path": "path" }, { "path": "tags" }]],
        [{ "property": "status=x", "path": "docs" }, [{ "path": "path" }, { "path": "property" }]],
    ])) {
        let error = fails(&served, BULK, bulk(which.clone()), "INVALID_INPUT").await;
        assert_eq!(error["details"]["fields"], fields, "{error}");
        says(&error["hint"], "wikijs_list_pages");
        lacks(&error["hint"], "expectPages");
    }
}

#[tokio::test]
async fn pages_of_other_locales_are_counted_beside_those_that_change() {
    let (_wiki, served) = served().await;
    let all = json!({ "path": "guides", "addTags": ["new"] });
    let listed = call_ok(&served, LIST, json!({ "path": "guides" })).await;
    let shown = call_ok(&served, BULK, all.clone()).await;
    assert_eq!(listed["otherLocales"], json!(1));
    assert_eq!(shown["pages"], json!(2));
    let part = "otherLocales: 1;";
    says(warning(&shown, "other_locales").unwrap(), part);
    let mut named = all;
    named["locale"] = json!("en");
    let shown = call_ok(&served, BULK, named).await;
    assert_eq!(warning(&shown, "other_locales"), None);
}

#[tokio::test]
async fn a_time_that_no_reading_gave_is_refused() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "docs/c");
    let read = call_ok(&served, BY_ID, json!({ "id": id })).await["updatedAt"].clone();
    let later = read.as_str().unwrap().replacen("202", "203", 1);
    for time in ["2099-01-01T00:00:00Z", "2099-01-01", &later] {
        for arguments in [json!({ "id": id, "title": "X" }), json!({ "id": id })] {
            let tool = if arguments["title"].is_null() {
                DELETE
            } else {
                UPDATE
            };
            let mut arguments = arguments;
            arguments["ifUpdatedAt"] = json!(time);
            let error = fails(&served, tool, arguments, "INVALID_INPUT").await;
            let expected = json!([{ "path": "ifUpdatedAt" }]);
            assert_eq!(error["details"]["fields"], expected);
        }
    }
    // What a reading gave, and anything before it of a page that did not change, holds.
    let before = json!("2001-01-01");
    for time in [&read, &before] {
        let edit = json!({ "id": id, "title": "X", "ifUpdatedAt": time });
        let shown = call_ok(&served, UPDATE, edit).await;
        assert_eq!(shown["conflictCheck"], "since ifUpdatedAt", "{shown}");
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_conflict_at_a_deletion_and_an_asset_that_is_there_have_words_of_their_own() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "docs/c");
    let read = call_ok(&served, BY_ID, json!({ "id": id })).await["updatedAt"].clone();
    wiki.with_store(|store| {
        store.rewrite(id, |page| "# Theirs\n".clone_into(&mut page.content));
        store.add_asset("img/a.csv", "text/csv", b"x");
    });
    let gone = json!({ "id": id, "ifUpdatedAt": read });
    let error = fails(&served, DELETE, gone, "EDIT_CONFLICT").await;
    says(&error["hint"], "whether it still shall go");
    lacks(&error["hint"], "the change made");

    let upload = |path: &str, data: &str| json!({ "path": path, "base64": data });
    let there = fails(&served, UPLOAD, upload("img/a.csv", "eA=="), "PAGE_EXISTS").await;
    says(&there["message"], "an asset");
    says(&there["hint"], "replace: true");
    let shown = call_ok(&served, UPLOAD, upload("img/b.csv", "eA==")).await;
    assert_eq!(shown["conflictCheck"], "since this call only", "{shown}");
    let prefixed = upload("img/b.png", "data:image/png;base64,eA==");
    let error = fails(&served, UPLOAD, prefixed, "INVALID_INPUT").await;
    says(&error["message"], "after \"base64,\"");
}

#[tokio::test]
async fn headings_and_pictures_that_are_not_there_are_warned_of_where_a_write_names_them() {
    let (wiki, served) = served().await;
    wiki.with_store(|store| store.add_asset("img/there.png", "image/png", b"x"));
    let old = "[old](/guides/a#gone) ";
    let text = "[a](/en/guides/a#end) [b](/guides/a#none) [c](#own) [d](#mine) ![e](/img/there.png) ![f](/none.png)\n\n## Own\n";
    let new = json!({ "path": "docs/new", "title": "New", "content": text });
    let shown = call_ok(&served, CREATE, new.clone()).await;
    let told = shown["warnings"].to_string();
    says(&told, "These headings are not there");
    says(&told, "#mine, /guides/a#none.");
    says(&told, "These pictures are not there");
    says(&told, ": /none.png.");
    // What stood there before is no matter of this write.
    wiki.with_store(|store| store.add(page("docs/old", old)));
    let id = id_of(&wiki, "docs/old");
    let edit = json!({ "id": id, "content": format!("{old}more") });
    let shown = call_ok(&served, UPDATE, edit).await;
    assert_eq!(shown.get("warnings"), None, "{shown}");
    // A draft shows what joining showed.
    let mut drafted = new;
    drafted["draft"] = json!("d");
    call_ok(&served, CREATE, drafted).await;
    for arguments in [json!({ "id": "d" }), full(json!({ "id": "d" }))] {
        let set = call_ok(&served, CHANGE_SET, arguments).await;
        says(&set.to_string(), "#mine, /guides/a#none.");
    }
}

#[tokio::test]
async fn a_tag_with_a_sign_is_put_right_beside_the_tags_that_stay() {
    let (_wiki, served) = served().await;
    let right = json!({ "tags": ["service"], "withoutTags": ["owner:team-9"] });
    for wrong in [
        json!({ "tags": ["service", "!owner:team-9"] }),
        json!({ "tags": ["service", "-owner:team-9"] }),
        json!({ "tags": ["service"], "withoutTags": ["!owner:team-9"] }),
    ] {
        let error = fails(&served, LIST, wrong, "INVALID_INPUT").await;
        says(&error["message"], &right.to_string());
    }
    let listed = call_ok(&served, LIST, right).await;
    assert_eq!(listed["pages"][0]["path"], "ops/y");
    assert_eq!(listed["pages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_misnamed_argument_is_guessed_and_a_missing_one_is_told_with_what_works() {
    let (wiki, served) = served().await;
    let id = id_of(&wiki, "guides/a");
    for (tool, arguments, told) in json_rows::<(&str, Value, &str)>(&json!([
        [UPDATE, { "id": id, "edits": [{ "old": "x", "newText": "y" }] },
         "The argument edits[0].old is not known there (did you mean oldText?); known are oldText, newText."],
        [UPDATE, { "id": id, "edits": [{ "oldText": "x" }] }, "lacks newText"],
        [UPDATE, { "id": id, "text": "x" }, "(did you mean content?)"],
        [UPDATE, { "id": id, "sectionContent": "x" }, "name its last heading, with sectionMode append"],
        [UNDO, {}, "\"last\""],
        [BY_PATH, { "path": "70" }, "wikijs_get_page_by_id"],
        [SEARCH, { "query": "port", "context": 100, "match": "EXACT" }, "leave context out"],
        [REMEMBER, { "content": "x", "page": "Runbook 1" },
         "Look for the page with wikijs_search_pages"],
    ])) {
        let error = served.call(tool, arguments.clone()).await.unwrap_err();
        says(
            &format!("{} {}", error["message"], error["hint"]).replace("\\\"", "\""),
            told,
        );
    }
    let append =
        json!({ "id": id, "section": "End", "sectionMode": "append", "sectionContent": "More." });
    is_applied(&served, UPDATE, append).await;
    let text = call_ok(&served, BY_ID, json!({ "id": id })).await["content"].to_string();
    says(&text, "Last.\\n\\nMore.\\n\"");
}

#[tokio::test]
async fn a_page_that_a_draft_creates_is_changed_by_creating_it_again() {
    let (_wiki, served) = served().await;
    let create =
        |text: &str| json!({ "path": "docs/new", "title": "New", "content": text, "draft": "d" });
    call_ok(&served, CREATE, create("One.\n")).await;
    let edit = json!({ "page": "docs/new", "title": "Newer", "draft": "d" });
    let error = fails(&served, UPDATE, edit, "PAGE_NOT_FOUND").await;
    let part = "create it again with the same path and draft";
    says(&error["hint"], part);
    let again = call_ok(&served, CREATE, create("Two.\n")).await;
    again["draft"].shows(json!({ "name": "d", "pages": 1 }));
}

#[tokio::test]
async fn a_part_keeps_its_heading_where_its_page_begins_with_its_title() {
    let wiki = wiki().await;
    wiki.with_store(|store| {
        for (path, text) in [
            ("guide/with", "# Guide\n\n## Setup\n\nDo.\n"),
            ("guide/without", "Lead\n\n## Setup\n\nDo.\n"),
        ] {
            store.add(page(path, text).but(|row| row.title = "Guide".to_owned()));
        }
    });
    let served = setup(&wiki).serve().await;
    for (from, text) in [
        ("guide/with", "# Setup\n\nDo.\n"),
        ("guide/without", "Do.\n"),
    ] {
        let path = format!("{from}/setup");
        let part = json!({ "path": path, "title": "Setup", "fromPage": from, "section": "Setup" });
        confirmed_ok(&served, CREATE, part).await;
        let id = id_of(&wiki, &path);
        let made = wiki.with_store(|store| store.page_mut(id).unwrap().content.clone());
        assert_eq!(made.trim_end(), text.trim_end(), "{from}");
    }
}
