//! The history of a page: what changed in each entry, and two states compared.

use crate::prelude::*;
use crate::reads::read;

async fn history(served: &Served, arguments: Value) -> Value {
    read(served, HISTORY, arguments).await.unwrap()
}

/// A page with a past: made, then text, then title and tags, then moved, then its dates.
async fn with_a_past(wiki: &DemoWiki) -> (Served, i64) {
    let served = Setup::admin(wiki).serve().await;
    let id = confirmed_ok(
        &served,
        CREATE,
        json!({ "path": "past", "title": "One", "content": "a\nb\n", "tags": ["t1"],
                    "scriptJs": "alert(1)" }),
    )
    .await["target"]["id"]
        .as_i64()
        .unwrap();
    for change in [
        json!({ "content": "a\nB\n" }),
        json!({ "title": "Two", "tags": ["t2"] }),
        json!({ "path": "past-moved" }),
        json!({ "publishEndDate": "2040-01-01T00:00:00Z", "scriptJs": "alert(2)" }),
    ] {
        let mut arguments = change;
        arguments["id"] = json!(id);
        served.confirmed(UPDATE, arguments).await.unwrap();
    }
    (served, id)
}

#[tokio::test]
async fn each_entry_says_what_it_changed_in_one_more_request() {
    let wiki = sample_wiki().await;
    let (served, id) = with_a_past(&wiki).await;
    wiki.clear_requests();
    let answer = history(&served, json!({ "id": id })).await;
    let told: Vec<String> = answer["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            assert_eq!(entry["authorId"], 1);
            format!("{} {}", entry["action"].as_str().unwrap(), entry["changed"])
        })
        .collect();
    let expected = [
        "move [\"path\"]",
        "edit [\"title\"]",
        "edit [\"content\"]",
        "initial null",
    ];
    assert_eq!(told, expected);
    assert_eq!(answer["total"], 4);
    // One page of results, and all versions in one array of operations.
    let seen = wiki.requests();
    let count = |field: &str| seen.iter().filter(|seen| seen.fields == [field]).count();
    assert_eq!((count("pages.history"), count("pages.version")), (1, 4));
    // The last entry that is shown is compared with the one behind it.
    for offset in 0..3 {
        let part = history(&served, json!({ "id": id, "offset": offset, "limit": 1 })).await;
        assert_eq!(part["entries"][0], answer["entries"][offset]);
    }
}

#[tokio::test]
async fn two_states_are_compared_by_version_by_time_and_as_it_is() {
    let wiki = sample_wiki().await;
    let (served, id) = with_a_past(&wiki).await;
    let answer = history(&served, json!({ "id": id })).await;
    let oldest = &answer["entries"][3];
    let first = oldest["versionId"].to_string();
    let arguments = json!({ "id": id, "compare": { "from": first } });
    let compared = history(&served, arguments).await;
    assert!(compared.get("entries").is_none());
    let compared = &compared["comparison"];
    assert_eq!(compared["diff"], "@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
    compared.shows(json!({ "linesAdded": 1, "linesRemoved": 1 }));
    // Tags and scripts are in no version: our own record of the first write kept them.
    compared.shows(json!({ "changes": {
            "path": { "before": "past", "after": "past-moved" },
            "title": { "before": "One", "after": "Two" },
            "tags": { "before": ["t1"], "after": ["t2"] },
            "publishEndDate": { "before": "", "after": "2040-01-01T00:00:00.000Z" },
            "scriptJs": {
                "diff": "@@ -1 +1 @@\n-alert(1)\n\\ No newline at end of file\n+alert(2)\n\\ No newline at end of file\n",
                "linesAdded": 1,
                "linesRemoved": 1,
            },
        }, "notComparable": ["scriptCss"] }));
    assert_eq!(compared["from"]["versionId"], oldest["versionId"]);
    assert!(compared["to"].get("versionId").is_none());

    // By the time at which that state was written, and by any time of the years after.
    let by = async |from: &Value, to: &str| {
        let arguments = json!({ "id": id, "compare": { "from": from, "to": to } });
        history(&served, arguments).await["comparison"].clone()
    };
    assert_eq!(by(&oldest["versionDate"], "current").await, *compared);
    assert_eq!(by(&json!(first), "2090-01-01").await, *compared);
    let second = answer["entries"][2]["versionId"].to_string();
    let step = by(&json!(first), &second).await;
    assert_eq!(step["diff"], compared["diff"]);
    assert_eq!(step.get("changes"), None);
    let same = by(&json!("current"), "current").await;
    same.shows(json!({ "diff": null, "changes": null }));
    assert!(same.get("notComparable").is_none());
}

#[tokio::test]
async fn without_our_own_record_tags_styles_and_scripts_are_not_comparable() {
    let wiki = sample_wiki().await;
    let (_, id) = with_a_past(&wiki).await;
    // Another server, with an audit log of its own.
    for key in [&wiki.keys().admin, &wiki.keys().readonly] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let entries = history(&served, json!({ "id": id })).await;
        let from = entries["entries"][3]["versionId"].to_string();
        let compared = history(&served, json!({ "id": id, "compare": { "from": from } })).await;
        let compared = &compared["comparison"];
        assert_eq!(compared["linesAdded"], 1);
        assert_eq!(compared["changes"]["title"]["after"], "Two");
        for field in ["tags", "scriptCss", "scriptJs"] {
            let unknown = compared["notComparable"].as_array().unwrap();
            assert!(unknown.contains(&json!(field)), "{compared}");
            assert!(compared["changes"].get(field).is_none(), "{compared}");
        }
    }
}

#[tokio::test]
async fn what_our_record_kept_is_told_to_no_key_that_cannot_read_it_now() {
    let wiki = sample_wiki().await;
    let (writing, id) = with_a_past(&wiki).await;
    let entries = history(&writing, json!({ "id": id })).await;
    let from = entries["entries"][3]["versionId"].to_string();
    let served = Setup::readonly(&wiki).in_dir_of(&writing).serve().await;
    let compared = history(&served, json!({ "id": id, "compare": { "from": from } })).await;
    let compared = &compared["comparison"];
    let expected = json!({ "before": ["t1"], "after": ["t2"] });
    assert_eq!(compared["changes"]["tags"], expected);
    assert!(!compared.to_string().contains("alert"), "{compared}");
    let unknown = compared["notComparable"].as_array().unwrap();
    assert!(unknown.contains(&json!("scriptJs")), "{compared}");
}

#[tokio::test]
async fn states_that_are_not_there_and_words_that_name_none_are_refused() {
    let wiki = sample_wiki().await;
    let (served, id) = with_a_past(&wiki).await;
    let refused = async |id: i64, compare: Value| {
        read(&served, HISTORY, json!({ "id": id, "compare": compare }))
            .await
            .unwrap_err()
    };
    for from in ["999999", "1999-01-01"] {
        let code = &refused(id, json!({ "from": from })).await["code"];
        assert_eq!(code, "VERSION_NOT_FOUND");
    }
    // The version of another page is none of this one.
    let other = id_of(&wiki, "docs/configuration");
    let entries = history(&served, json!({ "id": other })).await;
    let version = entries["entries"][0]["versionId"].to_string();
    let code = &refused(id, json!({ "from": version })).await["code"];
    assert_eq!(code, "VERSION_NOT_FOUND");
    for (compare, path) in [
        (json!({ "from": "yesterday" }), "compare.from"),
        (json!({ "from": "0" }), "compare.from"),
        (json!({ "from": "current", "to": "" }), "compare.to"),
        (json!({ "from": "current", "until": "x" }), "compare.until"),
    ] {
        let error = refused(id, compare).await;
        assert_eq!(error["code"], "INVALID_INPUT");
        assert_eq!(error["details"]["fields"][0]["path"], path, "{error}");
    }
    let gone = refused(99_999, json!({ "from": "current" })).await;
    assert_eq!(gone["code"], "PAGE_NOT_FOUND");
}

#[tokio::test]
async fn a_large_difference_is_cut_and_says_so() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = wiki.with_store(|store| {
        let id = store.add(PageRow {
            path: "large".to_owned(),
            title: "Large".to_owned(),
            content: "old line\n".repeat(5_000),
            ..PageRow::default()
        });
        store.rewrite(id, |page| page.content = "new line\n".repeat(5_000));
        id
    });
    let arguments = json!({ "id": id, "compare": { "from": "2090-01-01" } });
    let compared = history(&served, arguments).await;
    assert_eq!(compared["comparison"].get("diff"), None);
    let entries = history(&served, json!({ "id": id })).await;
    let from = entries["entries"][0]["versionId"].to_string();
    let compared = history(&served, json!({ "id": id, "compare": { "from": from } })).await;
    let compared = &compared["comparison"];
    assert_eq!(compared["linesAdded"], 5_000);
    assert!(compared["diff"].as_str().unwrap().len() <= 32 * 1024);
    assert!(said(&compared["warnings"][0]).starts_with("diff_cut: "));
}

#[tokio::test]
async fn a_time_names_the_state_of_that_time_even_if_the_wiki_dated_it_anew() {
    let (wiki, served) = sample(Setup::readonly).await;
    let id = id_of(&wiki, "docs/configuration");
    let at = async |time: &str| {
        let arguments = json!({ "id": id, "compare": { "from": time } });
        history(&served, arguments).await["comparison"]["diff"].clone()
    };
    wiki.with_store(|store| store.rewrite(id, |page| page.content = "last\n".to_owned()));
    let written = wiki.with_store(|store| store.page(id).unwrap().updated_at.clone());
    // A page that it links to came or went: no write, but a new date.
    wiki.with_store(|store| store.touch(id));
    assert_ne!(
        wiki.with_store(|store| store.page(id).unwrap().updated_at.clone()),
        written
    );
    assert_eq!(at(&written).await, Value::Null);
    let entries = history(&served, json!({ "id": id })).await;
    let before = entries["entries"][0]["versionDate"].as_str().unwrap();
    assert!(at(before).await.as_str().unwrap().contains("+last"));
}
