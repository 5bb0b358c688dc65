//! The demo wiki beyond the recorded contract.

use wikijs_gate::demo::Store;

use crate::prelude::*;

const SHORT: Duration = Duration::from_millis(50);
/// Long enough to see what is half done, on a busy machine too.
const WHILE: Duration = Duration::from_millis(400);

async fn empty() -> DemoWiki {
    DemoWiki::start(DemoOptions::empty()).await.unwrap()
}

fn admin(wiki: &DemoWiki) -> WikiClient {
    WikiClient::new(wiki, Some(&wiki.keys().admin))
}

fn add(store: &mut Store, path: &str, tags: &[&str]) -> i64 {
    store.add(
        titled(path, &format!("Page {path}"), "text")
            .but(|row| row.tags = tags.iter().map(|tag| (*tag).to_owned()).collect()),
    )
}

const UPDATE: &str = "mutation($id: Int!, $title: String, $tags: [String]) { pages {
    update(id: $id, title: $title, content: \"new\", isPublished: true, tags: $tags) {
        responseResult { succeeded message } } } }";

const CREATE: &str = "mutation($path: String!) { pages { create(path: $path, title: \"T\",
    content: \"c\", description: \"\", editor: \"markdown\", isPublished: true, isPrivate: false,
    locale: \"en\", tags: []) { responseResult { succeeded errorCode message } page { id } } } }";

#[tokio::test]
async fn other_words_for_the_same_question_get_the_same_answer() {
    let wiki = empty().await;
    let id = wiki.with_store(|store| add(store, "docs/alpha", &["a"]));
    let query = "query Q($n: Int!, $with: Boolean = true) {
        first: pages { it: single(id: $n) { ...Place heading: title @include(if: $with) } }
        second: pages { it: singleByPath(locale: \"en\", path: \"docs/alpha\") {
            tags { tag } ... on Page { id __typename } } }
    } fragment Place on Page { where: path locale }";
    let answer = admin(&wiki).run(query, json!({"n": id})).await;
    let expected = json!({"data": {
        "first": {"it": {"where": "docs/alpha", "locale": "en", "heading": "Page docs/alpha"}},
        "second": {"it": {"tags": [{"tag": "a"}], "id": id, "__typename": "Page"}},
    }});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_refused_field_takes_the_whole_page_along() {
    let wiki = empty().await;
    let id = wiki.with_store(|store| add(store, "docs/alpha", &[]));
    let key = wiki.key_with(&["read:pages", "manage:pages"], "");
    let client = WikiClient::new(&wiki, Some(&key));
    let query = "query($id: Int!) { pages { single(id: $id) { title body: content editor } } }";
    let answer = client.run(query, json!({"id": id})).await;
    assert_eq!(answer["data"], json!({"pages": {"single": null}}));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    answer["errors"][0]
        .shows(json!({ "message": "Forbidden", "path": ["pages", "single", "body"] }));
    let query = "query($id: Int!) { pages { single(id: $id) { title scriptJs } } }";
    let answer = client.run(query, json!({"id": id})).await;
    let title = &answer["data"]["pages"]["single"]["title"];
    assert_eq!(title, "Page docs/alpha");
}

#[tokio::test]
async fn a_key_sees_nothing_beside_its_prefix() {
    let wiki = empty().await;
    let other = wiki.with_store(|store| {
        add(store, "docs/alpha", &["a"]);
        add(store, "blog/beta", &["b"])
    });
    let all = [
        "read:pages",
        "write:pages",
        "manage:pages",
        "delete:pages",
        "read:history",
    ];
    let client = WikiClient::new(&wiki, Some(&wiki.key_with(&all, "docs/")));
    let query = "{ pages { list { path } tags { tag } search(query: \"page\") { totalHits } } }";
    let answer = client.run(query, json!({})).await;
    let expected = json!({"list": [{"path": "docs/alpha"}], "tags": [{"tag": "a"}],
        "search": {"totalHits": 1}});
    assert_eq!(answer["data"]["pages"], expected);

    let codes = [
        ("single(id: $id) { id }", 6013),
        ("history(id: $id) { total }", 6012),
    ];
    for (field, code) in codes {
        let query = format!("query($id: Int!) {{ pages {{ {field} }} }}");
        let answer = client.run(&query, json!({"id": other})).await;
        assert_eq!(answer["errors"][0]["extensions"]["exception"]["code"], code);
    }
    let answer = client.run(CREATE, json!({"path": "blog/new"})).await;
    let error_code = &answer["data"]["pages"]["create"]["responseResult"]["errorCode"];
    assert_eq!(error_code, 6010);
}

#[tokio::test]
async fn an_expired_key_is_a_guest_s() {
    let wiki = empty().await;
    let client = WikiClient::new(&wiki, Some(&wiki.expired_key()));
    let answer = client.run(CREATE, json!({"path": "a"})).await;
    assert_eq!(answer["errors"][0]["message"], "Forbidden");
}

#[tokio::test]
async fn a_write_goes_on_when_its_client_has_left() {
    let wiki = empty().await;
    let id = wiki.with_store(|store| add(store, "docs/alpha", &["old"]));
    wiki.set_write_delay(WHILE);
    let client = admin(&wiki);
    let variables = json!({"id": id, "title": "New", "tags": ["new"]});
    let request = tokio::spawn(async move { client.run(UPDATE, variables).await });
    let is_write = |seen: &SeenRequest| seen.kind == OperationKind::Mutation;
    until(|| wiki.requests().iter().any(is_write)).await;
    request.abort();
    assert!(request.await.is_err(), "the client gave up first");
    let title = |store: &mut Store| store.page(id).unwrap().title.clone();
    assert_eq!(wiki.with_store(title), "Page docs/alpha");
    until(|| wiki.with_store(title) == "New").await;
}

#[tokio::test]
async fn a_stepwise_update_shows_the_new_title_beside_the_old_tags() {
    let wiki = empty().await;
    let id = wiki.with_store(|store| add(store, "docs/alpha", &["old"]));
    wiki.set_stepwise_updates(WHILE);
    let client = admin(&wiki);
    let variables = json!({"id": id, "title": "New", "tags": ["new"]});
    let update = tokio::spawn(async move { client.run(UPDATE, variables).await });
    until(|| wiki.with_store(|store| store.page(id).unwrap().title == "New")).await;
    assert_eq!(
        wiki.with_store(|store| store.page(id).unwrap().tags.clone()),
        ["old"]
    );
    let answer = update.await.unwrap();
    let succeeded = &answer["data"]["pages"]["update"]["responseResult"]["succeeded"];
    assert_eq!(succeeded, true);
    assert_eq!(
        wiki.with_store(|store| store.page(id).unwrap().tags.clone()),
        ["new"]
    );
}

#[tokio::test]
async fn of_two_rebuilds_at_once_one_fails_and_both_pages_are_there() {
    let wiki = empty().await;
    wiki.set_tree_rebuild_time(SHORT);
    wiki.set_tree_rebuild_conflicts(true);
    let client = admin(&wiki);
    let (one, two) = tokio::join!(
        client.run(CREATE, json!({"path": "one"})),
        client.run(CREATE, json!({"path": "two"})),
    );
    let results = [one, two].map(|a| a["data"]["pages"]["create"]["responseResult"].clone());
    let failed: Vec<&Value> = results.iter().filter(|r| r["succeeded"] == false).collect();
    assert_eq!(failed.len(), 1, "{results:?}");
    assert_eq!(failed[0]["errorCode"], 1);
    let message = failed[0]["message"].as_str().unwrap();
    assert!(message.starts_with("Error when running job rebuild-tree: "));
    let query = "{ pages { tree(mode: ALL, locale: \"en\") { path } } }";
    let answer = client.run(query, json!({})).await;
    let expected = json!([{"path": "one"}, {"path": "two"}]);
    assert_eq!(answer["data"]["pages"]["tree"], expected);
}

#[tokio::test]
async fn what_the_engine_refuses_is_http_400() {
    let wiki = empty().await;
    let client = admin(&wiki);
    let query = "query($id: Int!) { pages { single(id: $id) { id } } }";
    for variables in [
        json!({"id": 3_000_000_000_u32}),
        json!({"id": "1"}),
        json!({}),
    ] {
        let status = client.post(query, &variables).await.status;
        assert_eq!(status, 400, "{variables}");
    }
    for query in ["", "{", "{ pages { nope } }", "query A { a } query B { b }"] {
        assert_eq!(client.post(query, &json!({})).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn a_second_client_can_be_quicker() {
    let wiki = empty().await;
    wiki.before_next_mutation(|store| {
        add(store, "docs/alpha", &[]);
    });
    let client = admin(&wiki);
    let answer = client.run(CREATE, json!({"path": "docs/alpha"})).await;
    let error_code = &answer["data"]["pages"]["create"]["responseResult"]["errorCode"];
    assert_eq!(error_code, 6002);
    let answer = client.run(CREATE, json!({"path": "docs/beta"})).await;
    let succeeded = &answer["data"]["pages"]["create"]["responseResult"]["succeeded"];
    assert_eq!(succeeded, true);
}

#[tokio::test]
async fn search_hits_can_carry_ids_of_other_pages() {
    let wiki = empty().await;
    let (alpha, beta) =
        wiki.with_store(|store| (add(store, "alpha", &[]), add(store, "beta", &[])));
    let query = "{ pages { search(query: \"alpha\") { results { id path } } } }";
    let client = admin(&wiki);
    for (row_ids, id) in [(false, alpha), (true, beta)] {
        wiki.set_search_row_ids(row_ids);
        let answer = client.run(query, json!({})).await;
        let expected = json!([{"id": id.to_string(), "path": "alpha"}]);
        assert_eq!(answer["data"]["pages"]["search"]["results"], expected);
    }
}

#[tokio::test]
async fn a_title_like_the_last_segment_follows_a_move() {
    let wiki = empty().await;
    let id = wiki.with_store(|store| {
        let id = add(store, "docs/alpha", &[]);
        store.page_mut(id).unwrap().title = "alpha".to_owned();
        id
    });
    let query = "mutation($id: Int!) { pages { move(id: $id, destinationLocale: \"de\",
        destinationPath: \"/neu/beta\") { responseResult { succeeded } } } }";
    admin(&wiki).run(query, json!({"id": id})).await;
    let page = wiki.with_store(|store| store.page_at("de", "neu/beta").cloned());
    assert_eq!(page.unwrap().title, "beta");
}

#[tokio::test]
async fn a_tag_that_is_too_long_fails_after_the_page_was_made() {
    let wiki = empty().await;
    let query = CREATE.replace("tags: []", &format!("tags: [\"{}\"]", "x".repeat(256)));
    let answer = admin(&wiki).run(&query, json!({"path": "a"})).await;
    let succeeded = &answer["data"]["pages"]["create"]["responseResult"]["succeeded"];
    assert_eq!(succeeded, false);
    assert!(wiki.with_store(|store| store.page_at("en", "a").is_some()));
}

#[tokio::test]
async fn odd_characters_are_refused_or_replaced() {
    let wiki = empty().await;
    let client = admin(&wiki);
    let answer = client.run(CREATE, json!({"path": "a\0b"})).await;
    let error_code = &answer["data"]["pages"]["create"]["responseResult"]["errorCode"];
    assert_eq!(error_code, 1);
    let body = json!({"query": CREATE, "variables": {"path": "HALF"}}).to_string();
    let body = body.replace("HALF", "a\\ud83d");
    let reply = client
        .send(reqwest::Method::POST, "/graphql", Some(body))
        .await;
    assert_eq!(reply.status, 200);
    assert!(wiki.with_store(|store| store.page_at("en", "a\u{fffd}").is_some()));
}

#[tokio::test]
async fn requests_are_seen_without_their_keys() {
    let wiki = empty().await;
    let client = admin(&wiki);
    client
        .run("{ p: pages { t: tags { tag } list { id } } }", json!({}))
        .await;
    client.run(CREATE, json!({"path": "a"})).await;
    let seen = wiki.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].kind, OperationKind::Query);
    assert_eq!(seen[0].fields, ["pages.tags", "pages.list"]);
    assert_eq!(seen[1].kind, OperationKind::Mutation);
    assert_eq!(seen[1].variables, json!({"path": "a"}));
    assert!(seen[1].headers.contains_key("content-type"));
    assert!(!seen[1].headers.contains_key("authorization"));
    wiki.clear_requests();
    assert!(wiki.requests().is_empty());
}

#[tokio::test]
async fn the_sample_wiki_is_whole() {
    let wiki = DemoWiki::start(DemoOptions::default()).await.unwrap();
    let client = admin(&wiki);
    for locale in ["en", "de"] {
        let query = "query($l: String!) { pages { links(locale: $l) { path links } } }";
        let answer = client.run(query, json!({"l": locale})).await;
        for page in answer["data"]["pages"]["links"].as_array().unwrap() {
            for link in page["links"].as_array().unwrap() {
                let (locale, path) = link.as_str().unwrap().split_once('/').unwrap();
                let found = wiki.with_store(|store| store.page_at(locale, path).is_some());
                assert!(found, "{} links to {link}", page["path"]);
            }
        }
    }
    assert!(wiki.with_store(|store| store.pages().count()) >= 20);
    let page = wiki.with_store(|store| store.page_at("en", "docs/configuration").cloned());
    let query = "query($id: Int!) { pages { history(id: $id) { trail { actionType } } } }";
    let answer = client.run(query, json!({"id": page.unwrap().id})).await;
    let trail = &answer["data"]["pages"]["history"]["trail"];
    assert_eq!(trail, &json!([{"actionType": "initial"}]));
}

/// Waits for something that will happen, ten seconds at most.
async fn until(happened: impl Fn() -> bool) {
    let wait = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait)
        .await
        .expect("it never happened");
}
