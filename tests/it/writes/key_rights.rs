//! Rights of the key at a place: what it may not do there it is told at the preview, by the right
//! that it lacks; where the wiki does not tell, the preview says so.

use crate::prelude::*;

const READS: [&str; 3] = ["read:pages", "read:source", "read:history"];
const WRITES: [&str; 3] = ["write:pages", "manage:pages", "delete:pages"];
const ASSETS: [&str; 3] = ["read:assets", "write:assets", "manage:assets"];

/// A key that reads and writes pages on every path that begins with a prefix, with more rights there.
pub(crate) fn page_key(wiki: &DemoWiki, more: &[&str], prefix: &str) -> String {
    wiki.key_with(&[&READS[..], &WRITES, more].concat(), prefix)
}

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("docs/a", "# A\n\nFirst.\n"),
        ("legal/b", "# B\n\nSecond.\n"),
    ])
    .await
}

/// A key that reads everywhere and writes below `docs` alone.
fn section_key(wiki: &DemoWiki) -> String {
    let all: Vec<&str> = WRITES.into_iter().chain(ASSETS).collect();
    wiki.key_with_each(&[(&READS, ""), (&all, "docs/")])
}

fn setup(wiki: &DemoWiki) -> Setup {
    let setup = Setup::at(&wiki.address(), &section_key(wiki));
    setup.toolsets("pages,undo,drafts,assets")
}

/// The preview's refusal: the right that is missing, and where.
fn denied(refused: &Value) -> (&str, &str) {
    assert_eq!(refused["code"], "PERMISSION_DENIED", "{refused}");
    let details = &refused["details"];
    let path = details["lacking"][0]["path"].as_str().unwrap();
    (details["right"].as_str().unwrap(), path)
}

#[tokio::test]
async fn what_the_key_may_not_do_at_a_place_is_refused_at_the_preview() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "legal/b"));
    for (tool, arguments, right, path) in json_rows::<(&str, Value, &str, &str)>(&json!([
        [UPDATE, { "id": b, "title": "x" }, "write:pages", "legal/b"],
        [CREATE, { "path": "legal/new", "title": "New", "content": "x" }, "write:pages", "legal/new"],
        [UPDATE, { "id": a, "path": "legal/a" }, "write:pages", "legal/a"],
        [DELETE, { "id": b }, "delete:pages", "legal/b"],
        // Nothing of what it may not write can be lost for it.
        [UPDATE, { "id": b, "title": "x", "acceptLoss": ["scriptCss", "scriptJs"] }, "write:pages",
         "legal/b"],
    ])) {
        let refused = served.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(denied(&refused), (right, path), "{tool} {arguments}");
        let message = refused["message"].as_str().unwrap();
        says(&message, &format!("{right} at en/{path}"));
    }
    assert_eq!(mutations(&wiki), []);
    // A read that finds no page there says so, too.
    for (path, may) in [("legal/new", false), ("docs/new", true)] {
        let missed = fails(&served, BY_PATH, json!({ "path": path }), "PAGE_NOT_FOUND").await;
        let place = &missed["details"]["place"];
        assert_eq!(place["mayCreate"], may, "{missed}");
        let why = place["why"].as_str().unwrap();
        assert_eq!(why.contains("write:pages"), !may, "{missed}");
    }
    // Where it may, nothing is said of rights.
    for (tool, arguments) in json_rows(&json!([
        [UPDATE, { "id": a, "title": "x" }],
        [CREATE, { "path": "docs/new", "title": "New", "content": "x" }],
        [UPDATE, { "id": a, "path": "docs/c" }],
        [DELETE, { "id": a }],
    ])) {
        let shown = served.call(tool, arguments).await.unwrap();
        assert!(shown.get("confirm").is_some(), "{shown}");
        assert!(!shown.to_string().contains("rights"), "{shown}");
    }
}

#[tokio::test]
async fn a_key_that_writes_but_neither_moves_nor_deletes_is_told_so_at_the_preview() {
    let (wiki, served) = with_server(wiki().await, Setup::writer).await;
    let a = id_of(&wiki, "docs/a");
    let moved = json!({ "id": a, "path": "docs/c" });
    let refused = served.call(UPDATE, moved).await.unwrap_err();
    assert_eq!(denied(&refused), ("manage:pages", "docs/a"));
    let gone = json!({ "id": a });
    let refused = served.call(DELETE, gone).await.unwrap_err();
    assert_eq!(denied(&refused), ("delete:pages", "docs/a"));
    assert_eq!(mutations(&wiki), []);
}

/// The warning about what the key could make and not take back.
fn cannot_undo(preview: &Value) -> String {
    let warnings = preview["warnings"].as_array().unwrap();
    let found = warnings
        .iter()
        .find(|one| one["code"] == "undo_needs_rights");
    said(found.unwrap_or_else(|| panic!("{preview}")))
}

#[tokio::test]
async fn what_the_key_could_not_take_back_is_said_first() {
    let wiki = wiki().await;
    let all = [&WRITES[..], &["write:styles", "write:scripts"]].concat();
    let key = wiki.key_with_each(&[
        (&[&READS[..], &ASSETS].concat(), ""),
        (&all, "docs/"),
        (&["write:pages"], "legal/"),
    ]);
    let served = Setup::at(&wiki.address(), &key)
        .toolsets("pages,undo,drafts,assets")
        .serve()
        .await;
    let a = id_of(&wiki, "docs/a");
    let new = |path: &str| json!({ "path": path, "title": "New", "content": "x" });
    let shown = served.call(CREATE, new("legal/new")).await.unwrap();
    says(&cannot_undo(&shown), "delete:pages at en/legal/new");
    let moved = json!({ "id": a, "path": "legal/a" });
    let shown = served.call(UPDATE, moved).await.unwrap();
    says(&cannot_undo(&shown), "manage:pages at en/legal/a");

    // So it is with each page of a set.
    for path in ["legal/x", "legal/y", "docs/z"] {
        let mut new = new(path);
        new["draft"] = "some".into();
        served.call(CREATE, new).await.unwrap();
    }
    let submit = json!({ "draft": "some" });
    let shown = served.call(SUBMIT, submit.clone()).await.unwrap();
    let both = "delete:pages at en/legal/x, delete:pages at en/legal/y;";
    says(&cannot_undo(&shown), both);
    let made = served.confirmed(SUBMIT, submit).await.unwrap();

    // The undo is refused as it was foretold, and another key takes the set back.
    let undo = json!({ "callId": made["callId"] });
    fails(&served, UNDO, undo.clone(), "PERMISSION_DENIED").await;
    let admin = Setup::admin(&wiki).toolsets("pages,undo");
    let admin = admin.in_dir_of(&served).serve().await;
    is_applied(&admin, UNDO, undo).await;

    // The wiki tells no rights to assets.
    let upload = json!({ "path": "a.csv", "text": "x" });
    let shown = served.call(UPLOAD, upload).await.unwrap();
    says(
        &shown.to_string(),
        "and manage:assets, which taking this back needs",
    );
}

#[tokio::test]
async fn a_page_whose_styles_the_key_may_not_write_is_deleted_with_a_warning() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let a = id_of(&wiki, "docs/a");
    wiki.with_store(|store| store.page_mut(a).unwrap().script_css = "b{}".to_owned());
    let shown = served.call(DELETE, json!({ "id": a })).await.unwrap();
    says(&cannot_undo(&shown), "write:styles at en/docs/a");
}

#[tokio::test]
async fn styles_are_written_where_a_page_goes_and_need_the_right_there() {
    let wiki = wiki().await;
    let all: Vec<&str> = { WRITES.into_iter() }
        .chain(["write:styles", "write:scripts"])
        .collect();
    let key = wiki.key_with_each(&[(&READS, ""), (&all, "docs/"), (&WRITES, "legal/")]);
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let moved = |path: &str| {
        let a = id_of(&wiki, "docs/a");
        json!({ "id": a, "path": path, "scriptCss": "b{color:red}" })
    };
    let refused = served.call(UPDATE, moved("legal/a")).await.unwrap_err();
    assert_eq!(denied(&refused), ("write:styles", "legal/a"));
    assert_eq!(mutations(&wiki), []);
    served.confirmed(UPDATE, moved("docs/c")).await.unwrap();
}

#[tokio::test]
async fn a_page_that_goes_where_the_key_sees_less_of_it_is_known_to_be_there() {
    let wiki = wiki().await;
    // Nobody may move or delete pages below `legal`.
    let key = wiki.key_with_each(&[
        (&READS, ""),
        (&WRITES, "docs/"),
        (&["write:pages"], "legal/"),
    ]);
    let served = Setup::at(&wiki.address(), &key)
        .toolsets("pages,undo")
        .serve()
        .await;
    let moved = json!({ "id": id_of(&wiki, "docs/a"), "path": "legal/a" });
    let done = served.confirmed(UPDATE, moved).await.unwrap();
    assert_eq!(done["outcome"], "applied", "{done}");
    let admin = Setup::admin(&wiki).toolsets("pages,undo");
    let admin = admin.in_dir_of(&served).serve().await;
    is_applied(&admin, UNDO, json!({ "callId": done["callId"] })).await;
    assert!(wiki.with_store(|store| store.page_at("en", "docs/a").is_some()));
}

/// A page with tags: the wiki's views go by rules of tags, its writes do not.
#[tokio::test]
async fn of_a_page_with_tags_the_rules_of_paths_alone_count() {
    let wiki = wiki().await;
    let b = id_of(&wiki, "legal/b");
    wiki.with_store(|store| store.page_mut(b).unwrap().tags.push("t".to_owned()));
    let served = setup(&wiki).serve().await;
    let edit = json!({ "id": b, "title": "x" });
    let refused = served.call(UPDATE, edit).await.unwrap_err();
    assert_eq!(denied(&refused), ("write:pages", "legal/b"));
}

#[tokio::test]
async fn where_the_wiki_does_not_tell_a_right_the_preview_says_so() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let upload = json!({ "path": "a.csv", "text": "x" });
    let shown = served.call(UPLOAD, upload).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let unknown = |one: &&Value| one["code"] == "rights_unknown";
    let warning = said(warnings.iter().find(unknown).unwrap());
    says(&warning, "rights unknown");
    says(&warning, "write:assets");
    // So does a create where something before the wiki hides its editor.
    wiki.set_editor_view_blocked(true);
    let new = json!({ "path": "docs/new", "title": "New", "content": "x" });
    let shown = served.call(CREATE, new).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    says(&said(warnings.iter().find(unknown).unwrap()), "write:pages");
    // A key with full access has every right.
    let admin = Setup::admin(&wiki).toolsets("pages,assets").serve().await;
    let upload = json!({ "path": "b.csv", "text": "x" });
    let shown = admin.call(UPLOAD, upload).await.unwrap();
    assert!(!shown.to_string().contains("rights_unknown"), "{shown}");
}

/// A page without its scripts is better than no page.
#[tokio::test]
async fn a_deleted_page_comes_back_without_scripts_that_the_key_may_not_write_and_says_so_first() {
    let wiki = wiki().await;
    let a = id_of(&wiki, "docs/a");
    wiki.with_store(|store| store.page_mut(a).unwrap().script_js = "f()".to_owned());
    let served = Setup::editor(&wiki).toolsets("pages,undo").serve().await;
    let delete = json!({ "id": a });
    let deleted = served.confirmed(DELETE, delete).await;
    let mut undo = json!({ "callId": deleted.unwrap()["callId"] });
    let shown = served.call(UNDO, undo.clone()).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let incomplete = |one: &&Value| one["code"] == "cannot_return";
    let warning = said(warnings.iter().find(incomplete).unwrap());
    assert!(warning.contains("lacks write:scripts"), "{warning}");
    undo["confirm"] = shown["confirm"].clone();
    let told = fails(&served, UNDO, undo, "PARTLY_APPLIED").await;
    assert_eq!(told["details"]["fields"], json!(["scriptJs"]), "{told}");
    let back = wiki.with_store(|store| store.page_at("en", "docs/a").cloned());
    assert_eq!(back.unwrap().content, "# A\n\nFirst.\n");
}

/// The wiki refused in its own words, so the write was not applied, and nobody waits to learn it.
#[tokio::test]
async fn a_refusal_by_the_wiki_is_no_unknown_outcome_even_where_the_page_cannot_be_read() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().writer)
        .serve()
        .await;
    let a = id_of(&wiki, "docs/a");
    let mut edit = json!({ "id": a, "title": "x" });
    let shown = served.call(UPDATE, edit.clone()).await.unwrap();
    edit["confirm"] = shown["confirm"].clone();
    let refusal = |name: &str, answer: Value| {
        let body = json!({ "data": { "pages": { name: answer } } }).to_string();
        Fault::new(Reach::Never, Reply::say(200, "application/json", &body))
    };
    let status = json!({ "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No." } });
    faulty.on_mutations(refusal("update", status));
    // From then on the key reads nothing of the page either.
    let unreadable = json!({ "data": { "pages": null }, "errors": [{
        "message": "You are not authorized to view this page.", "path": ["pages"],
        "extensions": { "code": "INTERNAL_SERVER_ERROR", "exception": { "code": 6013 } } }] });
    let reply = Reply::say(200, "application/json", &unreadable.to_string());
    faulty.on_reads_after_mutation(Fault::new(Reach::Never, reply));
    let began = Instant::now();
    let refused = fails(&served, UPDATE, edit, "NOT_APPLIED").await;
    refused["details"].shows(json!({ "outcome": "not_applied", "cause": "PERMISSION_DENIED" }));
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

/// The wiki says that the place is taken, and the key may not read what stands there.
#[tokio::test]
async fn a_create_whose_place_is_taken_is_no_unknown_outcome_even_where_it_cannot_be_read() {
    let wiki = wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let served = Setup::at(&faulty.address(), &wiki.keys().writer)
        .serve()
        .await;
    let mut new = json!({ "path": "docs/new", "title": "New", "content": "x" });
    let shown = served.call(CREATE, new.clone()).await;
    new["confirm"] = shown.unwrap()["confirm"].clone();
    let status = json!({ "responseResult": {
        "succeeded": false, "errorCode": 6002, "slug": "PageDuplicateCreate", "message": "No." } });
    let body = json!({ "data": { "pages": { "create": status } } }).to_string();
    let refusal = Reply::say(200, "application/json", &body);
    faulty.on_mutations(Fault::new(Reach::Never, refusal));
    let unreadable = json!({ "data": { "pages": null }, "errors": [{
        "message": "You are not authorized to view this page.", "path": ["pages"],
        "extensions": { "code": "INTERNAL_SERVER_ERROR", "exception": { "code": 6013 } } }] });
    let reply = Reply::say(200, "application/json", &unreadable.to_string());
    faulty.on_reads_after_mutation(Fault::new(Reach::Never, reply));
    let refused = fails(&served, CREATE, new, "NOT_APPLIED").await;
    assert_eq!(refused["details"]["cause"], "PAGE_EXISTS", "{refused}");
}

/// Sets that were made with all rights are taken back with few.
#[tokio::test]
async fn the_undo_of_a_set_goes_on_behind_rights_that_the_key_lacks_if_asked() {
    let wiki = wiki_of(&[
        ("docs/a", "# A\n"),
        ("docs/b", "# B\n"),
        ("docs/d", "# D\n"),
        ("legal/c", "# C\n"),
    ])
    .await;
    let a = id_of(&wiki, "docs/a");
    wiki.with_store(|store| store.page_mut(a).unwrap().script_js = "f()".to_owned());
    let tools = |setup: Setup| setup.toolsets("pages,undo,drafts");
    let admin = tools(Setup::admin(&wiki)).serve().await;
    // A set that deletes one page and changes another; the call to take back.
    let made = async |deletes: &str, edits: &str| {
        let draft = deletes.replace('/', "-");
        let delete = json!({ "id": id_of(&wiki, deletes), "draft": draft });
        admin.call(DELETE, delete).await.unwrap();
        let edit = json!({ "id": id_of(&wiki, edits), "title": "Other", "draft": draft });
        admin.call(UPDATE, edit).await.unwrap();
        let submit = json!({ "draft": draft });
        let done = admin.confirmed(SUBMIT, submit).await;
        let done = done.unwrap();
        assert_eq!(done["outcome"], "applied", "{done}");
        json!({ "callId": done["callId"] })
    };
    let (scripted, elsewhere) = (
        made("docs/a", "docs/b").await,
        made("legal/c", "docs/d").await,
    );
    let served = tools(Setup::at(&wiki.address(), &section_key(&wiki))).in_dir_of(&admin);
    let served = served.serve().await;
    let sent = mutations(&wiki).len();
    let skipping = |undo: &Value| json!({ "callId": undo["callId"], "onConflict": "skip" });
    for (undo, path, right) in [
        (&scripted, "docs/a", "write:scripts"),
        (&elsewhere, "legal/c", "write:pages"),
    ] {
        let refused = fails(&served, UNDO, undo.clone(), "PERMISSION_DENIED").await;
        let lacking = json!([{ "locale": "en", "path": path, "rights": [right] }]);
        assert_eq!(refused["details"]["lacking"], lacking, "{refused}");
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("onConflict \"skip\""), "{refused}");
    }
    assert_eq!(mutations(&wiki).len(), sent);

    // The page comes back without its scripts, as by an undo of its own.
    let mut undo = skipping(&scripted);
    let shown = served.call(UNDO, undo.clone()).await.unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    let incomplete = |one: &&Value| one["code"] == "cannot_return";
    let warning = said(warnings.iter().find(incomplete).unwrap());
    for says in ["lacks write:scripts", "en/docs/a"] {
        assert!(warning.contains(says), "{warning}");
    }
    undo["confirm"] = shown["confirm"].clone();
    let told = served.call(UNDO, undo).await.unwrap_err();
    assert!(told.to_string().contains("PARTLY_APPLIED"), "{told}");

    // Where the key may not write at all, the page is left out by name.
    let mut undo = skipping(&elsewhere);
    let shown = served.call(UNDO, undo.clone()).await.unwrap();
    let left_out = shown["leftOut"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{shown}");
    says(&left_out[0].to_string(), "lacks write:pages at en/legal/c");
    undo["confirm"] = shown["confirm"].clone();
    is_applied(&served, UNDO, undo).await;

    let now = |path: &str| wiki.with_store(|store| store.page_at("en", path).cloned());
    assert_eq!(now("docs/a").unwrap().content, "# A\n");
    assert_eq!(now("docs/b").unwrap().title, "Page docs b");
    assert_eq!(now("docs/d").unwrap().title, "Page docs d");
    assert!(now("legal/c").is_none());
}

/// A page that came back without its scripts gets them by the same undo with a key that may.
#[tokio::test]
async fn the_undo_of_a_set_that_left_scripts_out_is_completed_by_another_key() {
    let wiki = wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "docs/b"));
    wiki.with_store(|store| store.page_mut(a).unwrap().script_js = "f()".to_owned());
    let tools = |setup: Setup| setup.toolsets("pages,undo,drafts");
    let admin = tools(Setup::admin(&wiki)).serve().await;
    let delete = json!({ "id": a, "draft": "tidy" });
    admin.call(DELETE, delete).await.unwrap();
    let edit = json!({ "id": b, "title": "Other", "draft": "tidy" });
    admin.call(UPDATE, edit).await.unwrap();
    let submit = json!({ "draft": "tidy" });
    let done = admin.confirmed(SUBMIT, submit).await;
    let undo = json!({ "callId": done.unwrap()["callId"] });
    let served = tools(Setup::at(&wiki.address(), &section_key(&wiki))).in_dir_of(&admin);
    let served = served.serve().await;
    let skipping = json!({ "callId": undo["callId"], "onConflict": "skip" });
    let shown = served.call(UNDO, skipping.clone()).await.unwrap();
    // No script runs in the page that comes back without it.
    assert!(!shown.to_string().contains("script_added"), "{shown}");
    let warnings = shown["warnings"].as_array().unwrap();
    let incomplete = warnings.iter().find(|one| one["code"] == "cannot_return");
    let incomplete = said(incomplete.unwrap());
    says(&incomplete, "the same undo with a key");
    let mut confirmed = skipping.clone();
    confirmed["confirm"] = shown["confirm"].clone();
    fails(&served, UNDO, confirmed, "PARTLY_APPLIED").await;
    let back = id_of(&wiki, "docs/a");
    let script = || wiki.with_store(|store| store.page(back).unwrap().script_js.clone());
    assert_eq!(script(), "");

    // The same key cannot add them, and is told which page and which right.
    let refused = fails(&served, UNDO, skipping, "NOTHING_TO_UNDO").await;
    let left_out = &refused["details"]["leftOut"][0];
    assert_eq!(left_out["id"], json!(back), "{refused}");
    assert_eq!(left_out["path"], "docs/a", "{refused}");
    let why = left_out["message"].as_str().unwrap();
    assert!(why.contains("lacks write:scripts"), "{refused}");
    let hint = refused["hint"].as_str().unwrap();
    says(&hint, "With a key that has the missing rights");

    let shown = admin.call(UNDO, full(undo.clone())).await.unwrap();
    assert_eq!(shown["changes"].as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(shown["changes"][0]["target"]["id"], back, "{shown}");
    is_applied(&admin, UNDO, undo.clone()).await;
    assert_eq!(script(), "f()");
    fails(&admin, UNDO, undo, "NOTHING_TO_UNDO").await;
}

#[tokio::test]
async fn what_the_key_may_not_do_with_comments_is_refused_at_the_preview() {
    const COMMENTS: [&str; 3] = ["read:comments", "write:comments", "manage:comments"];
    let wiki = wiki().await;
    let (a, b) = (id_of(&wiki, "docs/a"), id_of(&wiki, "legal/b"));
    let comment = wiki.with_store(|store| store.add_comment(a, "Ana", "Is this so?"));
    let few = [&READS[..], &COMMENTS[..1]].concat();
    let key = wiki.key_with_each(&[(&few, ""), (&COMMENTS[1..2], "docs/")]);
    let tools = |key: &str| {
        let setup = Setup::at(&wiki.address(), key);
        setup.toolsets("pages,comments")
    };
    let served = tools(&key).serve().await;
    let add = |id: i64| json!({ "id": id, "content": "Mine" });
    for (tool, arguments, right, path) in json_rows(&json!([
        [ADD_COMMENT, add(b), "write:comments", "legal/b"],
        [UPDATE_COMMENT, { "id": a, "comment": comment, "content": "Other" }, "manage:comments", "docs/a"],
        [DELETE_COMMENT, { "id": a, "comment": comment }, "manage:comments", "docs/a"],
    ])) {
        let refused = served.call(tool, arguments).await.unwrap_err();
        assert_eq!(denied(&refused), (right, path), "{tool}");
    }
    assert_eq!(mutations(&wiki), []);
    // Where it may, only what it could not take back is said.
    let shown = served.call(ADD_COMMENT, add(a)).await.unwrap();
    assert!(shown.get("confirm").is_some(), "{shown}");
    assert!(!shown.to_string().contains("rights_unknown"), "{shown}");
    says(&cannot_undo(&shown), "manage:comments at en/docs/a");
    // On pages with tags the view goes by rules that writes do not go by.
    wiki.with_store(|store| store.page_mut(b).unwrap().tags.push("t".to_owned()));
    let shown = served.call(ADD_COMMENT, add(b)).await;
    let warnings = shown.unwrap()["warnings"].clone();
    let warnings = warnings.as_array().unwrap();
    let unknown = |one: &&Value| one["code"] == "rights_unknown";
    let warning = said(warnings.iter().find(unknown).unwrap());
    assert!(warning.contains("write:comments"), "{warning}");
}

#[tokio::test]
async fn a_swap_is_refused_at_its_preview_if_the_key_may_not_write_the_temporary_place() {
    let wiki = wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await;
    let tools = |key: &str| {
        let setup = Setup::at(&wiki.address(), key);
        setup.toolsets("pages,drafts")
    };
    let few = wiki.key_with_each(&[(&READS, ""), (&WRITES, "docs/a"), (&WRITES, "docs/b")]);
    let more = wiki.key_with_each(&[(&READS, ""), (&WRITES, "docs/")]);
    for (key, is_refused) in [(&few, true), (&more, false)] {
        let served = tools(key).serve().await;
        for (from, to) in [("docs/a", "docs/b"), ("docs/b", "docs/a")] {
            let moved = json!({ "id": id_of(&wiki, from), "path": to, "draft": "swap" });
            served.call(UPDATE, moved).await.unwrap();
        }
        let submit = json!({ "draft": "swap" });
        let told = served.call(SUBMIT, submit).await;
        assert_eq!(told.is_err(), is_refused, "{told:?}");
        let Err(refused) = told else { continue };
        assert_eq!(refused["code"], "PERMISSION_DENIED", "{refused}");
        let lacking = &refused["details"]["lacking"];
        let path = lacking[0]["path"].as_str().unwrap();
        assert!(path.starts_with("docs/moving-"), "{refused}");
        assert_eq!(lacking[0]["rights"][0], "write:pages", "{refused}");
    }
    assert_eq!(mutations(&wiki), []);
}
