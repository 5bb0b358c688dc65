//! How the content index is filled: many pages a request, and so that the wiki has time for others.

use secrecy::SecretString;
use wikijs_gate::demo::ContentRead;
use wikijs_gate::index::{IndexLoad, Pace};
use wikijs_gate::wiki::ApiKey;

use crate::harness;
use crate::prelude::*;

/// A wiki of so many pages that say the same.
async fn wiki_of(count: usize, content: &str) -> DemoWiki {
    let paths: Vec<String> = (0..count).map(|number| format!("a/p{number}")).collect();
    let pages: Vec<_> = paths.iter().map(|path| (path.as_str(), content)).collect();
    harness::wiki_of(&pages).await
}

async fn search(served: &Served, query: &str) -> Value {
    let arguments = json!({ "query": query, "in": "content", "limit": 100 });
    served.call(SEARCH, arguments).await.unwrap()
}

fn paths(answer: &Value) -> Vec<&str> {
    members(answer, "hits", "path")
}

fn sizes(wiki: &DemoWiki) -> Vec<usize> {
    let reads = wiki.content_reads();
    reads.iter().map(|read| read.pages).collect()
}

/// The most of some reads that were under way at once.
fn most_at_once(reads: &[ContentRead]) -> usize {
    let under_way = |time: Instant| {
        let at =
            |read: &&ContentRead| read.began <= time && read.ended.is_none_or(|ended| ended > time);
        reads.iter().filter(at).count()
    };
    reads
        .iter()
        .map(|read| under_way(read.began))
        .max()
        .unwrap()
}

#[tokio::test]
async fn a_request_reads_many_pages_where_the_layer_allows() {
    let wiki = wiki_of(120, "apple").await;
    let served = Setup::admin(&wiki).indexed().serve().await;
    assert_eq!(paths(&search(&served, "apple").await).len(), 100);
    // One finds out which layer answers this key; the newest 50 are read by themselves.
    assert_eq!(sizes(&wiki), [1, 49, 50, 20]);
    let only_writes = wiki.key_with(&["read:pages", "write:pages"], "");
    let setup = Setup::at(&wiki.address(), &only_writes).indexed();
    let served = setup.serve().await;
    let answer = search(&served, "apple").await;
    assert_eq!(answer["hits"].as_array().unwrap().len(), 100);
    assert_eq!(sizes(&wiki)[4..], [1, 1, 49, 50, 20]);
}

#[tokio::test]
async fn keys_of_callers_read_pages_in_turn() {
    let wiki = wiki_of(120, "apple").await;
    let setup = Setup::readonly(&wiki)
        .with("WIKI_SERVE_CALLER_KEYS", "true")
        .indexed();
    let server = Arc::new(setup.host().await);
    let keys = wiki.keys();
    let keys = [&keys.admin, &keys.editor, &keys.reader, &keys.writer];
    wiki.hold_content_reads(0..1);
    let mut searches = Vec::new();
    for key in keys {
        let caller = Caller::default().with("x-wiki-api-token", key);
        let server = Arc::clone(&server);
        searches.push(tokio::spawn(async move {
            let arguments = json!({ "query": "apple", "in": "content", "limit": 100 });
            server.call(&caller, SEARCH, arguments).await.unwrap()
        }));
    }
    // All of them know which pages there are, and one reads the first of them.
    let lists = || {
        let requests = wiki.requests();
        let is_list = |field: &&String| *field == "pages.list";
        requests
            .iter()
            .flat_map(|seen| &seen.fields)
            .filter(is_list)
            .count()
    };
    while lists() < keys.len() || wiki.content_reads().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..20 {
        assert_eq!(server.get("/healthz").await.status, 200);
        assert_eq!(wiki.content_reads().len(), 1);
    }
    wiki.hold_content_reads(0..0);
    for search in searches {
        assert_eq!(paths(&search.await.unwrap()).len(), 100);
    }
    assert_eq!(most_at_once(&wiki.content_reads()), 1);
}

#[tokio::test]
async fn a_page_that_spoils_its_batch_is_left_out_alone() {
    let wiki = wiki_of(60, "apple").await;
    let only_writes = wiki.key_with(&["read:pages", "write:pages"], "");
    let setup = Setup::at(&wiki.address(), &only_writes).indexed();
    let served = Arc::new(setup.serve().await);
    wiki.hold_content_reads(2..3);
    let searching = Arc::clone(&served);
    let searching = tokio::spawn(async move { search(&searching, "apple").await });
    wiki.content_reads_came(3).await;
    let gone = id_of(&wiki, "a/p30");
    wiki.with_store(|store| store.remove(gone));
    wiki.hold_content_reads(0..0);
    let answer = searching.await.unwrap();
    let found = paths(&answer);
    assert_eq!(found.len(), 59);
    assert!(!found.contains(&"a/p30"), "{found:?}");
    // Halves, of which the one without it is whole.
    let sizes = sizes(&wiki);
    assert_eq!(sizes[2..4], [49, 24]);
    assert!(sizes.contains(&1) && sizes.len() < 20, "{sizes:?}");
    // A look later the list knows it no more.
    let answer = search(&served, "apple").await;
    assert_eq!(answer["index"]["of"].as_u64().unwrap_or(59), 59);
}

#[tokio::test]
async fn what_does_not_pass_as_one_answer_passes_in_parts() {
    let too_large = Reply::say(413, "text/html", "too large");
    for reply in [too_large, Reply::Huge] {
        let wiki = wiki_of(60, "apple").await;
        let faulty = FaultyWiki::before(&wiki).await;
        let setup = Setup::at(&faulty.address(), &wiki.keys().admin).indexed();
        let served = setup.serve().await.acquainted().await;
        // The site's locales, the list and the first page pass.
        faulty.on_request_after(3, Fault::new(Reach::Never, reply));
        assert_eq!(paths(&search(&served, "apple").await).len(), 60);
        let sizes = sizes(&wiki);
        assert!(sizes[1..].iter().all(|size| *size <= 25), "{sizes:?}");
    }
}

#[tokio::test]
async fn answers_that_are_large_become_smaller() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let large = format!("apple {}", ".".repeat(180_000));
    wiki.with_store(|store| {
        for number in 0..40 {
            store.add(page(&format!("a/p{number}"), "apple"));
        }
        for number in 0..51 {
            store.add(page(&format!("b/p{number}"), &large));
        }
    });
    let served = Setup::admin(&wiki).indexed().serve().await;
    assert_eq!(paths(&search(&served, "apple").await).len(), 91);
    let sizes = sizes(&wiki);
    assert_eq!(sizes[..3], [1, 49, 24], "{sizes:?}");
}

#[tokio::test]
async fn the_wiki_is_kept_busy_for_the_share_of_its_time_that_is_set() {
    for (key, count) in [("readonly", 60), ("admin", 230)] {
        let wiki = wiki_of(count, "apple").await;
        wiki.set_content_read_time(Duration::from_millis(10));
        let keys = wiki.keys().clone();
        let key = if key == "admin" {
            &keys.admin
        } else {
            &keys.readonly
        };
        let mut setup = Setup::at(&wiki.address(), key).indexed();
        setup.pace.load = IndexLoad::percent(50);
        let served = setup.serve().await;
        search(&served, "apple").await;
        let reads = wiki.content_reads();
        assert!(most_at_once(&reads) <= 4);
        // Every time is followed by as long a pause, but for the last.
        let (first, last) = (reads.first().unwrap(), reads.last().unwrap());
        let span = last.began - first.began;
        let mut busy = Duration::ZERO;
        let mut until = first.began;
        for read in &reads {
            let ended = read.ended.unwrap().min(last.began);
            busy += ended.saturating_duration_since(read.began.max(until));
            until = until.max(ended);
        }
        // As long as the reads of that one take, which begin together.
        let times = reads.iter().map(|read| read.ended.unwrap() - read.began);
        let in_last_turn = times.max().unwrap() * 3;
        assert!(busy * 2 <= span + in_last_turn, "{busy:?} of {span:?}");
    }
}

#[tokio::test]
async fn while_a_call_waits_for_the_wiki_one_request_fills_the_index() {
    let wiki = wiki_of(40, "apple").await;
    let served = Arc::new(Setup::readonly(&wiki).indexed().serve().await);
    wiki.set_content_read_time(Duration::from_millis(5));
    wiki.hold_content_reads(0..1);
    let reading = Arc::clone(&served);
    let id = id_of(&wiki, "a/p1");
    let call = tokio::spawn(async move {
        let page = json!({ "id": id });
        reading.call(BY_ID, page).await.unwrap()
    });
    wiki.content_reads_came(1).await;
    search(&served, "apple").await;
    let filling = wiki.content_reads().split_off(1);
    assert_eq!(most_at_once(&filling), 1);
    wiki.hold_content_reads(0..0);
    assert_eq!(call.await.unwrap()["path"], "a/p1");
    // Without such a call there are more.
    let wiki = wiki_of(40, "apple").await;
    wiki.set_content_read_time(Duration::from_millis(20));
    let served = Setup::readonly(&wiki).indexed().serve().await;
    search(&served, "apple").await;
    assert!((2..=4).contains(&most_at_once(&wiki.content_reads())));
}

#[tokio::test]
async fn the_first_search_waits_for_all_of_the_index() {
    let wiki = wiki_of(130, "apple").await;
    let mut setup = Setup::admin(&wiki).indexed();
    setup.pace = Pace::new(IndexLoad::percent(50));
    let served = setup.serve().await;
    let answer = search(&served, "apple").await;
    assert_eq!(answer["hits"].as_array().unwrap().len(), 100);
    assert!(answer["hits"][0].get("provisional").is_none(), "{answer}");
}

#[tokio::test]
async fn half_an_index_says_so_before_its_hits_and_behind_a_title() {
    let wiki = wiki_of(120, "zebra").await;
    wiki.with_store(|store| {
        // The oldest, so that its content is read last.
        store.add(PageRow {
            title: "All about the zebra".to_owned(),
            updated_at: "2020-01-01T00:00:00.000Z".to_owned(),
            ..page("b/animals", "stripes")
        });
    });
    let mut setup = Setup::admin(&wiki).indexed();
    setup.pace.patience = Duration::from_millis(500);
    let served = setup.serve().await;
    wiki.hold_content_reads(2..usize::MAX);
    let arguments = json!({ "query": "zebra", "limit": 100 });
    let answer = served.call(SEARCH, arguments.clone()).await.unwrap();
    assert_eq!(answer.as_object().unwrap().keys().next().unwrap(), "index");
    let index = &answer["index"];
    index.shows(json!({ "complete": false, "pages": 50, "of": 121 }));
    let hint = index["hint"].as_str().unwrap();
    begins(&hint, "Only 50 of 121 pages are indexed yet");
    says(&hint, "search again in");
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits[0]["path"], "b/animals");
    assert!(hits[0].get("provisional").is_none(), "{}", hits[0]);
    assert_eq!(hits.len(), 51);
    for hit in &hits[1..] {
        assert_eq!(hit["provisional"], "found in 50 of 121 pages", "{hit}");
        assert!(hit.get("score").is_none(), "{hit}");
    }
    let related = json!({ "relatedTo": id_of(&wiki, "a/p1") });
    let related = served.call(SEARCH, related).await.unwrap();
    assert!(related["index"]["hint"].is_string(), "{related}");
    // Each kind says in its own words what may be missing.
    for (tool, asked, words) in json_rows(&json!([
        [SEARCH, { "query": "zebra", "match": "EXACT" }, "lines of the other pages"],
        [SEARCH, { "relatedTo": id_of(&wiki, "a/p1") }, "related by their words"],
        [LIST, { "links": "BROKEN" }, "broken links of the other pages"],
        [LIST, { "links": "ORPHANS" }, "may be linked from one"],
        [LIST, { "property": "status" }, "with this property"],
    ])) {
        let answer = served.call(tool, asked).await.unwrap();
        let hint = answer["index"]["hint"].as_str().unwrap();
        says(&hint, words);
        lacks(&hint, "these words");
    }
    // The next one waits for the first pass no more than this one did.
    let began = Instant::now();
    let again = search(&served, "zebra").await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(again["index"]["complete"], false);
    wiki.hold_content_reads(0..0);
    let mut answer = search(&served, "zebra").await;
    while answer["index"]["complete"] == false {
        answer = search(&served, "zebra").await;
    }
    assert_eq!(answer["hits"][0]["score"], 1000);
}

#[tokio::test]
async fn what_is_written_through_us_is_found_before_the_first_pass_ends() {
    let wiki = wiki_of(600, "apple").await;
    wiki.set_content_read_time(Duration::from_millis(30));
    let mut setup = Setup::admin(&wiki).indexed();
    setup.pace = Pace {
        load: IndexLoad::percent(10),
        patience: Duration::from_secs(5),
        fresh: Duration::from_hours(1),
        ..EAGER
    };
    let served = Arc::new(setup.serve().await);
    let searching = Arc::clone(&served);
    let first = tokio::spawn(async move { search(&searching, "apple").await });
    wiki.content_reads_came(2).await;
    let new = json!({ "path": "docs/new", "title": "New", "content": "quince" });
    served.confirmed(CREATE, new).await.unwrap();
    first.abort();
    let mut setup = json!({ "query": "quince", "in": "content" });
    setup["limit"] = json!(1);
    let answer = served.call(SEARCH, setup).await.unwrap();
    assert_eq!(paths(&answer), ["docs/new"]);
}

#[tokio::test]
async fn what_others_wrote_is_found_by_one_look_at_the_newest_pages() {
    let wiki = wiki_of(250, "apple").await;
    let served = Setup::admin(&wiki).indexed().serve().await;
    search(&served, "apple").await;
    wiki.with_store(|store| {
        let id = store.page_at("en", "a/p7").unwrap().id;
        store.rewrite(id, |page| page.content = "apple quince".to_owned());
        let new = store.add(page("a/new", "quince"));
        store.touch(new);
    });
    wiki.clear_requests();
    let answer = search(&served, "quince").await;
    let mut found = paths(&answer);
    found.sort_unstable();
    assert_eq!(found, ["a/new", "a/p7"]);
    let asked = wiki.requests();
    let fields: Vec<_> = asked.iter().flat_map(|seen| seen.fields.clone()).collect();
    assert_eq!(fields, ["pages.list", "pages.single", "pages.single"]);
    assert!(asked[0].variables["limit"].is_number(), "{asked:?}");
    // A page that is deleted through us is found no more, though such a look cannot tell.
    let delete = json!({ "id": id_of(&wiki, "a/new") });
    served.confirmed(DELETE, delete).await.unwrap();
    assert_eq!(paths(&search(&served, "quince").await), ["a/p7"]);
}

#[tokio::test]
async fn nothing_is_looked_for_again_within_the_time_that_a_look_is_good_for() {
    let wiki = wiki_of(250, "apple").await;
    let mut setup = Setup::admin(&wiki).indexed();
    setup.pace.fresh = Duration::from_hours(1);
    let served = setup.serve().await;
    search(&served, "apple").await;
    wiki.clear_requests();
    search(&served, "apple").await;
    assert_eq!(wiki.requests(), []);
}

#[tokio::test]
async fn the_indexes_of_all_callers_keys_have_one_bound() {
    let text = "apple ".repeat(2_000);
    let wiki = wiki_of(150, &text).await;
    let mut setup = Setup::admin(&wiki).indexed();
    setup.callers_bytes = Some(1_000_000);
    let (app, _, _dir) = setup.app();
    let mut held = 0;
    let mut callers = Vec::new();
    for key in [
        &wiki.keys().editor,
        &wiki.keys().readonly,
        &wiki.keys().writer,
    ] {
        let caller = app.for_key(ApiKey::new(SecretString::from(key.as_str())));
        let caller = caller.unwrap();
        let covered = caller.index.ready(|_, _| {}).await.unwrap();
        assert!(!covered.is_complete && covered.of == 150, "{covered:?}");
        assert_eq!(covered.most, covered.pages);
        held += covered.pages;
        callers.push(caller);
    }
    // 24 kB a page, text and words.
    assert!((30..=110).contains(&held), "{held}");
    // The server's own lies elsewhere.
    assert!(app.index.ready(|_, _| {}).await.unwrap().is_complete);
    // One that is gone makes room.
    drop(callers);
    let key = SecretString::from(wiki.keys().scripter.as_str());
    let caller = app.for_key(ApiKey::new(key)).unwrap();
    let covered = caller.index.ready(|_, _| {}).await.unwrap();
    assert!(covered.pages > 30, "{covered:?}");
}

#[tokio::test]
async fn tags_of_a_large_wiki_are_counted_by_one_look_at_the_newest_pages() {
    let wiki = wiki_of(250, "apple").await;
    wiki.with_store(|store| {
        let ids: Vec<i64> = store.pages().map(|page| page.id).take(7).collect();
        for id in ids {
            store.page_mut(id).unwrap().tags = vec!["red".to_owned()];
        }
    });
    let served = Setup::editor(&wiki).serve().await;
    let tags = async || {
        let answer = served.call(TAGS, json!({})).await.unwrap();
        let tags = answer["tags"].as_array().unwrap().clone();
        let tag = |tag: &Value| {
            (
                tag["tag"].as_str().unwrap().to_owned(),
                tag["pages"].clone(),
            )
        };
        tags.iter().map(tag).collect::<Vec<_>>()
    };
    assert_eq!(tags().await, [("red".to_owned(), json!(7))]);
    wiki.with_store(|store| {
        let id = store.add(PageRow {
            tags: vec!["blue".to_owned(), "red".to_owned()],
            ..page("a/new", "x")
        });
        store.touch(id);
    });
    wiki.clear_requests();
    let counted = [("blue".to_owned(), json!(1)), ("red".to_owned(), json!(8))];
    assert_eq!(tags().await, counted);
    let asked = wiki.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].fields, ["pages.list"]);
    assert!(asked[0].variables["limit"].is_number(), "{asked:?}");
}
