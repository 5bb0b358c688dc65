//! Pages that move take the links to them along, in one set.

use crate::prelude::*;
use crate::session::person::{self, BOTH};

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).indexed().toolsets("pages,undo,drafts")
}

/// What stands on the wiki: place and content of each page, by id.
fn all(wiki: &DemoWiki) -> Vec<(i64, String, String)> {
    let mut pages: Vec<_> = wiki.with_store(|store| {
        let told = |page: &PageRow| {
            let place = format!("{}/{}", page.locale, page.path);
            (page.id, place, page.content.clone())
        };
        store.pages().map(told).collect()
    });
    pages.sort();
    pages
}

/// The links that a move left as they are, each with the reason.
fn left(done: &Value) -> Vec<(&str, &str)> {
    let paths = members(done, "linksLeft", "path").into_iter();
    paths.zip(members(done, "linksLeft", "why")).collect()
}

fn content(wiki: &DemoWiki, path: &str) -> String {
    wiki.with_store(|store| store.page_at("en", path).unwrap().content.clone())
}

fn moved(id: i64, path: &str) -> Value {
    json!({ "id": id, "path": path, "updateLinks": true })
}

fn part(from: &str, to: &str) -> Value {
    json!({ "path": from, "moveTo": to })
}

/// Each form of a link to docs/a in a page at x/y, before and after docs/a goes to new/b.
const FORMS: &[(&str, &str)] = &[
    ("[a](/docs/a)", "[a](/new/b)"),
    ("[a](/en/docs/a)", "[a](/en/new/b)"),
    ("[a](/docs/a#top)", "[a](/new/b#top)"),
    ("[a](/en/docs/a?x=1#top)", "[a](/en/new/b?x=1#top)"),
    ("[a](</docs/a> \"t\")", "[a](</new/b> \"t\")"),
    ("[a](../docs/a)", "[a](../new/b)"),
    ("[a](../docs/a.md)", "[a](../new/b.md)"),
    ("![a](/docs/a)", "![a](/new/b)"),
    ("[a][r]\n\n[r]: /docs/a 'T'", "[a][r]\n\n[r]: /new/b 'T'"),
    (
        "<a class=\"c\" href=\"/docs/a\">a</a>",
        "<a class=\"c\" href=\"/new/b\">a</a>",
    ),
    ("<img src='/docs/a'>", "<img src='/new/b'>"),
    // What is no link, or leads elsewhere, stays.
    ("`[a](/docs/a)`", "`[a](/docs/a)`"),
    ("```\n[a](/docs/a)\n```", "```\n[a](/docs/a)\n```"),
    ("/docs/a in words", "/docs/a in words"),
    ("[a](/docs/ab)", "[a](/docs/ab)"),
    ("[a](/docs/a/c)", "[a](/docs/a/c)"),
    ("[a](/de/docs/a)", "[a](/de/docs/a)"),
    (
        "[a](https://example.org/docs/a)",
        "[a](https://example.org/docs/a)",
    ),
];

/// The pages of the table of forms, before or after the move.
fn forms(is_after: bool) -> Vec<(String, String)> {
    let pick = |pair: &(&str, &str)| if is_after { pair.1 } else { pair.0 }.to_owned();
    FORMS
        .iter()
        .enumerate()
        .map(|(number, pair)| {
            (
                format!("xx/y{number}"),
                format!("Über.\n\n{}\n", pick(pair)),
            )
        })
        .collect()
}

async fn wiki_of_forms() -> DemoWiki {
    let pages = forms(false);
    let mut pages: Vec<(&str, &str)> = pages.iter().map(|(p, c)| (&**p, &**c)).collect();
    pages.push(("docs/a", "# A\n\n[me](/docs/a) [b](./b) [c](/docs/c)\n"));
    pages.push(("docs/b", "B\n"));
    pages.push(("docs/c", "C\n"));
    wiki_of(&pages).await
}

#[tokio::test]
async fn every_form_of_a_link_follows_its_page_and_nothing_else_changes() {
    let (wiki, served) = with_server(wiki_of_forms().await, setup).await;
    let before = all(&wiki);
    let id = id_of(&wiki, "docs/a");
    let brief = served.call(UPDATE, moved(id, "new/b")).await.unwrap();
    let shown = served.call(UPDATE, full(moved(id, "new/b"))).await.unwrap();
    let mends = FORMS.iter().filter(|(before, after)| before != after);
    let mends = mends.count();
    assert_eq!(shown["pages"], mends + 1, "{shown}");
    assert_eq!(shown["changes"][0]["changed"], json!(["path", "content"]));
    // What mends links alone is told by their number.
    let line = &shown["changes"][1];
    assert_eq!(line["linksMended"], 1);
    assert_eq!(line["diff"], Value::Null);
    // In brief all that mend links are two numbers.
    brief.shows(json!({ "linksMended": mends, "pagesMended": mends }));
    let moves = brief["lines"].as_array().unwrap();
    assert_eq!(moves.len(), 2);
    says(&moves[0], "to /en/new/b: content +1 -1");
    assert_eq!(moves[1], format!("{mends} pages: links mended"));
    assert!(shown.get("linksLeft").is_none(), "{shown}");
    assert!(shown.get("warnings").is_none(), "{shown}");
    assert_eq!(mutations(&wiki).len(), 0);

    let confirm = json!({ "id": id, "confirm": shown["confirm"] });
    let done = is_applied(&served, UPDATE, confirm).await;
    for (path, expected) in forms(true) {
        assert_eq!(content(&wiki, &path), expected);
    }
    let own = "# A\n\n[me](/new/b) [b](../docs/b) [c](/docs/c)\n";
    assert_eq!(content(&wiki, "new/b"), own);

    // Taken back, all is as it was, to the letter.
    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert_eq!(all(&wiki), before);
}

#[tokio::test]
async fn a_part_of_the_wiki_moves_with_the_links_within_it_and_to_it() {
    let wiki = wiki_of(&[
        ("docs", "[a](/docs/a)\n"),
        ("docs/a", "[b](./b) [own](/docs/a) [out](/other)\n"),
        ("docs/a/deep", "[up](../a) [root](/docs)\n"),
        ("docs/b", "[deep](/docs/a/deep#x)\n"),
        ("docsx", "[x](/docs/b)\n"),
        ("other", "[docs](/docs) [x](/docsx)\n"),
    ])
    .await;
    let served = setup(&wiki).serve().await;
    let before = all(&wiki);
    let shown = call_ok(&served, BULK, part("docs", "guide/en-us")).await;
    assert_eq!(shown["pages"], 6, "{shown}");
    let mut confirm = part("docs", "guide/en-us");
    confirm["confirm"] = shown["confirm"].clone();
    let done = served.call(BULK, confirm).await.unwrap();
    done.shows(json!({ "outcome": "applied", "applied": 6 }));
    for (path, expected) in [
        ("guide/en-us", "[a](/guide/en-us/a)\n"),
        (
            "guide/en-us/a",
            "[b](./b) [own](/guide/en-us/a) [out](/other)\n",
        ),
        ("guide/en-us/a/deep", "[up](../a) [root](/guide/en-us)\n"),
        ("guide/en-us/b", "[deep](/guide/en-us/a/deep#x)\n"),
        ("docsx", "[x](/guide/en-us/b)\n"),
        ("other", "[docs](/guide/en-us) [x](/docsx)\n"),
    ] {
        assert_eq!(content(&wiki, path), expected, "{path}");
    }
    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undo).await;
    assert_eq!(all(&wiki), before);
}

/// docs/a/a goes to docs/a, which docs/a leaves for docs.
#[tokio::test]
async fn a_place_that_an_earlier_move_frees_is_free() {
    let wiki = wiki_of(&[
        ("docs/aa/aa", "[up](/docs/aa)\n"),
        ("docs/aa", "[down](/docs/aa/aa)\n"),
    ])
    .await;
    let served = setup(&wiki).serve().await;
    is_applied(&served, BULK, part("docs/aa", "docs")).await;
    assert_eq!(content(&wiki, "docs/aa"), "[up](/docs)\n");
    assert_eq!(content(&wiki, "docs"), "[down](/docs/aa)\n");
}

#[tokio::test]
async fn a_part_that_cannot_move_whole_is_refused_and_nothing_is_sent() {
    let wiki = wiki_of(&[("docs", "D\n"), ("docs/a", "A\n"), ("new/a", "Taken.\n")]).await;
    let served = setup(&wiki).serve().await;
    for (arguments, code) in json_rows::<(Value, &str)>(&json!([
        [part("docs", "docs"), "INVALID_INPUT"],
        [part("docs", "docs/below"), "INVALID_INPUT"],
        [part("docs", "new"), "PAGE_EXISTS"],
        [part("none", "new"), "INVALID_INPUT"],
        [{ "moveTo": "new" }, "INVALID_INPUT"],
        [{ "ids": [1], "moveTo": "new" }, "INVALID_INPUT"],
        [{ "path": "docs", "tags": ["x"], "moveTo": "new" }, "INVALID_INPUT"],
        [{ "path": "docs", "locale": "*", "moveTo": "new" }, "INVALID_INPUT"],
        [{ "path": "docs", "moveTo": "new/b", "expectPages": 3 }, "INVALID_INPUT"],
    ])) {
        let refused = served.call(BULK, arguments.clone()).await.unwrap_err();
        assert_eq!(refused["code"], code, "{arguments}: {refused}");
    }
    let unmoved = json!({ "id": id_of(&wiki, "docs/a"), "title": "T", "updateLinks": true });
    fails(&served, UPDATE, unmoved, "INVALID_INPUT").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn what_cannot_be_mended_is_named_with_the_reason_and_stays() {
    let asciidoc =
        page("docs/text", "See link:/docs/a[a].\n").but(|row| row.editor = "asciidoc".to_owned());
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        (
            "docs/b",
            "[a](/docs/a)\n\n<pre><a href=\"/docs/a\">a</a></pre>\n",
        ),
        ("other/c", "[a](/docs/a)\n"),
    ])
    .await;
    wiki.with_store(|store| store.add(asciidoc));
    let setup = setup(&wiki).with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs");
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs/a");
    let done = is_applied(&served, UPDATE, moved(id, "docs/z")).await;
    let expected = [
        ("/en/docs/b", "in code"),
        ("/en/other/c", "the page may not be written here"),
        ("/en/docs/text", "neither Markdown nor HTML"),
    ];
    assert_eq!(left(&done), expected);
    assert_eq!(done["linksLeft"][0]["line"], 3);
    assert!(content(&wiki, "docs/b").starts_with("[a](/docs/z)\n"));
    assert_eq!(content(&wiki, "other/c"), "[a](/docs/a)\n");
}

/// A key that sees a part of the wiki mends what it sees and says nothing of the rest.
#[tokio::test]
async fn a_page_that_the_key_may_not_read_is_as_if_it_were_not_there() {
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        ("docs/b", "[a](/docs/a)\n"),
        ("other/c", "[a](/docs/a)\n"),
    ])
    .await;
    let rights = [
        "read:pages",
        "read:source",
        "read:history",
        "write:pages",
        "manage:pages",
    ];
    let setup = Setup::at(&wiki.address(), &wiki.key_with(&rights, "docs")).indexed();
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs/a");
    let done = served.confirmed(UPDATE, moved(id, "docs/z")).await.unwrap();
    done.shows(json!({ "outcome": "applied", "pages": 2 }));
    assert!(done.get("linksLeft").is_none(), "{done}");
    assert_eq!(content(&wiki, "docs/b"), "[a](/docs/z)\n");
    assert_eq!(content(&wiki, "other/c"), "[a](/docs/a)\n");
}

#[tokio::test]
async fn a_linking_page_that_somebody_changed_meanwhile_stops_the_whole_set() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "[a](/docs/a)\n")]).await;
    let served = setup(&wiki).serve().await;
    let (id, linker) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    let shown = served.call(UPDATE, moved(id, "docs/z")).await.unwrap();
    wiki.with_store(|store| store.rewrite(linker, |page| page.content.push_str("More.\n")));
    let confirm = json!({ "id": id, "confirm": shown["confirm"] });
    let refused = fails(&served, UPDATE, confirm, "EDIT_CONFLICT").await;
    refused["details"].shows(json!({ "id": linker, "path": "docs/b" }));
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_token_confirms_the_move_that_was_shown_and_no_other() {
    let wiki = wiki_of(&[
        ("docs/a", "A [me](/docs/a)\n"),
        ("docs/b", "[a](/docs/a)\n"),
    ])
    .await;
    let served = setup(&wiki).serve().await;
    let id = id_of(&wiki, "docs/a");
    let shown = served.call(UPDATE, moved(id, "docs/z")).await.unwrap();
    let with = |name: &str, value: Value| {
        let mut call = moved(id, "docs/z");
        call["confirm"] = shown["confirm"].clone();
        call[name] = value;
        call
    };
    for other in [
        with("path", json!("docs/y")),
        with("updateLinks", json!(false)),
        with("title", json!("T")),
        with("content", json!("Other [me](/docs/a)\n")),
    ] {
        fails(&served, UPDATE, other.clone(), "CONFIRM_MISMATCH").await;
    }
    let part_shown = served.call(BULK, part("docs", "new")).await.unwrap();
    let mut other = part("docs", "newer");
    other["confirm"] = part_shown["confirm"].clone();
    fails(&served, BULK, other, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), 0);
    let same = with("path", json!("docs/z"));
    is_applied(&served, UPDATE, same).await;
}

#[tokio::test]
async fn without_an_index_links_are_not_mended_and_nothing_is_sent() {
    let wiki = wiki_of(&[("docs/a", "A\n")]).await;
    let served = setup(&wiki).with("WIKI_INDEX", "off").serve().await;
    let refused = served
        .call(UPDATE, moved(id_of(&wiki, "docs/a"), "docs/z"))
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(refused["code"], "INVALID_INPUT", "{refused}");
    says(&refused["hint"], "WIKI_INDEX=memory");
}

/// Twenty-five pages are written, one was asked for.
#[tokio::test]
async fn a_rule_on_large_sets_counts_what_was_asked_for() {
    let wiki = wiki_of(&[("docs/a", "A\n")]).await;
    wiki.with_store(|store| {
        for number in 0..24 {
            store.add(page(&format!("xx/p{number}"), "[a](/docs/a)\n"));
        }
    });
    let served = setup(&wiki).serve().await;
    let id = id_of(&wiki, "docs/a");
    let shown = served.call(UPDATE, moved(id, "docs/z")).await.unwrap();
    assert_eq!(shown["pages"], 25);
    assert!(shown["confirm"].is_string(), "{shown}");
    // All of them moved are twenty-four: a person's to decide.
    let many = served.confirmed(BULK, part("xx", "more")).await.unwrap();
    assert_eq!(many["outcome"], "waiting", "{many}");
}

#[tokio::test]
async fn a_person_who_is_asked_sees_what_moves_and_how_many_links_are_mended() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "[a](/docs/a) [a](/docs/a)\n")]).await;
    let setup = person::setup(&wiki).indexed();
    let (served, mut person) = person::serve(setup, BOTH[0]).await;
    let asking = async {
        let asked = person.is_asked().await;
        let message = asked.message.clone();
        asked.answers("once");
        message
    };
    let call = served.call(UPDATE, moved(id_of(&wiki, "docs/a"), "docs/z"));
    let (message, done) = tokio::join!(asking, call);
    for says in [
        "New path:\n| en/docs/z\n",
        "2 links mended, nothing else\n| en/docs/b\n",
    ] {
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(done.unwrap()["outcome"], "applied");
    assert_eq!(content(&wiki, "docs/b"), "[a](/docs/z) [a](/docs/z)\n");
}

#[tokio::test]
async fn a_set_that_takes_a_right_which_the_key_lacks_is_refused_before_the_first_step() {
    let (wiki, served) = with_server(
        wiki_of(&[("docs/a", "# A\n"), ("xx/y", "[a](/docs/a)\n")]).await,
        |wiki| Setup::writer(wiki).indexed().toolsets("pages,drafts"),
    )
    .await;
    let id = id_of(&wiki, "docs/a");
    let refused = fails(&served, UPDATE, moved(id, "new/b"), "PERMISSION_DENIED").await;
    let lacking =
        json!([{ "id": id, "locale": "en", "path": "docs/a", "rights": ["manage:pages"] }]);
    assert_eq!(refused["details"]["lacking"], lacking, "{refused}");
    assert_eq!(mutations(&wiki).len(), 0);
}

const READS: &[&str] = &["read:pages", "read:source", "read:history"];
const WRITES: &[&str] = &[
    "read:pages",
    "read:source",
    "read:history",
    "write:pages",
    "manage:pages",
];

#[tokio::test]
async fn linking_pages_that_the_key_may_only_read_in_part_stay_and_are_named() {
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        ("docs/b", "[a](/docs/a)\n"),
        ("read/c", "[a](/docs/a)\n"),
        ("seen/d", "[a](/docs/a)\n"),
        ("seen/e", "E\n"),
    ])
    .await;
    let key = wiki.key_with_each(&[(WRITES, "docs"), (READS, "read"), (&READS[..1], "seen")]);
    let served = Setup::at(&wiki.address(), &key).indexed().serve().await;
    let id = id_of(&wiki, "docs/a");
    let done = served.confirmed(UPDATE, moved(id, "docs/z")).await.unwrap();
    done.shows(json!({ "outcome": "applied", "pages": 2 }));
    let expected = [
        ("/en/read/c", "this key cannot read all of the page"),
        ("/en/seen/d", "this key cannot read the page's source"),
    ];
    assert_eq!(left(&done), expected);
    assert_eq!(content(&wiki, "docs/b"), "[a](/docs/z)\n");
    assert_eq!(content(&wiki, "read/c"), "[a](/docs/a)\n");
}

#[tokio::test]
async fn links_are_not_mended_while_sources_are_missing() {
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        ("docs/b", "[a](/docs/a)\n"),
        ("docs/c", "[a](/docs/a)\n"),
    ])
    .await;
    let mut setup = setup(&wiki);
    setup.most = Some(2);
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs/a");
    for refused in [
        served.call(UPDATE, moved(id, "docs/z")).await,
        served.call(BULK, part("docs", "new")).await,
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused["code"], "TIMEOUT", "{refused}");
        refused["details"].shows(json!({ "indexed": 2, "of": 3 }));
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_page_that_more_pages_link_to_than_one_set_mends_does_not_move() {
    let wiki = wiki_of(&[("docs/a", "A\n")]).await;
    wiki.with_store(|store| {
        for number in 0..1_001 {
            store.add(page(&format!("xx/p{number}"), "[a](/docs/a)\n"));
        }
    });
    let served = setup(&wiki).serve().await;
    let id = id_of(&wiki, "docs/a");
    let refused = fails(&served, UPDATE, moved(id, "docs/z"), "TOO_LARGE").await;
    let details = &refused["details"];
    details.shows(json!({ "asked": 1, "mended": 1_001, "most": 1_000 }));
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_proposed_move_says_which_links_are_mended_and_which_stay() {
    let wiki = wiki_of(&[
        ("docs/a", "A\n"),
        (
            "docs/b",
            "[a](/docs/a)\n\n<pre><a href=\"/docs/a\">a</a></pre>\n",
        ),
    ])
    .await;
    let served = setup(&wiki).dry().serve().await;
    let id = id_of(&wiki, "docs/a");
    let shown = served.call(UPDATE, moved(id, "docs/z")).await.unwrap();
    let proposal = shown["proposal"].as_str().unwrap().to_owned();
    let show = |more: &[&str]| {
        let arguments = [&["proposals", "show", &proposal], more].concat();
        let command = Command::new(&arguments)
            .at(&wiki.address(), &wiki.keys().admin, served.dir.path())
            .quiet();
        tokio::task::spawn_blocking(|| command.run())
    };
    let told = show(&[]).await.unwrap();
    for says in [
        "1 link mended, nothing else\n",
        "links that stay as they are:\n",
        "docs/b, line 3: in code\n",
    ] {
        assert!(told.stdout.contains(says), "{}", told.told);
    }
    let told = show(&["--json"]).await.unwrap().json();
    assert_eq!(told["proposal"]["others"][0]["linksMended"], 1, "{told}");
    let left = json!([{ "page": id_of(&wiki, "docs/b"), "locale": "en", "path": "docs/b",
        "line": 3, "why": "in code" }]);
    assert_eq!(told["proposal"]["linksLeft"], left);
}

#[tokio::test]
async fn a_relative_link_that_still_leads_stays_as_it_is_and_its_page_is_rendered_where_it_goes() {
    let text = "[down](b) [beside](./c) [picture](pic)\n";
    let wiki = wiki_of(&[
        ("docs/a", text),
        ("docs/a/b", "B\n"),
        ("docs/a/pic", "P\n"),
        ("docs/c", "C\n"),
    ])
    .await;
    let served = setup(&wiki).serve().await;
    let done = is_applied(&served, BULK, part("docs", "guide")).await;
    assert_eq!(content(&wiki, "guide/a"), text);
    // A move renders nothing: the page is written once more, and no other one is.
    let id = id_of(&wiki, "guide/a");
    let updates = mutations(&wiki).into_iter();
    let updates = updates.filter(|one| one.fields.iter().any(|field| field == "pages.update"));
    let ids: Vec<Value> = updates.map(|one| one.variables["id"].clone()).collect();
    assert_eq!(ids, [json!(id)]);
    let undone = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, undone).await;
    assert_eq!(content(&wiki, "docs/a"), text);
    let updates = mutations(&wiki).into_iter();
    let updates = updates.filter(|one| one.fields.iter().any(|field| field == "pages.update"));
    assert_eq!(updates.count(), 2);
}

/// The change of the first page is left out; what links to it and to what moves all the same is
/// mended or named before the yes.
#[tokio::test]
async fn links_of_movers_lead_to_what_is_left_out_and_links_that_will_lead_nowhere_are_named() {
    let wiki = wiki_of(&[
        ("docs/a", "[b](/docs/b) [c](./c)\n"),
        ("docs/b", "[a](./a) [c](/docs/c)\n"),
        ("docs/c", "<code>[a](/docs/a)</code> [a](/docs/a)\n"),
    ])
    .await;
    let served = setup(&wiki).toolsets("pages,drafts,proposals").dry();
    let served = served.serve().await;
    let shown = full(part("docs", "guide"));
    let shown = served.call(BULK, shown).await.unwrap();
    let id = shown["proposal"].as_str().unwrap().to_owned();
    let first = shown["changes"].as_array().unwrap().iter();
    let first = first.map(|one| one["target"]["path"].as_str().unwrap().to_owned());
    let number = first.into_iter().position(|path| path == "docs/a").unwrap() + 1;
    let applied = crate::command::Command::new(&[
        "proposals",
        "apply",
        &id,
        "--leave-out",
        &number.to_string(),
        "--yes",
    ])
    .at(&wiki.address(), &wiki.keys().admin, served.dir.path())
    .with("WIKI_MUTATIONS_ENABLED", "true")
    .quiet()
    .good()
    .await;
    assert_eq!(content(&wiki, "docs/a"), "[b](/docs/b) [c](./c)\n");
    assert_eq!(content(&wiki, "guide/b"), "[a](../docs/a) [c](/guide/c)\n");
    let content = content(&wiki, "guide/c");
    assert_eq!(content, "<code>[a](/docs/a)</code> [a](/docs/a)\n");
    for link in ["docs/a, line 1: /docs/b", "docs/a, line 1: ./c"] {
        assert!(applied.stdout.contains(link), "{link}: {}", applied.told);
    }
    assert!(applied.stdout.contains("link left:"), "{}", applied.told);
}
