//! Lists, the tree and tags in depth.

use wikijs_gate::page::TagPattern;
use wikijs_gate::wiki::ListQuery;

use crate::prelude::*;
use crate::reads::read;

async fn empty_wiki() -> DemoWiki {
    DemoWiki::start(DemoOptions::empty()).await.unwrap()
}

async fn as_reader(wiki: &DemoWiki) -> Served {
    Setup::reader(wiki).serve().await.acquainted().await
}

async fn listed(served: &Served, arguments: Value) -> Value {
    read(served, LIST, arguments).await.unwrap()
}

fn paths(answer: &Value) -> Vec<&str> {
    members(answer, "pages", "path")
}

/// Ten pages, one a day, every other a draft.
async fn ten_days() -> DemoWiki {
    let wiki = empty_wiki().await;
    wiki.with_store(|store| {
        for day in 10..20 {
            store.add(PageRow {
                path: format!("day/p{day}"),
                title: format!("Day {day}"),
                updated_at: format!("2026-03-{day}T12:00:00.000Z"),
                is_published: day % 2 == 0,
                ..PageRow::default()
            });
        }
    });
    wiki
}

#[tokio::test]
async fn what_changed_since_a_time_comes_newest_first_and_costs_one_limited_request() {
    let wiki = ten_days().await;
    let served = as_reader(&wiki).await;
    wiki.clear_requests();
    let asked = json!({ "updatedSince": "2026-03-17T12:00:00Z", "locale": "en" });
    let answer = listed(&served, asked).await;
    assert_eq!(paths(&answer), ["day/p19", "day/p18", "day/p17"]);
    assert!(answer.get("nextCursor").is_none());
    let seen = wiki.requests();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].variables["limit"].is_i64());
    // In another order it is the same pages.
    for (mut arguments, wanted) in json_rows::<(Value, Vec<String>)>(&json!([
        [{ "orderBy": "TITLE" }, ["day/p17", "day/p18", "day/p19"]],
        [{ "direction": "ASC" }, ["day/p17", "day/p18", "day/p19"]],
        [{ "orderBy": "UPDATED" }, ["day/p17", "day/p18", "day/p19"]],
        [{ "orderBy": "ID", "direction": "DESC" }, ["day/p19", "day/p18", "day/p17"]],
    ])) {
        arguments["updatedSince"] = json!("2026-03-17T12:00:00Z");
        assert_eq!(paths(&listed(&served, arguments).await), wanted);
    }
    for bad in ["", "soon"] {
        let error = read(&served, LIST, json!({ "updatedSince": bad })).await;
        assert_eq!(error.unwrap_err()["code"], "INVALID_INPUT");
    }
}

#[tokio::test]
async fn a_filtered_list_is_read_part_by_part_in_every_order() {
    let wiki = ten_days().await;
    let served = as_reader(&wiki).await;
    for order in ["CREATED", "ID", "PATH", "TITLE", "UPDATED"] {
        for direction in ["ASC", "DESC"] {
            let mut arguments = json!({
                "orderBy": order, "direction": direction, "limit": 2, "isPublished": true,
                "updatedSince": "2026-03-12", "path": "day",
            });
            let mut all: Vec<String> = Vec::new();
            for part in 0..2 {
                let answer = listed(&served, arguments.clone()).await;
                all.extend(paths(&answer).into_iter().map(str::to_owned));
                assert_eq!(
                    answer.get("nextCursor").is_some(),
                    part == 0,
                    "{order} {direction}"
                );
                arguments["cursor"] = answer["nextCursor"].clone();
            }
            all.sort();
            assert_eq!(all, ["day/p12", "day/p14", "day/p16", "day/p18"]);
        }
    }
    // A cursor of another list is none of this one.
    let answer = listed(&served, json!({ "limit": 1, "isPublished": true })).await;
    let other = json!({ "limit": 1, "isPublished": false, "cursor": answer["nextCursor"] });
    let error = read(&served, LIST, other).await.unwrap_err();
    assert_eq!(error["details"]["fields"][0]["path"], "cursor");
}

#[tokio::test]
async fn drafts_alone_and_published_pages_alone_are_all_pages() {
    let wiki = sample_wiki().await;
    let served = as_reader(&wiki).await;
    for wanted in [true, false] {
        let arguments =
            json!({ "isPublished": wanted, "orderBy": "PATH", "locale": "*", "limit": 100 });
        let answer = listed(&served, arguments).await;
        let mut model: Vec<String> = wiki.with_store(|store| {
            let pages = store.pages().filter(|page| page.is_published == wanted);
            pages.map(|page| page.path.clone()).collect()
        });
        model.sort();
        assert!(!model.is_empty());
        assert_eq!(paths(&answer), model);
    }
}

#[tokio::test]
async fn the_wiki_chooses_by_author_itself() {
    let wiki = sample_wiki().await;
    let served = as_reader(&wiki).await;
    wiki.clear_requests();
    let own = listed(&served, json!({ "lastAuthorId": 1, "limit": 3 })).await;
    assert_eq!(paths(&own).len(), 3);
    assert_eq!(wiki.requests()[0].variables["authorId"], 1);
    let listed = listed(&served, json!({ "lastAuthorId": 7 })).await;
    assert_eq!(listed, json!({ "pages": [] }));
}

#[tokio::test]
async fn only_the_wanted_members_are_given_and_the_id() {
    let wiki = sample_wiki().await;
    let served = as_reader(&wiki).await;
    let arguments = json!({ "limit": 1, "fields": ["path", "updatedAt"], "orderBy": "PATH" });
    let answer = listed(&served, arguments).await;
    let names: Vec<&String> = answer["pages"][0].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "path", "updatedAt"]);
    let none = listed(&served, json!({ "limit": 1, "fields": [] })).await;
    assert_eq!(none["pages"][0].as_object().unwrap().len(), 1);
    let error = read(&served, LIST, json!({ "fields": ["content"] })).await;
    let path = &error.unwrap_err()["details"]["fields"][0]["path"];
    assert_eq!(path, "fields[0]");
}

#[tokio::test]
async fn backlinks_are_found_in_every_locale_and_take_the_other_filters() {
    let wiki = sample_wiki().await;
    let target = id_of(&wiki, "docs/configuration");
    wiki.with_store(|store| {
        for (locale, path, link) in [
            ("de", "von-hier", "/en/docs/configuration"),
            ("de", "anderswohin", "/docs/configuration"),
            // A page's link to itself is no backlink.
            ("en", "docs/configuration/x", "/en/docs/configuration/x"),
        ] {
            store.add(
                titled(path, path, &format!("[x]({link})"))
                    .but(|row| row.locale = locale.to_owned()),
            );
        }
    });
    let mut model: Vec<String> = wiki.with_store(|store| {
        let is_linking = |page: &&PageRow| page.content.contains("](/en/docs/configuration)");
        store
            .pages()
            .filter(is_linking)
            .map(|page| page.path.clone())
            .collect()
    });
    model.sort();
    for key in [
        &wiki.keys().admin,
        &wiki.keys().reader,
        &"nonsense".to_owned(),
    ] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let arguments = json!({ "linksTo": target, "orderBy": "PATH", "locale": "*" });
        assert_eq!(paths(&listed(&served, arguments.clone()).await), model);
        for (more, wanted) in json_rows::<(Value, Vec<String>)>(&json!([
            [{ "locale": "de" }, ["von-hier"]],
            [{ "path": "docs/install", "locale": "en" }, ["docs/install/docker", "docs/install/linux"]],
        ])) {
            let mut arguments = arguments.clone();
            for (name, value) in more.as_object().unwrap() {
                arguments[name] = value.clone();
            }
            assert_eq!(paths(&listed(&served, arguments).await), wanted);
        }
        let error = read(&served, LIST, json!({ "linksTo": 99_999 })).await;
        assert_eq!(error.unwrap_err()["code"], "PAGE_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_large_tree_says_how_much_it_does_not_show() {
    let wiki = empty_wiki().await;
    wiki.with_store(|store| {
        for number in 0..1_300 {
            store.add(PageRow {
                path: format!("f{:02}/p{number:04}", number % 60),
                title: "x".to_owned(),
                ..PageRow::default()
            });
        }
    });
    let served = as_reader(&wiki).await;
    let tree = async |arguments| read(&served, TREE, arguments).await.unwrap();
    wiki.clear_requests();
    let whole = tree(json!({ "depth": 2 })).await;
    assert_eq!(whole["nodes"].as_array().unwrap().len(), 1_000);
    assert_eq!(whole["notShown"], 360);
    // The list of pages alone.
    assert_eq!(wiki.requests().len(), 1);
    let pages = tree(json!({ "depth": 2, "mode": "PAGES" })).await;
    assert_eq!(pages["nodes"].as_array().unwrap().len(), 1_000);
    assert_eq!(pages["notShown"], 300);
    let part = tree(json!({ "path": "f00" })).await;
    assert_eq!(part["nodes"].as_array().unwrap().len(), 22);
    assert!(part.get("notShown").is_none());
}

#[tokio::test]
async fn tags_are_counted_ordered_and_bounded() {
    let wiki = empty_wiki().await;
    wiki.with_store(|store| {
        for (path, tags) in [
            ("a/x", ["rare", "usual"]),
            ("a/y", ["usual", "alpha"]),
            ("b/z", ["usual", "alpha"]),
        ] {
            store.add(PageRow {
                path: path.to_owned(),
                title: path.to_owned(),
                tags: tags.map(str::to_owned).to_vec(),
                ..PageRow::default()
            });
        }
    });
    let served = as_reader(&wiki).await;
    let tags = async |served: &Served, arguments| {
        let answer = read(served, TAGS, arguments).await.unwrap();
        let told = answer["tags"].as_array().unwrap().iter();
        let told: Vec<String> = told
            .map(|tag| format!("{} {}", tag["tag"].as_str().unwrap(), tag["pages"]))
            .collect();
        (told, answer["notShown"].as_i64())
    };
    wiki.clear_requests();
    let all = tags(&served, json!({})).await;
    let asked = vec_of(wiki.requests().into_iter().flat_map(|seen| seen.fields));
    assert_eq!(asked, ["pages.tags", "pages.list"]);
    assert_eq!(all.0, ["alpha 2", "rare 1", "usual 3"]);
    assert_eq!(all.1, None);
    let most = tags(&served, json!({ "orderBy": "PAGES" })).await;
    assert_eq!(most.0, ["usual 3", "alpha 2", "rare 1"]);
    // Pages that a key does not see are not counted.
    let key = wiki.key_with(&["read:pages"], "a");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let seen = tags(&served, json!({})).await;
    assert_eq!(seen.0, ["alpha 1", "rare 1", "usual 2"]);
    wiki.with_page(PageRow {
        path: "c".to_owned(),
        title: "c".to_owned(),
        tags: (0..510).map(|number| format!("x{number:03}")).collect(),
        ..PageRow::default()
    });
    let served = as_reader(&wiki).await;
    let (shown, not_shown) = tags(&served, json!({ "orderBy": "PAGES" })).await;
    assert_eq!((shown.len(), not_shown), (500, Some(13)));
    assert_eq!(shown[0], "usual 3");
}

#[tokio::test]
async fn all_who_want_the_same_whole_list_at_the_same_time_are_told_of_one_or_two() {
    let (wiki, served) = sample(Setup::reader).await;
    let query = ListQuery::default().but(|query| query.tag_patterns = vec![TagPattern::new("*")]);
    let lists = || {
        let requests = wiki.requests();
        let is_list = |field: &&String| *field == "pages.list";
        let fields = requests.iter().flat_map(|seen| &seen.fields);
        fields.filter(is_list).count()
    };
    let before = lists();
    let asking = (0..50).map(|_| served.app.wiki.list(&query, 5));
    let answers = futures_util::future::join_all(asking).await;
    let first = answers[0].clone().unwrap();
    assert!(!first.pages.is_empty());
    assert!(answers.into_iter().all(|answer| answer.unwrap() == first));
    // One was under way when the others came; it may be older than what they want.
    assert!(lists() - before <= 2, "{}", lists() - before);
    // Whoever comes later is told of what is there then.
    let id = first.pages[0].id.unwrap();
    wiki.with_store(|store| store.remove(id));
    let later = served.app.wiki.list(&query, 5).await.unwrap();
    assert!(later.pages.iter().all(|page| page.id != Some(id)));
    let asking = (0..50).map(|_| served.app.wiki.pages_now());
    let before = lists();
    for all in futures_util::future::join_all(asking).await {
        assert!(all.unwrap().iter().all(|page| page.id != Some(id)));
    }
    assert!(lists() - before <= 2, "{}", lists() - before);
    // So it is with tags, which are counted in the list.
    wiki.with_page(page("z", "Z\n").but(|row| row.tags = vec!["new".to_owned()]));
    let asking = (0..50).map(|_| served.app.wiki.tags());
    let before = lists();
    for tags in futures_util::future::join_all(asking).await {
        assert!(tags.unwrap().iter().any(|tag| tag.tag == "new"));
    }
    assert!(lists() - before <= 2, "{}", lists() - before);
}

#[tokio::test]
async fn what_is_hidden_in_a_title_or_an_author_is_shown_escaped_and_the_rest_can_be_given_back() {
    let wiki = empty_wiki().await;
    let id = wiki.with_page(PageRow {
        path: "a".to_owned(),
        title: "T\u{202e}".to_owned(),
        description: Some("D\u{202e}".to_owned()),
        tags: vec!["t/\u{e0041}".to_owned()],
        author: "A\u{200b}".to_owned(),
        ..PageRow::default()
    });
    wiki.with_store(|store| store.rewrite(id, |page| page.content = "# New\n".to_owned()));
    let served = Setup::admin(&wiki).serve().await;
    let fields = ["title", "description", "tags", "lastAuthor"];
    let mut told = String::new();
    for (tool, arguments) in [
        (LIST, json!({ "fields": fields })),
        (BY_ID, json!({ "id": id, "view": "metadata" })),
        (HISTORY, json!({ "id": id })),
        (HISTORY, json!({ "since": "2020-01-01" })),
        (TAGS, json!({})),
        (TREE, json!({})),
        (UPDATE, json!({ "id": id, "content": "# Newer\n" })),
    ] {
        told += &read(&served, tool, arguments).await.unwrap().to_string();
    }
    for hidden in ["T\u{202e}", "A\u{200b}"] {
        assert!(!told.contains(hidden), "{told}");
    }
    for shown in [r"T\\u{202e}", r"A\\u{200b}", "D\u{202e}", "t/\u{e0041}"] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    // What was read finds it again.
    let listed = read(&served, LIST, json!({ "tags": ["t/\u{e0041}"] })).await;
    assert_eq!(listed.unwrap()["pages"][0]["id"], id);
    let found = read(&served, TAGS, json!({ "query": "\u{e0041}" })).await;
    assert_eq!(found.unwrap()["tags"][0]["tag"], "t/\u{e0041}");
}
