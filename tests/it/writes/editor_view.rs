//! Whoever may write a page can write it without losing a field: what `single` is refused, the
//! page's own editor view gives.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wikijs_gate::demo::Store;

use crate::prelude::*;
use crate::writes::{changed, dressed, fields, wiki_with};

/// Rights of a key that writes everything and still is refused `single`.
pub(crate) const STYLIST: [&str; 6] = [
    "read:pages",
    "read:source",
    "read:history",
    "write:pages",
    "write:styles",
    "write:scripts",
];

/// A page with something in every field, that is private, and has styles of more than a line.
fn page() -> PageRow {
    PageRow {
        title: "\"T\" <editor :page-id=\"1\"> &amp; x".to_owned(),
        is_private: true,
        script_css: "@media (min-width:3px){a,b{top:calc(1px + 2px)}}h1{color:red}".to_owned(),
        ..dressed()
    }
}

async fn writer(wiki: &DemoWiki) -> Served {
    Setup::writer(wiki).toolsets("pages,undo").serve().await
}

/// What another client does to a page.
fn edit(store: &mut Store, id: i64, time: &str, act: impl FnOnce(&mut PageRow)) {
    let page = store.page_mut(id).unwrap();
    time.clone_into(&mut page.updated_at);
    act(page);
}

async fn read(served: &Served, id: i64) -> Value {
    served.call(BY_ID, json!({ "id": id })).await.unwrap()
}

/// Measured on 2.5.314.
#[tokio::test]
async fn the_demo_wiki_s_view_is_that_of_the_real_one() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    wiki.with_page(PageRow {
        path: "probe/e1".to_owned(),
        title: "T \"<i> & x".to_owned(),
        description: None,
        content: "# Hi \"q\" <b>&amp;\n\nx".to_owned(),
        tags: vec!["b".to_owned(), "a".to_owned()],
        publish_start_date: "2020-01-01T00:00:00.000Z".to_owned(),
        script_css: "body{color:red}".to_owned(),
        script_js: "alert(\"<x>\")".to_owned(),
        updated_at: "2026-11-22T02:06:46.514Z".to_owned(),
        ..PageRow::default()
    });
    let get = async |key: Option<&str>, path: &str| {
        let client = WikiClient::new(&wiki, key);
        client.send(reqwest::Method::GET, path, None).await
    };
    let keys = wiki.keys();
    let reply = get(Some(&keys.writer), "/e/en/probe/e1").await;
    assert_eq!(reply.status, 200);
    let content_type = reply.content_type.as_deref();
    assert_eq!(content_type, Some("text/html; charset=utf-8"));
    let (head, rights) = reply.text.split_once(" effective-permissions=\"").unwrap();
    assert!(head.ends_with(
        "<div id=\"root\"><editor :page-id=\"1\" locale=\"en\" path=\"probe/e1\" \
         title=\"T &quot;&lt;i&gt; &amp; x\" :tags=\"[&quot;b&quot;,&quot;a&quot;]\" \
         :is-published=\"true\" publish-start-date=\"2020-01-01T00:00:00.000Z\" publish-end-date=\"\" \
         script-css=\"body {\n  color:red\n}\" script-js=\"alert(&quot;&lt;x&gt;&quot;)\" \
         init-mode=\"update\" init-editor=\"markdown\" init-content=\"IyBIaSAicSIgPGI+JmFtcDsKCng=\" \
         checkout-date=\"2026-11-22T02:06:46.514Z\""
    ), "{head}");
    let (rights, rest) = rights.split_once('"').unwrap();
    assert_eq!(rest, "></editor></div></body></html>");
    let rights: Value = serde_json::from_slice(&STANDARD.decode(rights).unwrap()).unwrap();
    assert_eq!(
        rights["pages"],
        json!({"read": true, "write": true, "manage": false, "delete": false, "script": false, "style": false})
    );

    let new = get(Some(&keys.writer), "/e/en/probe/none").await;
    assert_eq!(new.status, 200);
    assert!(new.text.contains(
        "<editor locale=\"en\" path=\"probe/none\" script-css=\"\" script-js=\"\" init-mode=\"create\" checkout-date=\""
    ));
    for key in [None, Some("x"), Some(&keys.reader), Some(&keys.readonly)] {
        assert_eq!(get(key, "/e/en/probe/e1").await.status, 403);
    }
    assert_eq!(get(Some(&keys.revoked), "/e/en/probe/e1").await.status, 500);
    let manager = wiki.key_with(&["read:pages", "manage:pages"], "probe/");
    assert_eq!(get(Some(&manager), "/e/en/probe/e1").await.status, 200);
    assert_eq!(get(Some(&manager), "/e/en/probe/none").await.status, 403);
    wiki.set_editor_view_blocked(true);
    assert_eq!(get(Some(&keys.admin), "/e/en/probe/e1").await.status, 404);
}

#[tokio::test]
async fn every_key_that_may_write_a_page_keeps_all_its_fields() {
    let (wiki, id) = wiki_with(page()).await;
    let stylist = wiki.key_with(&STYLIST, "docs/");
    let keys = wiki.keys();
    for key in [
        &keys.admin,
        &keys.scripter,
        &keys.editor,
        &keys.writer,
        &stylist,
    ] {
        for confirm in ["preview", "token"] {
            let mut setup = Setup::at(&wiki.address(), key).toolsets("pages,undo");
            if confirm == "token" {
                setup = setup.with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please");
            }
            let served = setup.serve().await;
            let write = async |tool: &str, mut arguments: Value| {
                let answer = if confirm == "token" {
                    arguments["confirm"] = json!("open-sesame-please");
                    served.call(tool, arguments).await
                } else {
                    served.confirmed(tool, arguments).await
                };
                let answer = answer.unwrap();
                answer.shows(json!({ "outcome": "applied", "warnings": null, "unverified": null }));
                answer
            };
            for (field, value) in [
                ("title", "New \"title\""),
                ("content", "# Dressed\n\nnew\r\n\u{1f600}\n"),
            ] {
                let before = fields(&wiki, id);
                let mut edit = json!({ "id": id, (field): value });
                // A content is held against the page as this session last read it.
                edit["ifUpdatedAt"] = read(&served, id).await["updatedAt"].clone();
                let applied = write(UPDATE, edit).await;
                assert_eq!(changed(&before, &fields(&wiki, id)), [field]);
                write(UNDO, json!({ "callId": applied["callId"] })).await;
                assert_eq!(fields(&wiki, id), before);
            }
        }
    }
}

#[tokio::test]
async fn styles_written_by_a_writer_are_taken_back_through_another_layer() {
    let (wiki, id) = wiki_with(page()).await;
    let served = Setup::at(&wiki.address(), &wiki.key_with(&STYLIST, ""))
        .serve()
        .await;
    let before = fields(&wiki, id);
    let edit = json!({ "id": id, "scriptCss": "a > b { c : d; } /* x */", "scriptJs": "2" });
    let applied = is_applied(&served, UPDATE, edit).await;
    let changed = changed(&before, &fields(&wiki, id));
    assert_eq!(changed, ["scriptCss", "scriptJs"]);
    // White space means nothing to the wiki (W24), so there is nothing to send.
    let spaces = json!({ "id": id, "scriptCss": "a>b{c:d}" });
    let unchanged = served.call(UPDATE, spaces).await.unwrap();
    assert_eq!(unchanged["outcome"], "unchanged");

    let setup = Setup::admin(&wiki).toolsets("pages,undo");
    let operator = setup.in_dir_of(&served).serve().await;
    let undo = json!({ "callId": applied["callId"] });
    is_applied(&operator, UNDO, undo).await;
    assert_eq!(fields(&wiki, id), before);
}

#[tokio::test]
async fn a_writer_s_create_is_read_back_in_every_field() {
    let wiki = sample_wiki().await;
    let served = writer(&wiki).await;
    let create = |path: &str| {
        let mut page = new_page(path);
        page["isPrivate"] = json!(true);
        page["publishStartDate"] = json!("2030-01-01");
        page
    };
    let tool = CREATE;
    let created = served.confirmed(tool, create("docs/a")).await.unwrap();
    assert_eq!(created.get("unverified"), None);

    let mut dressed = create("docs/b");
    dressed["scriptJs"] = json!("1");
    let error = fails(&served, tool, dressed, "PERMISSION_DENIED").await;
    assert_eq!(error["details"]["right"], "write:scripts");

    wiki.set_editor_view_blocked(true);
    let created = served.confirmed(tool, create("docs/c")).await.unwrap();
    let unverified = [
        "editor",
        "isPrivate",
        "publishStartDate",
        "publishEndDate",
        "scriptCss",
        "scriptJs",
    ];
    assert_eq!(created["unverified"], json!(unverified));
}

#[tokio::test]
async fn where_the_view_is_blocked_a_writer_overwrites_nothing() {
    let (wiki, id) = wiki_with(page()).await;
    let served = writer(&wiki).await;
    // The layer that worked is remembered, and is no reason to trust it.
    assert_eq!(read(&served, id).await["editor"], "markdown");
    wiki.set_editor_view_blocked(true);
    let delete = json!({ "id": id });
    let error = fails(&served, DELETE, delete, "PERMISSION_DENIED").await;
    assert_eq!(error["details"]["right"], "delete:pages");
    for (tool, arguments) in [
        (UPDATE, json!({ "id": id, "title": "x" })),
        (UPDATE, json!({ "id": id, "path": "docs/y" })),
    ] {
        let error = fails(&served, tool, arguments, "FIELD_UNREADABLE").await;
        let unreadable = [
            "editor",
            "isPrivate",
            "publishStartDate",
            "publishEndDate",
            "scriptCss",
            "scriptJs",
        ];
        assert_eq!(error["details"]["fields"], json!(unreadable));
        let rights = &error["details"]["rights"];
        assert_eq!(rights["scriptCss"], "manage:pages or delete:pages");
        assert!(error["hint"].as_str().unwrap().contains("(/e/…)"));
    }
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn an_accepted_loss_is_written_and_what_cannot_be_read_back_is_named() {
    let (wiki, id) = wiki_with(page()).await;
    wiki.set_editor_view_blocked(true);
    let served = writer(&wiki).await;
    let before = fields(&wiki, id);
    let edit = json!({
        "id": id, "title": "x", "publishStartDate": "2031-01-01T00:00:00.000Z",
        "acceptLoss": ["publishStartDate", "publishEndDate", "scriptCss", "scriptJs"],
    });
    let tool = UPDATE;
    let applied = is_applied(&served, tool, edit.clone()).await;
    let unverified = [
        "editor",
        "isPrivate",
        "publishStartDate",
        "publishEndDate",
        "scriptCss",
        "scriptJs",
    ];
    assert_eq!(applied["unverified"], json!(unverified));
    // The wiki itself keeps the styles and scripts that this key may not write (W24).
    let lost = ["publishEndDate", "publishStartDate", "title"];
    assert_eq!(changed(&before, &fields(&wiki, id)), lost);

    // A refusal is told as one, though not all of the page shows that it is as it was.
    let faulty = FaultyWiki::before(&wiki).await;
    let refusal = json!({ "data": { "pages": { "update": { "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No",
    } } } } });
    let refusal = Reply::say(200, "application/json", &refusal.to_string());
    faulty.on_mutations(Fault::new(Reach::Never, refusal));
    let served = Setup::at(&faulty.address(), &wiki.keys().writer)
        .serve()
        .await;
    let mut refused = edit;
    refused["title"] = json!("y");
    refused["publishStartDate"] = json!("2032-01-01T00:00:00.000Z");
    confirmed_fails(&served, tool, refused, "NOT_APPLIED").await;
}

#[tokio::test]
async fn a_view_of_anything_else_is_not_believed() {
    let (wiki, id) = wiki_with(page()).await;
    for body in [
        "<html><body>Please log in</body></html>",
        "<div id=\"root\"><editor init-mode=\"create\"></editor></div>",
    ] {
        let faulty = FaultyWiki::before(&wiki).await;
        let served = Setup::at(&faulty.address(), &wiki.keys().writer)
            .serve()
            .await;
        // `single` and `conflictLatest` pass, the view does not.
        let pass = Fault::new(Reach::Before, Reply::Wiki);
        faulty.on_reads(2, pass);
        let other = Reply::say(200, "text/html", body);
        faulty.then_on_reads(1, Fault::new(Reach::Never, other));
        let edit = json!({ "id": id, "title": "x" });
        fails(&served, UPDATE, edit, "FIELD_UNREADABLE").await;
    }
}

#[tokio::test]
async fn a_page_that_changes_between_the_layers_is_read_as_it_became() {
    let (wiki, id) = wiki_with(page()).await;
    let served = writer(&wiki).await;
    wiki.before_next_editor_view(move |store| {
        edit(store, id, "2030-01-01T00:00:00.000Z", |page| {
            "Theirs".clone_into(&mut page.title);
            "2".clone_into(&mut page.script_js);
        });
    });
    let page = read(&served, id).await;
    page.shows(json!({ "title": "Theirs", "scriptJs": "2" }));
    // The same time, and yet another state: an update is stored in several steps (W19).
    wiki.before_next_editor_view(move |store| {
        edit(store, id, "2030-01-01T00:00:00.000Z", |page| {
            page.tags.push("late".to_owned());
        });
    });
    let page = read(&served, id).await;
    page.shows(json!({ "tags": ["zeta", "alpha", "late"], "scriptJs": "2" }));
    // It went elsewhere, and another came to its place.
    wiki.before_next_editor_view(move |store| {
        edit(store, id, "2030-01-02T00:00:00.000Z", |page| {
            "docs/away".clone_into(&mut page.path);
        });
        store.add(dressed().but(|row| row.script_js = "another's".to_owned()));
    });
    let page = read(&served, id).await;
    page.shows(json!({ "path": "docs/away", "scriptJs": "2" }));
}

#[tokio::test]
async fn a_page_that_somebody_changed_after_a_writer_s_preview_is_not_written() {
    let (wiki, id) = wiki_with(page()).await;
    let served = writer(&wiki).await;
    let preview = json!({ "id": id, "title": "x" });
    let preview = served.call(UPDATE, preview).await.unwrap();
    wiki.with_store(|store| {
        edit(store, id, "2030-01-01T00:00:00.000Z", |page| {
            "2".clone_into(&mut page.script_js);
        });
    });
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let error = fails(&served, UPDATE, confirm, "EDIT_CONFLICT").await;
    assert_eq!(error["details"]["fields"], json!(["scriptJs"]));
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn what_came_of_a_writer_s_update_is_no_field_s_guess() {
    // Without an answer the page itself tells.
    let (wiki, id) = wiki_with(page()).await;
    let faulty = FaultyWiki::before(&wiki).await;
    faulty.on_mutations(Fault::new(Reach::Before, Reply::Cut));
    let served = Setup::at(&faulty.address(), &wiki.keys().writer)
        .serve()
        .await;
    let edit = json!({ "id": id, "title": "x" });
    let applied = is_applied(&served, UPDATE, edit).await;
    assert_eq!(applied.get("unverified"), None);

    // Where it cannot be read back whole, the outcome is not known.
    let (wiki, id) = wiki_with(page()).await;
    let wiki = Arc::new(wiki);
    let served = writer(&wiki).await;
    let blocks = Arc::clone(&wiki);
    wiki.before_next_mutation(move |_| blocks.set_editor_view_blocked(true));
    let edit = json!({ "id": id, "title": "x" });
    confirmed_fails(&served, UPDATE, edit, "OUTCOME_UNKNOWN").await;
}

#[tokio::test]
async fn what_a_writer_may_not_do_is_refused_at_the_preview() {
    let (wiki, id) = wiki_with(page()).await;
    let served = writer(&wiki).await;
    let before = fields(&wiki, id);
    for (tool, arguments, right) in json_rows::<(&str, Value, &str)>(&json!([
        [DELETE, { "id": id }, "delete:pages"],
        [UPDATE, { "id": id, "path": "docs/y", "title": "x" }, "manage:pages"],
    ])) {
        let error = confirmed_fails(&served, tool, arguments, "PERMISSION_DENIED").await;
        assert_eq!(error["details"]["right"], right);
    }
    assert_eq!(fields(&wiki, id), before);
    let refusal = "refusal PERMISSION_DENIED";
    assert_eq!(served.told(), [refusal, refusal]);
}

#[tokio::test]
async fn a_whole_page_takes_a_manager_one_request_and_a_writer_four() {
    let (wiki, id) = wiki_with(page()).await;
    let keys = wiki.keys();
    for (key, first, later) in [(&keys.editor, 1, 1), (&keys.writer, 5, 4)] {
        let faulty = FaultyWiki::before(&wiki).await;
        let served = Setup::at(&faulty.address(), key).serve().await;
        let served = served.acquainted().await;
        let mut before = faulty.seen().len();
        for expected in [first, later, later] {
            let page = read(&served, id).await;
            assert_eq!(page["isPrivate"], true);
            assert_eq!(faulty.seen().len() - before, expected);
            before = faulty.seen().len();
        }
        let by_path = json!({ "path": "docs/dressed" });
        served.call(BY_PATH, by_path).await.unwrap();
        // The tree is asked beforehand, and once more beside the history.
        assert_eq!(faulty.seen().len() - before, first + first / 5);
    }
}
