//! What could not be asked: links, texts to the letter, properties, branches of tags.

use crate::prelude::*;

async fn served(wiki: &DemoWiki, key: impl Fn(&Keys) -> &String) -> Served {
    Setup::of(wiki, key).indexed().serve().await
}

async fn call(served: &Served, tool: &str, arguments: Value) -> Value {
    served.checked(tool, arguments).await.unwrap()
}

async fn listed(served: &Served, arguments: Value) -> Value {
    call(served, LIST, arguments).await
}

async fn searched(served: &Served, arguments: Value) -> Value {
    call(served, SEARCH, arguments).await
}

/// A page with these tags.
fn tagged(path: &str, tags: &[&str]) -> PageRow {
    page(path, "text").but(|row| row.tags = vec_of(tags.iter().map(|tag| (*tag).to_owned())))
}

fn paths(answer: &Value) -> Vec<&str> {
    members(answer, "pages", "path")
}

const LINKED: &[(&str, &str)] = &[
    (
        "home",
        "[a](/docs/a) <a href=\"/en/docs/c\">c</a> [gone](/docs/gone)\n",
    ),
    (
        "docs/a",
        "# A\n\n[b](../docs/b) ![i](/docs/picture) [p](/img.png)\n\n[self](/docs/a) [ref]\n\n[ref]: ./none.md\n",
    ),
    (
        "docs/b",
        "Nothing. [top](#top)\n\n```\n[no](/docs/no)\n```\n\nhttps://elsewhere.example.org/x\n",
    ),
    ("docs/c", "Nothing, [login](/login).\n"),
    ("docs/alone", "[alone](/docs/alone)\n"),
    ("lone", "```\n[x](/docs/alone)\n```\n"),
];

#[tokio::test]
async fn pages_that_nobody_links_to_are_listed() {
    let wiki = wiki_of(LINKED).await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let answer = listed(&served, json!({ "links": "ORPHANS" })).await;
    assert_eq!(paths(&answer), ["docs/alone", "lone"]);
    assert!(answer.get("index").is_none(), "{answer}");
    let below = listed(&served, json!({ "links": "ORPHANS", "path": "docs" })).await;
    assert_eq!(paths(&below), ["docs/alone"]);
}

#[tokio::test]
async fn links_that_lead_nowhere_are_listed_with_their_page_and_line() {
    let wiki = wiki_of(LINKED).await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let arguments = json!({ "links": "BROKEN", "fields": ["path"], "orderBy": "PATH" });
    let answer = listed(&served, arguments).await;
    let id = |path| id_of(&wiki, path);
    let none = json!([{ "to": "/en/docs/none", "line": 5, "link": "./none.md" }]);
    let gone = json!([{ "to": "/en/docs/gone", "line": 1, "link": "/docs/gone" }]);
    let expected = json!({ "pages": [
        { "id": id("docs/a"), "path": "docs/a", "brokenLinks": none },
        { "id": id("home"), "path": "home", "brokenLinks": gone },
    ] });
    assert_eq!(answer, expected);
    let below = listed(&served, json!({ "links": "BROKEN", "path": "docs" })).await;
    assert_eq!(paths(&below), ["docs/a"]);
    // A page at the place mends the link.
    wiki.with_store(|store| store.add(page("docs/gone", "Here.")));
    let answer = listed(&served, json!({ "links": "BROKEN" })).await;
    assert_eq!(paths(&answer), ["docs/a"]);
}

#[tokio::test]
async fn a_link_with_the_wikis_whole_address_is_one_of_its_own() {
    let wiki = wiki_of(&[]).await;
    let at = wiki.address();
    let content =
        format!("See {at}/en/docs/x, [y]({at}/docs/y) and [z](http://elsewhere.example.org/en/z).");
    wiki.with_page(page("a/b", &content));
    wiki.with_page(page("docs/x", "x"));
    let served = served(&wiki, |keys| &keys.readonly).await;
    let answer = listed(&served, json!({ "links": "BROKEN" })).await;
    let y = json!({ "to": "/en/docs/y", "line": 1, "link": format!("{at}/docs/y") });
    assert_eq!(answer["pages"][0]["brokenLinks"], json!([y]));
    let orphans = listed(&served, json!({ "links": "ORPHANS" })).await;
    assert_eq!(paths(&orphans), ["a/b"]);
}

/// The wiki puts the page's own locale before a link from the root, but not before one with a dot.
#[tokio::test]
async fn links_of_a_page_in_another_locale_lead_where_its_readers_get() {
    let wiki = wiki_of(&[("docs/a", "[b](/docs/b)\n"), ("docs/c", "x\n")]).await;
    let german = |path: &str, content: &str| {
        wiki.with_page(page(path, content).but(|row| row.locale = "de".to_owned()))
    };
    let links = "[b](/docs/b) [b](./b.md) [none](/docs/none) [none](/docs/none.md) [none](./none) \
        [none](none) [none](/en/docs/none) [c](/docs/c.md) [c](/docs/c)";
    let of_a = links.replace(' ', "\n\n");
    german("docs/b", "x");
    let id = german("docs/a", &of_a);
    let line = |of: &str| 1 + of_a.lines().position(|line| line == of).unwrap();
    let served = served(&wiki, |keys| &keys.readonly).await;
    let all = |links: &str| json!({ "links": links, "locale": "*" });
    let answer = listed(&served, all("BROKEN")).await;
    let broken = |link: &str, to: &str| json!({ "to": to, "line": line(&format!("[none]({link})")), "link": link });
    let of_page = |id: i64| {
        let mut pages = answer["pages"].as_array().unwrap().iter();
        let page = pages.find(|page| page["id"] == id).unwrap();
        page["brokenLinks"].clone()
    };
    let expected = json!([
        broken("/docs/none", "/de/docs/none"),
        broken("/docs/none.md", "/en/docs/none"),
        broken("./none", "/de/docs/none"),
        broken("none", "/de/docs/a/none"),
        { "to": "/en/docs/none", "line": line("[none](/en/docs/none)") },
        { "to": "/de/docs/c", "line": line("[c](/docs/c)"), "link": "/docs/c" },
    ]);
    assert_eq!(of_page(id), expected);
    // The page of the other locale is no page for this one.
    let expected = json!([{ "to": "/en/docs/b", "line": 1, "link": "/docs/b" }]);
    assert_eq!(of_page(id_of(&wiki, "docs/a")), expected);
    assert_eq!(answer["pages"].as_array().unwrap().len(), 2);
    let orphans = listed(&served, all("ORPHANS")).await;
    assert_eq!(paths(&orphans), ["docs/a", "docs/a"]);
}

/// The graph alone knows links without dots, and tells no lines.
#[tokio::test]
async fn without_sources_the_link_graph_stands_alone_and_that_is_said() {
    let wiki = wiki_of(LINKED).await;
    let off = Setup::readonly(&wiki).serve().await;
    let answer = listed(&off, json!({ "links": "BROKEN" })).await;
    assert_eq!(paths(&answer), ["home"]);
    let expected = json!([{ "to": "/en/docs/gone" }]);
    assert_eq!(answer["pages"][0]["brokenLinks"], expected);
    let said = answer["index"].to_string();
    says(&said, "\"complete\":false");
    says(&said, "WIKI_INDEX");

    let reader = served(&wiki, |keys| &keys.reader).await;
    let answer = listed(&reader, json!({ "links": "BROKEN" })).await;
    assert_eq!(paths(&answer), ["home"]);
    says(&answer["index"].to_string(), "read:source");
    let orphans = listed(&reader, json!({ "links": "ORPHANS" })).await;
    assert_eq!(paths(&orphans), ["docs/b", "docs/alone", "lone"]);
    assert!(orphans["index"].to_string().contains("read:source"));
}

#[tokio::test]
async fn many_broken_links_of_a_page_are_counted_and_fewer_pages_show_more() {
    let wiki = wiki_of(&[]).await;
    let links = |count| vec_of((0..count).map(|n| format!("[x](/none/{n})\n\n"))).concat();
    wiki.with_store(|store| {
        for n in 0..60 {
            // Two with many; of all of them there are more than are told.
            let count = if [0, 3].contains(&n) { 600 } else { 20 };
            store.add(page(&format!("many/p{n}"), &links(count)));
        }
    });
    let served = served(&wiki, |keys| &keys.readonly).await;
    let answer = listed(&served, json!({ "links": "BROKEN", "limit": 50 })).await;
    let first = &answer["pages"][0];
    assert_eq!(first["brokenLinks"].as_array().unwrap().len(), 10);
    assert_eq!(first["brokenLinksLeft"], 590);
    let one = listed(&served, json!({ "links": "BROKEN", "path": "many/p3" })).await;
    let links = one["pages"][0]["brokenLinks"].as_array().unwrap();
    assert_eq!(links.len(), 500);
    // Part by part it is one list, as every other.
    let mut arguments = json!({ "links": "BROKEN", "limit": 40 });
    let part = listed(&served, arguments.clone()).await;
    arguments["cursor"] = part["nextCursor"].clone();
    assert_eq!(paths(&listed(&served, arguments.clone()).await).len(), 20);
    arguments["links"] = json!("ORPHANS");
    fails(&served, LIST, arguments, "INVALID_INPUT").await;
}

#[tokio::test]
async fn a_text_to_the_letter_is_found_with_its_lines() {
    let wiki = wiki_of(&[
        (
            "ops/a",
            "# A\n\nset db.timeout=5\n\nset DB.TIMEOUT=6 and db_timeout\n",
        ),
        ("ops/b", "db.timeout=\r\nnone\ndb.timeout=7\n"),
        ("ops/c", "dbxtimeout=5\n"),
    ])
    .await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let answer = searched(&served, json!({ "query": "db.timeout=", "match": "EXACT" })).await;
    let mut hits = answer["hits"].as_array().unwrap().clone();
    hits.sort_by_key(|hit| hit["path"].to_string());
    assert_eq!(hits.len(), 2);
    hits[0].shows(json!({ "path": "ops/a", "lines": ["3: set db.timeout=5"] }));
    hits[1].shows(json!({ "path": "ops/b", "lines": ["1: db.timeout=", "3: db.timeout=7"] }));
    assert_eq!(answer["searchedIn"], json!(["content"]));
    // The filters hold here, too, and a section can be read.
    let narrowed = json!({ "query": "db.timeout=", "match": "EXACT", "path": "ops/a" });
    let answer = searched(&served, narrowed).await;
    assert_eq!(members(&answer, "hits", "path"), ["ops/a"]);
    let section = answer["hits"][0]["section"].clone();
    let arguments = json!({ "path": "ops/a", "section": section });
    let part = call(&served, BY_PATH, arguments).await;
    says(&part["content"], "db.timeout=5");
}

#[tokio::test]
async fn an_expression_is_found_line_by_line_and_what_is_left_is_counted() {
    let many = vec_of((0..200).map(|n| format!("port {n}\n"))).concat();
    let wiki = wiki_of(&[
        ("a/many", many.as_str()),
        ("a/one", "Port 7\nport: 8\n"),
        ("a/two", "port 9 \n"),
    ])
    .await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let arguments = json!({ "query": "(?i)^port \\d+$", "match": "REGEX" });
    let answer = searched(&served, arguments).await;
    let mut hits = answer["hits"].as_array().unwrap().clone();
    hits.sort_by_key(|hit| hit["path"].to_string());
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0]["lines"].as_array().unwrap().len(), 5);
    assert_eq!(hits[0]["linesLeft"], 195);
    assert_eq!(hits[1]["lines"], json!(["1: Port 7"]));
    let one = json!({ "query": "port", "match": "EXACT", "limit": 1 });
    let answer = searched(&served, one).await;
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
    assert_eq!(answer["hitsLeft"], 2);
    let alone = json!({ "query": "port", "match": "EXACT", "limit": 1, "path": "a/many" });
    let answer = searched(&served, alone).await;
    assert_eq!(answer["hits"][0]["lines"].as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn what_cannot_be_matched_says_why() {
    let wiki = wiki_of(&[("a/b", "x")]).await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    for [query, how, message] in text_rows(
        r"
        (x => REGEX => query is no regular expression: unclosed group.
        x* => REGEX => query matches nothing at all, which every line has.
        x{999}{999} => REGEX => query is too large when compiled; repeat less, or write [0-9] for \d.
        x => FUZZY => match must be one of WORDS, EXACT, REGEX.
    ",
    ) {
        let arguments = json!({ "query": query, "match": how });
        let error = fails(&served, SEARCH, arguments, "INVALID_INPUT").await;
        assert_eq!(error["message"], format!("The argument {message}"));
    }
    let in_wiki = json!({ "query": "x", "match": "EXACT", "in": "wiki" });
    let related = json!({ "relatedTo": 1, "match": "EXACT" });
    for (arguments, message) in [
        (
            in_wiki,
            "cannot go with in: wiki, whose engine finds words alone.",
        ),
        (related, "goes with query alone."),
    ] {
        let error = fails(&served, SEARCH, arguments, "INVALID_INPUT").await;
        assert_eq!(error["message"], format!("The argument match {message}"));
    }
    let off = Setup::readonly(&wiki).serve().await;
    for (tool, arguments) in [
        (SEARCH, json!({ "query": "x", "match": "EXACT" })),
        (LIST, json!({ "property": "status=x" })),
    ] {
        let error = off.call(tool, arguments).await.unwrap_err();
        says(&error["message"], "WIKI_INDEX=off");
    }
}

#[tokio::test]
async fn half_an_index_is_said_before_what_it_found() {
    let wiki = wiki_of(&[]).await;
    for n in 0..10 {
        wiki.with_page(page(&format!("a/p{n}"), "needle [x](/none)"));
    }
    let mut setup = Setup::readonly(&wiki).indexed();
    setup.most = Some(4);
    let served = setup.serve().await;
    let needle = json!({ "query": "needle", "match": "EXACT" });
    for (tool, list, arguments) in [
        (SEARCH, "hits", needle),
        (LIST, "pages", json!({ "property": "status" })),
        (LIST, "pages", json!({ "links": "BROKEN" })),
    ] {
        let answer = call(&served, tool, arguments).await;
        let index = answer["index"].to_string();
        assert!(index.contains("\"complete\":false"), "{answer}");
        let names: Vec<&String> = answer.as_object().unwrap().keys().collect();
        assert_eq!((names[0].as_str(), names[1].as_str()), ("index", list));
    }
}

#[tokio::test]
async fn pages_are_listed_by_a_property_of_their_leading_block() {
    let wiki = wiki_of(&[
        (
            "a/one",
            "---\nstatus: Review\nteams: [ops, data]\n---\n\n# One\n",
        ),
        ("a/two", "---\nstatus: done\n---\n\nstatus: review\n"),
        ("b/three", "---\nteams:\n  - data\n---\n"),
        ("b/four", "status: review\n"),
    ])
    .await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    for (property, wanted) in [
        ("status=review", &["a/one"][..]),
        ("status", &["a/one", "a/two"]),
        (" teams = data ", &["a/one", "b/three"]),
        ("status=none", &[]),
    ] {
        let answer = listed(&served, json!({ "property": property })).await;
        assert_eq!(paths(&answer), wanted, "{property}");
    }
    let below = json!({ "property": "teams=data", "path": "b" });
    assert_eq!(paths(&listed(&served, below).await), ["b/three"]);
    fails(&served, LIST, json!({ "property": "=x" }), "INVALID_INPUT").await;
}

#[tokio::test]
async fn the_metadata_of_a_page_has_its_words_links_and_properties() {
    let wiki = wiki_of(&[
        (
            "docs/a",
            "---\nstatus: review\nteams: [ops, data]\n---\n\nThree short words, [b](./b) and [c](/docs/c#x).\n",
        ),
        ("docs/b", "[a](/docs/a)\n"),
        ("docs/c", "[a](/en/docs/a) and [me](/docs/c)\n"),
    ])
    .await;
    let served = served(&wiki, |keys| &keys.admin).await;
    let arguments = json!({ "path": "docs/a", "view": "metadata" });
    let answer = call(&served, BY_PATH, arguments.clone()).await;
    let told = |name: &str| answer[name].clone();
    assert_eq!(told("words"), 15);
    let expected = json!({ "status": "review", "teams": ["ops", "data"] });
    assert_eq!(told("properties"), expected);
    assert_eq!(told("links"), json!(["/en/docs/b", "/en/docs/c"]));
    assert_eq!(told("linkedFrom"), json!(["/en/docs/b", "/en/docs/c"]));
    assert!(answer.get("content").is_none());
    // Several pages take one look at the graph.
    let graphs = || {
        let seen = wiki.requests();
        let seen = seen.iter().filter(|seen| seen.fields == ["pages.links"]);
        seen.count()
    };
    let of_one = graphs();
    wiki.clear_requests();
    let paths = json!({ "paths": ["docs/b", "docs/c"], "view": "metadata" });
    let answer = call(&served, BY_PATH, paths).await;
    assert_eq!(answer["pages"][1]["linkedFrom"], json!(["/en/docs/a"]));
    assert_eq!(graphs(), of_one);
    // A key without the source is told what is missing.
    let reader = self::served(&wiki, |keys| &keys.reader).await;
    let answer = call(&reader, BY_PATH, arguments).await;
    assert!(answer.get("words").is_none() && answer.get("properties").is_none());
    let unavailable = &answer["unavailable"];
    assert!(unavailable["words"].is_string() && unavailable["properties"].is_string());
    assert_eq!(answer["links"], json!(["/en/docs/c"]));
}

#[tokio::test]
async fn tags_are_chosen_by_patterns_and_told_as_branches() {
    let wiki = wiki_of(&[]).await;
    wiki.with_page(tagged("a/one", &["proj/alpha", "proj/beta"]));
    wiki.with_page(tagged("a/two", &["proj/alpha/x", "done"]));
    wiki.with_page(tagged("a/three", &["project"]));
    let served = served(&wiki, |keys| &keys.reader).await;
    for (tags, wanted) in [
        (json!(["proj/*"]), &["a/one", "a/two"][..]),
        (json!(["PROJ/alpha*", "done"]), &["a/two"]),
        (json!(["proj*"]), &["a/one", "a/two", "a/three"]),
        (json!(["*/x"]), &["a/two"]),
    ] {
        let answer = listed(&served, json!({ "tags": tags })).await;
        assert_eq!(paths(&answer), wanted, "{tags}");
    }
    let answer = listed(&served, json!({ "tags": ["proj/*"], "fields": ["tags"] })).await;
    let expected = json!(["proj/alpha", "proj/beta"]);
    assert_eq!(answer["pages"][0]["tags"], expected);
    let found = searched(&served, json!({ "query": "page", "tags": ["proj/*"] })).await;
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
    let answer = call(&served, TAGS, json!({})).await;
    let expected = json!([
        { "tag": "done", "pages": 1 },
        { "tag": "proj/alpha", "pages": 1, "branch": 2, "parent": "proj" },
        { "tag": "proj/alpha/x", "pages": 1, "parent": "proj/alpha" },
        { "tag": "proj/beta", "pages": 1, "parent": "proj" },
        { "tag": "project", "pages": 1 },
    ]);
    assert_eq!(answer["tags"], expected);
}

#[tokio::test]
async fn a_kind_of_part_without_an_index_is_listed_and_each_can_be_read() {
    let code = vec_of((0..30).map(|n| format!("```\ncode {n}\n```\n\n"))).concat();
    let content = format!("Lead\n\n# One\n\n## Two\n\ntext\n\n{code}## Three\n\n> quote\n");
    let wiki = wiki_of(&[("docs/a", &content)]).await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let read = async |how: Value| {
        let mut arguments = how;
        arguments["path"] = json!("docs/a");
        call(&served, BY_PATH, arguments).await
    };
    let answer = read(json!({ "section": "h2" })).await;
    assert_eq!(answer["part"]["section"], "heading:h2");
    let expected = json!(["h2[0] Two (62 words)", "h2[1] Three (2 words)"]);
    assert_eq!(answer["part"]["parts"], expected);
    assert!(answer.get("content").is_none());
    // Blocks beyond the first 20 are named by the outline, and listed with their lines.
    let outline = read(json!({ "view": "outline" })).await;
    let blocks = outline["outline"]["blocks"].to_string();
    assert!(blocks.contains("30 block:code[0] to [29]"), "{blocks}");
    let rest = read(json!({ "section": "block:code", "offset": 20 })).await;
    let rest = rest["part"]["parts"].as_array().unwrap();
    assert_eq!(rest.len(), 10);
    for line in rest {
        let (selector, _) = line.as_str().unwrap().split_once(' ').unwrap();
        let part = read(json!({ "section": selector })).await;
        begins(&part["content"], "```\ncode 2");
    }
    // Part by part where all do not fit.
    let some = read(json!({ "section": "Two/block:code", "maxBytes": 100 })).await;
    let (next, left) = (&some["part"]["nextOffset"], &some["part"]["partsLeft"]);
    assert_eq!(next.as_i64().unwrap() + left.as_i64().unwrap(), 30);
    let more = read(json!({ "section": "Two/block:code", "offset": next })).await;
    let more = more["part"]["parts"].as_array().unwrap();
    assert_eq!(json!(more.len()), *left);
    for none in ["heading:h5", "block:table"] {
        let none = json!({ "path": "docs/a", "section": none });
        fails(&served, BY_PATH, none, "SECTION_NOT_FOUND").await;
    }
    let one = read(json!({ "section": "heading:h2[0]/section" })).await;
    assert_eq!(one["part"]["parts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_double_colon_gets_the_hint_of_what_works() {
    let text = "# Install\n\n## Linux\n\napt\n\n## Mac\n\nbrew\n";
    let wiki = wiki_of(&[("docs/install", text)]).await;
    let served = served(&wiki, |keys| &keys.readonly).await;
    let error = call_err(&served, BY_PATH, json!({ "path": "docs/install::Linux" })).await;
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("path#section"), "{hint}");
    let (_, rest) = hint.split_once('(').unwrap();
    let (path, _) = rest.split_once(')').unwrap();
    let answer = call(&served, BY_PATH, json!({ "path": path })).await;
    assert_eq!(answer["content"], "## Linux\n\napt\n\n");
}

#[tokio::test]
async fn a_list_below_a_path_at_which_nothing_is_says_so() {
    let wiki = sample_wiki().await;
    let served = served(&wiki, |keys| &keys.admin).await;
    for links in [json!("BROKEN"), json!("ORPHANS"), Value::Null] {
        let mut arguments = json!({ "path": "not/there" });
        if !links.is_null() {
            arguments["links"] = links;
        }
        let answer = served.call(LIST, arguments).await.unwrap();
        assert_eq!(answer["pages"], json!([]));
        let hint = answer["hint"].as_str().unwrap();
        assert!(hint.starts_with("No page"), "{hint}");
    }
    let none = json!({ "path": "docs", "tags": ["no-page-has-it"] });
    let answer = served.call(LIST, none).await.unwrap();
    answer.shows(json!({ "pages": [], "hint": null }));
}

#[tokio::test]
async fn a_search_that_titles_fill_says_that_the_content_was_not_searched() {
    let wiki = sample_wiki().await;
    let served = served(&wiki, |keys| &keys.admin).await;
    let asked = json!({ "query": "install", "limit": 1 });
    let answer = served.call(SEARCH, asked).await.unwrap();
    assert_eq!(answer["searchedIn"], json!(["wiki"]), "{answer}");
    let hint = answer["hint"].as_str().unwrap();
    says(&hint, "in: content");
    says(&hint, "Only titles");
    let asked = json!({ "query": "install", "limit": 1, "in": "content" });
    let answer = served.call(SEARCH, asked).await.unwrap();
    assert_eq!(answer["searchedIn"], json!(["content"]), "{answer}");
}

#[tokio::test]
async fn pages_with_some_tags_are_left_out_of_a_list() {
    let wiki = wiki_of(&[]).await;
    wiki.with_page(tagged("a/none", &[]));
    wiki.with_page(tagged("a/ann", &["owner:ann", "ops"]));
    wiki.with_page(tagged("a/bo", &["owner:bo"]));
    wiki.with_page(tagged("a/ops", &["ops", "!odd"]));
    wiki.with_page(tagged("a/de", &[]).but(|row| row.locale = "de".to_owned()));
    let served = served(&wiki, |keys| &keys.readonly).await;
    for (without, with, wanted) in [
        (&["owner:*"][..], &[][..], &["a/none", "a/ops"][..]),
        (&["OWNER:ann", "#ops"], &[], &["a/none", "a/bo"]),
        (&["owner:*"], &["ops"], &["a/ops"]),
        (&["*"], &[], &["a/none"]),
        (&["ops"], &["ops"], &[]),
        (&[], &["ops"], &["a/ann", "a/ops"]),
        // A tag that really begins with the sign is a tag.
        (&[], &["!odd"], &["a/ops"]),
        (&["!odd", "owner:*"], &[], &["a/none"]),
    ] {
        let mut arguments = json!({ "withoutTags": without });
        if !with.is_empty() {
            arguments["tags"] = json!(with);
        }
        let answer = listed(&served, arguments.clone()).await;
        assert_eq!(paths(&answer), wanted, "{arguments}");
    }
    // Each part of the list goes on where the one before ended, and belongs to these arguments.
    let first = listed(&served, json!({ "withoutTags": ["owner:*"], "limit": 1 })).await;
    assert_eq!(paths(&first), ["a/none"]);
    assert_eq!(first["otherLocales"], 1);
    let next = json!({ "withoutTags": ["owner:*"], "limit": 1, "cursor": first["nextCursor"] });
    assert_eq!(paths(&listed(&served, next).await), ["a/ops"]);
    let other = json!({ "withoutTags": ["ops"], "cursor": first["nextCursor"] });
    fails(&served, LIST, other, "INVALID_INPUT").await;
}

#[tokio::test]
async fn filters_of_a_form_that_matches_nothing_are_refused_with_the_right_one() {
    let text = "---\nstatus: review\nmeta:\n  state: done\na.b: x\n---\n\nText.\n";
    let wiki = wiki_of(&[("a/page", text)]).await;
    let id = id_of(&wiki, "a/page");
    wiki.with_store(|store| store.rewrite(id, |page| page.tags = vec!["ops".to_owned()]));
    let served = served(&wiki, |keys| &keys.readonly).await;
    let without_ops = r#"{"withoutTags":["ops"]}"#;
    for (tool, arguments, right) in json_rows::<(&str, Value, &str)>(&json!([
        [LIST, { "tags": ["!ops"] }, without_ops],
        [LIST, { "withoutTags": ["!ops"] }, without_ops],
        [SEARCH, { "query": "a", "tags": ["!ops"] }, without_ops],
        [LIST, { "tags": ["a", "-proj/*"] }, r#"{"tags":["a"],"withoutTags":["proj/*"]}"#],
    ])) {
        let error = fails(&served, tool, arguments, "INVALID_INPUT").await;
        says(&error["message"], right);
    }
    for (property, right) in [
        ("meta.state=done", "take meta,"),
        ("meta[state]", "take meta,"),
        ("status: review", "take status=review"),
        ("status==review", "take status=review"),
        ("status=re*", "take status for any"),
        ("!status", "not listed"),
        ("status!=review", "not listed"),
    ] {
        let arguments = json!({ "property": property });
        let error = fails(&served, LIST, arguments, "INVALID_INPUT").await;
        says(&error["message"], right);
    }
    for (property, wanted) in [
        ("a.b=x", &["a/page"][..]),
        ("meta", &["a/page"]),
        ("status=other", &[]),
    ] {
        let answer = listed(&served, json!({ "property": property })).await;
        assert_eq!(paths(&answer), wanted, "{property}");
    }
}

#[tokio::test]
async fn the_metadata_of_a_page_names_its_translations_that_may_be_read() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "B\n")]).await;
    for (locale, path, tag) in [
        ("de", "docs/a", "open"),
        ("fr", "docs/a", "secret"),
        ("de", "docs/c", "open"),
    ] {
        wiki.with_page(tagged(path, &[tag]).but(|row| row.locale = locale.to_owned()));
    }
    let setup = || Setup::of(&wiki, |keys| &keys.readonly).indexed();
    let asked = json!({ "paths": ["docs/a", "docs/b", "/de/docs/a"], "view": "metadata" });
    let open = setup();
    let bounded = setup().with("WIKI_DENIED_READ_TAGS", "secret");
    for (setup, wanted) in [
        (open, json!(["/de/docs/a", "/fr/docs/a"])),
        (bounded, json!(["/de/docs/a"])),
    ] {
        let served = setup.serve().await;
        let lists = || {
            let seen = wiki.requests();
            let lists = seen.iter().filter(|seen| seen.fields == ["pages.list"]);
            lists.count()
        };
        let answer = call(&served, BY_PATH, asked.clone()).await;
        assert_eq!(answer["pages"][0]["translations"], wanted);
        assert!(answer["pages"][1].get("translations").is_none());
        assert_eq!(answer["pages"][2]["translations"][0], "/en/docs/a");
        // The list in hand tells the next ones.
        let before = lists();
        call(&served, BY_PATH, asked.clone()).await;
        let content = json!({ "paths": asked["paths"] });
        let with_translations = lists() - before;
        call(&served, BY_PATH, content).await;
        assert_eq!(lists() - before - with_translations, with_translations);
    }
}

#[tokio::test]
async fn anchors_and_pictures_that_are_not_there_are_broken_links_of_their_kind() {
    let wiki = wiki_of(&[
        (
            "docs/a",
            "# Start\n\n[x](/docs/b#set-up) [y](/docs/b#gone)\n[z](#start) [w](#none) [t](#top)\n\n\
             ![p](/img/there.png) ![q](/img/gone.png) ![r](/en/img/gone.png)\n\
             ![e](https://elsewhere.example.org/x.png) ![d](data:image/png;base64,AAAA)\n",
        ),
        (
            "docs/b",
            "## Set up\n\n<a id=\"mark\"></a>[own](/docs/b#mark)\n",
        ),
        (
            "docs/html",
            "[no](/docs/raw#any) [no](/docs/api#any) [no](/docs/secret#any)\n",
        ),
        ("docs/raw", "<h2>Any way</h2>\n"),
        ("docs/secret", "Nothing.\n"),
    ])
    .await;
    wiki.with_page(page("docs/api", "<p id=here>x</p>").but(|row| row.editor = "code".to_owned()));
    wiki.with_store(|store| store.add_asset("img/there.png", "image/png", b"x"));
    let broken = |answer: &Value| {
        let pages = answer["pages"].as_array().unwrap().iter();
        vec_of(pages.map(|page| [page["path"].clone(), page["brokenLinks"].clone()]))
    };
    let of_a = json!([
        { "to": "/en/docs/b#gone", "line": 3, "link": "/docs/b#gone", "missing": "anchor" },
        { "to": "/en/docs/a#none", "line": 4, "link": "#none", "missing": "anchor" },
        { "to": "/img/gone.png", "line": 6, "missing": "image" },
        { "to": "/img/gone.png", "line": 6, "link": "/en/img/gone.png", "missing": "image" },
    ]);
    let of_html = json!([{ "to": "/en/docs/secret#any", "line": 1, "link": "/docs/secret#any", "missing": "anchor" }]);
    let all = json!({ "links": "BROKEN", "fields": ["path"], "orderBy": "PATH" });
    let served = self::served(&wiki, |keys| &keys.admin).await;
    let answer = listed(&served, all.clone()).await;
    let wanted = [[json!("docs/a"), of_a], [json!("docs/html"), of_html]];
    assert_eq!(broken(&answer), wanted);
    assert!(answer.get("index").is_none(), "{answer}");
    // Nothing is told of a page that may not be read, but that it is not there.
    let bounded = Setup::admin(&wiki).indexed();
    let bounded = bounded.with("WIKI_DENIED_READ_PATH_PREFIXES", "docs/secret");
    let bounded = bounded.serve().await;
    let answer = listed(&bounded, all.clone()).await;
    let expected = json!([{ "to": "/en/docs/secret", "line": 1, "link": "/docs/secret#any" }]);
    assert_eq!(broken(&answer)[1][1], expected);
    // Where sources cannot be read, no anchor is known to be missing.
    let reader = self::served(&wiki, |keys| &keys.reader).await;
    let answer = listed(&reader, all).await;
    assert!(!answer.to_string().contains("anchor"), "{answer}");
}

#[tokio::test]
async fn of_many_pictures_some_are_looked_for_and_the_others_are_counted() {
    let folder = |number: usize| format!("f{number:02}");
    let first = (0..60).map(|number| format!("![x](/f00/{number}.png)\n"));
    let others = (1..30).map(|number| format!("![x](/{}/x.png)\n", folder(number)));
    let text = first.chain(others).collect::<Vec<_>>().concat();
    let wiki = wiki_of(&[("docs/a", &text)]).await;
    wiki.with_store(|store| {
        for number in 0..30 {
            store.add_asset(&format!("{}/there.png", folder(number)), "image/png", b"x");
        }
    });
    let served = served(&wiki, |keys| &keys.admin).await;
    let answer = listed(&served, json!({ "links": "BROKEN" })).await;
    let broken = answer["pages"][0]["brokenLinks"].as_array().unwrap().len();
    let note = answer["index"].to_string();
    let (left, _) = { &note }
        .split_once(" pictures could not be looked for")
        .unwrap();
    let (_, left) = left.rsplit_once(|c: char| !c.is_ascii_digit()).unwrap();
    assert_eq!(broken + left.parse::<usize>().unwrap(), 89, "{note}");
    assert!((1..=50).contains(&broken), "{broken}");
    let mut requests = wiki.requests();
    requests.retain(|request| request.fields.iter().any(|field| field == "assets.list"));
    assert!((1..=20).contains(&requests.len()), "{}", requests.len());
}
