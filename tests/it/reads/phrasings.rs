//! Several queries in one search, and the text around a hit.

use crate::prelude::*;

async fn pumps() -> (DemoWiki, Served) {
    let pages = [
        ("a/pump", "The pump leaks at its gasket."),
        ("a/seal", "A gasket is a seal."),
        ("b/leak", "Every leak is told."),
        ("b/gasket", "gasket gasket"),
    ];
    let wiki = wiki_of(&pages).await;
    wiki.with_page(page("a/dichtung", "gasket leak seal").but(|row| row.locale = "de".to_owned()));
    let hidden = |wiki: &DemoWiki| {
        Setup::readonly(wiki)
            .indexed()
            .with("WIKI_DENIED_READ_PATH_PREFIXES", "c")
    };
    wiki.with_page(page("c/secret", "gasket leak seal"));
    with_server(wiki, hidden).await
}

async fn search(served: &Served, arguments: Value) -> Value {
    served.checked(SEARCH, arguments).await.unwrap()
}

fn scores(answer: &Value) -> Vec<i64> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["score"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn several_queries_give_one_list_with_each_page_once() {
    let (_wiki, served) = pumps().await;
    let queries = json!(["leak", "gasket", "seal"]);
    let answer = search(&served, json!({ "queries": queries, "in": "content" })).await;
    // The two pages that two queries find come before those of one.
    let paths = members(&answer, "hits", "path");
    let (first, rest) = paths.split_at(2);
    assert!(first.contains(&"a/pump"), "{paths:?}");
    assert!(first.contains(&"a/seal"), "{paths:?}");
    assert!(rest.contains(&"b/leak"), "{paths:?}");
    assert!(rest.contains(&"b/gasket"), "{paths:?}");
    assert_eq!(paths.len(), 4, "{answer}");
    assert_eq!(scores(&answer)[0], 1000);
    assert!(scores(&answer).is_sorted_by(|a, b| a >= b));
    assert!(
        answer["hits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| hit["snippet"].is_string())
    );
    // A page in another locale counts once, a page out of bounds never.
    assert_eq!(answer["otherLocales"], 1, "{answer}");
    for _ in 0..3 {
        let again = search(&served, json!({ "queries": queries, "in": "content" })).await;
        assert_eq!(again, answer);
    }
    let arguments = json!({ "queries": queries, "in": "content", "limit": 2 });
    let cut = search(&served, arguments).await;
    assert_eq!(members(&cut, "hits", "path"), first);
    says(cut["hint"].as_str().unwrap(), "More pages match");
}

#[tokio::test]
async fn equal_queries_are_one() {
    let (_wiki, served) = pumps().await;
    for place in ["auto", "wiki", "content"] {
        let once = search(&served, json!({ "query": "gasket", "in": place })).await;
        let five =
            json!({ "queries": ["gasket", " Gasket", "gasket", "GASKET ", "gasket"], "in": place });
        assert_eq!(search(&served, five).await, once, "{place}");
    }
}

#[tokio::test]
async fn a_search_by_several_queries_uses_both_engines_and_every_filter() {
    let (wiki, served) = pumps().await;
    wiki.with_page(PageRow {
        title: "Seal it".to_owned(),
        tags: vec!["ops".to_owned()],
        ..page("a/title", "about a leak")
    });
    let asked = json!({ "queries": ["seal", "leak"], "tags": ["ops"] });
    let answer = search(&served, asked).await;
    assert_eq!(members(&answer, "hits", "path"), ["a/title"]);
    assert_eq!(answer["hits"][0]["foundIn"], json!(["wiki", "content"]));
    let nothing = search(&served, json!({ "queries": ["nothingofit", "norofthis"] })).await;
    assert_eq!(nothing["hits"], json!([]));
}

#[tokio::test]
async fn a_hit_shows_as_much_around_it_as_was_asked_for() {
    let text = format!(
        "# Head\n\n{}\n\n| a | b |\n|---|---|\n| needle | \u{202e}x |\n\n<b>{}</b>\n",
        "ä".repeat(2_000),
        "ö".repeat(2_000)
    );
    let wiki = wiki_of(&[("a/long", &text)]).await;
    let served = Setup::readonly(&wiki).indexed().serve().await;
    let snippet = |answer: &Value| answer["hits"][0]["snippet"].as_str().unwrap().to_owned();
    let usual = snippet(&search(&served, json!({ "query": "needle" })).await);
    lacks(&usual, "\n");
    for bytes in [1, 33, 501, 1_000] {
        let asked = json!({ "query": "needle", "context": bytes });
        let shown = snippet(&search(&served, asked).await);
        let most = "«needle»……\\u{202e}".len() + 2 * bytes;
        assert!(shown.len() <= most, "{bytes}: {shown}");
        assert!(shown.len() + 30 > 2 * bytes, "{bytes}: {shown}");
    }
    let shown = snippet(&search(&served, json!({ "query": "needle", "context": 40 })).await);
    let part = "| a | b |\n|---|---|\n| «needle» | \\u{202e}x |\n\n<b>ö";
    says(&shown, part);
    // Hits of titles fill the limit, and the content is searched all the same.
    wiki.with_page(page("b/needle", "nothing else"));
    let arguments = json!({ "query": "needle", "context": 9, "limit": 1 });
    let one = search(&served, arguments).await;
    assert_eq!(one["searchedIn"], json!(["wiki", "content"]));
}

#[tokio::test]
async fn queries_and_context_out_of_bounds_are_refused() {
    let (_wiki, served) = pumps().await;
    for (arguments, field) in json_rows::<(Value, &str)>(&json!([
        [{ "query": "a", "queries": ["b"] }, "queries"],
        [{ "queries": [] }, "queries"],
        [{ "queries": vec!["a"; 6] }, "queries"],
        [{ "queries": vec!["a"; 5_000] }, "queries"],
        [{ "queries": ["a", ""] }, "queries[1]"],
        [{ "queries": ["a".repeat(501)] }, "queries[0]"],
        [{ "queries": ["a", 7] }, "queries[1]"],
        [{ "queries": "a" }, "queries"],
        [{ "queries": ["a"], "relatedTo": 1 }, "relatedTo"],
        [{ "queries": ["a"], "match": "REGEX" }, "match"],
        [{ "query": "a", "context": 1_000_000_000 }, "context"],
        [{ "query": "a", "context": u64::MAX }, "context"],
        [{ "query": "a", "context": 0 }, "context"],
        [{ "query": "a", "context": -1 }, "context"],
        [{ "query": "a", "context": 1_000, "limit": 100 }, "context"],
        [{ "query": "a", "context": 9, "match": "EXACT" }, "context"],
        [{ "query": "a", "context": 9, "in": "wiki" }, "context"],
        [{ "relatedTo": 1, "context": 9 }, "context"],
    ])) {
        let error = fails(&served, SEARCH, arguments.clone(), "INVALID_INPUT").await;
        assert_eq!(
            error["details"]["fields"][0]["path"], field,
            "{arguments} {error}"
        );
    }
}
