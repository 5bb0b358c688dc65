//! Tags as arguments: a sign before a tag is only a way to write it, whichever argument takes it.

use crate::prelude::*;

async fn wiki() -> (DemoWiki, Served) {
    let wiki = wiki_of(&[]).await;
    wiki.with_store(|store| {
        for (path, tags) in [("docs/a", vec!["x", "y"]), ("docs/b", vec!["y"])] {
            store.add(
                page(path, "# Page\n\nText.\n")
                    .but(|row| row.tags = tags.into_iter().map(str::to_owned).collect()),
            );
        }
    });
    let setup = Setup::admin(&wiki).toolsets("pages,drafts");
    let served = setup.serve().await;
    (wiki, served)
}

fn tags(wiki: &DemoWiki, path: &str) -> Vec<String> {
    let id = id_of(wiki, path);
    let mut tags = wiki.with_store(|store| store.page(id).unwrap().tags.clone());
    tags.sort();
    tags
}

#[tokio::test]
async fn a_sign_before_a_tag_means_the_tag_in_every_argument() {
    let (wiki, served) = wiki().await;
    let a = id_of(&wiki, "docs/a");
    let new = json!({ "path": "docs/c", "title": "C", "content": "x", "tags": ["#New"] });
    served.confirmed(CREATE, new).await.unwrap();
    assert_eq!(tags(&wiki, "docs/c"), ["new"]);

    let removed = json!({ "id": a, "removeTags": ["#x"] });
    let done = is_applied(&served, UPDATE, removed).await;
    assert!(!done.to_string().contains("tags_not_there"), "{done}");
    assert_eq!(tags(&wiki, "docs/a"), ["y"]);
    let added = json!({ "id": a, "addTags": ["#z"] });
    served.confirmed(UPDATE, added).await.unwrap();
    assert_eq!(tags(&wiki, "docs/a"), ["y", "z"]);
    let all = json!({ "id": a, "tags": ["#x", "#y"] });
    served.confirmed(UPDATE, all).await.unwrap();
    assert_eq!(tags(&wiki, "docs/a"), ["x", "y"]);

    let bulk = json!({ "tags": ["#y"], "addTags": ["#all"], "removeTags": ["#y"] });
    let done = served.confirmed(BULK, bulk).await;
    assert_eq!(done.unwrap()["applied"], 2);
    assert_eq!(tags(&wiki, "docs/a"), ["all", "x"]);
    assert_eq!(tags(&wiki, "docs/b"), ["all"]);

    for (tool, arguments, list) in json_rows::<(&str, Value, &str)>(&json!([
        [LIST, { "tags": ["#all"] }, "pages"],
        [SEARCH, { "query": "docs", "in": "wiki", "tags": ["#all"] }, "hits"],
        [TAGS, { "query": "#all" }, "tags"],
    ])) {
        let answer = served.call(tool, arguments).await.unwrap();
        assert!(
            !answer[list].as_array().unwrap().is_empty(),
            "{tool} {answer}"
        );
    }
}

#[tokio::test]
async fn a_tag_that_really_begins_with_the_sign_is_meant_by_it() {
    let (wiki, served) = wiki().await;
    let b = id_of(&wiki, "docs/b");
    wiki.with_store(|store| store.page_mut(b).unwrap().tags.push("#y".to_owned()));
    let removed = json!({ "id": b, "removeTags": ["#y"] });
    served.confirmed(UPDATE, removed).await.unwrap();
    assert_eq!(tags(&wiki, "docs/b"), ["y"]);
}

#[tokio::test]
async fn a_tag_to_remove_that_no_page_has_is_named() {
    let (wiki, served) = wiki().await;
    let [a, b] = ["docs/a", "docs/b"].map(|path| id_of(&wiki, path));
    let names = |answer: &Value| {
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        let all: Vec<String> = warnings.iter().map(said).collect();
        let one = all.iter().find(|one| one.starts_with("tags_not_there"));
        one.cloned().unwrap_or_default()
    };
    let none = json!({ "id": a, "removeTags": ["#none"] });
    let told = served.call(UPDATE, none).await.unwrap();
    assert_eq!(told["outcome"], "unchanged", "{told}");
    assert!(names(&told).contains("none"), "{told}");
    let one = json!({ "id": a, "removeTags": ["x", "gone"] });
    let told = served.call(UPDATE, one).await.unwrap();
    assert!(names(&told).contains(": gone."), "{told}");
    let many = json!({ "ids": [a, b], "removeTags": ["x", "y", "gone"] });
    let told = served.call(BULK, many).await.unwrap();
    assert!(names(&told).contains(": gone."), "{told}");
}

#[tokio::test]
async fn tags_that_drop_more_than_they_add_are_told() {
    let (wiki, served) = wiki().await;
    let a = id_of(&wiki, "docs/a");
    let warns = |answer: &Value| answer["warnings"].to_string().contains("tags_dropped");
    let fewer = json!({ "id": a, "tags": ["z"] });
    let shown = served.call(UPDATE, fewer).await.unwrap();
    assert!(warns(&shown), "{shown}");
    let others = json!({ "id": a, "tags": ["z", "w"] });
    let shown = served.call(UPDATE, others).await.unwrap();
    assert!(!warns(&shown), "{shown}");
}
