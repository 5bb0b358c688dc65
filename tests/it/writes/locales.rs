//! Locales that the wiki has not: refused with those it has, before anything is sent; and the
//! default locale, which serves every tool that reads.

use crate::prelude::*;

fn unknown(refused: &Value) {
    assert_eq!(refused["code"], "INVALID_INPUT", "{refused}");
    let expected = json!(["de", "en"]);
    assert_eq!(refused["details"]["locales"], expected, "{refused}");
}

#[tokio::test]
async fn a_locale_that_the_wiki_has_not_is_refused_in_create_and_move() {
    let wiki = sample_wiki().await;
    let home = id_of(&wiki, "home");
    for key in [&wiki.keys().admin, &wiki.keys().editor] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for locale in ["fr", "EN", "xx"] {
            let new = json!({ "path": "new", "title": "New", "content": "x", "locale": locale });
            unknown(&served.call(CREATE, new).await.unwrap_err());
            let moved = json!({ "id": home, "locale": locale });
            unknown(&served.call(UPDATE, moved).await.unwrap_err());
        }
        let new = json!({ "path": "new", "title": "New", "content": "x", "locale": "de" });
        let shown = served.call(CREATE, new).await.unwrap();
        assert!(shown.get("confirm").is_some(), "{shown}");
    }
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn a_default_locale_that_the_wiki_has_not_is_named_as_the_setting() {
    let (_wiki, served) =
        sample(|wiki| Setup::editor(wiki).with("WIKI_DEFAULT_LOCALE", "fr")).await;
    for (tool, arguments) in json_rows(&json!([
        [CREATE, { "path": "new", "title": "New", "content": "x" }],
        // An empty list would be taken for a wiki without pages.
        [LIST, {}],
        [LIST, { "path": "docs" }],
        [SEARCH, { "query": "install" }],
        [TREE, {}],
        [TREE, { "path": "docs" }],
    ])) {
        let refused = served.call(tool, arguments).await.unwrap_err();
        unknown(&refused);
        says(&refused["hint"], "WIKI_DEFAULT_LOCALE");
    }
    // What names its own locale is served.
    let named = json!({ "path": "docs", "locale": "en" });
    served.call(LIST, named).await.unwrap();
}

/// Where the site does not tell its locales, the wiki's refusal is told as what it is.
#[tokio::test]
async fn the_wiki_s_own_refusal_of_a_locale_is_invalid_input() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().editor)
        .serve()
        .await;
    let mut new = json!({ "path": "new", "title": "New", "content": "x", "locale": "de" });
    let shown = served.call(CREATE, new.clone()).await.unwrap();
    new["confirm"] = shown["confirm"].clone();
    let sql = "insert into \"pages\" - insert or update on table \"pages\" violates foreign key constraint \"pages_localecode_foreign\"";
    let refusal = json!({ "data": { "pages": { "create": { "page": null, "responseResult": {
        "succeeded": false, "errorCode": 1, "slug": "ForeignKeyViolationError", "message": sql } } } } });
    let reply = Reply::say(200, "application/json", &refusal.to_string());
    faulty.on_mutations(Fault::new(Reach::Never, reply));
    let refused = fails(&served, CREATE, new, "NOT_APPLIED").await;
    assert_eq!(refused["details"]["cause"], "INVALID_INPUT", "{refused}");
    let told = refused.to_string();
    says(&told, "no such locale");
    lacks(&told, "insert");
}

/// The same page in both locales, told apart by its title.
async fn twice() -> (DemoWiki, Served) {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for (locale, title) in [("en", "Zebra"), ("de", "Zebra auf Deutsch")] {
            store.add(PageRow {
                locale: locale.to_owned(),
                title: title.to_owned(),
                tags: vec!["striped".to_owned()],
                ..page("naive/zebra", "Stripes.\n")
            });
        }
    });
    let served = Setup::editor(&wiki)
        .indexed()
        .with("WIKI_DEFAULT_LOCALE", "de")
        .toolsets("pages,drafts")
        .serve()
        .await;
    (wiki, served)
}

/// Calls a tool without a locale; the answer is about the German page alone.
async fn is_german(tool: &str, arguments: Value) {
    let (_wiki, served) = twice().await;
    let answer = served.call(tool, arguments).await.unwrap();
    let told = answer.to_string();
    assert!(told.contains("Zebra auf Deutsch"), "{tool}: {told}");
    assert!(!told.contains("\"Zebra\""), "{tool}: {told}");
}

#[tokio::test]
async fn the_default_locale_serves_reading_by_path() {
    is_german(BY_PATH, json!({ "path": "naive/zebra" })).await;
}

#[tokio::test]
async fn the_default_locale_serves_the_tree() {
    is_german(TREE, json!({ "path": "naive" })).await;
}

#[tokio::test]
async fn the_default_locale_serves_lists() {
    is_german(LIST, json!({ "path": "naive" })).await;
    is_german(LIST, json!({ "tags": ["striped"] })).await;
}

#[tokio::test]
async fn the_default_locale_serves_searches() {
    is_german(SEARCH, json!({ "query": "zebra" })).await;
    let content = json!({ "query": "Stripes", "in": "content" });
    is_german(SEARCH, content).await;
}

#[tokio::test]
async fn the_default_locale_serves_bulk_edits() {
    let edit = json!({ "path": "naive", "addTags": ["seen"], "detail": "full" });
    is_german(BULK, edit).await;
}
