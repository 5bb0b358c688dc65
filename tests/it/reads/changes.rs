//! What changed in the whole wiki since a time: who, which fields, how many lines, what is gone.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::prelude::*;
use crate::reads::read;

/// A time at which nothing that a test does has been done yet.
fn now(wiki: &DemoWiki) -> String {
    // By the wiki's own clock: each of its dates is later than the one before.
    let id = wiki.with_page(PageRow::default().but(|row| row.path = "clock".to_owned()));
    let row = wiki.with_store(|store| store.remove(id).unwrap());
    row.created_at
}

async fn changes(served: &Served, arguments: Value) -> Value {
    read(served, HISTORY, arguments).await.unwrap()["changes"].clone()
}

async fn serve(wiki: &DemoWiki, key: &str) -> Served {
    Setup::at(&wiki.address(), key).serve().await
}

/// Which deletions no answer can tell.
const UNKNOWN_DELETIONS: &str = "of pages that this server neither read nor listed before they went, and that are not on its record; the wiki keeps no record of deletions";

/// The pages of an answer without what differs from run to run.
fn told(changes: &Value) -> Vec<Value> {
    let mut pages = changes["pages"].as_array().unwrap().clone();
    for page in &mut pages {
        let page = page.as_object_mut().unwrap();
        for member in ["id", "locale", "title", "updatedAt", "fromVersion"] {
            page.remove(member);
        }
    }
    pages
}

/// Somebody else's write.
fn write(wiki: &DemoWiki, path: &str, author: &str, content: &str) {
    let id = id_of(wiki, path);
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            content.clone_into(&mut page.content);
            author.clone_into(&mut page.author);
        });
    });
}

#[tokio::test]
async fn each_page_is_told_with_who_wrote_what_newest_first() {
    let wiki = sample_wiki().await;
    write(&wiki, "docs", "Early", "one\ntwo\n");
    let since = now(&wiki);
    write(&wiki, "docs", "Ann", "one\n2\n");
    write(&wiki, "docs", "Bob", "one\n2\nthree\n");
    wiki.with_store(|store| {
        let id = store.page_at("en", "home").unwrap().id;
        store.rewrite(id, |page| {
            "start".clone_into(&mut page.path);
            "Start".clone_into(&mut page.title);
            "Cy".clone_into(&mut page.author);
        });
        store.add(titled("docs/new", "New", "a\nb\n").but(|row| row.author = "Di".to_owned()));
    });
    let served = serve(&wiki, &wiki.keys().admin).await;
    let all = changes(&served, json!({ "since": since })).await;
    let expected = [
        json!({ "path": "docs/new", "created": true, "authors": ["Di"], "writes": 1,
                    "linesAdded": 2 }),
        json!({ "path": "start", "authors": ["Cy"], "writes": 1, "changed": ["path", "title"],
                    "movedFrom": "en/home" }),
        json!({ "path": "docs", "authors": ["Bob", "Ann"], "writes": 2, "changed": ["content"],
                    "linesAdded": 2, "linesRemoved": 1 }),
    ];
    assert_eq!(told(&all), expected);
    // A key with every right lacks nothing but the deletions that nobody can know.
    all.shows(json!({ "deleted": null, "unavailable": { "deleted": UNKNOWN_DELETIONS } }));
    assert!(all.get("more").is_none(), "{all}");
    // Below a path, with a locale or without.
    for (path, paths) in [
        ("docs", vec!["docs/new", "docs"]),
        ("/en/docs", vec!["docs/new", "docs"]),
        ("/de/docs", vec![]),
    ] {
        let below = changes(&served, json!({ "since": since, "path": path })).await;
        let told = told(&below);
        let own = vec_of(told.iter().map(|page| page["path"].as_str().unwrap()));
        assert_eq!(own, paths, "{path}");
    }
    // What it says to compare from leads to the same difference.
    let docs = &all["pages"][2];
    let compare = json!({ "id": docs["id"],
        "compare": { "from": docs["fromVersion"].to_string() } });
    let compared = read(&served, HISTORY, compare).await.unwrap();
    assert_eq!(compared["comparison"]["linesAdded"], docs["linesAdded"]);
    assert_eq!(compared["comparison"]["linesRemoved"], docs["linesRemoved"]);
}

#[tokio::test]
async fn each_key_is_told_as_much_as_it_may_read_and_what_it_may_not() {
    let wiki = sample_wiki().await;
    let since = now(&wiki);
    write(&wiki, "docs", "Ann", "one\n");
    write(&wiki, "docs", "Bob", "two\n");
    let all = "manage:pages or delete:pages";
    let no_past = || {
        json!({ "authors": "read:history", "changed": "read:history",
                "deleted": UNKNOWN_DELETIONS, "writes": "read:history" })
    };
    let no_history = wiki.key_with(&["read:pages", "read:source"], "");
    let keys = wiki.keys();
    for (key, unavailable, told_of) in json_rows::<(&str, Value, Option<Value>)>(&json!([
        [keys.writer, { "deleted": UNKNOWN_DELETIONS, "publishEndDate": all, "publishStartDate": all },
         ["Bob", "Ann"]],
        [keys.readonly, { "deleted": UNKNOWN_DELETIONS, "last author": "write:pages",
                          "publishEndDate": all, "publishStartDate": all }, ["Ann"]],
        [no_history, no_past(), null],
        [keys.reader, no_past(), null],
    ])) {
        let served = serve(&wiki, key).await;
        let all = changes(&served, json!({ "since": since })).await;
        let page = &all["pages"][0];
        assert_eq!(page["path"], "docs");
        assert_eq!(all["unavailable"], unavailable, "{all}");
        assert_eq!(page.get("authors").cloned(), told_of, "{all}");
        assert_eq!(page.get("changed").is_some(), told_of.is_some(), "{all}");
    }
    // The list alone says when a page was made.
    let made = now(&wiki);
    wiki.with_page(PageRow::default().but(|row| row.path = "made".to_owned()));
    let served = serve(&wiki, &wiki.keys().reader).await;
    let all = changes(&served, json!({ "since": made })).await;
    assert_eq!(told(&all), [json!({ "path": "made", "created": true })]);
    // What a key does not see at all it is not told of.
    let elsewhere = wiki.key_with(&["read:pages", "read:source", "read:history"], "other");
    let served = serve(&wiki, &elsewhere).await;
    let none = changes(&served, json!({ "since": since })).await;
    assert_eq!(none["pages"], json!([]));
}

#[tokio::test]
async fn a_page_whose_date_moved_without_a_write_is_counted_alone() {
    let wiki = sample_wiki().await;
    write(&wiki, "docs", "Ann", "one\n");
    let since = now(&wiki);
    let id = id_of(&wiki, "docs");
    wiki.with_store(|store| store.touch(id));
    let served = serve(&wiki, &wiki.keys().admin).await;
    let all = changes(&served, json!({ "since": since })).await;
    all.shows(json!({ "pages": [], "onlyTouched": 1 }));
}

#[tokio::test]
async fn twenty_pages_are_told_the_rest_counted_and_read_on_in_few_requests() {
    let wiki = sample_wiki().await;
    let since = now(&wiki);
    wiki.with_store(|store| {
        for number in 0..25 {
            let id = store.add(titled(&format!("many/p{number:02}"), "Many", "a\n"));
            store.rewrite(id, |page| page.content.push_str("b\n"));
        }
    });
    for key in [
        &wiki.keys().admin,
        &wiki.keys().writer,
        &wiki.keys().readonly,
        &wiki.keys().reader,
    ] {
        let served = serve(&wiki, key).await.acquainted().await;
        wiki.clear_requests();
        let first = changes(&served, json!({ "since": since, "limit": 100 })).await;
        let asked = wiki.requests().len();
        assert!(asked <= 90, "{asked} operations");
        assert_eq!(first["pages"].as_array().unwrap().len(), 20);
        first.shows(json!({ "more": 5, "nextOffset": 20 }));
        let rest = json!({ "since": since, "offset": first["nextOffset"] });
        let rest = changes(&served, rest).await;
        assert_eq!(rest["pages"].as_array().unwrap().len(), 5);
        assert!(rest.get("more").is_none() && rest.get("nextOffset").is_none());
    }
}

#[tokio::test]
async fn a_new_page_is_shown_shortly_and_leads_to_what_came_after_its_creation() {
    let wiki = sample_wiki().await;
    let since = now(&wiki);
    let text = "A line of a page that is new.\n".repeat(200);
    for path in ["new/once", "new/twice"] {
        wiki.with_page(PageRow {
            path: path.to_owned(),
            content: text.clone(),
            ..PageRow::default()
        });
    }
    write(&wiki, "new/twice", "Ann", &format!("{text}Ann's line.\n"));
    let served = serve(&wiki, &wiki.keys().admin).await;
    let all = changes(&served, json!({ "since": since, "detail": "full" })).await;
    let [twice, once] = &all["pages"].as_array().unwrap()[..] else {
        panic!("{all}");
    };
    assert!(all.to_string().len() < 5_000, "{all}");
    once.shows(json!({ "linesAdded": 200, "fromVersion": null }));
    let compare = json!({ "id": twice["id"],
        "compare": { "from": twice["fromVersion"].to_string() } });
    let compared = read(&served, HISTORY, compare).await.unwrap();
    assert_eq!(compared["comparison"]["linesAdded"], 1);
    says(&compared.to_string(), "+Ann's line.");
}

#[tokio::test]
async fn with_all_detail_each_page_comes_with_its_difference_within_one_bound() {
    let wiki = sample_wiki().await;
    write(&wiki, "docs", "Ann", "one\ntwo\n");
    let since = now(&wiki);
    write(&wiki, "docs", "Ann", "one\n2\n");
    wiki.with_store(|store| {
        let id = store.page_at("en", "docs").unwrap().id;
        store.rewrite(id, |page| "Documents".clone_into(&mut page.title));
        store.add(titled("docs/new", "New", "a\nb\n"));
    });
    let served = serve(&wiki, &wiki.keys().admin).await;
    let brief = changes(&served, json!({ "since": since })).await;
    let full = changes(&served, json!({ "since": since, "detail": "full" })).await;
    let [new, docs] = &full["pages"].as_array().unwrap()[..] else {
        panic!("{full}");
    };
    let diff = docs["diff"].as_str().unwrap();
    says(diff, "-two\n+2\n");
    assert_eq!(docs["changes"]["title"]["after"], "Documents", "{docs}");
    says(new["diff"].as_str().unwrap(), "+a\n+b\n");
    assert_eq!(full["notes"], brief["notes"]);
    // But for the differences it is the answer without them.
    let mut bare = full.clone();
    for page in bare["pages"].as_array_mut().unwrap() {
        let page = page.as_object_mut().unwrap();
        page.remove("diff");
        page.remove("changes");
    }
    assert_eq!(bare, brief);
    // A key without the sources gets none.
    let reader = serve(&wiki, &wiki.keys().reader).await;
    let asked = json!({ "since": since, "detail": "full" });
    lacks(&changes(&reader, asked).await.to_string(), "diff");
}

#[tokio::test]
async fn the_differences_since_long_ago_are_bounded_and_read_on() {
    let wiki = sample_wiki().await;
    let ids: Vec<i64> = wiki.with_store(|store| {
        let page = |number| PageRow {
            path: format!("many/p{number:02}"),
            title: "Many".to_owned(),
            content: "a line of many\n".repeat(5_000),
            ..PageRow::default()
        };
        (0..30).map(|number| store.add(page(number))).collect()
    });
    let since = now(&wiki);
    for id in &ids {
        wiki.with_store(|store| {
            store.rewrite(*id, |page| page.content = "another line\n".repeat(5_000));
        });
    }
    let served = serve(&wiki, &wiki.keys().admin).await.acquainted().await;
    for since in [since.as_str(), "1970-01-01"] {
        wiki.clear_requests();
        let asked = json!({ "since": since, "detail": "full", "limit": 100 });
        let full = changes(&served, asked).await;
        let requests = wiki.requests().len();
        assert!(requests <= 90, "{requests} requests");
        let pages = full["pages"].as_array().unwrap();
        let bytes = pages.iter();
        let bytes: usize = bytes.map(|page| page["diff"].as_str().unwrap().len()).sum();
        // A new page is shown shortly.
        let least = if since == "1970-01-01" { 16 } else { 20 };
        assert!(bytes <= 32 * 1024 && bytes > least * 1024, "{bytes}");
        assert!(full.to_string().len() < 64 * 1024);
        assert!(
            pages
                .iter()
                .all(|page| page["warnings"][0]["code"] == "diff_cut")
        );
        says(&full["notes"].to_string(), "share 32 kB");
        let next = json!({ "since": since, "detail": "full", "offset": full["nextOffset"] });
        assert!(
            !changes(&served, next).await["pages"]
                .as_array()
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn a_page_that_was_written_very_often_is_told_as_far_as_it_was_looked_through() {
    let wiki = sample_wiki().await;
    let since = now(&wiki);
    for number in 0..55 {
        write(&wiki, "docs", "Ann", &format!("{number}\n"));
    }
    let served = serve(&wiki, &wiki.keys().admin).await;
    let all = changes(&served, json!({ "since": since })).await;
    assert_eq!(all["pages"][0]["writes"], 51);
    assert!(all["unavailable"]["changed"].is_string(), "{all}");
}

#[tokio::test]
async fn deletions_are_told_as_far_as_record_and_lists_know_and_to_keys_that_may_read_there() {
    let wiki = sample_wiki().await;
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let served = Setup::editor(&wiki).serve().await;
    // Listed before, and then no more.
    let _known = served.app.wiki.pages_now().await.unwrap();
    let missed = id_of(&wiki, "home");
    wiki.with_store(|store| store.remove(missed));
    let own = id_of(&wiki, "docs/configuration");
    let deleted = confirmed_ok(&served, DELETE, json!({ "id": own })).await;
    let _known = served.app.wiki.pages_now().await.unwrap();
    let all = changes(&served, json!({ "since": since })).await;
    let gone = all["deleted"].as_array().unwrap();
    let told = vec_of(gone.iter().map(|page| (&page["path"], page.get("callId"))));
    assert!(
        told.contains(&(&json!("docs/configuration"), Some(&deleted["callId"]))),
        "{all}"
    );
    assert!(told.contains(&(&json!("home"), None)), "{all}");
    assert_eq!(told.len(), 2);
    says(&all["unavailable"]["deleted"], "no record of deletions");
    let below = changes(&served, json!({ "since": since, "path": "docs" })).await;
    assert_eq!(below["deleted"].as_array().unwrap().len(), 1);
    // Another key of the same server: only of what it may read there.
    let docs = wiki.key_with(&["read:pages", "read:source"], "docs");
    let other = wiki.key_with(&["read:pages", "read:source"], "other");
    for (key, count) in [(&docs, 1), (&other, 0)] {
        let setup = Setup::at(&wiki.address(), key).in_dir_of(&served);
        let another = setup.serve().await;
        let all = changes(&another, json!({ "since": since })).await;
        let gone = all
            .get("deleted")
            .map_or(0, |gone| gone.as_array().unwrap().len());
        assert_eq!(gone, count, "{all}");
    }
}

#[tokio::test]
async fn the_deletion_of_a_page_that_was_only_read_by_itself_or_listed_in_part_is_told() {
    let (wiki, served) = sample(Setup::admin).await;
    // No list of all pages ever has the two.
    let _all = served.app.wiki.pages_now().await.unwrap();
    let [read_one, listed] = ["late/read", "late/listed"].map(|path| {
        wiki.with_store(|store| {
            store.add(PageRow {
                path: path.to_owned(),
                tags: vec!["late".to_owned()],
                ..PageRow::default()
            })
        })
    });
    let one = json!({ "id": read_one });
    read(&served, BY_ID, one).await.unwrap();
    let part = json!({ "tags": ["late"], "path": "late/listed" });
    read(&served, LIST, part).await.unwrap();
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    for id in [read_one, listed] {
        wiki.with_store(|store| store.remove(id));
    }
    let all = changes(&served, json!({ "since": since })).await;
    let gone = all["deleted"].as_array().unwrap();
    let mut paths: Vec<_> = gone.iter().map(|page| &page["path"]).collect();
    paths.sort_by_key(|path| path.as_str());
    assert_eq!(paths, ["late/listed", "late/read"], "{all}");
    for page in gone {
        assert!(page["lastSeen"].is_string(), "{all}");
    }
    // A key that reads nothing there is told nothing, on a server that saw nothing.
    let other = wiki.key_with(&["read:pages", "read:source"], "other");
    let another = serve(&wiki, &other).await;
    let all = changes(&another, json!({ "since": since })).await;
    assert_eq!(all.get("deleted"), None, "{all}");
}

/// Another server, on the same record, hides two pages from a narrower one before it deletes them.
#[tokio::test]
async fn the_deletion_of_a_page_that_was_hidden_before_is_not_told_by_its_old_place() {
    let paths = ["docs/tagged", "docs/moved", "docs/open"];
    let wiki = wiki_of(&paths.map(|path| (path, "# A\n"))).await;
    let narrow = Setup::admin(&wiki)
        .with("WIKI_DENIED_READ_TAGS", "secret")
        .with("WIKI_ALLOWED_READ_PATH_PREFIXES", "docs")
        .serve()
        .await;
    let wide = Setup::admin(&wiki).in_dir_of(&narrow).serve().await;
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let ids = paths.map(|path| id_of(&wiki, path));
    for id in ids {
        let one = json!({ "id": id });
        read(&narrow, BY_ID, one).await.unwrap();
    }
    let [tagged, moved, _] = ids;
    for change in [
        json!({ "id": tagged, "addTags": ["secret"] }),
        json!({ "id": moved, "path": "staff/moved" }),
    ] {
        is_applied(&wide, UPDATE, change).await;
    }
    for id in ids {
        let deleted = wide.confirmed(DELETE, json!({ "id": id }));
        assert_eq!(deleted.await.unwrap()["outcome"], "applied");
    }
    let all = changes(&narrow, json!({ "since": since })).await;
    let gone = all["deleted"].as_array().unwrap();
    let told: Vec<_> = gone.iter().map(|page| &page["path"]).collect();
    assert_eq!(told, ["docs/open"], "{all}");
    assert_eq!(all.get("moreDeleted"), None, "{all}");
}

/// The places of the deletions in an answer.
fn deleted(all: &Value) -> Vec<String> {
    let deleted = all["deleted"].as_array().map(Vec::as_slice);
    let deleted = deleted.unwrap_or_default().iter();
    vec_of(deleted.map(|page| page["path"].as_str().unwrap().to_owned()))
}

#[tokio::test]
async fn deletions_that_find_no_room_in_an_answer_are_listed_at_the_next_offset() {
    let paths: Vec<String> = (0..45).map(|number| format!("late/{number:02}")).collect();
    let pages: Vec<(&str, &str)> = paths.iter().map(|path| (&**path, "# A\n")).collect();
    let wiki = wiki_of(&pages).await;
    let key = wiki.keys().editor.clone();
    let served = serve(&wiki, &key).await;
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let _all = served.app.wiki.pages_now().await.unwrap();
    for path in &paths {
        let gone = id_of(&wiki, path);
        wiki.with_store(|store| store.remove(gone));
    }
    let (mut offset, mut told) = (0, Vec::new());
    loop {
        let all = changes(&served, json!({ "since": since, "offset": offset })).await;
        told.extend(deleted(&all));
        let left = 45 - told.len();
        let more = all.get("moreDeleted").cloned().unwrap_or(json!(0));
        assert_eq!(more, json!(left), "{all}");
        let Some(next) = all["nextOffset"].as_u64() else {
            assert_eq!(left, 0, "{all}");
            break;
        };
        offset = next;
    }
    told.sort();
    assert_eq!(told, paths);
}

#[tokio::test]
async fn deletions_that_the_wiki_was_not_asked_about_are_found_below_a_path() {
    let below = |number| if number < 15 { "late/x" } else { "late/y" };
    let paths = (0..25).map(|number| format!("{}/{number:02}", below(number)));
    let (wiki, served) = sample(Setup::admin).await;
    // No list of all pages ever has them.
    let _all = served.app.wiki.pages_now().await.unwrap();
    let mut ids = Vec::new();
    for path in paths {
        let id = wiki.with_page(PageRow::default().but(|row| row.path = path));
        let one = json!({ "id": id });
        read(&served, BY_ID, one).await.unwrap();
        ids.push(id);
    }
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    wiki.with_store(|store| {
        for id in ids {
            store.remove(id);
        }
    });
    let all = changes(&served, json!({ "since": since })).await;
    assert_eq!(deleted(&all).len(), 20, "{all}");
    all.shows(json!({ "moreDeleted": 5, "nextOffset": null }));
    assert!(all["notes"].to_string().contains("Name a path"), "{all}");
    for (path, count) in [("late/x", 15), ("late/y", 10)] {
        let below = changes(&served, json!({ "since": since, "path": path })).await;
        assert_eq!(deleted(&below).len(), count, "{below}");
        assert_eq!(below.get("moreDeleted"), None, "{below}");
    }
}

#[tokio::test]
async fn the_deletion_of_a_page_that_only_the_index_on_the_disk_knew_is_told_by_later_processes() {
    let (wiki, index) = (sample_wiki().await, TempDir::new().unwrap());
    let setup = || {
        Setup::editor(&wiki)
            .with("WIKI_INDEX", "disk")
            .with("WIKI_INDEX_DIR", index.path().to_str().unwrap())
    };
    let search = json!({ "query": "configuration", "in": "content" });
    let first = setup().serve().await;
    read(&first, SEARCH, search.clone()).await.unwrap();
    drop(first);
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let gone = id_of(&wiki, "docs/configuration");
    wiki.with_store(|store| store.remove(gone));
    // Told before the process searched, after its index forgot the page's text, and by the next.
    for searches in [0, 3, 0] {
        let next = setup().serve().await;
        for number in 0..searches {
            write(&wiki, "docs", "Ann", &format!("{number}\n"));
            next.app.index.outdated();
            read(&next, SEARCH, search.clone()).await.unwrap();
        }
        let all = changes(&next, json!({ "since": since })).await;
        assert_eq!(all["deleted"].as_array().unwrap().len(), 1, "{all}");
        let page = &all["deleted"][0];
        assert_eq!(page["path"], "docs/configuration");
        assert!(page["lastSeen"].is_string() && page.get("at").is_none());
    }
}

#[tokio::test]
async fn deletions_by_others_are_told_of_pages_that_the_list_before_or_the_record_had() {
    let wiki = sample_wiki().await;
    let since = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let before = Setup::editor(&wiki).serve().await;
    let own = id_of(&wiki, "docs/configuration");
    let write = json!({ "id": own, "title": "Ours" });
    before.confirmed(UPDATE, write).await.unwrap();
    // A new server on the same record, which listed nothing yet.
    let served = Setup::editor(&wiki).in_dir_of(&before).serve().await;
    wiki.with_store(|store| store.remove(own));
    let all = changes(&served, json!({ "since": since })).await;
    let gone = &all["deleted"][0];
    assert_eq!(gone["path"], "docs/configuration", "{all}");
    gone.shows(json!({ "at": null, "callId": null }));
    assert!(gone["lastSeen"].is_string(), "{all}");
    says(&all["notes"][0], "may have gone before since");
    // Nobody but the question itself asks for a list.
    let home = id_of(&wiki, "home");
    wiki.with_store(|store| store.remove(home));
    let all = changes(&served, json!({ "since": since })).await;
    let gone = all["deleted"].as_array().unwrap();
    assert_eq!(gone.len(), 2, "{all}");
    let missed = gone.iter().find(|page| page["path"] == "home").unwrap();
    assert!(missed["at"].is_string(), "{all}");
    assert!(missed.get("lastSeen").is_none(), "{all}");
    // A key that may not read there is told of neither; a place outside of the scope is not named.
    let other = wiki.key_with(&["read:pages", "read:source"], "other");
    let setup = Setup::at(&wiki.address(), &other).in_dir_of(&served);
    let another = setup.serve().await;
    assert_eq!(
        changes(&another, json!({ "since": since }))
            .await
            .get("deleted"),
        None
    );
    let setup = Setup::admin(&wiki).with("WIKI_ALLOWED_READ_PATH_PREFIXES", "guides");
    let scoped = setup.in_dir_of(&served).serve().await;
    assert_eq!(
        changes(&scoped, json!({ "since": since }))
            .await
            .get("deleted"),
        None
    );
}

#[tokio::test]
async fn arguments_that_do_not_go_together_are_refused_with_what_does() {
    let wiki = sample_wiki().await;
    let served = serve(&wiki, &wiki.keys().admin).await;
    for (arguments, path, says) in json_rows::<(Value, &str, &str)>(&json!([
        [{}, "id", "is required, or page with a path or a title, or since"],
        [{ "path": "docs" }, "id", "or since for changes"],
        [{ "id": 1, "since": "2026-01-01" }, "id", "leave out since and path"],
        [{ "id": 1, "path": "docs" }, "id", "leave out since and path"],
        [{ "since": "2026-01-01", "compare": { "from": "current" } }, "compare",
         "takes the id of one page"],
        [{ "since": "last week" }, "since", "ISO 8601"],
        [{ "since": "2026-01-01", "path": "https://elsewhere.example/x" }, "path", "another site"],
    ])) {
        let error = read(&served, HISTORY, arguments).await.unwrap_err();
        assert_eq!(error["code"], "INVALID_INPUT");
        let fault = &error["details"]["fields"][0];
        assert_eq!(fault["path"], path, "{error}");
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
}
