//! What others deleted can be brought back as it was seen last.

use std::os::unix::fs::MetadataExt as _;

use wikijs_gate::index::{IndexLoad, Pace};
use wikijs_gate::mirror::{MirrorFault, MirrorNews, PartThen};
use wikijs_gate::page::Prefix;

use super::key_rights::page_key;
use super::{dressed, fields, wiki_with};
use crate::prelude::*;

pub(super) const LIST_BIN: &str = "wikijs_list_bin";
pub(super) const RESTORE: &str = "wikijs_restore_page";

pub(crate) fn mirrored(setup: Setup) -> Setup {
    setup.toolsets("pages,undo").with("WIKI_MIRROR", "on")
}

pub(crate) fn setup(wiki: &DemoWiki) -> Setup {
    mirrored(Setup::admin(wiki))
}

/// The mirror looks once more.
pub(crate) async fn look(served: &Served) -> MirrorNews {
    let looked = served.app.look_for_mirror(Duration::from_secs(20)).await;
    looked.expect("a look")
}

/// Somebody asks the wiki's own interface.
async fn theirs(wiki: &DemoWiki, query: &str) -> Value {
    let answer = reqwest::Client::new()
        .post(format!("{}/graphql", wiki.address()))
        .bearer_auth(&wiki.keys().admin)
        .json(&json!({ "query": query }))
        .send()
        .await
        .unwrap();
    answer.json().await.unwrap()
}

/// Somebody deletes a page, past this server.
pub(crate) async fn they_delete(wiki: &DemoWiki, id: i64) {
    let query =
        format!("mutation {{ pages {{ delete(id: {id}) {{ responseResult {{ succeeded }} }} }} }}");
    let answer = theirs(wiki, &query).await;
    let succeeded = &answer["data"]["pages"]["delete"]["responseResult"]["succeeded"];
    assert_eq!(*succeeded, true, "{answer}");
}

pub(crate) async fn bin(served: &Served) -> Vec<String> {
    let answer = call_ok(served, LIST_BIN, json!({})).await;
    let paths = members(&answer, "pages", "path");
    paths.into_iter().map(str::to_owned).collect()
}

pub(crate) async fn with_dressed(
    setup: impl FnOnce(&DemoWiki) -> Setup,
) -> (DemoWiki, Served, i64) {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_page(dressed());
    wiki.with_page(page("home", "# Home\n"));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    (wiki, served, id)
}

/// A time in RFC 3339.
pub(super) fn rfc3339(time: time::OffsetDateTime) -> String {
    time.format(&time::format_description::well_known::Rfc3339)
        .unwrap()
}

/// A time just before the present one: the wiki tells times to the millisecond.
pub(crate) fn now() -> String {
    rfc3339(time::OffsetDateTime::now_utc() - time::Duration::MILLISECOND)
}

/// A comparison with a state of [`dressed`] that the mirror saw lacks no field.
pub(super) fn compares_all(answer: &Value) {
    let compared = &answer["comparison"];
    assert_eq!(compared["from"]["seenByMirror"], true);
    let expected = json!(["alpha", "zeta"]);
    assert_eq!(compared["changes"]["tags"]["before"], expected);
    assert_eq!(compared["notComparable"], Value::Null);
}

/// A command of the operator, with the mirror of this server.
pub(super) fn operators(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Command {
    operators_in(wiki, served.dir.path(), arguments)
}

/// The same with the mirror in this directory.
pub(super) fn operators_in(wiki: &DemoWiki, dir: &Path, arguments: &[&str]) -> Command {
    Command::operator(wiki, dir, arguments)
        .with("WIKI_MIRROR", "on")
        .with("WIKI_MUTATION_DRY_RUN", "false")
}

#[tokio::test]
async fn a_page_that_somebody_deletes_comes_back_with_every_field_and_its_restore_is_undone() {
    let (wiki, served, id) = with_dressed(setup).await;
    let before = fields(&wiki, id);
    assert_eq!(bin(&served).await, [""; 0]);
    they_delete(&wiki, id).await;
    let news = look(&served).await;
    assert_eq!((news.gone.len(), news.went_back), (1, false));
    let listed = call_ok(&served, LIST_BIN, json!({})).await;
    assert_eq!(listed["pages"][0]["id"], id);
    assert_eq!(listed["pages"][0]["path"], "docs/dressed");
    let preview = call_ok(&served, RESTORE, json!({ "page": "docs/dressed" })).await;
    begins_with_what_is_lost(&preview, id);
    assert_eq!(mutations(&wiki).len(), 1, "a preview sends nothing");
    let restored = is_applied(&served, RESTORE, json!({ "page": id.to_string() })).await;
    assert_eq!(restored["operation"], "create");
    let new = restored["target"]["id"].as_i64().unwrap();
    assert_eq!(fields(&wiki, new), before);
    look(&served).await;
    assert_eq!(bin(&served).await, [""; 0]);
    let arguments = json!({ "page": id.to_string() });
    fails(&served, RESTORE, arguments, "PAGE_NOT_FOUND").await;
    confirmed_ok(&served, UNDO, json!({ "callId": restored["callId"] })).await;
    assert!(wiki.with_store(|store| store.page(new).is_none()));
}

fn begins_with_what_is_lost(preview: &Value, id: i64) {
    let first = said(&preview["warnings"][0]);
    says(&first, "cannot_return: it comes back under a new id");
    says(&first, &format!("its old id ({id})"));
}

#[tokio::test]
async fn what_went_while_no_server_ran_is_in_the_bin_of_the_next_one() {
    let (wiki, served, id) = with_dressed(setup).await;
    let dir = served.dir.clone();
    served.client.cancel().await.unwrap();
    they_delete(&wiki, id).await;
    let next = setup(&wiki).in_dir(&dir).serve().await;
    look(&next).await;
    assert_eq!(bin(&next).await, ["docs/dressed"]);
    is_applied(&next, RESTORE, json!({ "page": "docs/dressed" })).await;
}

#[tokio::test]
async fn the_last_state_that_was_seen_comes_back_whoever_wrote_it_and_where_it_is_asked_for() {
    let (wiki, served, id) = with_dressed(setup).await;
    wiki.with_store(|store| store.rewrite(id, |page| "# Theirs\n".clone_into(&mut page.content)));
    look(&served).await;
    they_delete(&wiki, id).await;
    look(&served).await;
    // Somebody made another page there meanwhile.
    let other = wiki.with_page(page("docs/dressed", "# Other\n"));
    look(&served).await;
    let listed = call_ok(&served, LIST_BIN, json!({})).await;
    assert_eq!(listed["pages"][0]["takenBy"], other);
    let error = confirmed_err(&served, RESTORE, json!({ "page": "docs/dressed" })).await;
    assert_eq!(error["code"], "PAGE_EXISTS");
    let arguments = json!({ "page": "docs/dressed", "path": "docs/again" });
    let restored = is_applied(&served, RESTORE, arguments).await;
    let new = restored["target"]["id"].as_i64().unwrap();
    let content = wiki.with_store(|store| store.page(new).unwrap().content.clone());
    assert_eq!(content, "# Theirs\n");
}

#[tokio::test]
async fn a_page_that_the_key_may_read_no_more_is_not_taken_for_deleted() {
    let (wiki, served) = sample(setup).await;
    look(&served).await;
    let narrower = page_key(&wiki, &[], "docs");
    let gone = id_of(&wiki, "releases/2-4");
    let beside = mirrored(Setup::at(&wiki.address(), &narrower)).in_dir_of(&served);
    let beside = beside.serve().await;
    let news = look(&beside).await;
    assert_eq!(news.gone, []);
    assert!(news.hidden > 0);
    // The wiki says that it has this one no more, whoever may read it.
    they_delete(&wiki, gone).await;
    look(&served).await;
    // It was hidden before it went: by then it may have been elsewhere.
    assert_eq!(bin(&served).await, [""; 0]);
    let listed = operators(&wiki, &served, &["bin", "list"]).good().await;
    says(&listed.stdout, "releases/2-4 (hidden before)");
}

#[tokio::test]
async fn a_list_without_any_page_is_no_proof_that_all_of_them_went() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_page(dressed());
    let served = setup(&wiki).serve().await;
    look(&served).await;
    they_delete(&wiki, id).await;
    let looked = served.app.look_for_mirror(Duration::from_secs(20)).await;
    assert_eq!(looked.unwrap_err(), MirrorFault::NoPages);
    assert_eq!(bin(&served).await, [""; 0]);
    wiki.with_page(page("home", "# Home\n"));
    look(&served).await;
    assert_eq!(bin(&served).await, ["docs/dressed"]);
}

#[tokio::test]
async fn a_page_whose_id_comes_again_is_another_one_and_a_backup_that_comes_back_empties_the_bin() {
    let (wiki, served, id) = with_dressed(setup).await;
    let row = wiki.with_store(|store| store.page(id).cloned().unwrap());
    // A backup from before the page was made: its id goes to another page.
    wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        *page = PageRow {
            id,
            created_at: "2031-01-01T00:00:00.000Z".to_owned(),
            ..crate::harness::page("other", "# Other\n")
        };
    });
    let news = look(&served).await;
    assert_eq!(news.gone.len(), 1);
    assert_eq!(bin(&served).await, ["docs/dressed"]);
    wiki.with_store(|store| *store.page_mut(id).unwrap() = row);
    look(&served).await;
    assert_eq!(bin(&served).await, ["other"]);
}

#[tokio::test]
async fn thousands_of_deletions_are_told_at_once_and_nothing_comes_back_by_itself() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let ids: Vec<i64> = (0..2_000)
        .map(|number| wiki.with_page(page(&format!("p/{number}"), "x\n")))
        .collect();
    wiki.with_page(page("home", "x\n"));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    wiki.with_store(|store| ids.iter().for_each(|id| drop(store.remove(*id))));
    assert_eq!(look(&served).await.gone.len(), 2_000);
    assert_eq!(look(&served).await.gone.len(), 0);
    assert_eq!(mutations(&wiki), []);
    let listed = call_ok(&served, LIST_BIN, json!({ "offset": 1_990 })).await;
    assert_eq!(listed["total"], 2_000);
    assert_eq!(listed["pages"].as_array().unwrap().len(), 10);
}

#[tokio::test]
async fn nobody_sees_in_the_bin_what_they_may_not_read() {
    let (wiki, served, id) = with_dressed(setup).await;
    they_delete(&wiki, id).await;
    look(&served).await;
    for (name, value) in [
        ("WIKI_DENIED_READ_PATH_PREFIXES", "docs"),
        ("WIKI_DENIED_READ_TAGS", "zeta"),
    ] {
        let bounded = setup(&wiki).with(name, value).in_dir_of(&served);
        let bounded = bounded.serve().await;
        assert_eq!(bin(&bounded).await, [""; 0], "{name}");
        let arguments = json!({ "page": "docs/dressed" });
        fails(&bounded, RESTORE, arguments, "PAGE_NOT_FOUND").await;
    }
    let off = setup(&wiki).with("WIKI_MIRROR", "off").in_dir_of(&served);
    fails(&off.serve().await, LIST_BIN, json!({}), "NOT_CONFIGURED").await;
}

#[tokio::test]
async fn a_restore_passes_the_gates_of_every_write() {
    let (wiki, served, id) = with_dressed(setup).await;
    they_delete(&wiki, id).await;
    look(&served).await;
    let denied = setup(&wiki).with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs");
    let denied = denied.in_dir_of(&served).serve().await;
    let arguments = json!({ "page": "docs/dressed" });
    fails(&denied, RESTORE, arguments, "PATH_DENIED").await;
    let proposed = setup(&wiki).dry().in_dir_of(&served).serve().await;
    let left = call_ok(&proposed, RESTORE, json!({ "page": "docs/dressed" })).await;
    assert!(
        left["proposal"].is_object() || left["proposal"].is_string(),
        "{left}"
    );
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn two_servers_have_one_mirror_and_each_restores_from_it() {
    let (wiki, served, id) = with_dressed(setup).await;
    let beside = setup(&wiki).in_dir_of(&served).serve().await;
    they_delete(&wiki, id).await;
    let (one, two) = tokio::join!(look(&served), look(&beside));
    assert_eq!(one.gone.len() + two.gone.len(), 1);
    assert_eq!(bin(&beside).await, ["docs/dressed"]);
    is_applied(&beside, RESTORE, json!({ "page": "docs/dressed" })).await;
    look(&served).await;
    assert_eq!(bin(&served).await, [""; 0]);
}

#[tokio::test]
async fn a_look_that_was_killed_before_it_saved_is_made_again_with_nothing_doubled() {
    let (wiki, served, id) = with_dressed(setup).await;
    let seen = wiki_dir(served.dir.path()).join("mirror/seen");
    // The states were kept, what is known of the pages was not.
    for entry in fs::read_dir(&seen).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let states = || fs::read_dir(seen.with_file_name("pages")).unwrap().count();
    let before = states();
    assert_eq!(look(&served).await.kept, 2);
    assert_eq!(states(), before);
    they_delete(&wiki, id).await;
    look(&served).await;
    assert_eq!(bin(&served).await, ["docs/dressed"]);
}

#[tokio::test]
async fn what_the_mirror_could_not_see_is_said_and_not_guessed() {
    let (wiki, served, id) = with_dressed(|wiki| mirrored(Setup::readonly(wiki))).await;
    they_delete(&wiki, id).await;
    assert_eq!(look(&served).await.gone.len(), 1);
    let admin = setup(&wiki).in_dir_of(&served).serve().await;
    // Tools show what looks with their own key saw; the operator's commands show all.
    assert_eq!(bin(&admin).await, [""; 0]);
    let arguments = json!({ "page": "docs/dressed" });
    fails(&admin, RESTORE, arguments, "PAGE_NOT_FOUND").await;
    let shown = operators(&wiki, &admin, &["bin", "show", "docs/dressed"]);
    let shown = shown.good().await.stdout;
    says(&shown, "scriptCss: not seen");
    says(&shown, "scriptJs: not seen");
    lacks(&shown, "content: not seen");
    let restore = ["bin", "restore", "docs/dressed", "--yes"];
    let restored = operators(&wiki, &admin, &restore).good().await.stdout;
    says(&restored, "this server could not see");
    says(&restored, "scriptCss, scriptJs");
}

#[tokio::test]
async fn agents_bring_back_what_their_key_could_read_to_the_last_and_the_rest_is_named() {
    let (wiki, served, id) = with_dressed(setup).await;
    let reads = ["read:pages", "read:source", "read:history"];
    let styles = ["write:styles", "write:scripts"];
    let writes = [&reads[..], &["write:pages", "manage:pages"], &styles].concat();
    // It reads no styles and scripts where the page is, and writes both elsewhere.
    let key = wiki.key_with_each(&[(&reads, ""), (&writes, "team/")]);
    let weaker = mirrored(Setup::at(&wiki.address(), &key)).in_dir_of(&served);
    let weaker = weaker.serve().await;
    wiki.with_store(|store| store.touch(id));
    assert_eq!(look(&weaker).await.kept, 1);
    they_delete(&wiki, id).await;
    look(&weaker).await;
    let restore = json!({ "page": "docs/dressed", "path": "team/back" });
    let preview = call_ok(&weaker, RESTORE, restore.clone()).await.to_string();
    says(&preview, "\"code\":\"not_seen\"");
    says(&preview, "scriptCss, scriptJs of it when it looked last");
    lacks(&preview, "color:red");
    lacks(&preview, "console.log");
    is_applied(&weaker, RESTORE, restore).await;
    let back = fields(&wiki, id_of(&wiki, "team/back"));
    assert_eq!([&back["scriptCss"], &back["scriptJs"]], ["", ""]);
}

/// The page as the operator's commands show it and bring it back, once it was deleted after a look with a
/// key that reads neither styles nor scripts.
async fn after_a_weaker_look(change: impl FnOnce(&DemoWiki, i64)) -> (DemoWiki, String, String) {
    let (wiki, served, id) = with_dressed(setup).await;
    let weaker = mirrored(Setup::readonly(&wiki)).in_dir_of(&served);
    let weaker = weaker.serve().await;
    change(&wiki, id);
    assert_eq!(look(&weaker).await.kept, 1);
    they_delete(&wiki, id).await;
    look(&weaker).await;
    let shown = operators(&wiki, &served, &["bin", "show", "docs/dressed"]);
    let shown = shown.good().await.stdout;
    let restore = ["bin", "restore", "docs/dressed", "--yes"];
    let restored = operators(&wiki, &served, &restore).good().await.stdout;
    (wiki, shown, restored)
}

#[tokio::test]
async fn what_a_weaker_key_cannot_read_stays_as_a_stronger_one_saw_it_and_is_dated() {
    let (wiki, before) = wiki_with(dressed()).await;
    let before = fields(&wiki, before);
    let touched = after_a_weaker_look(|wiki, id| wiki.with_store(|store| store.touch(id)));
    let (wiki, shown, restored) = touched.await;
    says(&shown, "scriptCss: body{color:red}");
    says(&shown, "as seen before: ");
    says(&shown, ", scriptCss (2");
    lacks(&shown, "not seen");
    says(&restored, "as seen before: ");
    says(&restored, ", scriptCss (2");
    assert_eq!(fields(&wiki, id_of(&wiki, "docs/dressed")), before);
}

#[tokio::test]
async fn what_a_weaker_key_cannot_read_is_not_taken_from_a_state_that_differs() {
    let rewrite = |wiki: &DemoWiki, id: i64| {
        wiki.with_store(|store| store.rewrite(id, |page| page.content.push_str("More\n")));
    };
    let (_wiki, shown, restored) = after_a_weaker_look(rewrite).await;
    says(&shown, "scriptCss: not seen");
    lacks(&shown, "color:red");
    says(&restored, "this server could not see");
}

#[tokio::test]
async fn an_operator_lists_shows_and_brings_back_at_a_terminal() {
    let (wiki, served, id) = with_dressed(setup).await;
    let before = fields(&wiki, id);
    they_delete(&wiki, id).await;
    look(&served).await;
    let command = |arguments: &[&str]| operators(&wiki, &served, arguments);
    let listed = command(&["bin", "list"]).good().await.stdout;
    says(&listed, "docs/dressed");
    says(&listed, "Dressed");
    let listed = command(&["bin", "list", "--json"]).good().await.json();
    assert_eq!(listed["pages"][0]["id"], id);
    let shown = command(&["bin", "show", "docs/dressed"]).good().await;
    let shown = shown.stdout;
    // As the list has it.
    let by_place = command(&["bin", "show", "en:docs/dressed"]).good().await;
    assert_eq!(by_place.stdout, shown);
    let elsewhere = command(&["bin", "show", "de:docs/dressed"]).end().await;
    assert_ne!(elsewhere.code, 0);
    says(&shown, "# Dressed");
    says(&shown, "tags: ");
    let number = id.to_string();
    let unasked = command(&["bin", "restore", &number]).end().await;
    assert_eq!(unasked.code, 2);
    let done = command(&["bin", "restore", &number, "--yes", "--json"])
        .good()
        .await;
    let done = done.json();
    assert_eq!(done["outcome"], "applied");
    let new = id_of(&wiki, "docs/dressed");
    assert_eq!(fields(&wiki, new), before);
}

#[tokio::test]
async fn what_went_by_this_server_is_in_the_bin_too() {
    let (_wiki, served, id) = with_dressed(setup).await;
    confirmed_ok(&served, DELETE, json!({ "id": id })).await;
    look(&served).await;
    assert_eq!(bin(&served).await, ["docs/dressed"]);
}

#[tokio::test]
async fn a_part_of_the_wiki_comes_back_as_it_was_and_a_second_time_nothing_differs() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let make = |path: &str| wiki.with_page(page(path, "one\ntwo\nthree\nfour\n"));
    let ids = ["docs/a", "docs/b", "docs/c", "docs/d", "hr/e"].map(make);
    let [changed, deleted, moved, twice, elsewhere] = ids;
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let before = ids.map(|id| fields(&wiki, id));
    let at = now();
    wiki.with_store(|store| {
        store.rewrite(changed, |page| "Spam\n".clone_into(&mut page.content));
        store.rewrite(elsewhere, |page| "Spam\n".clone_into(&mut page.content));
        store.rewrite(moved, |page| "docs/spam".clone_into(&mut page.path));
        store.rewrite(twice, |page| {
            "ONE\ntwo\nthree\nfour\n".clone_into(&mut page.content);
        });
    });
    they_delete(&wiki, deleted).await;
    let spam = wiki.with_page(page("docs/new", "Spam\n"));
    look(&served).await;
    // The command's own look sees this one.
    wiki.with_store(|store| {
        store.rewrite(twice, |page| {
            "ONE\ntwo\nthree\nFOUR\n".clone_into(&mut page.content);
        });
    });
    let arguments = [
        "bin", "restore", "--path", "docs", "--at", &at, "--yes", "--json",
    ];
    let done = operators(&wiki, &served, &arguments).good().await;
    says(&done.stdout, "applied");
    let is_as_it_was = || {
        assert_eq!(fields(&wiki, changed), before[0]);
        assert_eq!(fields(&wiki, id_of(&wiki, "docs/b")), before[1]);
        assert_eq!(fields(&wiki, moved), before[2]);
        assert_eq!(fields(&wiki, twice), before[3]);
        let content = wiki.with_store(|store| store.page(elsewhere).unwrap().content.clone());
        assert_eq!(content, "Spam\n");
        assert!(wiki.with_store(|store| store.page(spam).is_none()));
    };
    is_as_it_was();
    // What came back has another id and was made since: it is no new page.
    look(&served).await;
    let sent = mutations(&wiki).len();
    let again = operators(&wiki, &served, &arguments).end().await;
    assert_ne!(again.code, 0);
    says(&again.stdout, "Nothing of that part differs");
    assert_eq!(mutations(&wiki).len(), sent);
    is_as_it_was();
}

/// A page `docs/a` with two tags that was seen, and a time then.
async fn with_tagged() -> (DemoWiki, Served, i64, String) {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    wiki.with_page(page("home", "# Home\n"));
    let id = wiki.with_page(tagged(["one", "two"]));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    (wiki, served, id, now())
}

fn tagged(tags: [&str; 2]) -> PageRow {
    PageRow {
        tags: tags.map(str::to_owned).into(),
        ..page("docs/a", "# A\n")
    }
}

fn part_as_at(at: &str) -> [&str; 8] {
    [
        "bin", "restore", "--path", "docs", "--at", at, "--yes", "--json",
    ]
}

#[tokio::test]
async fn a_page_that_is_back_with_its_tags_in_another_order_stays() {
    let (wiki, served, id, at) = with_tagged().await;
    they_delete(&wiki, id).await;
    look(&served).await;
    wiki.with_page(tagged(["two", "one"]));
    let done = operators(&wiki, &served, &part_as_at(&at)).end().await;
    says(&done.stdout, "Nothing of that part differs");
    assert_eq!(bin(&served).await, [""; 0]);
}

#[tokio::test]
async fn tags_that_go_without_a_new_date_come_back() {
    let (wiki, served, id, at) = with_tagged().await;
    let before = fields(&wiki, id);
    wiki.with_store(|store| store.page_mut(id).unwrap().tags.clear());
    look(&served).await;
    operators(&wiki, &served, &part_as_at(&at)).good().await;
    assert_eq!(fields(&wiki, id), before);
}

#[tokio::test]
async fn a_part_of_which_nothing_comes_back_is_told_page_by_page() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_page(PageRow {
        created_at: "2020-01-01T00:00:00.000Z".to_owned(),
        updated_at: "2022-01-01T00:00:00.000Z".to_owned(),
        ..page("docs/a", "# A\n")
    });
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let restore = ["bin", "restore", "--path", "docs", "--at", "2021-01-01"];
    let told = operators(&wiki, &served, &[&restore[..], &["--yes"]].concat());
    let told = told.end().await.exits(3);
    let why = format!("left out: docs/a (id {id}): nobody saw how it was");
    says(&told.stderr, &why);
    says(&told.stderr, "Name another time");
    lacks(&told.told, "Name another call");
}

/// A page that was made on the first of January of a year.
fn made_in(year: u16, path: &str, content: &str) -> PageRow {
    let date = format!("{year}-01-01T00:00:00.000Z");
    PageRow {
        created_at: date.clone(),
        updated_at: date,
        ..page(path, content)
    }
}

#[tokio::test]
async fn the_wikis_history_tells_how_a_page_was_before_the_first_look() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let put = |year: u16, path: &str| {
        wiki.with_page(PageRow {
            tags: vec!["kept".to_owned()],
            ..made_in(year, path, "As it was\n")
        })
    };
    let changed = put(2020, "docs/a");
    let same = put(2020, "docs/b");
    let made = put(2022, "docs/c");
    let before = [changed, same, made].map(|id| fields(&wiki, id));
    wiki.with_store(|store| {
        for spam in ["Spam\n", "More spam\n"] {
            store.rewrite(changed, |page| spam.clone_into(&mut page.content));
        }
    });
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let restore = part_as_at("2021-01-01");
    let told = operators(&wiki, &served, &restore[..7]).good().await;
    says(
        &told.stderr,
        "pages that were gone by then do not come back",
    );
    says(
        &told.stdout,
        "nobody saw tags, scriptCss, scriptJs as they were then",
    );
    let why = format!("left out: docs/c (id {made}): it was made since, or came back");
    says(&told.told, &why);
    assert_eq!([changed, same, made].map(|id| fields(&wiki, id)), before);
    let sent = mutations(&wiki).len();
    let again = operators(&wiki, &served, &restore).end().await.exits(3);
    says(&again.told, "docs/c");
    lacks(&again.told, "docs/a");
    assert_eq!(mutations(&wiki).len(), sent);
}

#[tokio::test]
async fn a_part_that_is_left_to_people_names_the_pages_that_it_leaves_out() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let changed = wiki.with_page(made_in(2020, "docs/a", "As it was\n"));
    let made = wiki.with_page(made_in(2022, "docs/c", "Made\n"));
    wiki.with_store(|store| {
        store.rewrite(changed, |page| "Spam\n".clone_into(&mut page.content));
    });
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let restore = part_as_at("2021-01-01");
    let proposed = async |arguments: &[&str]| {
        let command = operators(&wiki, &served, arguments).with("WIKI_CONFIRM", "review");
        command.end().await.exits(3).stdout
    };
    let why = format!("left out: docs/c (id {made}): it was made since");
    says(&proposed(&restore[..7]).await, &why);
    let told: Value = serde_json::from_str(&proposed(&restore).await).unwrap();
    assert_eq!(told["leftOut"][0]["id"], made);
}

#[tokio::test]
async fn histories_that_tell_nothing_keep_no_page_from_being_asked_for() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let put = |path: &str| wiki.with_page(made_in(2020, path, "As it was\n"));
    let silent: Vec<i64> = (0..201).map(|at| put(&format!("docs/{at}"))).collect();
    let last = put("docs/last");
    wiki.with_store(|store| {
        store.rewrite(last, |page| "Spam\n".clone_into(&mut page.content));
        for id in silent {
            // Its date moved, and it has no version.
            store.touch(id);
        }
    });
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let mirror = served.app.mirror.as_ref().unwrap();
    let part = || PartThen {
        prefix: Prefix::parse("docs").unwrap(),
        at: time::macros::datetime!(2021-01-01 00:00 UTC),
        by: None,
    };
    let is_told = async || {
        mirror.look_back(&served.app.wiki, &part()).await.unwrap();
        let (pages, _) = mirror
            .since(part(), served.app.wiki.scope(), None)
            .await
            .unwrap();
        let last = pages.iter().find(|page| page.id == last);
        last.is_some_and(|page| page.hindrance.is_none())
    };
    for _ in 0..20 {
        if is_told().await {
            return;
        }
    }
    panic!("the last page was never asked for");
}

#[tokio::test]
async fn what_one_author_did_before_the_first_look_is_taken_back() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let put = |year: u16, path: &str, author: &str| {
        wiki.with_page(PageRow {
            author: author.to_owned(),
            ..made_in(year, path, "one\ntwo\nthree\nfour\nfive\nsix\n")
        })
    };
    let changed = put(2020, "docs/a", "Ann");
    let spam = put(2022, "docs/spam", "Mallory");
    let made = put(2022, "docs/made", "Bob");
    for (author, old, new) in [("Mallory", "one", "SPAM"), ("Bob", "six", "SIX")] {
        wiki.with_store(|store| {
            store.rewrite(changed, |page| {
                author.clone_into(&mut page.author);
                page.content = page.content.replace(old, new);
            });
        });
    }
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let by = [&part_as_at("2021-01-01")[..7], &["--by", "Mallory"]].concat();
    operators(&wiki, &served, &by).good().await;
    let content = wiki.with_store(|store| store.page(changed).unwrap().content.clone());
    assert_eq!(content, "one\ntwo\nthree\nfour\nfive\nSIX\n");
    let there = wiki.with_store(|store| [spam, made].map(|id| store.page(id).is_some()));
    assert_eq!(there, [false, true]);
}

/// The wiki gives a page a new date when one that it links to comes or goes.
#[tokio::test]
async fn a_version_that_had_ended_is_not_taken_for_a_page_whose_date_moved_alone() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_page(made_in(2020, "docs/a", "First\n"));
    let writes = |text: &str| {
        wiki.with_store(|store| store.rewrite(id, |page| text.clone_into(&mut page.content)));
    };
    writes("As it was\n");
    let at = rfc3339(time::OffsetDateTime::now_utc());
    let later = rfc3339(time::OffsetDateTime::now_utc());
    wiki.with_store(|store| store.page_mut(id).unwrap().updated_at = later);
    let served = setup(&wiki).serve().await;
    look(&served).await;
    let done = operators(&wiki, &served, &part_as_at(&at)).end().await;
    says(&done.stdout, "Nothing of that part differs");
    // A change since then is taken back to it.
    writes("Spam\n");
    look(&served).await;
    operators(&wiki, &served, &part_as_at(&at)).good().await;
    let content = wiki.with_store(|store| store.page(id).unwrap().content.clone());
    assert_eq!(content, "As it was\n");
}

#[tokio::test]
async fn a_page_that_may_have_come_back_stays_where_what_was_there_is_forgotten() {
    let (wiki, served, id) = with_dressed(setup).await;
    look(&served).await;
    let at = now();
    they_delete(&wiki, id).await;
    look(&served).await;
    is_applied(&served, RESTORE, json!({ "page": "docs/dressed" })).await;
    look(&served).await;
    let forget = ["mirror", "forget", "docs", "--yes"];
    operators(&wiki, &served, &forget).good().await;
    let restore = ["bin", "restore", "--path", "docs", "--at", &at, "--yes"];
    let told = operators(&wiki, &served, &restore).end().await.exits(3);
    let back = id_of(&wiki, "docs/dressed");
    let why = format!("left out: docs/dressed (id {back}): it was made since, or came back");
    says(&told.stderr, &why);
    // What is made later goes, as ever.
    let at = now();
    let spam = wiki.with_page(page("docs/spam", "Spam\n"));
    let restore = ["bin", "restore", "--path", "docs", "--at", &at, "--yes"];
    operators(&wiki, &served, &restore).good().await;
    assert!(wiki.with_store(|store| store.page(spam).is_none() && store.page(back).is_some()));
}

#[tokio::test]
async fn a_page_whose_editor_was_changed_is_left_out() {
    let (wiki, served, id, at) = with_tagged().await;
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            "ckeditor".clone_into(&mut page.editor);
            "<h1>A</h1>".clone_into(&mut page.content);
        });
    });
    let sent = mutations(&wiki).len();
    // A person is told the reason, too.
    let done = operators(&wiki, &served, &part_as_at(&at)[..7]).end().await;
    says(&done.stdout, "left out: docs/a: its editor was changed");
    assert_eq!(mutations(&wiki).len(), sent);
}

#[tokio::test]
async fn what_is_forgotten_is_gone_from_the_disk_and_on_record() {
    let (wiki, served, id) = with_dressed(setup).await;
    wiki.with_page(page("docs/other", "# Other\n"));
    they_delete(&wiki, id).await;
    look(&served).await;
    let states = wiki_dir(served.dir.path()).join("mirror/pages");
    let count = || fs::read_dir(&states).unwrap().count();
    assert_eq!(count(), 3);
    let arguments = ["mirror", "forget", "docs/dressed", "--yes"];
    let command = Command::operator(&wiki, served.dir.path(), &arguments);
    let done = command.with("WIKI_MIRROR", "on").good().await;
    says(&done.stdout, "forgotten: 1 state of 1 page");
    assert_eq!(count(), 2);
    assert_eq!(bin(&served).await, [""; 0]);
    let reasons = vec_of({ served.records().into_iter() }.filter_map(|record| record.reason));
    let part = "mirror: 1 state of 1 page at or below docs/dressed";
    says(&reasons.join("; "), part);
}

/// Ten thousand pages of 5 kB, with the usual share of the wiki's time.
#[expect(clippy::print_stdout, reason = "a measurement is read by people")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; what it measures is a release build"]
async fn a_large_wiki_is_mirrored_in_two_minutes_and_100_mb() {
    const PAGES: usize = 10_000;
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let mut seed = 7_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("w{}", (seed >> 33) % 5_000)
    };
    for number in 0..PAGES {
        let words: Vec<String> = (0..900).map(|_| word()).collect();
        wiki.with_page(page(
            &format!("p{}/{number}", number % 97),
            &words.join(" "),
        ));
    }
    let mut setup = setup(&wiki).indexed();
    setup.pace = Pace::new(IndexLoad::percent(50));
    let (app, _, dir) = setup.app();
    wiki.clear_requests();
    let began = Instant::now();
    let news = app.look_for_mirror(Duration::from_secs(20)).await.unwrap();
    let (first, requests) = (began.elapsed(), wiki.requests().len());
    assert_eq!(news.kept, PAGES);
    let mirror = wiki_dir(dir.path()).join("mirror");
    let mut disk = 0;
    for part in ["pages", "seen"] {
        for entry in fs::read_dir(mirror.join(part)).unwrap() {
            disk += entry.unwrap().metadata().unwrap().blocks() * 512;
        }
    }
    let began = Instant::now();
    let again = app.look_for_mirror(Duration::from_secs(20)).await.unwrap();
    let second = began.elapsed();
    assert_eq!(again.kept, 0);
    wiki.clear_requests();
    app.index.ready(|_, _| {}).await.unwrap();
    app.index.pass_ended().await;
    let by_index = wiki.requests().len();
    println!(
        "first {first:?}, {requests} requests, {disk} bytes; again {second:?}; index {by_index} requests more"
    );
    assert!(
        first < Duration::from_mins(2) && disk < 100_000_000,
        "{first:?} {disk}"
    );
}

#[tokio::test]
async fn an_old_version_is_compared_with_the_tags_styles_and_scripts_that_were_seen() {
    let (wiki, served, id) = with_dressed(setup).await;
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            page.tags = vec!["other".to_owned()];
            page.script_js.clear();
        });
    });
    look(&served).await;
    let history = call_ok(&served, HISTORY, json!({ "id": id })).await;
    let version = history["entries"][0]["versionId"].clone();
    let compare = json!({ "id": id, "compare": { "from": version } });
    let compared = call_ok(&served, HISTORY, compare.clone()).await;
    compares_all(&compared);
    let off = setup(&wiki).with("WIKI_MIRROR", "off").in_dir_of(&served);
    let compared = call_ok(&off.serve().await, HISTORY, compare).await;
    let unknown = &compared["comparison"]["notComparable"];
    assert_eq!(*unknown, json!(["tags", "scriptCss", "scriptJs"]));
}

#[tokio::test]
async fn a_page_that_is_older_than_it_was_seen_tells_of_a_restored_backup() {
    let (wiki, served, id) = with_dressed(setup).await;
    let row = wiki.with_store(|store| store.page(id).cloned().unwrap());
    wiki.with_store(|store| {
        store.rewrite(id, |page| "# Theirs\n".clone_into(&mut page.content));
        store.touch(id);
    });
    assert!(!look(&served).await.went_back);
    wiki.with_store(|store| *store.page_mut(id).unwrap() = row);
    assert!(look(&served).await.went_back);
    assert!(!look(&served).await.went_back);
}

#[tokio::test]
async fn a_page_that_comes_back_elsewhere_takes_the_links_to_its_old_place_along() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let gone = "# Gone\n\nSee [the next](next) and [me](/docs/gone).\n";
    let id = wiki.with_page(page("docs/gone", gone));
    wiki.with_page(page("docs/next", "# Next\n"));
    let linker = wiki.with_page(page("home", "# Home\n\n[it](/docs/gone) [n](/docs/next)\n"));
    let indexed = |wiki: &DemoWiki| setup(wiki).indexed();
    let served = indexed(&wiki).serve().await;
    look(&served).await;
    they_delete(&wiki, id).await;
    look(&served).await;
    let arguments = json!({ "page": "docs/gone", "path": "kept/here" });
    let preview = call_ok(&served, RESTORE, arguments.clone()).await;
    says(&preview.to_string(), "cannot_return");
    says(&preview.to_string(), "kept/here");
    let restored = is_applied(&served, RESTORE, arguments).await;
    let content = |id: i64| wiki.with_store(|store| store.page(id).unwrap().content.clone());
    let before = "# Home\n\n[it](/docs/gone) [n](/docs/next)\n";
    assert_eq!(content(linker), before.replace("/docs/gone", "/kept/here"));
    let back = content(id_of(&wiki, "kept/here"));
    says(&back, "[me](/kept/here)");
    lacks(&back, "(next)");
    confirmed_ok(&served, UNDO, json!({ "callId": restored["callId"] })).await;
    assert_eq!(content(linker), before);
    // Where another page stands at the old place, links lead to that one.
    let other = wiki.with_page(page("docs/gone", "# Other\n"));
    let arguments = json!({ "page": id.to_string(), "path": "kept/there" });
    let preview = call_ok(&served, RESTORE, arguments.clone()).await;
    says(&preview.to_string(), "links_stay");
    is_applied(&served, RESTORE, arguments).await;
    assert_eq!(content(linker), before);
    assert_eq!(content(other), "# Other\n");
    // Its own relative links lead where they led, all the same.
    let there = content(id_of(&wiki, "kept/there"));
    says(&there, "[me](/docs/gone)");
    lacks(&there, "(next)");
}

#[tokio::test]
async fn a_page_that_a_tag_hides_is_not_told_to_stand_at_an_old_place() {
    let (wiki, served, id) = with_dressed(setup).await;
    they_delete(&wiki, id).await;
    look(&served).await;
    let other = wiki.with_page(PageRow {
        tags: vec!["secret".to_owned()],
        ..page("docs/dressed", "# Other\n")
    });
    look(&served).await;
    let listed = call_ok(&served, LIST_BIN, json!({})).await;
    assert_eq!(listed["pages"][0]["takenBy"], other);
    let bounded = setup(&wiki).with("WIKI_DENIED_READ_TAGS", "secret");
    let bounded = bounded.in_dir_of(&served).serve().await;
    let listed = call_ok(&bounded, LIST_BIN, json!({})).await;
    assert_eq!(listed["pages"][0]["id"], id);
    assert_eq!(listed["pages"][0]["takenBy"], Value::Null);
}

#[tokio::test]
async fn a_page_with_very_many_tags_keeps_no_other_out_of_the_list() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let tag = |number: usize| format!("{number:03}{}", "t".repeat(200));
    let many = wiki.with_page(PageRow {
        tags: (0..2_000).map(tag).collect(),
        ..page("many", "# Many\n")
    });
    let other = wiki.with_page(page("other", "# Other\n"));
    wiki.with_page(page("home", "# Home\n"));
    let served = setup(&wiki).serve().await;
    look(&served).await;
    they_delete(&wiki, many).await;
    they_delete(&wiki, other).await;
    look(&served).await;
    let listed = call_ok(&served, LIST_BIN, json!({})).await;
    let mut paths = members(&listed, "pages", "path");
    paths.sort_unstable();
    assert_eq!(paths, ["many", "other"]);
    let pages = listed["pages"].as_array().unwrap();
    let many = pages.iter().find(|page| page["path"] == "many").unwrap();
    let shown = many["tags"].as_array().unwrap().len();
    assert_eq!(many["tagsNotShown"], 2_000 - shown);
}
