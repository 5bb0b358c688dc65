//! Nobody sees more than their key: what was kept of a page is shown to the key that made the
//! write, and to one that may read the page's place.

use crate::prelude::*;
use crate::writes::key_rights::page_key;

const SECRET: &str = "the secret of the plan";

/// All rights below a prefix.
fn key_of(wiki: &DemoWiki, prefix: &str) -> String {
    page_key(wiki, &["write:styles", "write:scripts"], prefix)
}

fn setup(wiki: &DemoWiki, key: &str) -> Setup {
    Setup::at(&wiki.address(), key).toolsets("pages,undo,proposals")
}

/// A page below `secret`, made by the wiki's administrator.
fn secret_page(wiki: &DemoWiki) -> i64 {
    wiki.with_store(|store| {
        store.add(wikijs_gate::demo::PageRow {
            path: "secret/plan".to_owned(),
            title: SECRET.to_owned(),
            content: format!("# Plan\n\n{SECRET}\n"),
            tags: vec!["hidden-tag".to_owned()],
            ..wikijs_gate::demo::PageRow::default()
        })
    })
}

/// A server with another key and the same record.
async fn with_key(wiki: &DemoWiki, dir: &Arc<TempDir>, key: &str) -> Served {
    setup(wiki, key).in_dir(dir).serve().await
}

async fn operator(wiki: &DemoWiki, dir: &Arc<TempDir>, key: &str, arguments: &[&str]) -> Ended {
    let command = Command::new(arguments).at(&wiki.address(), key, dir.path());
    command.writing().quiet().end().await
}

/// The page deleted with one key: the call, and where it is on record.
async fn deleted(wiki: &DemoWiki, key: &str) -> (String, Arc<TempDir>) {
    let id = secret_page(wiki);
    let served = setup(wiki, key).serve().await;
    let gone = served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
    let call = gone["callId"].as_str().unwrap().to_owned();
    (call, served.dir)
}

#[tokio::test]
async fn a_deleted_page_is_shown_to_the_key_that_deleted_it_and_to_those_that_may_read_its_path() {
    let wiki = sample_wiki().await;
    let maker = key_of(&wiki, "");
    let (call, dir) = deleted(&wiki, &maker).await;
    let keys = wiki.keys().clone();
    let reads = wiki.key_with(&["read:pages", "read:source"], "secret");
    let writes = wiki.key_with(&["read:pages", "write:pages"], "secret/");
    for (key, refused) in [
        ("no-key-at-all", Some("KEY_REJECTED")),
        (&keys.reader, Some("PERMISSION_DENIED")),
        (&key_of(&wiki, "docs"), Some("PERMISSION_DENIED")),
        (&key_of(&wiki, "secret/other"), Some("PERMISSION_DENIED")),
        (&maker, None),
        (&reads, None),
        (&writes, None),
        (&keys.readonly, None),
        (&keys.admin, None),
    ] {
        // In a dry run a set stays open for people, who may hold a key with more rights.
        let setup = setup(&wiki, key).dry();
        let served = setup.in_dir(&dir).serve().await;
        for meant in [&call, "last", call.split_at(5).0] {
            let told = served.call(UNDO, json!({ "callId": meant })).await;
            let code = told.as_ref().err().map(|error| error["code"].clone());
            assert_eq!(code, refused.map(Value::from), "{key} {meant}");
            let shown = told.unwrap_or_else(|error| error).to_string();
            assert_eq!(shown.contains(SECRET), refused.is_none(), "{shown}");
            assert_eq!(shown.contains("secret/plan"), refused.is_none(), "{shown}");
        }
    }
}

#[tokio::test]
async fn what_hides_the_view_of_sources_proves_no_right() {
    let wiki = sample_wiki().await;
    let (call, dir) = deleted(&wiki, &key_of(&wiki, "")).await;
    wiki.set_source_view_blocked(true);
    let writes = wiki.key_with(&["read:pages", "write:pages"], "secret/");
    for (key, is_shown) in [
        (&wiki.keys().reader, false),
        (&wiki.keys().readonly, false),
        (&writes, true),
    ] {
        let served = with_key(&wiki, &dir, key).await;
        let told = served.call(UNDO, json!({ "callId": call })).await;
        assert_eq!(told.is_ok(), is_shown, "{told:?}");
    }
}

#[tokio::test]
async fn what_an_update_changed_at_another_place_is_not_shown_where_the_page_stands_now() {
    let wiki = sample_wiki().await;
    let admin = key_of(&wiki, "");
    let id = secret_page(&wiki);
    let served = setup(&wiki, &admin).serve().await;
    let edit = json!({ "id": id, "content": "nothing\n", "tags": ["open"], "path": "docs/plan" });
    let applied = served.confirmed(UPDATE, edit).await.unwrap();
    let call = applied["callId"].as_str().unwrap();
    let docs = key_of(&wiki, "docs");
    let other = with_key(&wiki, &served.dir, &docs).await;
    let undo = json!({ "callId": call, "force": true });
    let refused = fails(&other, UNDO, undo.clone(), "PERMISSION_DENIED").await;
    assert!(!refused.to_string().contains(SECRET), "{refused}");
    // Nor in a conflict.
    wiki.with_store(|store| store.rewrite(id, |page| page.content = "theirs\n".to_owned()));
    let refused = other.call(UNDO, json!({ "callId": call })).await;
    let refused = refused.unwrap_err();
    assert!(!refused.to_string().contains(SECRET), "{refused}");
    let both = wiki.keys().scripter.clone();
    let both = with_key(&wiki, &served.dir, &both).await;
    let shown = both.call(UNDO, undo).await.unwrap();
    assert!(shown.to_string().contains(SECRET), "{shown}");
    // The operator's command goes by the operator's key; what lies in the directory is read there.
    let told = operator(&wiki, &served.dir, &docs, &["undo", call, "--yes"]).await;
    assert_eq!(told.code, 1, "{}", told.told);
    assert!(!told.told.contains(SECRET), "{}", told.told);
    let told = operator(&wiki, &served.dir, &docs, &["audit", "show", call]).await;
    assert!(told.stdout.contains(SECRET), "{}", told.told);
}

#[tokio::test]
async fn the_history_tells_no_more_of_a_kept_state_than_the_key_may_read_of_its_place() {
    let wiki = sample_wiki().await;
    let admin = key_of(&wiki, "");
    let id = secret_page(&wiki);
    let served = setup(&wiki, &admin).serve().await;
    let edit = json!({ "id": id, "title": "Another", "path": "docs/plan" });
    served.confirmed(UPDATE, edit).await.unwrap();
    let tags = json!({ "id": id, "tags": ["open"] });
    served.confirmed(UPDATE, tags).await.unwrap();
    let compared = async |key: &str| {
        let served = with_key(&wiki, &served.dir, key).await;
        let history = HISTORY;
        let listed = served.call(history, json!({ "id": id })).await.unwrap();
        let oldest = listed["entries"].as_array().unwrap().last().unwrap();
        let from = oldest["versionId"].to_string();
        let asked = json!({ "id": id, "compare": { "from": from } });
        served.call(history, asked).await.unwrap()["comparison"].clone()
    };
    let before = json!(["hidden-tag"]);
    for key in [&admin, &wiki.keys().scripter] {
        assert_eq!(compared(key).await["changes"]["tags"]["before"], before);
    }
    let docs = compared(&key_of(&wiki, "docs")).await;
    assert!(!docs.to_string().contains("hidden-tag"), "{docs}");
    let unknown = docs["notComparable"].as_array().unwrap();
    assert!(unknown.contains(&json!("tags")), "{docs}");
}

#[tokio::test]
async fn a_proposal_shows_the_page_to_the_key_that_made_it_and_to_those_that_may_read_it() {
    let wiki = sample_wiki().await;
    let admin = key_of(&wiki, "");
    let id = secret_page(&wiki);
    let dry = |key: &str| setup(&wiki, key).dry();
    let served = dry(&admin).serve().await;
    let edit = json!({ "id": id, "content": "nothing\n" });
    let proposed = served.call(UPDATE, edit).await.unwrap();
    let proposal = proposed["proposal"].as_str().unwrap();
    let new = json!({ "path": "secret/new", "title": SECRET, "content": SECRET });
    let created = served.call(CREATE, new).await.unwrap();
    let created = created["proposal"].as_str().unwrap();
    let docs = key_of(&wiki, "docs");
    // Guests of this wiki may list its pages, and so see their titles, but not read their text.
    for (key, is_shown, is_listed) in [
        (&admin, true, true),
        (&wiki.keys().scripter, true, true),
        (&docs, false, false),
        (&"no-key-at-all".to_owned(), false, true),
    ] {
        let other = dry(key).in_dir(&served.dir).serve().await;
        for id in [proposal, created] {
            let one = json!({ "id": id });
            let one = other.call(GET_PROPOSAL, one).await.unwrap();
            assert_eq!(one["state"], "open", "{one}");
            assert_eq!(one.to_string().contains(SECRET), is_shown, "{key} {one}");
        }
        let listed = other.call(LIST_PROPOSALS, json!({})).await;
        let listed = listed.unwrap();
        assert_eq!(listed["proposals"].as_array().unwrap().len(), 2);
        assert_eq!(listed.to_string().contains(SECRET), is_listed, "{listed}");
        let titled = |id: &str| {
            let all = listed["proposals"].as_array().unwrap();
            let one = all.iter().find(|one| one["id"] == id).unwrap();
            one.get("title").is_some()
        };
        // A page that is yet to be is in no list.
        let both = (titled(proposal), titled(created));
        assert_eq!(both, (is_listed, key == &admin), "{listed}");
        // The operator's commands act with the operator's key.
        for id in [proposal, created] {
            let show = ["proposals", "show", id];
            let shown = operator(&wiki, &served.dir, key, &show).await.good();
            assert_eq!(shown.told.contains(SECRET), is_shown, "{}", shown.told);
            let show = ["proposals", "show", id, "--json"];
            let shown = operator(&wiki, &served.dir, key, &show).await;
            assert_eq!(shown.told.contains(SECRET), is_shown, "{}", shown.told);
        }
    }
    let apply = ["proposals", "apply", proposal, created, "--yes"];
    let refused = operator(&wiki, &served.dir, &docs, &apply).await.exits(1);
    says(&refused.told, "PERMISSION_DENIED");
    assert!(!refused.told.contains(SECRET), "{}", refused.told);
    operator(&wiki, &served.dir, &wiki.keys().scripter, &apply)
        .await
        .good();
}

#[tokio::test]
async fn every_record_of_a_call_names_the_key_by_its_digest_alone() {
    let wiki = sample_wiki().await;
    let key = key_of(&wiki, "");
    let (_, dir) = deleted(&wiki, &key).await;
    let records = records(dir.path());
    let digests: Vec<_> = records
        .iter()
        .filter(|record| record.call.is_some())
        .map(|record| record.key.unwrap().to_string())
        .collect();
    assert!(digests.len() >= 3 && digests.iter().all(|digest| *digest == digests[0]));
    assert_eq!(digests[0].len(), 32);
    let setup = setup(&wiki, &wiki.keys().scripter).in_dir(&dir);
    let other = setup.serve().await;
    other.call(UNDO, json!({ "callId": "last" })).await.unwrap();
    let last = other.records().pop().unwrap();
    assert_ne!(last.key.unwrap().to_string(), digests[0]);
}
