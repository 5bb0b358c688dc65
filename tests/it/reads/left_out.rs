//! What an answer leaves out or cuts is said, and the call that it names gives it: each of the ten
//! tools.

use crate::prelude::*;

/// More lines than an answer shows.
fn lines(word: &str) -> String {
    let lines: Vec<String> = (0..4_000).map(|line| format!("{word} {line}.\n")).collect();
    lines.concat()
}

/// More than an answer of the tree or of tags holds: so many pages with a tag each.
const MANY: usize = 1_200;

/// A wiki with so many pages more, and a long one.
async fn wiki_of(pages: usize) -> DemoWiki {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for number in 0..pages {
            store.add(
                titled(
                    &format!("many/{}/page-{number}", number % 3),
                    &format!("Zebra {number}"),
                    "Stripes.\n",
                )
                .but(|row| row.tags = vec![format!("stripe-{number}")]),
            );
        }
        let long = lines("Line");
        let id = store.page_at("en", "home").unwrap().id;
        store.rewrite(id, |page| page.content = long);
    });
    wiki
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).indexed()
}

fn paths(items: &Value) -> BTreeSet<String> {
    let items = items.as_array().unwrap().iter();
    items
        .map(|item| item["path"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_search_says_that_more_pages_match() {
    let (_wiki, served) = with_server(wiki_of(250).await, setup).await;
    for place in ["auto", "wiki", "content"] {
        let asked = |more: Value| {
            let mut arguments = json!({ "query": "zebra", "in": place });
            for (name, value) in more.as_object().unwrap() {
                arguments[name] = value.clone();
            }
            arguments
        };
        let cut = call_ok(&served, SEARCH, asked(json!({ "limit": 2 }))).await;
        assert_eq!(cut["hits"].as_array().unwrap().len(), 2, "{cut}");
        let hint = cut["hint"].as_str().unwrap();
        says(&hint, "raise limit");
        says(&hint, "path");
        let more = call_ok(&served, SEARCH, asked(json!({ "limit": 100 }))).await;
        assert_eq!(more["hits"].as_array().unwrap().len(), 100);
        let narrow = asked(json!({ "path": "many/1/page-7" }));
        let narrowed = call_ok(&served, SEARCH, narrow).await;
        assert_eq!(narrowed["hits"].as_array().unwrap().len(), 1, "{narrowed}");
        assert_eq!(narrowed.get("hint"), None, "{narrowed}");
    }
}

#[tokio::test]
async fn a_list_goes_on_by_its_cursor_until_all_were_told() {
    let (wiki, served) = with_server(wiki_of(450).await, setup).await;
    for filters in [
        json!({}),
        json!({ "path": "many" }),
        json!({ "tags": ["stripe-1*"] }),
    ] {
        let (mut seen, mut count) = (BTreeSet::new(), 0);
        let mut arguments = filters.clone();
        arguments["limit"] = json!(100);
        loop {
            let part = call_ok(&served, LIST, arguments.clone()).await;
            count += part["pages"].as_array().unwrap().len();
            seen.extend(paths(&part["pages"]));
            match part.get("nextCursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(seen.len(), count, "{filters}");
        let is_wanted = |page: &&PageRow| {
            let tags = &filters["tags"];
            page.locale == "en"
                && (filters["path"].is_null() || page.path.starts_with("many/"))
                && (tags.is_null() || page.tags.iter().any(|tag| tag.starts_with("stripe-1")))
        };
        let there = wiki.with_store(|store| store.pages().filter(is_wanted).count());
        assert_eq!(count, there, "{filters}");
    }
}

#[tokio::test]
async fn a_page_that_was_cut_goes_on_where_it_was_cut() {
    let (wiki, served) = with_server(wiki_of(3).await, setup).await;
    let id = id_of(&wiki, "home");
    let whole = wiki.with_store(|store| store.page(id).unwrap().content.clone());
    for (tool, name) in [
        (BY_ID, json!({ "id": id })),
        (BY_PATH, json!({ "path": "home" })),
    ] {
        let (mut content, mut arguments) = (String::new(), name.clone());
        loop {
            let part = call_ok(&served, tool, arguments.clone()).await;
            content.push_str(part["content"].as_str().unwrap());
            match part["part"].get("nextOffset") {
                Some(offset) => {
                    let left = usize::try_from(part["part"]["bytesLeft"].as_u64().unwrap());
                    assert_eq!(left.unwrap(), whole.len() - content.len());
                    arguments["offset"] = offset.clone();
                }
                None => break,
            }
        }
        assert_eq!(content, whole, "{tool}");
    }
}

#[tokio::test]
async fn a_tree_says_how_many_more_there_are_below_and_a_deeper_path_shows_them() {
    let (_wiki, served) = with_server(wiki_of(MANY).await, setup).await;
    let cut = call_ok(&served, TREE, json!({ "path": "many", "depth": 5 })).await;
    let shown = cut["nodes"].as_array().unwrap().len();
    // Three folders and their pages.
    assert_eq!(cut["notShown"], json!(MANY + 3 - shown), "{shown}");
    let mut pages = BTreeSet::new();
    for folder in ["many/0", "many/1", "many/2"] {
        let deeper = call_ok(&served, TREE, json!({ "path": folder, "depth": 5 })).await;
        assert_eq!(deeper.get("notShown"), None);
        pages.extend(paths(&deeper["nodes"]));
    }
    assert_eq!(pages.len(), MANY);
}

#[tokio::test]
async fn a_history_says_how_many_entries_there_are_and_offset_reaches_them() {
    let (wiki, served) = with_server(wiki_of(60).await, setup).await;
    let id = id_of(&wiki, "many/0/page-0");
    for title in ["One", "Two", "Three"] {
        wiki.with_store(|store| store.rewrite(id, |page| title.clone_into(&mut page.title)));
    }
    let newest = call_ok(&served, HISTORY, json!({ "id": id, "limit": 1 })).await;
    assert_eq!(newest["total"], 3, "{newest}");
    let rest = call_ok(&served, HISTORY, json!({ "id": id, "offset": 1 })).await;
    assert_eq!(rest["entries"].as_array().unwrap().len(), 2);
    // Of the whole wiki.
    let arguments = json!({ "since": "2000-01-01", "path": "many" });
    let changes = call_ok(&served, HISTORY, arguments).await;
    let changes = &changes["changes"];
    assert_eq!(changes["pages"].as_array().unwrap().len(), 20);
    assert_eq!(changes["more"], 40);
    let offset = changes["nextOffset"].clone();
    let next = json!({ "since": "2000-01-01", "path": "many", "offset": offset });
    let next = call_ok(&served, HISTORY, next).await;
    let (first, second) = (paths(&changes["pages"]), paths(&next["changes"]["pages"]));
    assert!(second.len() == 20 && first.is_disjoint(&second));
}

#[tokio::test]
async fn tags_beyond_the_most_are_counted_and_a_query_finds_them() {
    let (wiki, served) = with_server(wiki_of(MANY).await, setup).await;
    let cut = call_ok(&served, TAGS, json!({})).await;
    let all = wiki.with_store(|store| {
        let tags = store.pages().flat_map(|page| page.tags.clone());
        tags.collect::<BTreeSet<_>>().len()
    });
    let shown = cut["tags"].as_array().unwrap().len();
    assert_eq!(cut["notShown"], json!(all - shown));
    let found = call_ok(&served, TAGS, json!({ "query": "stripe-1199" })).await;
    assert_eq!(found["tags"][0]["tag"], "stripe-1199");
}

/// Previews: a long difference says how many lines it lacks, a linked page how many link to it.
#[tokio::test]
async fn a_preview_says_what_it_does_not_show() {
    let (wiki, served) = with_server(wiki_of(60).await, setup).await;
    let id = id_of(&wiki, "home");
    let long = lines("Other");
    let made = json!({ "path": "left/out", "title": "Long", "content": long.clone() });
    for (tool, arguments) in [
        (CREATE, made),
        (UPDATE, json!({ "id": id, "content": long })),
    ] {
        let preview = call_ok(&served, tool, full(arguments)).await;
        let diff = preview["diff"].as_str().unwrap();
        assert!(diff.len() <= 32 * 1024, "{tool}");
        assert!(diff.contains("\\ From here on, lines that are added are not shown."));
        let warnings = preview["warnings"].to_string();
        assert!(warnings.contains("diff_cut"), "{tool}: {warnings}");
        assert_eq!(preview["linesAdded"], 4_000, "{tool}");
    }
    wiki.with_store(|store| {
        let ids: Vec<i64> = store.pages().map(|page| page.id).collect();
        for other in ids.into_iter().filter(|other| *other != id).take(30) {
            store.rewrite(other, |page| page.content.push_str("\n[home](/en/home)\n"));
        }
    });
    let preview = call_ok(&served, DELETE, json!({ "id": id })).await;
    let told = preview["linkedFrom"].as_array().unwrap().len();
    let mut linking = 0;
    for locale in ["en", "de"] {
        let there = json!({ "linksTo": id, "locale": locale, "limit": 100 });
        let there = call_ok(&served, LIST, there).await;
        linking += there["pages"].as_array().unwrap().len();
    }
    let warnings = preview["warnings"].to_string();
    assert!(
        told < linking && warnings.contains(&linking.to_string()),
        "{told} {linking} {warnings}"
    );
}
