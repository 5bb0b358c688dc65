//! A page is made of another one: `fromPage`.

use crate::prelude::*;

/// A page to be copied, of another editor than the configured one.
fn example(wiki: &DemoWiki) -> i64 {
    wiki.with_store(|store| {
        store.add(PageRow {
            path: "hosts/a".to_owned(),
            locale: "en".to_owned(),
            title: "Host a".to_owned(),
            description: Some("Where host a stands".to_owned()),
            content: "<h1>Host a</h1><p>Host a, in rack 7.</p>".to_owned(),
            editor: "ckeditor".to_owned(),
            tags: vec!["host".to_owned()],
            ..PageRow::default()
        })
    })
}

fn like(id: i64) -> Value {
    json!({ "path": "hosts/b", "title": "Host b", "fromPage": id,
        "replaceAll": [{ "oldText": "Host a", "newText": "Host b" }] })
}

#[tokio::test]
async fn a_page_takes_over_content_description_tags_and_editor_and_the_preview_shows_it() {
    let (wiki, served) = sample(Setup::admin).await;
    let preview = served.call(CREATE, like(example(&wiki))).await.unwrap();
    let shown = preview["diff"].as_str().unwrap();
    says(&shown, "+<h1>Host b</h1><p>Host b, in rack 7.</p>");
    let after = &preview["changes"]["description"]["after"];
    assert_eq!(after, "Where host a stands");
    let confirm = json!({ "path": "hosts/b", "confirm": preview["confirm"] });
    is_applied(&served, CREATE, confirm).await;
    let page = wiki.with_store(|store| store.page_at("en", "hosts/b").unwrap().clone());
    assert_eq!(page.content, "<h1>Host b</h1><p>Host b, in rack 7.</p>");
    assert_eq!((&*page.title, &*page.editor), ("Host b", "ckeditor"));
    assert_eq!(page.description.as_deref(), Some("Where host a stands"));
    assert_eq!(page.tags, ["host"]);
}

#[tokio::test]
async fn relative_links_of_a_part_lead_from_the_new_page_where_they_led() {
    let old = "# Old\n\n## Part\n\n[x](x) [up](../top) [side](./side) [root](/docs/b) [own](#part) [web](https://other.example/x)\n\n`[code](x)`\n";
    let wiki = wiki_of(&[("docs/old", old)]).await;
    let (wiki, served) = with_server(wiki, Setup::admin).await;
    let part = json!({ "path": "guide/deep/new", "title": "New", "fromPage": "docs/old", "section": "Part" });
    is_applied(&served, CREATE, part).await;
    let page = wiki.with_store(|store| store.page_at("en", "guide/deep/new").unwrap().clone());
    let links = "[x](/docs/old/x) [up](../../top) [side](../../docs/side) [root](/docs/b) [own](#part) [web](https://other.example/x)\n\n`[code](x)`\n";
    assert!(page.content.ends_with(links), "{}", page.content);
}

#[tokio::test]
async fn what_the_call_says_is_not_copied() {
    let (wiki, served) = sample(Setup::admin).await;
    let page = json!({ "path": "hosts/b", "title": "Host b", "fromPage": example(&wiki),
        "content": "# Own\n", "editor": "markdown", "tags": [], "description": "" });
    is_applied(&served, CREATE, page).await;
    let page = wiki.with_store(|store| store.page_at("en", "hosts/b").unwrap().clone());
    assert_eq!((&*page.content, &*page.editor), ("# Own\n", "markdown"));
    assert_eq!(page.tags.len(), 0);
    assert_eq!(page.description.as_deref().unwrap_or_default(), "");
}

#[tokio::test]
async fn a_text_that_is_not_in_the_copied_content_ends_the_call() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = example(&wiki);
    let mut page = like(id);
    page["replaceAll"][0]["oldText"] = json!("Host c");
    let refused = fails(&served, CREATE, page, "EDIT_NOT_APPLICABLE").await;
    assert_eq!(refused["details"]["edit"], 0);
    // A text that would make the page larger than any is not even made.
    let mut page = like(id);
    page["replaceAll"] = json!([{ "oldText": "a", "newText": "a".repeat(1_000_000) },
        { "oldText": "a", "newText": "a".repeat(1_000_000) }]);
    fails(&served, CREATE, page, "TOO_LARGE").await;
}

#[tokio::test]
async fn faults_of_the_arguments_are_told() {
    let (wiki, served) = sample(Setup::admin).await;
    let (id, edit) = (example(&wiki), json!([{ "oldText": "a", "newText": "b" }]));
    for (page, at) in json_rows::<(Value, &str)>(&json!([
        [{ "path": "hosts/b", "title": "B" }, "content"],
        [{ "path": "hosts/b", "title": "B", "content": "x", "replaceAll": edit }, "replaceAll"],
        [{ "path": "hosts/b", "title": "B", "content": "x", "fromPage": id, "replaceAll": edit },
         "replaceAll"],
    ])) {
        let refused = fails(&served, CREATE, page, "INVALID_INPUT").await;
        assert_eq!(refused["details"]["fields"][0]["path"], at, "{refused}");
    }
}

#[tokio::test]
async fn a_page_that_may_not_be_read_is_copied_no_more_than_one_that_is_not_there() {
    let wiki = sample_wiki().await;
    let hidden = example(&wiki);
    let setup = Setup::admin(&wiki).with("WIKI_DENIED_READ_PATH_PREFIXES", "hosts/a");
    let served = setup.serve().await;
    let told = async |id: i64| {
        let mut refused = served.call(CREATE, like(id)).await.unwrap_err();
        refused["details"]["callId"].take();
        refused.to_string().replace(&id.to_string(), "ID")
    };
    let refused = told(hidden).await;
    assert!(refused.contains("PAGE_NOT_FOUND"), "{refused}");
    assert_eq!(refused, told(987_654).await);
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_copy_is_not_confirmed_once_the_page_that_is_copied_has_changed() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = example(&wiki);
    let preview = served.call(CREATE, like(id)).await.unwrap();
    let edit = json!({ "id": id, "addTags": ["rack"] });
    served.confirmed(UPDATE, edit).await.unwrap();
    let sent = mutations(&wiki).len();
    let confirm = json!({ "path": "hosts/b", "confirm": preview["confirm"] });
    fails(&served, CREATE, confirm, "CONFIRM_MISMATCH").await;
    assert_eq!(mutations(&wiki).len(), sent);
}
