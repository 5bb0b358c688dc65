//! Styles are kept to the letter, or it is said that they cannot be; rules that the wiki drops are
//! named.

use crate::prelude::*;
use crate::writes::editor_view::STYLIST;
use crate::writes::{changed, dressed, fields, wiki_with};

const IMPORTS: &str = "@import url(x.css);";

/// A wiki with one page that has these styles.
async fn wiki(css: &str, tags: &[&str]) -> (DemoWiki, i64) {
    wiki_with(PageRow {
        script_css: css.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..dressed()
    })
    .await
}

async fn served(wiki: &DemoWiki, rights: &[&str]) -> Served {
    let setup = Setup::at(&wiki.address(), &wiki.key_with(rights, "")).toolsets("pages,undo");
    setup.serve().await
}

async fn undone(served: &Served, applied: &Value) -> Result<Value, Value> {
    let undo = json!({ "callId": applied["callId"] });
    served.confirmed(UNDO, undo).await
}

#[tokio::test]
async fn an_update_by_a_key_that_reads_styles_in_views_keeps_their_imports() {
    for (css, site, head) in [
        ("@import url(x.css);a{b:c}", "", ""),
        (
            "@import url(x.css) layer(y);a{b:c}",
            "body{top:0}",
            "<style>h{top:0}</style>",
        ),
        (IMPORTS, "body{top:0}", ""),
        ("a{content:\"</style>\"}", "", "<p>"),
        (
            "",
            "body{top:0}",
            "<style type=\"text/css\">\nh{top:0}</style>",
        ),
        ("", "", ""),
    ] {
        let (wiki, id) = wiki(css, &["t"]).await;
        wiki.set_theme(site, head);
        let served = served(&wiki, &STYLIST).await;
        let before = fields(&wiki, id);
        // The second time the view comes from the cache that the first update left.
        for title in ["x", "y"] {
            let edit = json!({ "id": id, "title": title });
            let applied = served.confirmed(UPDATE, edit).await.unwrap();
            assert_eq!(applied["outcome"], "applied", "{css}");
            assert_eq!(applied.get("warnings"), None, "{css}");
            assert_eq!(applied.get("unverified"), None, "{css}");
            assert_eq!(changed(&before, &fields(&wiki, id)), ["title"], "{css}");
            undone(&served, &applied).await.unwrap();
            assert_eq!(fields(&wiki, id), before, "{css}");
        }
        // Styles that the write itself changes come back as well.
        let edit = json!({ "id": id, "scriptCss": "z{b:c}" });
        let applied = served.confirmed(UPDATE, edit).await.unwrap();
        assert_eq!(changed(&before, &fields(&wiki, id)), ["scriptCss"]);
        undone(&served, &applied).await.unwrap();
        assert_eq!(fields(&wiki, id), before, "{css}");
    }
}

#[tokio::test]
async fn styles_that_no_view_proves_are_unavailable_and_not_overwritten() {
    // Without styles of the site's, an administrator's own element would look the same.
    let (wiki, id) = wiki(IMPORTS, &["t"]).await;
    let served = served(&wiki, &STYLIST).await;
    let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
    assert_eq!(page.get("scriptCss"), None);
    assert_eq!(page["scriptJs"], dressed().script_js);
    let edit = json!({ "id": id, "title": "x" });
    let error = fails(&served, UPDATE, edit, "FIELD_UNREADABLE").await;
    assert_eq!(error["details"]["fields"], json!(["scriptCss"]));
    let hint = error["hint"].as_str().unwrap();
    says(&hint, "(/{locale}/{path})");
    says(&hint, "acceptLoss");
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn styles_whose_loss_was_accepted_are_not_known_and_no_guess_is_written_back() {
    let (wiki, id) = wiki(IMPORTS, &["t"]).await;
    let served = served(&wiki, &STYLIST).await;
    let edit = |edits: Value| {
        let mut edit = json!({ "id": id, "acceptLoss": ["scriptCss"] });
        edit.as_object_mut()
            .unwrap()
            .extend(edits.as_object().unwrap().clone());
        edit
    };
    let both = edit(json!({ "title": "x", "scriptCss": "a{b:c}" }));
    let applied = is_applied(&served, UPDATE, both).await;
    assert_eq!(fields(&wiki, id)["scriptCss"], "a{b:c}");

    let undo = undone(&served, &applied).await.unwrap();
    assert_eq!(undo["changed"], json!(["title"]));
    let warnings = undo["warnings"].to_string();
    says(&warnings, "not_known");
    says(&warnings, "scriptCss");
    assert_eq!(fields(&wiki, id)["scriptCss"], "a{b:c}");
    assert_eq!(fields(&wiki, id)["title"], dressed().title);

    wiki.with_store(|store| store.rewrite(id, |page| IMPORTS.clone_into(&mut page.script_css)));
    let only = edit(json!({ "scriptCss": "d{b:c}" }));
    let applied = served.confirmed(UPDATE, only).await.unwrap();
    let error = undone(&served, &applied).await.unwrap_err();
    assert_eq!(error["code"], "NOTHING_TO_UNDO");
    assert_eq!(error["details"]["fields"], json!(["scriptCss"]));
    assert_eq!(fields(&wiki, id)["scriptCss"], "d{b:c}");
}

#[tokio::test]
async fn a_view_from_before_the_last_update_proves_nothing() {
    let (wiki, id) = wiki("@import url(x.css);a{b:c}", &["t"]).await;
    let served = served(&wiki, &STYLIST).await;
    wiki.set_reader_view_cached(true);
    wiki.with_store(|store| {
        store.rewrite(id, |page| {
            "@import url(theirs.css);a{b:c}".clone_into(&mut page.script_css);
        });
    });
    let edit = json!({ "id": id, "title": "x" });
    fails(&served, UPDATE, edit.clone(), "FIELD_UNREADABLE").await;
    wiki.set_reader_view_cached(false);
    served.confirmed(UPDATE, edit).await.unwrap();
    let script_css = &fields(&wiki, id)["scriptCss"];
    assert_eq!(script_css, "@import url(theirs.css);a{b:c}");
}

#[tokio::test]
async fn a_key_that_cannot_change_styles_leaves_those_that_it_cannot_read() {
    let css = "@import url(x.css);a{b:c}";
    let writer = ["read:pages", "write:pages"];
    let (wiki, id) = wiki(css, &[]).await;
    wiki.set_reader_view_blocked(true);
    let served = served(&wiki, &writer).await;
    let before = fields(&wiki, id);
    let edit = json!({ "id": id, "title": "x" });
    let applied = is_applied(&served, UPDATE, edit).await;
    assert_eq!(applied.get("unverified"), None);
    assert_eq!(changed(&before, &fields(&wiki, id)), ["title"]);
    undone(&served, &applied).await.unwrap();
    assert_eq!(fields(&wiki, id), before);

    for css in ["", "z{b:c}"] {
        let edit = json!({ "id": id, "scriptCss": css });
        fails(&served, UPDATE, edit, "FIELD_UNREADABLE").await;
    }

    // Rules of tags hold in the wiki's views and not in its updates: what the one says of a
    // page with tags need not be so in the other.
    wiki.with_store(|store| store.rewrite(id, |page| page.tags.push("t".to_owned())));
    let edit = json!({ "id": id, "title": "y" });
    fails(&served, UPDATE, edit, "FIELD_UNREADABLE").await;
    assert_eq!(fields(&wiki, id)["scriptCss"], css);
}

#[tokio::test]
async fn rules_that_the_wiki_drops_are_named() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let served = Setup::scripter(&wiki).serve().await;
    let css = "a { color: red; &:hover { color: blue } } .b {} } c { top: 0 } d { top: 0 }";
    let gone = json!(["a { &:hover", "c"]);
    let mut create = new_page("docs/a");
    create["scriptCss"] = json!(css);
    let error = confirmed_fails(&served, CREATE, create, "PARTLY_APPLIED").await;
    error["details"].shows(json!({ "fields": ["scriptCss"], "cssRulesDropped": gone }));

    let page = json!({ "path": "docs/a" });
    let page = served.call(BY_PATH, page).await.unwrap();
    assert_eq!(page["scriptCss"], "a{color:red}d{top:0}");
    for (css, expected) in [
        ("e { &:hover { color: blue } }", Err(json!(["e { &:hover"]))),
        (css, Err(gone)),
        ("a { top : 0 } @import 'x.css';", Ok("css_rules_dropped")),
        ("a{TOP:0}b{}", Ok("css_minified")),
    ] {
        let update = json!({ "id": page["id"], "scriptCss": css });
        match (served.confirmed(UPDATE, update).await, expected) {
            (Ok(applied), Ok(warning)) => {
                assert_eq!(applied["outcome"], "applied");
                says(&applied["warnings"].to_string(), warning);
            }
            (Err(error), Err(gone)) => {
                assert_eq!(error["code"], "PARTLY_APPLIED");
                assert_eq!(error["details"]["cssRulesDropped"], gone);
            }
            (answer, _) => panic!("{css}: {answer:?}"),
        }
    }
}
