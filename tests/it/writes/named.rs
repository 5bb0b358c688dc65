//! Pages by name in tools that take an id: the name is resolved as reads resolve it.

use crate::prelude::*;

const PAGES: &[(&str, &str)] = &[
    ("docs/a", "# A\n"),
    ("docs/b", "# B\n"),
    ("other/b", "# Another\n"),
    ("secret/plan", "# Plan\n"),
];

#[tokio::test]
async fn every_tool_that_takes_an_id_takes_a_name_and_the_preview_says_which_page_was_meant() {
    let wiki = wiki_of(PAGES).await;
    let served = Setup::admin(&wiki).toolsets("pages,comments").serve().await;
    let id = id_of(&wiki, "docs/a");
    for name in ["docs/a", "/en/docs/a", "Page docs a", "[[docs/a]]"] {
        let arguments = json!({ "page": name, "title": "New" });
        let preview = call_ok(&served, UPDATE, arguments).await;
        preview["target"].shows(json!({ "id": id, "path": "docs/a" }));
        let preview = call_ok(&served, DELETE, json!({ "page": name })).await;
        preview["target"].shows(json!({ "id": id }));
        let history = call_ok(&served, HISTORY, json!({ "page": name })).await;
        assert!(history.get("changes").is_none(), "{history}");
        call_ok(&served, LIST_COMMENTS, json!({ "page": name })).await;
    }
    let comment = json!({ "page": "docs/a", "content": "A remark." });
    confirmed_ok(&served, ADD_COMMENT, comment).await;
    let listed = call_ok(&served, LIST_COMMENTS, json!({ "id": id })).await;
    assert_eq!(listed["comments"].as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test]
async fn a_name_of_several_pages_is_refused_with_them_and_nothing_is_sent() {
    let (wiki, served) = with_server(wiki_of(PAGES).await, Setup::admin).await;
    let arguments = json!({ "page": "b", "title": "New" });
    let error = fails(&served, UPDATE, arguments, "AMBIGUOUS_PAGE").await;
    let candidates = error["details"]["candidates"].as_array().unwrap();
    let paths: Vec<&Value> = candidates.iter().map(|page| &page["path"]).collect();
    assert_eq!(paths, ["docs/b", "other/b"]);
    assert_eq!(mutations(&wiki).len(), 0);
    // A write that was refused for its name is on record as any other.
    assert!(
        served.told().iter().any(|told| told.contains("refusal")),
        "{:?}",
        served.told()
    );
}

#[tokio::test]
async fn a_token_confirms_the_page_that_was_previewed_whichever_way_it_is_named() {
    let (wiki, served) = with_server(wiki_of(PAGES).await, Setup::admin).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    let arguments = json!({ "page": "docs/a", "title": "New" });
    let preview = call_ok(&served, UPDATE, arguments).await;
    let token = &preview["confirm"];
    for other in [
        json!({ "page": "docs/b", "confirm": token }),
        json!({ "id": b, "confirm": token }),
    ] {
        fails(&served, UPDATE, other, "CONFIRM_MISMATCH").await;
    }
    is_applied(&served, UPDATE, json!({ "id": a, "confirm": token })).await;

    // The name leads to another page by now: that one was not previewed.
    let arguments = json!({ "page": "docs/b", "title": "Newer" });
    let preview = call_ok(&served, UPDATE, arguments.clone()).await;
    wiki.with_store(|store| {
        store.page_mut(b).unwrap().path = "docs/moved".to_owned();
        store.page_mut(a).unwrap().path = "docs/b".to_owned();
    });
    let mut confirmed = arguments;
    confirmed["confirm"] = preview["confirm"].clone();
    let before = mutations(&wiki).len();
    fails(&served, UPDATE, confirmed, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), before);
}

#[tokio::test]
async fn a_retry_by_a_name_that_the_write_changed_is_told_what_became_of_it() {
    let (wiki, served) = with_server(wiki_of(PAGES).await, Setup::admin).await;
    for (tool, arguments) in [
        (UPDATE, json!({ "page": "docs/a", "path": "docs/moved" })),
        (DELETE, json!({ "page": "docs/b" })),
    ] {
        let preview = call_ok(&served, tool, arguments.clone()).await;
        let mut confirmed = arguments;
        confirmed["confirm"] = preview["confirm"].clone();
        let done = is_applied(&served, tool, confirmed.clone()).await;
        let before = mutations(&wiki).len();
        let error = fails(&served, tool, confirmed, "CONFIRM_EXPIRED").await;
        error["details"].shows(json!({ "usedBy": done["callId"], "outcome": "applied" }));
        assert_eq!(mutations(&wiki).len(), before);
    }
}

#[tokio::test]
async fn no_name_is_taken_where_the_operators_token_confirms() {
    const TOKEN: &str = "open sesame, please";
    let (wiki, served) = with_server(wiki_of(PAGES).await, |wiki| {
        Setup::admin(wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN)
    })
    .await;
    let arguments = json!({ "page": "docs/a", "confirm": TOKEN });
    let error = fails(&served, DELETE, arguments, "INVALID_INPUT").await;
    says(&error["message"], "give its id");
    assert_eq!(mutations(&wiki).len(), 0);
    call_ok(&served, HISTORY, json!({ "page": "docs/a" })).await;
}

#[tokio::test]
async fn a_page_that_may_not_be_read_is_not_found_by_name() {
    let (wiki, served) = with_server(wiki_of(PAGES).await, |wiki| {
        Setup::admin(wiki).with("WIKI_DENIED_READ_PATH_PREFIXES", "secret")
    })
    .await;
    for name in ["secret/plan", "Page secret plan", "plan"] {
        for tool in [UPDATE, DELETE] {
            let error = fails(&served, tool, json!({ "page": name }), "PAGE_NOT_FOUND").await;
            let told = error.to_string();
            lacks(&told, "Page secret plan");
            lacks(&told, &format!("\"id\":{}", id_of(&wiki, "secret/plan")));
        }
    }
}

#[tokio::test]
async fn an_invalid_name_is_refused_at_once() {
    let (_wiki, served) = with_server(wiki_of(PAGES).await, Setup::admin).await;
    let long = "x".repeat(500_000);
    for name in [
        json!(""),
        json!("   "),
        json!(null),
        json!({}),
        json!(1.5),
        json!(-1),
        json!(long),
    ] {
        let arguments = json!({ "page": name, "title": "New" });
        let error = served.call(UPDATE, arguments).await.unwrap_err();
        let code = error["code"].as_str().unwrap();
        assert!(
            ["INVALID_INPUT", "PAGE_NOT_FOUND"].contains(&code),
            "{error}"
        );
        assert!(error.to_string().len() < 4_000, "{error}");
    }
}

#[tokio::test]
async fn a_name_without_a_page_says_whether_one_may_be_made_there() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/secret/a", "S\n")]).await;
    let place = async |served: &Served, tool: &str, arguments: Value| {
        let error = fails(served, tool, arguments, "PAGE_NOT_FOUND").await;
        error["details"]["place"].clone()
    };
    let at = |path: &str| json!({ "path": path });
    let open = Setup::admin(&wiki).serve().await;
    let free = place(&open, BY_PATH, at("docs/new")).await;
    free.shows(json!({ "locale": "en", "path": "docs/new", "mayCreate": true }));
    let named = json!({ "page": "docs/new", "title": "T" });
    place(&open, UPDATE, named)
        .await
        .shows(json!({ "mayCreate": true }));
    // A locale that the wiki does not have holds no page.
    for unknown in [
        at("/fr/docs/new"),
        json!({ "path": "docs/new", "locale": "fr" }),
    ] {
        let place = place(&open, BY_PATH, unknown).await;
        place.shows(json!({ "locale": "fr", "mayCreate": false }));
        begins(&place["why"], "The wiki has no locale fr; it has: ");
    }
    // What names no place of a new page has none, and an id has none.
    assert_eq!(
        place(&open, BY_PATH, at("No such title.")).await,
        Value::Null
    );
    assert_eq!(
        place(&open, BY_ID, json!({ "id": 4_711 })).await,
        Value::Null
    );

    let setup = Setup::admin(&wiki).with("WIKI_MUTATIONS_ENABLED", "false");
    let off = setup.serve().await;
    let closed = place(&off, BY_PATH, at("docs/new")).await;
    closed.shows(json!({ "mayCreate": false, "why": "MUTATIONS_DISABLED" }));
    let bounded = Setup::admin(&wiki)
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs")
        .with("WIKI_DENIED_READ_PATH_PREFIXES", "docs/secret")
        .serve()
        .await;
    let elsewhere = place(&bounded, BY_PATH, at("other/new")).await;
    elsewhere.shows(json!({ "mayCreate": false, "why": "PATH_NOT_ALLOWED" }));
    // A page that may not be read is told from none by nothing.
    let unread = place(&bounded, BY_PATH, at("docs/secret/a")).await;
    let none = place(&bounded, BY_PATH, at("docs/secret/b")).await;
    assert_eq!(unread["why"], none["why"]);
    assert_eq!(unread["mayCreate"], none["mayCreate"]);

    let exists = json!({ "path": "docs/a", "title": "A", "content": "x\n" });
    let error = fails(&open, CREATE, exists, "PAGE_EXISTS").await;
    begins(&error["hint"], "Update the page");
}
