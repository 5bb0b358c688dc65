//! A write changes what was asked for and nothing else: every field, every way to say a change,
//! every kind of key that can write. `examples/fidelity` tries the same on any running Wiki.js.

#[path = "../../../examples/fidelity/matrix.rs"]
mod matrix;

use matrix::{CONTENT, Fields, Mark, Row, Site};
use wikijs_gate::page::Field;

use crate::prelude::*;
use crate::writes::editor_view::STYLIST;

/// A server, and the wiki's own store to look into.
struct Embedded<'a> {
    served: Served,
    wiki: &'a DemoWiki,
}

impl Site for Embedded<'_> {
    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        self.served.call(tool, arguments).await
    }

    async fn look(&self, id: i64) -> Fields {
        let page = self.wiki.with_store(|store| store.page(id).cloned());
        let values = page.iter().flat_map(|page| {
            let value = |field: Field| (field.name(), value(page, field));
            Field::ALL.map(value)
        });
        values.collect()
    }
}

fn value(page: &PageRow, field: Field) -> Value {
    match field {
        Field::Locale => json!(page.locale),
        Field::Path => json!(page.path),
        Field::Title => json!(page.title),
        Field::Description => json!(page.description.as_deref().unwrap_or_default()),
        Field::Content => json!(page.content),
        Field::Editor => json!(page.editor),
        Field::Tags => json!(page.tags),
        Field::IsPublished => json!(page.is_published),
        Field::IsPrivate => json!(page.is_private),
        Field::PublishStartDate => json!(page.publish_start_date),
        Field::PublishEndDate => json!(page.publish_end_date),
        Field::ScriptCss => json!(page.script_css),
        Field::ScriptJs => json!(page.script_js),
    }
}

/// Which of a wiki's keys is tried.
type Key = fn(&DemoWiki) -> String;

async fn site(wiki: &DemoWiki, key: Key) -> Embedded<'_> {
    let served = Setup::at(&wiki.address(), &key(wiki))
        .toolsets("pages,undo")
        .with("WIKI_TRASH_PREFIX", "fidelity/trash")
        .serve()
        .await;
    Embedded { served, wiki }
}

/// All rows of one kind of key.
async fn rows(key: Key) -> Vec<Row> {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let page = PageRow {
        locale: "en".to_owned(),
        path: "fidelity/page".to_owned(),
        title: "page".to_owned(),
        description: Some("Something in every field".to_owned()),
        content: CONTENT.to_owned(),
        tags: vec!["zeta".to_owned(), "alpha".to_owned()],
        is_published: true,
        // As old pages have them: no update may make another text of it.
        publish_start_date: "2020-01-01".to_owned(),
        publish_end_date: "whenever".to_owned(),
        script_css: matrix::CSS.to_owned(),
        script_js: "console.log(\"</script>\")".to_owned(),
        ..PageRow::default()
    };
    let id = wiki.with_store(|store| store.add(page));
    let site = site(&wiki, key).await;
    let (mut rows, id) = matrix::run(&site, id).await;
    let (created, other) = matrix::create(&site, "fidelity/other").await;
    // A create is refused before anything is sent, or makes a page.
    assert!(other.is_some());
    let (refused, made) = created
        .into_iter()
        .partition::<Vec<_>, _>(|row| row.answer == "PERMISSION_DENIED");
    for row in &refused {
        let nothing = row.fields.values().all(|mark| *mark == Mark::Unread);
        assert!(nothing, "{row:?}");
    }
    assert_eq!(made.len(), 1);
    rows.extend(made);
    assert!(!site.look(id).await.is_empty());
    for row in &rows {
        let kept = row
            .fields
            .values()
            .all(|mark| *mark != Mark::Lost && *mark != Mark::Unread);
        assert!(kept, "{row:?}");
    }
    rows.extend(refused);
    rows
}

/// The ways that were not applied.
fn refused(rows: &[Row]) -> Vec<String> {
    let refused = rows.iter().filter(|row| row.answer != "applied");
    vec_of(refused.map(|row| format!("{}: {}", row.way, row.answer)))
}

#[tokio::test]
async fn a_key_with_every_right_changes_every_field_and_loses_none() {
    let keys: [Key; 2] = [
        |wiki| wiki.keys().admin.clone(),
        |wiki| wiki.keys().scripter.clone(),
    ];
    for key in keys {
        let rows = rows(key).await;
        assert_eq!(refused(&rows), Vec::<String>::new());
        // Twenty-six ways to update and an old version, each undone; trash and back; a
        // deletion taken back; a create.
        assert_eq!(rows.len(), 2 * 27 + 2 + 1 + 1);
    }
}

#[tokio::test]
async fn a_key_without_styles_and_scripts_keeps_them() {
    let rows = rows(|wiki| wiki.keys().editor.clone()).await;
    let expected = [
        "scriptCss: PERMISSION_DENIED",
        "scriptCss cleared: PERMISSION_DENIED",
        "scriptJs: PERMISSION_DENIED",
        "scriptJs cleared: PERMISSION_DENIED",
        // The page comes back; its styles and scripts cannot, and the preview says so.
        "delete, undone: PARTLY_APPLIED",
        "create: PERMISSION_DENIED",
    ];
    assert_eq!(refused(&rows), expected);
}

#[tokio::test]
async fn a_key_that_may_only_write_pages_loses_none() {
    let rows = rows(|wiki| wiki.keys().writer.clone()).await;
    let expected = [
        "scriptCss: PERMISSION_DENIED",
        "scriptCss cleared: PERMISSION_DENIED",
        "scriptJs: PERMISSION_DENIED",
        "scriptJs cleared: PERMISSION_DENIED",
        "path: PERMISSION_DENIED",
        "path and content: PERMISSION_DENIED",
        "trash: PERMISSION_DENIED",
        "delete: PERMISSION_DENIED",
        "create: PERMISSION_DENIED",
    ];
    assert_eq!(refused(&rows), expected);
}

#[tokio::test]
async fn a_key_with_styles_that_may_not_manage_pages_changes_all_but_the_place_and_loses_none() {
    let rows = rows(|wiki| wiki.key_with(&STYLIST, "")).await;
    let expected = [
        "path: PERMISSION_DENIED",
        "path and content: PERMISSION_DENIED",
        "trash: PERMISSION_DENIED",
        "delete: PERMISSION_DENIED",
    ];
    assert_eq!(refused(&rows), expected);
}
