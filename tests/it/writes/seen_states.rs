//! States that this server saw stand beside the wiki's own versions, and come back with all fields.

use std::collections::HashSet;
use std::ffi::OsString;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use tokio::net::TcpListener;

use super::bin::{
    compares_all, look, mirrored, operators, rfc3339, setup, they_delete, with_dressed,
};
use super::key_rights::page_key;
use super::{dressed, fields};

use crate::prelude::*;

/// Somebody changes a page at the database: the wiki keeps no version of what was there.
fn replaced(wiki: &DemoWiki, id: i64) {
    wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        "# Theirs\n".clone_into(&mut page.content);
        page.tags = vec!["other".to_owned()];
        "body{color:blue}".clone_into(&mut page.script_css);
        page.script_js.clear();
        store.touch(id);
    });
}

/// The same by the wiki's own interface.
fn rewritten(wiki: &DemoWiki, id: i64, content: &str) {
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            content.clone_into(&mut page.content);
            page.tags = vec!["other".to_owned()];
        });
    });
}

/// The number of times that the wiki was asked for the history of a page.
fn histories(wiki: &DemoWiki) -> usize {
    let asked = wiki.requests().into_iter();
    asked
        .filter(|one| one.fields.iter().any(|field| field == "pages.history"))
        .count()
}

async fn history(served: &Served, id: i64) -> Value {
    call_ok(served, HISTORY, json!({ "id": id })).await
}

#[tokio::test]
async fn a_state_that_the_wiki_has_no_version_of_is_told_compared_and_written_back_with_every_field()
 {
    let (wiki, served, id) = with_dressed(setup).await;
    let before = fields(&wiki, id);
    replaced(&wiki, id);
    look(&served).await;
    let told = history(&served, id).await;
    assert_eq!(told["total"], 1, "{told}");
    let seen = &told["entries"][0];
    assert_eq!(seen["action"], "seen");
    assert_eq!(seen["versionId"], seen["seen"]["versionId"]);
    assert!(seen["seen"]["at"].is_string() && seen["versionDate"].is_string());
    assert!(!seen["authorName"].as_str().unwrap().is_empty(), "{seen}");
    assert_eq!(seen["seen"]["notSeen"], Value::Null);
    let version = seen["versionId"].clone();
    let compare = json!({ "id": id, "compare": { "from": version } });
    let compared = call_ok(&served, HISTORY, compare).await;
    compares_all(&compared);
    let arguments = json!({ "id": id, "fromVersion": version });
    let preview = call_ok(&served, UPDATE, arguments.clone()).await;
    let warnings = preview["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{preview}");
    assert_eq!(warnings[0]["code"], "script_added");
    is_applied(&served, UPDATE, arguments).await;
    assert_eq!(fields(&wiki, id), before);
}

#[tokio::test]
async fn a_version_of_the_wiki_that_was_seen_is_told_once_and_its_seen_state_restores_tags() {
    let (wiki, served, id) = with_dressed(setup).await;
    let before = fields(&wiki, id);
    // The wiki says another time for the page without a change of it, as where a link goes red.
    wiki.with_store(|store| store.touch(id));
    look(&served).await;
    rewritten(&wiki, id, "# Theirs\n");
    look(&served).await;
    let told = history(&served, id).await;
    assert_eq!(told["total"], 1, "{told}");
    let version = &told["entries"][0];
    assert_eq!(version["action"], "initial");
    assert_ne!(version["versionId"], version["seen"]["versionId"]);
    let arguments = json!({ "id": id, "fromVersion": version["seen"]["versionId"] });
    is_applied(&served, UPDATE, arguments).await;
    assert_eq!(fields(&wiki, id), before);
}

#[tokio::test]
async fn seen_states_and_versions_stand_in_the_order_of_their_times_on_every_page_of_results() {
    let (wiki, served, id) = with_dressed(setup).await;
    for round in 0..3 {
        replaced(&wiki, id);
        look(&served).await;
        rewritten(&wiki, id, &format!("# Round {round}\n"));
        look(&served).await;
    }
    let all = history(&served, id).await;
    let actions = |answer: &Value| -> Vec<String> {
        let entries = answer["entries"].as_array().unwrap().iter();
        vec_of(entries.map(|entry| entry["action"].as_str().unwrap().to_owned()))
    };
    // The version of what was there first was replaced at the database.
    let expected = ["edit", "seen", "edit", "seen", "initial", "seen"];
    assert_eq!(actions(&all), expected);
    let changed = ["content", "tags", "scriptCss", "scriptJs"];
    assert_eq!(all["entries"][4]["changed"], json!(changed), "{all}");
    let mut paged = Vec::new();
    for offset in 0..6 {
        let arguments = json!({ "id": id, "offset": offset, "limit": 1 });
        let answer = call_ok(&served, HISTORY, arguments).await;
        assert_eq!(answer["entries"].as_array().unwrap().len(), 1, "{answer}");
        paged.push(answer["entries"][0]["versionId"].clone());
    }
    let whole = all["entries"].as_array().unwrap().iter();
    let whole: Vec<Value> = whole.map(|entry| entry["versionId"].clone()).collect();
    assert_eq!(paged, whole);
}

#[tokio::test]
async fn nobody_is_told_a_seen_state_with_a_tag_or_at_a_place_that_is_denied_to_them() {
    let (wiki, served, id) = with_dressed(setup).await;
    wiki.with_store(|store| "was/here".clone_into(&mut store.page_mut(id).unwrap().path));
    wiki.with_store(|store| store.touch(id));
    look(&served).await;
    wiki.with_store(|store| "docs/dressed".clone_into(&mut store.page_mut(id).unwrap().path));
    replaced(&wiki, id);
    look(&served).await;
    let told = history(&served, id).await;
    assert_eq!(told["total"], 2, "{told}");
    let version = told["entries"][0]["versionId"].clone();
    for (name, value, left) in [
        ("WIKI_DENIED_READ_TAGS", "zeta", 0),
        ("WIKI_DENIED_READ_PATH_PREFIXES", "was", 1),
    ] {
        let bounded = setup(&wiki).with(name, value).in_dir_of(&served);
        let bounded = bounded.serve().await;
        let told = history(&bounded, id).await;
        let entries = told["entries"].as_array().unwrap();
        assert_eq!(entries.len(), left, "{name}: {told}");
        let arguments = json!({ "id": id, "fromVersion": version });
        fails(&bounded, UPDATE, arguments, "VERSION_NOT_FOUND").await;
    }
    let off = setup(&wiki).with("WIKI_MIRROR", "off").in_dir_of(&served);
    let off = off.serve().await;
    assert_eq!(history(&off, id).await["entries"], json!([]));
    let arguments = json!({ "id": id, "fromVersion": version });
    fails(&off, UPDATE, arguments, "NOT_CONFIGURED").await;
    let arguments = json!({ "id": id, "fromVersion": 99_999_999_999_i64 });
    fails(&served, UPDATE, arguments, "VERSION_NOT_FOUND").await;
}

#[tokio::test]
async fn what_was_not_seen_or_may_not_be_written_stays_and_is_said() {
    let (wiki, served, id) = with_dressed(setup).await;
    let before = fields(&wiki, id);
    replaced(&wiki, id);
    look(&served).await;
    let version = history(&served, id).await["entries"][0]["versionId"].clone();
    let now = fields(&wiki, id);
    let key = page_key(&wiki, &["write:styles"], "");
    let narrower = mirrored(Setup::at(&wiki.address(), &key)).in_dir_of(&served);
    let narrower = narrower.serve().await;
    let arguments = json!({ "id": id, "fromVersion": version });
    let preview = call_ok(&narrower, UPDATE, arguments.clone()).await;
    let told = said(&preview["warnings"][0]);
    says(&told, "not_seen: it was not seen");
    says(&told, "it stays as it is: scriptJs.");
    is_applied(&narrower, UPDATE, arguments).await;
    let after = fields(&wiki, id);
    for (field, from) in [
        ("content", &before),
        ("tags", &before),
        ("scriptCss", &before),
        ("scriptJs", &now),
    ] {
        assert_eq!(after[field], from[field], "{field}");
    }
}

#[tokio::test]
async fn what_several_people_wrote_between_two_looks_is_kept_apart_and_goes_back_by_author() {
    let (wiki, served, id) = with_dressed(setup).await;
    let lines = |changed: &[(usize, &str)]| {
        let mut lines: Vec<&str> = "one\ntwo\nthree\nfour\nfive\nsix\n".lines().collect();
        for (at, word) in changed {
            lines[*at] = word;
        }
        format!("{}\n", lines.join("\n"))
    };
    let write = |author: &str, content: String| {
        wiki.with_store(|store| {
            store.rewrite(id, |page| {
                author.clone_into(&mut page.author);
                page.content = content;
            });
        });
    };
    write("Ann", lines(&[]));
    look(&served).await;
    // The look took longer than the millisecond to which it tells when it began.
    let mirror = served.app.mirror.as_ref().unwrap();
    let then = mirror.last_looked().await.unwrap().unwrap().instant();
    write("Mallory", lines(&[(0, "SPAM")]));
    write("Bob", lines(&[(0, "SPAM"), (5, "SIX")]));
    let news = look(&served).await;
    let mut by: Vec<&str> = news.changed_by.keys().map(|name| &**name).collect();
    by.sort_unstable();
    by.retain(|name| ["Bob", "Mallory"].contains(name));
    assert_eq!(by, ["Bob", "Mallory"]);
    let told = history(&served, id).await;
    let of_mallory = &told["entries"][0];
    assert_eq!(of_mallory["authorName"], "Mallory", "{told}");
    let unseen = json!(["tags", "scriptCss", "scriptJs"]);
    assert_eq!(of_mallory["seen"]["notSeen"], unseen);
    // A look without a change asks for no history.
    wiki.clear_requests();
    look(&served).await;
    assert_eq!(histories(&wiki), 0);
    let at = rfc3339(then);
    let arguments = [
        "bin", "restore", "--path", "docs", "--at", &at, "--by", "Mallory", "--yes",
    ];
    operators(&wiki, &served, &arguments).good().await;
    let content = wiki.with_store(|store| store.page(id).unwrap().content.clone());
    assert_eq!(content, lines(&[(5, "SIX")]));
}

#[tokio::test]
async fn a_look_asks_for_a_bounded_number_of_histories_and_of_their_versions() {
    let (wiki, served, id) = with_dressed(setup).await;
    let others: Vec<i64> = (0..250)
        .map(|number| wiki.with_page(page(&format!("p/{number}"), "x\n")))
        .collect();
    look(&served).await;
    for round in 0..40 {
        rewritten(&wiki, id, &format!("# Round {round}\n"));
    }
    for other in others {
        wiki.with_store(|store| {
            store.rewrite(other, |page| "y\n".clone_into(&mut page.content));
        });
    }
    wiki.clear_requests();
    look(&served).await;
    let asked = histories(&wiki);
    assert!((150..=200).contains(&asked), "{asked}");
    let told = call_ok(&served, HISTORY, json!({ "id": id, "limit": 100 })).await;
    let seen = told["entries"].as_array().unwrap().iter();
    let seen = seen.filter(|entry| entry["seen"].is_object()).count();
    // The state before, and the newest versions since.
    assert!(seen <= 21, "{seen}");
}

#[tokio::test]
async fn to_complete_an_old_version_no_other_state_is_read() {
    let (wiki, served, id) = with_dressed(setup).await;
    let states = wiki_dir(served.dir.path()).join("mirror/pages");
    let names = || -> HashSet<OsString> {
        let entries = fs::read_dir(&states).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = names();
    rewritten(&wiki, id, "# One\n");
    look(&served).await;
    let between: Vec<OsString> = names().difference(&before).cloned().collect();
    assert_eq!(between.len(), 1);
    rewritten(&wiki, id, "# Two\n");
    look(&served).await;
    let version = history(&served, id).await["entries"][1]["versionId"].clone();
    // Nobody can read the state between any more.
    let path = states.join(&between[0]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let compare = json!({ "id": id, "compare": { "from": version } });
    let compared = call_ok(&served, HISTORY, compare).await;
    assert_eq!(compared["comparison"]["from"]["seenByMirror"], true);
}

/// Nobody can read the kept states of the mirror any more.
fn made_unreadable(served: &Served) {
    let states = wiki_dir(served.dir.path()).join("mirror/pages");
    for entry in fs::read_dir(states).unwrap() {
        let path = entry.unwrap().path();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    }
}

#[tokio::test]
async fn a_list_of_seen_states_reads_none_of_those_that_it_does_not_show() {
    let (wiki, served, id) = with_dressed(setup).await;
    wiki.with_store(|store| "was/here".clone_into(&mut store.page_mut(id).unwrap().path));
    for _ in 0..5 {
        replaced(&wiki, id);
        look(&served).await;
        wiki.with_store(|store| "docs/dressed".clone_into(&mut store.page_mut(id).unwrap().path));
        rewritten(&wiki, id, "# Ours\n");
        look(&served).await;
    }
    let arguments = json!({ "id": id, "offset": 2, "limit": 1 });
    let told = call_ok(&served, HISTORY, arguments.clone()).await;
    made_unreadable(&served);
    let blind = call_ok(&served, HISTORY, arguments).await;
    assert_eq!(blind["total"], told["total"], "{blind}");
    assert!(told["entries"][0]["seen"].is_object(), "{told}");
    assert_eq!(blind["entries"][0]["seen"], told["entries"][0]["seen"]);
    let denied = setup(&wiki).with("WIKI_DENIED_READ_PATH_PREFIXES", "was");
    let denied = denied.in_dir_of(&served).serve().await;
    let count = |told: Value| {
        let entries = told["entries"].as_array().unwrap().iter();
        entries.filter(|entry| entry["seen"].is_object()).count()
    };
    let whole = count(history(&served, id).await);
    assert_eq!(count(history(&denied, id).await), whole - 1);
}

#[tokio::test]
async fn versions_of_one_time_between_two_looks_are_told_apart() {
    let (wiki, served, id) = with_dressed(setup).await;
    let soon = rfc3339(time::OffsetDateTime::now_utc() + time::Duration::minutes(1));
    for round in 0..3 {
        rewritten(&wiki, id, &format!("# Round {round}\n"));
        wiki.with_store(|store| soon.clone_into(&mut store.page_mut(id).unwrap().updated_at));
    }
    rewritten(&wiki, id, "# Now\n");
    look(&served).await;
    let told = history(&served, id).await;
    let seen: Vec<i64> = { told["entries"].as_array().unwrap().iter() }
        .filter_map(|entry| entry["seen"]["versionId"].as_i64())
        .collect();
    let distinct: HashSet<i64> = seen.iter().copied().collect();
    assert_eq!((seen.len(), distinct.len()), (4, 4), "{told}");
}

#[tokio::test]
async fn a_page_that_got_the_id_of_another_one_has_none_of_its_states() {
    let (wiki, served, id) = with_dressed(setup).await;
    replaced(&wiki, id);
    look(&served).await;
    assert_eq!(history(&served, id).await["total"], 1);
    wiki.with_store(|store| {
        *store.page_mut(id).unwrap() = PageRow {
            id,
            created_at: "2031-01-01T00:00:00.000Z".to_owned(),
            ..page("docs/dressed", "# Other\n")
        };
    });
    assert_eq!(history(&served, id).await["entries"], json!([]));
}

/// The address of a gateway before a wiki that has no time for histories.
async fn without_histories(wiki: &DemoWiki) -> String {
    let base = wiki.address();
    let relay = move |request: Request| {
        let base = base.clone();
        async move { relayed(&base, request).await }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(relay)).await });
    format!("http://{address}")
}

#[expect(clippy::disallowed_types, reason = "a gateway is no client of ours")]
async fn relayed(base: &str, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    if String::from_utf8_lossy(&body).contains("history") {
        return Response::builder().status(429).body(Body::empty()).unwrap();
    }
    wikijs_gate::wiki::provide_tls();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client
        .request(parts.method, format!("{base}{}", parts.uri))
        .headers(parts.headers)
        .body(body)
        .send()
        .await
        .unwrap();
    let mut response = Response::builder().status(answer.status());
    *response.headers_mut().unwrap() = answer.headers().clone();
    response.body(answer.bytes().await.unwrap().into()).unwrap()
}

#[tokio::test]
async fn a_look_that_is_given_no_history_sees_changes_and_deletions_all_the_same() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_page(dressed());
    let gone = wiki.with_page(page("docs/gone", "# Gone\n"));
    let address = without_histories(&wiki).await;
    let served = mirrored(Setup::at(&address, &wiki.keys().admin));
    let served = served.serve().await;
    look(&served).await;
    rewritten(&wiki, id, "# Theirs\n");
    they_delete(&wiki, gone).await;
    let news = look(&served).await;
    assert_eq!((news.kept, news.gone.len()), (1, 1));
}
