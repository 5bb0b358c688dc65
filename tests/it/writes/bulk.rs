//! Which pages a bulk update finds, and which of them it leaves out.

use crate::prelude::*;

const LINKED: &[(&str, &str)] = &[
    ("docs/a", "# A\n\n[me](/docs/a) [b](./b)\n"),
    ("docs/b", "[a](./a)\n"),
    ("docs/c", "[a](/en/docs/a#x) [a](/docs/a)\n"),
    ("docs/d", "`[a](/docs/a)` and [b](/docs/b)\n"),
    (
        "other/e",
        "<a href=\"/docs/a.md\">a</a> [gone](/docs/gone)\n",
    ),
];

async fn linked() -> DemoWiki {
    let wiki = wiki_of(LINKED).await;
    wiki.with_store(|store| {
        let mut german = page("docs/f", "[a](/en/docs/a)\n");
        "de".clone_into(&mut german.locale);
        store.add(german);
    });
    wiki
}

fn indexed(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).indexed().toolsets("pages,drafts")
}

/// Tags the pages that this finds.
fn tags(which: &Value) -> Value {
    let mut arguments = json!({ "addTags": ["set"] });
    for (name, value) in which.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

/// The paths of the pages that would be changed.
async fn found(served: &Served, which: Value) -> Vec<String> {
    let shown = served.call(BULK, full(tags(&which))).await.unwrap();
    let changes = shown["changes"].as_array().unwrap().iter();
    let path = |change: &Value| change["target"]["path"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> = changes.map(path).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn the_pages_that_link_to_one_are_found_in_every_form_of_a_link() {
    let (wiki, served) = with_server(linked().await, indexed).await;
    let id = id_of(&wiki, "docs/a");
    for page in [
        json!(id),
        json!(id.to_string()),
        json!("docs/a"),
        json!("/en/docs/a"),
        json!(format!("{}/en/docs/a", wiki.address())),
    ] {
        let which = json!({ "linksTo": page });
        let found = found(&served, which).await;
        assert_eq!(found, ["docs/b", "docs/c", "other/e"], "{page}");
    }
    let all = json!({ "linksTo": id, "locale": "*" });
    let all = found(&served, all).await;
    assert_eq!(all, ["docs/b", "docs/c", "docs/f", "other/e"]);
    // All that is named must hold.
    let both = json!({ "linksTo": id, "path": "docs" });
    assert_eq!(found(&served, both).await, ["docs/b", "docs/c"]);
    // No page need be there any more.
    let gone = json!({ "linksTo": "docs/gone" });
    assert_eq!(found(&served, gone).await, ["other/e"]);
}

#[tokio::test]
async fn what_is_confirmed_are_the_pages_that_still_link_there() {
    let (wiki, served) = with_server(linked().await, indexed).await;
    let arguments = tags(&json!({ "linksTo": "docs/a", "expectPages": 3 }));
    let done = served.confirmed(BULK, arguments.clone()).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": 3 }));
    let mut arguments = arguments;
    arguments["addTags"] = json!(["more"]);
    let shown = served.call(BULK, arguments.clone()).await.unwrap();
    // Somebody links there meanwhile.
    wiki.with_store(|store| store.add(page("new", "[a](/docs/a)\n")));
    arguments["confirm"] = shown["confirm"].clone();
    let refused = fails(&served, BULK, arguments, "INVALID_INPUT").await;
    assert_eq!(refused["details"]["found"], 4);
    assert_eq!(mutations(&wiki).len(), 3);
}

#[tokio::test]
async fn pages_are_not_chosen_by_links_that_are_known_in_part() {
    let wiki = linked().await;
    let off = indexed(&wiki).with("WIKI_INDEX", "off").serve().await;
    let mut half = indexed(&wiki);
    half.most = Some(2);
    let half = half.serve().await;
    let which = tags(&json!({ "linksTo": "docs/a" }));
    for (served, code, says) in [
        (&off, "INVALID_INPUT", "WIKI_INDEX=memory"),
        (&half, "TIMEOUT", "linksTo"),
    ] {
        let refused = fails(served, BULK, which.clone(), code).await;
        assert!(refused["hint"].as_str().unwrap().contains(says));
    }
    let whole = indexed(&wiki).serve().await;
    for (which, code) in json_rows::<(Value, &str)>(&json!([
        [{ "linksTo": 4_711 }, "PAGE_NOT_FOUND"],
        [{ "linksTo": "" }, "INVALID_INPUT"],
        [{ "linksTo": "https://example.org/en/a" }, "INVALID_INPUT"],
        [{ "linksTo": "docs/d" }, "INVALID_INPUT"],
        [{ "linksTo": "docs/a", "ids": [1] }, "INVALID_INPUT"],
        [{ "linksTo": "docs/a", "path": "docs", "moveTo": "x" }, "INVALID_INPUT"],
    ])) {
        let refused = whole.call(BULK, tags(&which)).await.unwrap_err();
        assert_eq!(refused["code"], code, "{which}: {refused}");
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

const READS: &[&str] = &["read:pages", "read:source", "read:history"];

#[tokio::test]
async fn a_preview_names_what_is_left_out_and_why() {
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        ("docs/b", "B\n"),
        ("docs/kept/c", "C\n"),
        ("docs/read/d", "D\n"),
    ])
    .await;
    wiki.with_store(|store| {
        let id = store.page_at("en", "docs/b").unwrap().id;
        store.rewrite(id, |page| page.tags = vec!["set".to_owned()]);
    });
    // What it may not write it cannot read back whole.
    let writes = [READS, &["write:pages"]].concat();
    let key = wiki.key_with_each(&[
        (READS, "docs/read"),
        (&writes, "docs/a"),
        (&writes, "docs/b"),
        (&writes, "docs/kept"),
    ]);
    let served = Setup::at(&wiki.address(), &key)
        .toolsets("pages,drafts")
        .with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs/kept")
        .serve()
        .await;
    let arguments = tags(&json!({ "path": "docs", "expectPages": 4 }));
    let shown = served.call(BULK, full(arguments.clone())).await.unwrap();
    assert_eq!(shown["pages"], 1, "{shown}");
    assert_eq!(shown["changes"][0]["target"]["path"], "docs/a");
    let left_out = members(&shown, "leftOut", "why");
    let expected = [
        "it already is as asked for",
        "the page may not be written here",
        "this key may not write it",
    ];
    assert_eq!(left_out, expected);
    let ids: Vec<i64> = ["docs/b", "docs/kept/c", "docs/read/d"]
        .map(|path| id_of(&wiki, path))
        .into();
    let left = shown["leftOut"].as_array().unwrap().iter();
    let left: Vec<i64> = left.map(|page| page["id"].as_i64().unwrap()).collect();
    assert_eq!(left, ids);
    let done = served.confirmed(BULK, arguments).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": 1, "leftOut": shown["leftOut"] }));
    assert_eq!(mutations(&wiki).len(), 1);

    // What is named by its id, and what alone is left, is refused instead.
    let denied = id_of(&wiki, "docs/kept/c");
    for which in [
        json!({ "ids": [id_of(&wiki, "docs/a"), denied] }),
        json!({ "path": "docs/kept" }),
    ] {
        let mut arguments = tags(&which);
        arguments["addTags"] = json!(["other"]);
        fails(&served, BULK, arguments, "PATH_DENIED").await;
    }
}

#[tokio::test]
async fn pages_are_chosen_by_tags_links_and_properties_as_in_lists() {
    let pages = [
        (
            "docs/a",
            "---\nstatus: review\n---\n\n[b](/docs/b) [gone](/docs/gone)\n",
        ),
        ("docs/b", "---\nstatus: done\n---\n\nB\n"),
        ("docs/c", "---\nstatus: review\n---\n\n[gone](/docs/gone)\n"),
    ];
    let wiki = wiki_of(&pages).await;
    wiki.with_store(|store| {
        let id = store.page_at("en", "docs/c").unwrap().id;
        store.rewrite(id, |page| page.tags = vec!["owner:ann".to_owned()]);
    });
    let served = indexed(&wiki).serve().await;
    for (which, wanted) in json_rows::<(Value, Vec<&str>)>(&json!([
        [{ "withoutTags": ["owner:*"] }, ["docs/a", "docs/b"]],
        [{ "property": "status=review" }, ["docs/a", "docs/c"]],
        [{ "links": "BROKEN" }, ["docs/a", "docs/c"]],
        [{ "links": "ORPHANS" }, ["docs/a", "docs/c"]],
        [{ "links": "BROKEN", "property": "status=review", "withoutTags": ["owner:ann"] }, ["docs/a"]],
        [{ "linksTo": "docs/gone", "withoutTags": ["owner:*"] }, ["docs/a"]],
        [{ "linksTo": "docs/b", "property": "status=review" }, ["docs/a"]],
    ])) {
        assert_eq!(found(&served, which.clone()).await, wanted, "{which}");
    }
    let off = indexed(&wiki).with("WIKI_INDEX", "off").serve().await;
    let mut half = indexed(&wiki);
    half.most = Some(2);
    let half = half.serve().await;
    for which in [
        json!({ "links": "BROKEN" }),
        json!({ "property": "status" }),
    ] {
        fails(&off, BULK, tags(&which), "INVALID_INPUT").await;
        fails(&half, BULK, tags(&which), "TIMEOUT").await;
    }
    for which in [
        json!({ "ids": [1], "withoutTags": ["a"] }),
        json!({ "path": "docs", "property": "status", "moveTo": "x" }),
        json!({ "tags": ["!ops"] }),
        json!({ "property": "status!=done" }),
    ] {
        fails(&served, BULK, tags(&which), "INVALID_INPUT").await;
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_tag_is_renamed_on_the_whole_wiki_by_one_call() {
    let wiki = linked().await;
    let ids: Vec<i64> = wiki.with_store(|store| {
        let all: Vec<i64> = store.pages().map(|page| page.id).collect();
        for id in &all {
            store.rewrite(*id, |page| {
                page.tags = vec!["old".to_owned(), "kept".to_owned()];
            });
        }
        all
    });
    let served = indexed(&wiki).serve().await;
    let rename =
        json!({ "tags": ["old"], "locale": "*", "addTags": ["new"], "removeTags": ["old"] });
    let done = served.confirmed(BULK, rename).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": ids.len() }));
    let renamed = wiki.with_store(|store| {
        let mut pages = store.pages();
        pages.all(|page| page.tags == ["kept", "new"])
    });
    assert!(renamed);
}
