//! Any reference to a page: what it means, with every kind of key.

use crate::prelude::*;

async fn get(served: &Served, path: &str) -> Result<Value, Value> {
    served.call(BY_PATH, json!({ "path": path })).await
}

fn add(wiki: &DemoWiki, locale: &str, path: &str, title: &str) -> i64 {
    wiki.with_store(|store| {
        store.add(
            titled(path, title, &format!("# {title}\n\n## Part one\n\nx\n"))
                .but(|row| row.locale = locale.to_owned()),
        )
    })
}

/// Each form of a reference with each kind of key that reads.
#[tokio::test]
async fn every_form_of_reference_names_the_page_for_every_kind_of_key() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/install/linux");
    let keys = wiki.keys().clone();
    let address = wiki.address();
    for key in [
        &keys.admin,
        &keys.editor,
        &keys.scripter,
        &keys.writer,
        &keys.readonly,
        &keys.reader,
        &"nonsense".to_owned(),
    ] {
        let served = Setup::at(&address, key).serve().await;
        for text in [
            "docs/install/linux",
            "/docs/install/linux",
            "/en/docs/install/linux",
            "en/docs/install/linux/",
            "en:docs/install/linux",
            "[[docs/install/linux]]",
            "[[Installing on Linux]]",
            "[[Installing on Linux|how to]]",
            "Installing on Linux",
            "installing ON linux",
            "linux",
            &format!("{address}/en/docs/install/linux"),
            &format!("{address}/e/en/docs/install/linux"),
        ] {
            let page = get(&served, text).await.unwrap();
            assert_eq!(page["id"], id, "{text}");
        }
        let is_reader = key == &keys.reader || key == "nonsense";
        for text in [
            "[[Installing on Linux#Check]]",
            "docs/install/linux#Check",
            &format!("{address}/en/docs/install/linux#check"),
        ] {
            let page = get(&served, text).await.unwrap();
            assert_eq!(page["id"], id, "{text}");
            if is_reader {
                assert_eq!(page["unavailable"]["content"], "read:source");
            } else {
                begins(&page["content"], "## Check\n");
            }
        }
        let error = get(&served, "[[Instaling on Linux]]").await.unwrap_err();
        assert_eq!(error["code"], "PAGE_NOT_FOUND");
        assert_eq!(error["details"]["nearest"][0]["id"], id);
        let error = get(&served, "https://example.org/en/docs")
            .await
            .unwrap_err();
        assert_eq!(error["code"], "INVALID_INPUT");
    }
}

#[tokio::test]
async fn a_path_wins_over_a_title_and_that_over_case_and_segment() {
    let (wiki, served) = sample(Setup::admin).await;
    let at_path = add(&wiki, "en", "thing", "Another");
    let titled = add(&wiki, "en", "a/b", "thing");
    assert_eq!(get(&served, "thing").await.unwrap()["id"], at_path);
    wiki.with_store(|store| store.page_mut(at_path).unwrap().path = "elsewhere".to_owned());
    let lower = add(&wiki, "en", "a/c", "THING");
    let last = add(&wiki, "en", "x/Thing", "No such");
    assert_eq!(get(&served, "thing").await.unwrap()["id"], titled);
    assert_eq!(get(&served, "THING").await.unwrap()["id"], lower);
    let error = get(&served, "Thing").await.unwrap_err();
    assert_eq!(error["code"], "AMBIGUOUS_PAGE");
    let expected = json!([
        { "id": titled, "locale": "en", "path": "a/b", "title": "thing" },
        { "id": lower, "locale": "en", "path": "a/c", "title": "THING" },
    ]);
    assert_eq!(error["details"]["candidates"], expected);
    wiki.with_store(|store| {
        for id in [titled, lower] {
            store.page_mut(id).unwrap().title = "No more".to_owned();
        }
    });
    let fresh = Setup::admin(&wiki).serve().await;
    assert_eq!(get(&fresh, "Thing").await.unwrap()["id"], last);
}

#[tokio::test]
async fn titles_in_the_caller_s_locale_come_first_and_a_said_one_is_all() {
    let (wiki, served) = sample(Setup::readonly).await;
    let english = add(&wiki, "en", "t/en", "Same");
    let german = add(&wiki, "de", "t/de", "Same");
    let only = add(&wiki, "de", "t/nur", "Nur hier");
    assert_eq!(get(&served, "Same").await.unwrap()["id"], english);
    assert_eq!(get(&served, "Nur hier").await.unwrap()["id"], only);
    let said = |path: &str, locale: &str| json!({ "path": path, "locale": locale });
    let page = served.call(BY_PATH, said("Same", "de")).await.unwrap();
    assert_eq!(page["id"], german);
    fails(&served, BY_PATH, said("Nur hier", "en"), "PAGE_NOT_FOUND").await;
}

#[tokio::test]
async fn a_title_with_a_hash_is_no_section() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = add(&wiki, "en", "lang/cs", "C# guide");
    for text in ["C# guide", "[[C# guide]]", "c# GUIDE"] {
        assert_eq!(get(&served, text).await.unwrap()["id"], id, "{text}");
    }
    let page = get(&served, "lang/cs#part-one").await.unwrap();
    assert_eq!(page["content"], "## Part one\n\nx\n");
    let error = get(&served, "lang/cs#nowhere").await.unwrap_err();
    assert_eq!(error["code"], "SECTION_NOT_FOUND");
}

#[tokio::test]
async fn titles_are_listed_once_and_again_where_one_is_new_or_gone() {
    let (wiki, served) = sample(Setup::admin).await;
    let lists = || {
        let seen = wiki.requests();
        seen.iter()
            .filter(|seen| seen.fields.iter().any(|field| field == "pages.list"))
            .count()
    };
    for _ in 0..3 {
        get(&served, "Installing on Linux").await.unwrap();
    }
    assert_eq!(lists(), 1);
    let id = add(&wiki, "en", "new/one", "Brand new");
    assert_eq!(get(&served, "Brand new").await.unwrap()["id"], id);
    assert_eq!(lists(), 2);
    wiki.with_store(|store| store.remove(id));
    let error = get(&served, "Brand new").await.unwrap_err();
    assert_eq!(error["code"], "PAGE_NOT_FOUND");
    assert_eq!(lists(), 3);
}

/// On a wiki of many pages, a page that was listed is read without the whole list, as long as
/// nothing changed; what changed, moved or went is seen at once.
#[tokio::test]
async fn a_title_is_resolved_without_listing_a_large_wiki_again() {
    let wiki = sample_wiki().await;
    for number in 0..250 {
        add(
            &wiki,
            "en",
            &format!("many/{number}"),
            &format!("One of many {number}"),
        );
    }
    let id = add(&wiki, "en", "many/wanted", "The wanted one");
    let lists = || {
        let is_whole = |request: &&SeenRequest| {
            request.fields.contains(&"pages.list".to_owned())
                && request.variables["limit"].is_null()
        };
        wiki.requests().iter().filter(is_whole).count()
    };
    for key in [&wiki.keys().reader, &wiki.keys().readonly] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        get(&served, "The wanted one").await.unwrap();
        wiki.clear_requests();
        let page = get(&served, "the WANTED one").await.unwrap();
        assert_eq!(page["id"], id);
        assert_eq!(lists(), 0);

        wiki.with_store(|store| {
            store.rewrite(id, |page| page.description = Some("New.".to_owned()));
        });
        let page = get(&served, "The wanted one").await.unwrap();
        assert_eq!(page["description"], "New.");
        assert_eq!(lists(), 1);

        wiki.with_store(|store| store.rewrite(id, |page| page.description = None));
        get(&served, "The wanted one").await.unwrap();
    }
    let served = Setup::reader(&wiki).serve().await;
    get(&served, "The wanted one").await.unwrap();
    wiki.with_store(|store| store.remove(id));
    let error = get(&served, "The wanted one").await.unwrap_err();
    assert_eq!(error["code"], "PAGE_NOT_FOUND");
}

/// Below which path pages are meant may be said as a page is named.
#[tokio::test]
async fn a_path_to_look_below_may_name_its_locale_or_be_an_address() {
    let (wiki, served) = sample(Setup::admin).await;
    let address = format!("{}/en/docs", wiki.address());
    for (tool, mut arguments, found) in [
        (LIST, json!({ "locale": "en" }), "pages"),
        (SEARCH, json!({ "query": "docker", "locale": "en" }), "hits"),
        (TREE, json!({}), "nodes"),
    ] {
        let mut below = async |path: &str| {
            arguments["path"] = json!(path);
            let answer = served.call(tool, arguments.clone()).await.unwrap();
            answer[found].clone()
        };
        let plain = below("docs").await;
        assert!(!plain.as_array().unwrap().is_empty(), "{tool}");
        assert_eq!(below("/en/docs").await, plain, "{tool}");
        assert_eq!(below("en:docs").await, plain, "{tool}");
        assert_eq!(below(&address).await, plain, "{tool}");
    }
    for (path, locale) in [
        ("/en/docs", "de"),
        ("https://elsewhere.example.org/en/docs", "en"),
    ] {
        let arguments = json!({ "path": path, "locale": locale });
        fails(&served, LIST, arguments, "INVALID_INPUT").await;
    }
}
