//! Pages and guides as resources, with a real client of both generations of the protocol.

use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, CompletionContext, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, Reference,
};
use rmcp::service::ServiceError;

use crate::prelude::*;

const TEMPLATE: &str = "wikijs://{locale}/{+path}";

async fn as_reader_of_text(wiki: &DemoWiki) -> Served {
    Setup::readonly(wiki).serve().await
}

async fn text_of(served: &Served, uri: &str) -> Result<Value, Value> {
    let request = ReadResourceRequestParams::new(uri);
    match served.client.read_resource(request).await {
        Ok(read) => Ok(serde_json::to_value(read).unwrap()),
        Err(ServiceError::McpError(error)) => Err(serde_json::to_value(error).unwrap()),
        Err(other) => panic!("{other}"),
    }
}

async fn completed(served: &Served, argument: &str, value: &str, locale: Option<&str>) -> Value {
    let argument = ArgumentInfo::new(argument, value);
    let mut request = CompleteRequestParams::new(Reference::for_resource(TEMPLATE), argument);
    if let Some(locale) = locale {
        let given = [("locale".to_owned(), locale.to_owned())].into();
        request = request.with_context(CompletionContext::with_arguments(given));
    }
    let answer = served.client.complete(request).await.unwrap();
    serde_json::to_value(answer.completion).unwrap()
}

#[tokio::test]
async fn both_generations_are_told_of_resources_and_read_them() {
    let wiki = sample_wiki().await;
    let modern = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    for lifecycle in [ClientLifecycleMode::Initialize, modern] {
        let setup = Setup::readonly(&wiki);
        let served = setup.serve_to((), lifecycle).await;
        let told = served.client.peer_info().unwrap().capabilities.clone();
        assert!(told.resources.is_some() && told.completions.is_some());
        let templates = served.client.list_all_resource_templates().await.unwrap();
        assert_eq!(templates.len(), 1);
        assert_eq!(templates[0].uri_template, TEMPLATE);
        let read = text_of(&served, "wikijs://en/docs/configuration")
            .await
            .unwrap();
        let content = wiki.with_store(|store| {
            let page = store.page_at("en", "docs/configuration").unwrap();
            page.content.clone()
        });
        read["contents"][0].shows(json!({ "text": content, "mimeType": "text/markdown" }));
        says(&read["contents"][0]["_meta"]["wikiText"], "untrusted");
        let error = text_of(&served, "wikijs://en/docs/none").await.unwrap_err();
        assert!(
            [-32_002, -32_602].map(Value::from).contains(&error["code"]),
            "{error}"
        );
        assert_eq!(error["data"]["error"]["code"], "PAGE_NOT_FOUND");
        let completed = completed(&served, "locale", "d", None).await;
        assert_eq!(completed["values"], json!(["de"]));
    }
}

#[tokio::test]
async fn the_list_is_the_guides_and_then_all_pages_by_their_last_change() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for number in 0..120 {
            store.add(PageRow {
                path: format!("many/會議-{number:03}"),
                title: format!("Many {number}"),
                ..PageRow::default()
            });
        }
    });
    let touched = id_of(&wiki, "docs/configuration");
    wiki.with_store(|store| store.touch(touched));
    for key in [&wiki.keys().admin, &wiki.keys().reader] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let served = served.acquainted().await;
        wiki.clear_requests();
        let first = served.client.list_resources(None).await.unwrap();
        assert_eq!(wiki.requests().len(), 1);
        assert!(wiki.requests()[0].variables["limit"].is_i64());
        let uris: Vec<&str> = first.resources.iter().map(|r| r.uri.as_str()).collect();
        assert_eq!(uris.len(), 24);
        let bytes = serde_json::to_vec(&first).unwrap().len();
        assert!(bytes <= 4_000, "{bytes} bytes");
        assert!(
            uris[..3]
                .iter()
                .all(|uri| uri.starts_with("wikijs://guide/")),
            "{uris:?}"
        );
        assert_eq!(uris[3], "wikijs://status");
        assert_eq!(uris[4], "wikijs://en/docs/configuration");
        assert!(first.next_cursor.is_some());

        let all = served.client.list_all_resources().await.unwrap();
        let all = vec_of(all.into_iter().skip(4).map(|resource| resource.name));
        let model: BTreeSet<String> =
            wiki.with_store(|store| store.pages().map(|page| page.path.clone()).collect());
        assert_eq!(all.iter().cloned().collect::<BTreeSet<_>>(), model);
        let bad = PaginatedRequestParams::default().with_cursor(Some("x".to_owned()));
        assert!(served.client.list_resources(Some(bad)).await.is_err());
    }
}

#[tokio::test]
async fn what_only_settings_change_may_be_kept_for_a_while() {
    let (_wiki, served) = crate::harness::sample(Setup::reader).await;
    let client = &served.client;
    let tools = client.list_tools(None).await.unwrap();
    let prompts = client.list_prompts(None).await.unwrap();
    let templates = client.list_resource_templates(None).await.unwrap();
    for kept in [tools.ttl_ms, prompts.ttl_ms, templates.ttl_ms] {
        assert_eq!(kept, Some(60_000));
    }
    for (uri, kept) in [("wikijs://guide/editing", 60_000), ("wikijs://status", 0)] {
        let asked = rmcp::model::ReadResourceRequestParams::new(uri);
        let read = client.read_resource(asked).await.unwrap();
        assert_eq!(read.ttl_ms, Some(kept), "{uri}");
    }
    let pages = client.list_resources(None).await.unwrap();
    assert_eq!(pages.ttl_ms.unwrap_or_default(), 0);
}

#[tokio::test]
async fn every_address_of_the_list_can_be_read() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for (path, editor) in [("會議/a+b&c", "markdown"), ("page#1?x=100%", "code")] {
            store.add(
                titled(path, path, &format!("text of {path}"))
                    .but(|row| row.editor = editor.to_owned()),
            );
        }
    });
    for key in [
        &wiki.keys().admin,
        &wiki.keys().writer,
        &wiki.keys().readonly,
    ] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for resource in served.client.list_all_resources().await.unwrap() {
            let read = text_of(&served, &resource.uri).await.unwrap();
            let text = read["contents"][0]["text"].as_str().unwrap();
            assert!(!text.is_empty(), "{}", resource.uri);
            assert_eq!(
                read["contents"][0]["mimeType"],
                resource.mime_type.unwrap().as_str()
            );
        }
    }
}

#[tokio::test]
async fn guides_are_read_without_the_wiki() {
    let served = Setup::at("http://127.0.0.1:9", "e30.e30.x").serve().await;
    for (guide, holds) in [
        ("markdown", "{.is-warning}"),
        ("permissions", "`read:source`"),
        ("editing", UPDATE),
    ] {
        let read = text_of(&served, &format!("wikijs://guide/{guide}"))
            .await
            .unwrap();
        says(&read["contents"][0]["text"], holds);
        // It is ours: no text of the wiki.
        assert!(read.get("_meta").is_none() && read["contents"][0].get("_meta").is_none());
    }
    let error = text_of(&served, "wikijs://guide/none").await.unwrap_err();
    assert_eq!(error["code"], -32_002);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_that_says_why() {
    let wiki = sample_wiki().await;
    for (key, uri, code) in [
        (
            wiki.keys().reader.as_str(),
            "wikijs://en/docs",
            "PERMISSION_DENIED",
        ),
        ("nonsense", "wikijs://en/docs", "KEY_REJECTED"),
        (&wiki.keys().revoked, "wikijs://en/docs", "KEY_REJECTED"),
        (&wiki.keys().admin, "wikijs://fr/docs", "PAGE_NOT_FOUND"),
        (&wiki.keys().admin, "wikijs://en/", "PAGE_NOT_FOUND"),
        (&wiki.keys().admin, "https://example.org/", "PAGE_NOT_FOUND"),
    ] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let error = text_of(&served, uri).await.unwrap_err();
        assert_eq!(error["data"]["error"]["code"], code, "{uri}");
        let is_absent = code == "PAGE_NOT_FOUND";
        assert_eq!(error["code"] == -32_002, is_absent, "{error}");
    }
}

#[tokio::test]
async fn a_large_page_is_cut_at_a_line_and_says_so() {
    let wiki = sample_wiki().await;
    let line = "ein Wört\n";
    wiki.with_page(PageRow {
        path: "large".to_owned(),
        title: "Large".to_owned(),
        content: line.repeat(10_000),
        ..PageRow::default()
    });
    let served = as_reader_of_text(&wiki).await;
    let read = text_of(&served, "wikijs://en/large").await.unwrap();
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 64 * 1024 && text.len() > 64 * 1024 - line.len());
    assert!(text.ends_with(line));
    let note = read["contents"][1]["text"].as_str().unwrap();
    assert!(note.contains(&format!("{} of {} bytes", text.len(), line.len() * 10_000)));
}

#[tokio::test]
async fn a_page_that_was_read_as_a_resource_was_seen() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "docs/configuration");
    text_of(&served, "wikijs://en/docs/configuration")
        .await
        .unwrap();
    wiki.with_store(|store| store.rewrite(id, |page| page.content = "Another's.\n".to_owned()));
    let arguments = json!({ "id": id, "content": "Mine.\n" });
    fails(&served, UPDATE, arguments, "EDIT_CONFLICT").await;
}

#[tokio::test]
async fn locales_and_paths_are_completed_from_one_list() {
    let (wiki, served) = sample(Setup::reader).await;
    wiki.clear_requests();
    let locales = completed(&served, "locale", "", None).await;
    let expected = json!({ "values": ["de", "en"], "total": 2, "hasMore": false });
    assert_eq!(locales, expected);
    let paths = completed(&served, "path", "Docs/in", Some("de")).await;
    assert_eq!(paths["values"], json!(["docs/install/linux"]));
    // Without a locale it is the configured one; what holds the text comes behind what begins so.
    let paths = completed(&served, "path", "docs/in", None).await;
    let expected = json!(["docs/install/docker", "docs/install/linux"]);
    assert_eq!(paths["values"], expected);
    let paths = completed(&served, "path", "linux", Some("en")).await;
    assert_eq!(paths["values"], json!(["docs/install/linux"]));
    assert_eq!(
        completed(&served, "path", "x", Some("fr")).await["values"],
        json!([])
    );
    assert_eq!(wiki.requests().len(), 1);

    let odd = CompleteRequestParams::new(
        Reference::for_resource("wikijs://guide/markdown"),
        ArgumentInfo::new("path", "x"),
    );
    assert!(served.client.complete(odd).await.is_err());
    let odd = CompleteRequestParams::new(
        Reference::for_resource(TEMPLATE),
        ArgumentInfo::new("other", "x"),
    );
    assert!(served.client.complete(odd).await.is_err());
}

#[tokio::test]
async fn at_most_a_hundred_values_complete_and_the_rest_is_counted() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for number in 0..150 {
            store.add(PageRow {
                path: format!("many/p{number:03}"),
                title: "Many".to_owned(),
                ..PageRow::default()
            });
        }
    });
    let served = Setup::reader(&wiki).serve().await;
    let paths = completed(&served, "path", "many/", None).await;
    assert_eq!(paths["values"].as_array().unwrap().len(), 100);
    paths.shows(json!({ "total": 150, "hasMore": true }));
}

#[tokio::test]
async fn what_is_hidden_in_a_title_shows_in_the_list() {
    let wiki = sample_wiki().await;
    wiki.with_page(PageRow {
        path: "odd".to_owned(),
        title: "a\u{202e}b".to_owned(),
        ..PageRow::default()
    });
    let served = Setup::reader(&wiki).serve().await;
    let listed = served.client.list_resources(None).await.unwrap();
    let odd = listed
        .resources
        .iter()
        .find(|resource| resource.name == "odd")
        .unwrap();
    assert_eq!(odd.title.as_deref(), Some("a\\u{202e}b"));
}
