//! The seven read tools: with every kind of key, and against a model of what is right.

mod answers;
mod changes;
mod filling;
mod finding;
mod hidden;
mod history;
mod keys;
mod left_out;
mod lists;
mod meaning;
mod parts;
mod phrasings;
mod readable;
mod references;
mod search;
mod tasks;

use proptest::prelude::{Strategy, any, prop, prop_assert_eq};
use proptest::test_runner::{Config, TestRunner};

use crate::prelude::*;
use crate::session::tool_definitions::conforms;

/// Calls a read tool; its answer is held against the schema that clients were told.
pub(crate) async fn read(served: &Served, tool: &str, arguments: Value) -> Result<Value, Value> {
    let answer = served.call(tool, arguments).await?;
    let registry = served.app.registry();
    let schema = Value::Object(registry.find(tool).unwrap().output.clone());
    assert_eq!(conforms(&schema, &answer, tool), Vec::<String>::new());
    Ok(answer)
}

async fn empty_wiki() -> DemoWiki {
    DemoWiki::start(DemoOptions::empty()).await.unwrap()
}

fn row(path: &str) -> PageRow {
    titled(path, &format!("Title of {path}"), &format!("# {path}\n"))
}

fn ids(pages: &Value) -> Vec<i64> {
    let pages = pages.as_array().unwrap();
    vec_of(pages.iter().map(|page| page["id"].as_i64().unwrap()))
}

fn paths(items: &Value) -> Vec<&str> {
    let items = items.as_array().unwrap();
    vec_of(items.iter().map(|item| item["path"].as_str().unwrap()))
}

/// An answer in a line: an error with its code and what its details say, or the names of all
/// members with the size of lists.
fn told(result: &Result<Value, Value>) -> String {
    match result {
        Err(error) => {
            for member in ["message", "hint"] {
                assert!(error[member].as_str().unwrap().len() > 10, "{error}");
            }
            let details = error.get("details").and_then(Value::as_object);
            let details: Vec<String> = details
                .into_iter()
                .flatten()
                .map(|(name, value)| match name.as_str() {
                    "expiredAt" => name.clone(),
                    _ => format!("{name} {}", value.as_str().unwrap_or("?")),
                })
                .collect();
            format!("{} {}", error["code"].as_str().unwrap(), details.join(" "))
                .trim_end()
                .to_owned()
        }
        Ok(answer) => {
            let members = answer.as_object().unwrap();
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| match value {
                    Value::Array(items) if name != "tags" || items[0].is_object() => {
                        format!("{name} {}", items.len())
                    }
                    _ => name.clone(),
                })
                .collect();
            members.join(" ")
        }
    }
}

/// Each of the seven tools once with a key: what it tells, line by line.
async fn all_seven(wiki: &DemoWiki, key: &str) -> String {
    let served = Setup::at(&wiki.address(), key).serve().await;
    let id = id_of(wiki, "releases/2-4");
    let edited = id_of(wiki, "docs/configuration");
    let calls = [
        (SEARCH, json!({ "query": "install" })),
        (LIST, json!({ "limit": 5 })),
        (BY_PATH, json!({ "path": "releases/2-4" })),
        (BY_ID, json!({ "id": id })),
        (TREE, json!({ "path": "docs" })),
        (HISTORY, json!({ "id": edited })),
        (TAGS, json!({})),
    ];
    let mut lines = Vec::new();
    for (tool, arguments) in calls {
        let result = read(&served, tool, arguments).await;
        let name = tool.trim_start_matches("wikijs_");
        lines.push(format!("{name}: {}", told(&result)));
    }
    lines.join("\n")
}

const WHOLE: &str = "id locale path title url description tags createdAt updatedAt lastAuthor editor publishStartDate publishEndDate scriptCss scriptJs content";

fn all_answered(page: &str, history: &str) -> String {
    format!(
        "search_pages: hits 2 searchedIn 1 otherLocales\n\
         list_pages: pages 5 nextCursor otherLocales\n\
         get_page_by_path: {page}\n\
         get_page_by_id: {page}\n\
         get_page_tree: nodes 4\n\
         get_page_history: {history}\n\
         list_tags: tags 13"
    )
}

#[tokio::test]
async fn keys_that_may_manage_pages_read_all_of_them() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    for key in [&keys.admin, &keys.editor, &keys.scripter] {
        let all_seven = all_seven(&wiki, key).await;
        assert_eq!(all_seven, all_answered(WHOLE, "entries 1 total"));
    }
}

#[tokio::test]
async fn a_writer_reads_all_of_them_unless_their_editor_s_view_is_blocked() {
    let wiki = sample_wiki().await;
    let writer = &wiki.keys().writer;
    assert_eq!(
        all_seven(&wiki, writer).await,
        all_answered(WHOLE, "entries 1 total")
    );
    wiki.set_editor_view_blocked(true);
    let page = "id locale path title url description tags createdAt updatedAt lastAuthor content unavailable";
    let all_seven = all_seven(&wiki, writer).await;
    assert_eq!(all_seven, all_answered(page, "entries 1 total"));
}

#[tokio::test]
async fn a_read_only_key_reads_content_and_history() {
    let wiki = sample_wiki().await;
    let page =
        "id locale path title url description tags createdAt updatedAt editor content unavailable";
    let all_seven = all_seven(&wiki, &wiki.keys().readonly).await;
    assert_eq!(all_seven, all_answered(page, "entries 1 total"));
}

const LISTED: &str =
    "id locale path title url description tags createdAt updatedAt unavailable hint";

#[tokio::test]
async fn a_key_that_reads_pages_alone_and_a_guest_read_what_lists_say() {
    let wiki = sample_wiki().await;
    for (key, history) in [
        (
            wiki.keys().reader.as_str(),
            "PERMISSION_DENIED right read:history",
        ),
        ("nonsense", "KEY_REJECTED"),
        ("e30.e30.forged", "KEY_REJECTED"),
    ] {
        let told = all_seven(&wiki, key).await;
        if history == "KEY_REJECTED" {
            // What guests may read is never taken for all that there is.
            let told = told.replace(": hint ", ": ");
            let listed = LISTED.replace(" hint", "");
            assert_eq!(told, all_answered(&listed, history));
        } else {
            assert_eq!(told, all_answered(LISTED, history));
        }
    }
}

#[tokio::test]
async fn a_key_that_became_a_guest_is_told_from_one_without_the_right_by_one_question() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/configuration");
    let asked = || {
        let seen = wiki.requests();
        let is_question = |seen: &&SeenRequest| seen.fields == ["users.profile"];
        seen.iter().filter(is_question).count()
    };
    for (key, code, hint) in [
        (
            wiki.keys().reader.as_str(),
            "PERMISSION_DENIED",
            "The wiki knows this key",
        ),
        (
            "nonsense",
            "KEY_REJECTED",
            "WIKI_API_TOKEN holds no key that this wiki knows",
        ),
    ] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        served.call(TAGS, json!({})).await.unwrap();
        for _ in 0..2 {
            let error = fails(&served, HISTORY, json!({ "id": id }), code).await;
            assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
        }
        assert_eq!(asked(), 1);
        wiki.clear_requests();
    }
    // What a write lacks is told in the same way, and its call is still named.
    let served = Setup::at(&wiki.address(), "nonsense").serve().await;
    let arguments = json!({ "id": id, "title": "New" });
    let error = fails(&served, UPDATE, arguments, "KEY_REJECTED").await;
    assert!(error["details"]["callId"].is_string(), "{error}");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_revoked_key_is_told_as_such_by_every_tool() {
    let wiki = sample_wiki().await;
    let lines = all_seven(&wiki, &wiki.keys().revoked).await;
    for line in lines.lines() {
        assert!(line.ends_with(": KEY_REJECTED"), "{line}");
    }
    // A 500 that names its cause is asked once.
    assert_eq!(wiki.requests().len(), 0);
}

#[tokio::test]
async fn an_expired_key_reads_as_a_guest_and_is_told_where_that_is_too_little() {
    let wiki = sample_wiki().await;
    let expected = "search_pages: hint hits 2 searchedIn 1 otherLocales\n\
         list_pages: hint pages 5 nextCursor otherLocales\n\
         get_page_by_path: KEY_REJECTED expiredAt\n\
         get_page_by_id: KEY_REJECTED expiredAt\n\
         get_page_tree: hint nodes 4\n\
         get_page_history: KEY_REJECTED expiredAt\n\
         list_tags: hint tags 13";
    assert_eq!(all_seven(&wiki, &wiki.expired_key()).await, expected);
}

#[tokio::test]
async fn switched_off_api_access_is_told_as_such_by_every_tool() {
    let wiki = sample_wiki().await;
    wiki.set_api_disabled(true);
    let lines = all_seven(&wiki, &wiki.keys().admin).await;
    for line in lines.lines() {
        assert!(line.ends_with(": API_DISABLED"), "{line}");
    }
}

#[tokio::test]
async fn a_whole_page_is_answered_with_every_field_and_its_url() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "releases/2-4");
    let stored = wiki.with_store(|store| store.page(id).unwrap().clone());
    let page = read(&served, BY_ID, json!({ "id": id })).await.unwrap();
    let expected = json!({
        "id": id,
        "locale": "en",
        "path": "releases/2-4",
        "title": "Release 2.4",
        "url": format!("{}/en/releases/2-4", wiki.address()),
        "description": "What is new and what to do first",
        "tags": ["release"],
        "createdAt": stored.created_at,
        "updatedAt": stored.updated_at,
        "lastAuthor": "Administrator (account 1: that person, or any API key)",
        "editor": "markdown",
        "publishStartDate": "2026-03-01T00:00:00.000Z",
        "publishEndDate": "2026-12-31T23:59:59.000Z",
        "scriptCss": stored.script_css,
        "scriptJs": stored.script_js,
        "content": stored.content,
    });
    assert_eq!(page, expected);
    let paths = "releases/2-4 /releases/2-4 releases/2-4/ //releases/2-4//";
    for path in paths.split(' ') {
        let by_path = read(&served, BY_PATH, json!({ "path": path })).await;
        assert_eq!(by_path.as_ref(), Ok(&page), "{path}");
    }
}

#[tokio::test]
async fn a_page_of_another_locale_is_read_by_its_path_and_locale() {
    let (wiki, served) = sample(Setup::admin).await;
    let arguments = json!({ "path": "home", "locale": "de" });
    let page = read(&served, BY_PATH, arguments).await.unwrap();
    assert_eq!(page["title"], "Handbuch");
    let setup = Setup::readonly(&wiki).with("WIKI_DEFAULT_LOCALE", "de");
    let german = setup.serve().await;
    let page = read(&german, BY_PATH, json!({ "path": "home" }))
        .await
        .unwrap();
    assert_eq!(page["title"], "Handbuch");
}

#[tokio::test]
async fn a_missing_page_is_not_found_with_every_key_that_reads() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    for key in [&keys.admin, &keys.writer, &keys.readonly, &keys.reader] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for (tool, arguments) in [
            (BY_ID, json!({ "id": 4_711 })),
            (BY_PATH, json!({ "path": "no/such" })),
            // The case of letters counts (W16), and so does the locale.
            (BY_PATH, json!({ "path": "Home" })),
            (BY_PATH, json!({ "path": "docs", "locale": "de" })),
            (BY_PATH, json!({ "path": "" })),
            (BY_PATH, json!({ "path": "///" })),
            (TREE, json!({ "path": "no/such" })),
            (TREE, json!({ "path": "docs/api", "locale": "de" })),
        ] {
            let error = read(&served, tool, arguments.clone()).await.unwrap_err();
            let code = &error["code"];
            assert_eq!(code, "PAGE_NOT_FOUND", "{tool} {arguments} {error}");
        }
        if key != &keys.reader {
            let error = read(&served, HISTORY, json!({ "id": 4_711 })).await;
            assert_eq!(error.unwrap_err()["code"], "PAGE_NOT_FOUND");
        }
    }
}

#[tokio::test]
async fn private_and_unpublished_pages_are_read_with_what_they_are() {
    let wiki = sample_wiki().await;
    let hidden = wiki.with_page(PageRow {
        is_private: true,
        is_published: false,
        ..row("own/notes")
    });
    let keys = wiki.keys();
    for key in [&keys.admin, &keys.writer, &keys.readonly] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let page = read(&served, BY_ID, json!({ "id": hidden })).await.unwrap();
        page.shows(json!({ "isPublished": false, "isPrivate": true, "content": "# own/notes\n" }));
    }
}

#[tokio::test]
async fn pages_at_paths_that_should_not_be_are_read_by_id() {
    let wiki = sample_wiki().await;
    let bad = [
        "with space/and.dot",
        "100%/sure?",
        "a#b",
        "back\\slash",
        "fr",
        "../up",
        "umläut/日本",
        "double//slash",
        "",
    ];
    let made: Vec<i64> =
        wiki.with_store(|store| bad.iter().map(|path| store.add(row(path))).collect());
    let keys = wiki.keys();
    for key in [&keys.admin, &keys.writer, &keys.readonly] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for (path, id) in bad.iter().zip(&made) {
            let page = read(&served, BY_ID, json!({ "id": id }))
                .await
                .unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(page["path"], *path);
            if key != &keys.readonly {
                assert_eq!(page["content"], format!("# {path}\n"), "{path}");
            }
        }
        let listed = read(&served, LIST, json!({ "path": "with space" }))
            .await
            .unwrap();
        assert_eq!(paths(&listed["pages"]), ["with space/and.dot"]);
    }
}

#[tokio::test]
async fn a_read_only_key_gets_the_true_source_whatever_the_front_matter_holds() {
    let wiki = empty_wiki().await;
    let forged =
        "x\npublished: true\ndate: x\ntags: \neditor: code\ndateCreated: x\n---\n\n# forged";
    let pages = [
        row("by-description").but(|it| it.description = Some(forged.to_owned())),
        row("by-title").but(|it| it.title = forged.to_owned()),
        row("by-tag").but(|it| it.tags = vec!["zebra".into(), format!("b{forged}"), "a, c".into()]),
        row("no-description").but(|row| row.description = None),
        row("own-front-matter")
            .but(|it| it.content = "---\ntitle: own\n---\n\n---\n\n# body\n".to_owned()),
        row("empty").but(|it| it.content = String::new()),
        PageRow {
            editor: "ckeditor".to_owned(),
            title: "a --> b\n-->\n\n<b>".to_owned(),
            content: "<p>-->\n\n</p>".to_owned(),
            ..row("html")
        },
        PageRow {
            editor: "asciidoc".to_owned(),
            content: "= Title\n\n---\n\ntext".to_owned(),
            ..row("asciidoc")
        },
    ];
    let pages: Vec<PageRow> = wiki.with_store(|store| {
        let added: Vec<i64> = pages.map(|page| store.add(page)).into();
        added
            .iter()
            .map(|id| store.page(*id).unwrap().clone())
            .collect()
    });
    let served = Setup::readonly(&wiki).serve().await;
    for page in pages {
        for (tool, arguments) in [
            (BY_ID, json!({ "id": page.id })),
            (BY_PATH, json!({ "path": page.path })),
        ] {
            let read = read(&served, tool, arguments).await.unwrap();
            assert_eq!(read["content"], page.content, "{}", page.path);
            assert_eq!(read["title"], page.title);
            let description = page.description.clone().filter(|text| !text.is_empty());
            assert_eq!(
                read.get("description"),
                description.map(Value::from).as_ref()
            );
            if page.editor != "asciidoc" {
                assert_eq!(read["editor"], page.editor, "{}", page.path);
            }
        }
    }
}

// --- list ---

/// The order of a list, as a model has it.
fn in_order(mut pages: Vec<PageRow>, order: &str, direction: &str) -> Vec<PageRow> {
    pages.sort_by_key(|page| page.id);
    let key = |page: &PageRow| match order {
        "CREATED" => page.created_at.clone(),
        "ID" => format!("{:09}", page.id),
        "PATH" => page.path.clone(),
        "TITLE" => page.title.clone(),
        _ => page.updated_at.clone(),
    };
    pages.sort_by(|a, b| match direction {
        "ASC" => key(a).cmp(&key(b)),
        _ => key(b).cmp(&key(a)),
    });
    pages
}

const POOL: [&str; 6] = ["api", "docs", "linux", "old", "team", "zoo"];

fn some_page() -> impl Strategy<Value = PageRow> {
    let tags = prop::sample::subsequence(POOL.to_vec(), 0..=6);
    (
        any::<bool>(),
        any::<bool>(),
        0..3_u8,
        0..3_u8,
        0..3_u8,
        tags,
    )
        .prop_map(
            |(is_hidden, is_german, title, created, updated, tags)| PageRow {
                locale: if is_german { "de" } else { "en" }.to_owned(),
                path: if is_hidden { "hidden" } else { "open" }.to_owned(),
                title: format!("Title {title}"),
                created_at: format!("2026-01-0{}T00:00:00.000Z", created + 1),
                updated_at: format!("2026-02-0{}T00:00:00.000Z", updated + 1),
                tags: tags.into_iter().map(str::to_owned).collect(),
                ..PageRow::default()
            },
        )
}

#[test]
fn any_list_is_the_first_whole_pages_and_its_cursors_visit_each_page_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    };
    let case = (
        prop::collection::vec(some_page(), 0..30),
        prop::sample::select(vec!["CREATED", "ID", "PATH", "TITLE", "UPDATED"]),
        prop::sample::select(vec!["ASC", "DESC"]),
        prop::sample::select(vec![1_usize, 2, 3, 5, 10, 29, 100]),
        prop::option::of(prop::sample::select(vec!["en", "de"])),
    );
    TestRunner::new(config)
        .run(&case, |(rows, order, direction, limit, locale)| {
            runtime.block_on(async {
                let wiki = empty_wiki().await;
                let stored: Vec<PageRow> = wiki.with_store(|store| {
                    let numbered = rows.into_iter().enumerate();
                    let added: Vec<i64> = numbered
                        .map(|(number, row)| {
                            let path = format!("{}/p{}", row.path, number / 2);
                            store.add(PageRow { path, ..row })
                        })
                        .collect();
                    added
                        .iter()
                        .map(|id| store.page(*id).unwrap().clone())
                        .collect()
                });
                let key = wiki.key_with(&["read:pages"], "open");
                let served = Setup::at(&wiki.address(), &key).serve().await;
                let seen = stored
                    .into_iter()
                    .filter(|page| page.path.starts_with("open"))
                    .filter(|page| locale.is_none_or(|locale| page.locale == locale))
                    .collect();
                let model = in_order(seen, order, direction);
                let mut arguments =
                    json!({ "limit": limit, "orderBy": order, "direction": direction });
                arguments["locale"] = json!(locale.unwrap_or("*"));
                let mut left = &model[..];
                loop {
                    let part = read(&served, LIST, arguments.clone()).await.unwrap();
                    let (now, rest) = left.split_at(limit.min(left.len()));
                    let answered: Vec<(i64, Value)> = ids(&part["pages"])
                        .into_iter()
                        .zip(part["pages"].as_array().unwrap())
                        .map(|(id, page)| (id, page["tags"].clone()))
                        .collect();
                    let wanted: Vec<(i64, Value)> = now
                        .iter()
                        .map(|page| {
                            let mut tags = page.tags.clone();
                            tags.sort_unstable();
                            // A page without tags says nothing of them.
                            let tags = if tags.is_empty() {
                                Value::Null
                            } else {
                                json!(tags)
                            };
                            (page.id, tags)
                        })
                        .collect();
                    prop_assert_eq!(answered, wanted);
                    prop_assert_eq!(part.get("nextCursor").is_some(), !rest.is_empty());
                    if rest.is_empty() {
                        return Ok(());
                    }
                    left = rest;
                    arguments["cursor"] = part["nextCursor"].clone();
                }
            })
        })
        .unwrap();
}

/// The limits of the lists that the wiki was asked for; none where the whole was asked for.
fn limits_asked(wiki: &DemoWiki) -> Vec<Option<i64>> {
    wiki.requests()
        .iter()
        .filter(|request| request.fields.iter().any(|field| field == "pages.list"))
        .map(|request| request.variables.get("limit").and_then(Value::as_i64))
        .collect()
}

#[tokio::test]
async fn a_list_of_a_large_wiki_costs_one_or_two_limited_requests() {
    let wiki = empty_wiki().await;
    wiki.with_store(|store| {
        for number in 0..1_500 {
            store.add(row(&format!("docs/p{number:04}")).but(|it| {
                it.tags = POOL
                    .iter()
                    .take(number % 4)
                    .map(|tag| (*tag).to_owned())
                    .collect();
            }));
        }
    });
    let served = Setup::admin(&wiki).serve().await;
    for limit in [1, 20, 50, 100] {
        let mut arguments = json!({
            "limit": limit, "orderBy": "UPDATED", "direction": "DESC", "locale": "en",
        });
        for part in 0..3 {
            wiki.clear_requests();
            let answer = read(&served, LIST, arguments.clone()).await.unwrap();
            assert_eq!(answer["pages"].as_array().unwrap().len(), limit);
            let asked = limits_asked(&wiki);
            assert!(asked.len() <= 2, "{limit} {part}: {asked:?}");
            let most = i64::try_from((part + 1) * limit * 12 + 24).unwrap();
            assert!(
                asked
                    .iter()
                    .all(|rows| rows.is_some_and(|rows| rows <= most)),
                "{limit} {part}: {asked:?}"
            );
            arguments["cursor"] = answer["nextCursor"].clone();
        }
    }
    // Most pages out of sight: two limited lists, then the whole, and no more.
    let key = wiki.key_with(&["read:pages"], "docs/p00");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    wiki.clear_requests();
    let arguments = json!({ "limit": 60, "orderBy": "ID", "direction": "DESC", "locale": "en" });
    let answer = read(&served, LIST, arguments).await.unwrap();
    assert_eq!(answer["pages"].as_array().unwrap().len(), 60);
    let asked = limits_asked(&wiki);
    assert!(asked.len() == 3 && asked[2].is_none(), "{asked:?}");
}

#[tokio::test]
async fn a_list_goes_on_behind_its_cursor_however_many_pages_came_before_it() {
    for (more, order) in [0, 5, 11, 40, 72, 73, 74, 300]
        .into_iter()
        .flat_map(|more| [(more, "PATH"), (more, "TITLE")])
    {
        let wiki = empty_wiki().await;
        let add = |from: u32, to: u32| {
            wiki.with_store(|store| {
                for number in from..to {
                    store.add(
                        row(&format!("docs/p{number:03}"))
                            .but(|it| it.tags = vec!["a".into(), "b".into(), "c".into()]),
                    );
                }
            });
        };
        add(500, 550);
        let served = Setup::admin(&wiki).serve().await;
        let mut arguments = json!({ "limit": 10, "orderBy": order });
        let first = read(&served, LIST, arguments.clone()).await.unwrap();
        add(500 - more, 500);
        arguments["cursor"] = first["nextCursor"].clone();
        let second = read(&served, LIST, arguments).await.unwrap();
        let wanted: Vec<String> = (510..520).map(|number| format!("docs/p{number}")).collect();
        assert_eq!(paths(&second["pages"]), wanted, "{more}");
        assert!(second.get("nextCursor").is_some(), "{more}");
    }
}

#[tokio::test]
async fn a_list_goes_on_where_it_was_when_the_page_of_its_cursor_is_gone() {
    let wiki = empty_wiki().await;
    let made: Vec<i64> = wiki.with_store(|store| {
        (10..30)
            .map(|number| store.add(row(&format!("docs/p{number}"))))
            .collect()
    });
    let served = Setup::admin(&wiki).serve().await;
    let mut arguments = json!({ "limit": 5 });
    let first = read(&served, LIST, arguments.clone()).await.unwrap();
    assert_eq!(ids(&first["pages"]), made[..5]);
    wiki.with_store(|store| store.remove(made[4]));
    arguments["cursor"] = first["nextCursor"].clone();
    let second = read(&served, LIST, arguments).await.unwrap();
    assert_eq!(ids(&second["pages"]), made[5..10]);
}

#[tokio::test]
async fn a_list_by_tags_needs_all_of_them_and_leaves_tags_out() {
    let wiki = sample_wiki().await;
    for key in [&wiki.keys().admin, &wiki.keys().reader] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let arguments =
            json!({ "tags": ["postgres", " Runbook ", "postgres"], "orderBy": "PATH", "limit": 1 });
        let answer = read(&served, LIST, arguments).await.unwrap();
        assert_eq!(paths(&answer["pages"]), ["runbooks/database-down"]);
        assert_eq!(answer["pages"][0].get("tags"), None);
        assert_eq!(answer.get("nextCursor"), None);
        let arguments =
            json!({ "tags": ["runbook"], "limit": 2, "locale": "en", "orderBy": "PATH" });
        let first = read(&served, LIST, arguments.clone()).await.unwrap();
        let mut arguments = arguments;
        arguments["cursor"] = first["nextCursor"].clone();
        let second = read(&served, LIST, arguments).await.unwrap();
        assert_eq!(
            [paths(&first["pages"]), paths(&second["pages"])].concat(),
            [
                "runbooks/database-down",
                "runbooks/disk-full",
                "runbooks/on-call",
                "runbooks/service-down"
            ]
        );
        assert_eq!(second.get("nextCursor"), None);
    }
}

#[tokio::test]
async fn the_path_of_a_list_is_one_of_whole_segments() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| store.add(row("docs-old/install")));
    let served = Setup::admin(&wiki).serve().await;
    for path in ["docs", "/docs/", "docs/"] {
        let arguments = json!({ "path": path, "locale": "en", "orderBy": "PATH" });
        let answer = read(&served, LIST, arguments).await.unwrap();
        let expected = [
            "docs",
            "docs/api/overview",
            "docs/configuration",
            "docs/install/docker",
            "docs/install/linux",
            "docs/operations/backup",
            "docs/operations/monitoring",
        ];
        assert_eq!(paths(&answer["pages"]), expected);
    }
    for path in ["doc", "docs/inst", "DOCS"] {
        let answer = read(&served, LIST, json!({ "path": path })).await;
        assert_eq!(answer.unwrap()["pages"], json!([]), "{path}");
    }
    let mut arguments = json!({ "path": "docs", "limit": 3, "tags": ["docs"], "locale": "*" });
    let mut all = Vec::new();
    loop {
        let part = read(&served, LIST, arguments.clone()).await.unwrap();
        all.extend(ids(&part["pages"]));
        let Some(cursor) = part.get("nextCursor") else {
            break;
        };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!(all.len(), 8);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 8);
}

#[tokio::test]
async fn a_cursor_of_another_list_or_of_nobody_is_refused() {
    let (wiki, served) = sample(Setup::admin).await;
    let first = read(&served, LIST, json!({ "limit": 2 })).await.unwrap();
    let good = first["nextCursor"].as_str().unwrap().to_owned();
    wiki.clear_requests();
    for arguments in [
        json!({ "cursor": "" }),
        json!({ "cursor": "nonsense" }),
        json!({ "cursor": "AAAA" }),
        json!({ "cursor": format!("{good}x") }),
        json!({ "cursor": good.split_at(1).1 }),
        json!({ "cursor": good, "orderBy": "TITLE" }),
        json!({ "cursor": good, "direction": "DESC" }),
        json!({ "cursor": good, "locale": "de" }),
        json!({ "cursor": good, "locale": "*" }),
        json!({ "cursor": good, "tags": ["docs"] }),
        json!({ "cursor": good, "path": "docs" }),
    ] {
        let error = read(&served, LIST, arguments.clone()).await.unwrap_err();
        assert_eq!(error["code"], "INVALID_INPUT", "{arguments}");
        assert_eq!(error["details"]["fields"][0]["path"], "cursor");
    }
    assert_eq!(wiki.requests().len(), 0);
    // The size of a part may change from one to the next.
    let arguments = json!({ "cursor": good, "limit": 4 });
    let next = read(&served, LIST, arguments).await.unwrap();
    assert_eq!(next["pages"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_list_without_pages_is_empty() {
    let (_wiki, served) = with_server(empty_wiki().await, Setup::admin).await;
    let answer = read(&served, LIST, json!({})).await;
    assert_eq!(answer, Ok(json!({ "pages": [] })));
    let answer = read(&served, TAGS, json!({})).await;
    assert_eq!(answer, Ok(json!({ "tags": [] })));
    let answer = read(&served, TREE, json!({})).await;
    assert_eq!(answer, Ok(json!({ "nodes": [] })));
    let answer = read(&served, SEARCH, json!({ "query": "x" })).await;
    assert_eq!(answer, Ok(json!({ "hits": [], "searchedIn": ["wiki"] })));
}

// --- tree ---

/// What lies below a path down to a depth: path, whether it is a folder, the page's id.
fn below(
    pages: &[PageRow],
    locale: &str,
    top: &str,
    depth: usize,
    mode: &str,
) -> BTreeSet<(String, bool, Option<i64>)> {
    let pages: Vec<&PageRow> = pages.iter().filter(|page| page.locale == locale).collect();
    let segments = |path: &str| path.split('/').filter(|part| !part.is_empty()).count();
    let mut places = BTreeSet::new();
    for page in &pages {
        for (end, _) in page.path.match_indices('/').chain([(page.path.len(), "")]) {
            places.insert(page.path.split_at(end).0);
        }
    }
    places
        .into_iter()
        .filter(|place| top.is_empty() || place.starts_with(&format!("{top}/")))
        .filter(|place| segments(place) <= segments(top) + depth)
        .map(|place| {
            let folder = format!("{place}/");
            let is_folder = pages.iter().any(|page| page.path.starts_with(&folder));
            let page = pages.iter().find(|page| page.path == place);
            (place.to_owned(), is_folder, page.map(|page| page.id))
        })
        .filter(|(_, is_folder, id)| match mode {
            "FOLDERS" => *is_folder,
            "PAGES" => id.is_some(),
            _ => true,
        })
        .collect()
}

#[tokio::test]
async fn a_tree_is_the_true_children_in_every_mode_and_depth() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        let all = "docs/install x1/x2/x3/x4/x5/x6 x1/x2/x3 docs-old/install";
        for path in all.split(' ') {
            store.add(row(path));
        }
        store.add(row("docs/nur-hier").but(|it| it.locale = "de".to_owned()));
    });
    let pages: Vec<PageRow> = wiki.with_store(|store| store.pages().cloned().collect());
    let keys = wiki.keys();
    for (key, depths) in [(&keys.admin, 1..=5), (&keys.reader, 2..=2)] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        for depth in depths {
            for mode in ["ALL", "FOLDERS", "PAGES"] {
                for (locale, top) in [
                    ("en", ""),
                    ("en", "docs"),
                    ("en", "docs/install"),
                    ("en", "x1/x2"),
                    ("en", "home"),
                    ("de", ""),
                    ("de", "docs"),
                ] {
                    let arguments = json!({
                        "path": top, "depth": depth, "mode": mode, "locale": locale
                    });
                    let answer = read(&served, TREE, arguments.clone()).await.unwrap();
                    let nodes = answer["nodes"].as_array().unwrap();
                    let answered: BTreeSet<_> = nodes
                        .iter()
                        .map(|node| {
                            (
                                node["path"].as_str().unwrap().to_owned(),
                                node.get("isFolder").is_some(),
                                node.get("id").map(|id| id.as_i64().unwrap()),
                            )
                        })
                        .collect();
                    assert_eq!(
                        answered,
                        below(&pages, locale, top, depth, mode),
                        "{arguments}"
                    );
                    assert_eq!(answered.len(), nodes.len(), "each once: {arguments}");
                    let order = paths(&answer["nodes"]);
                    let depth_of = |path: &str| path.matches('/').count();
                    assert!(order.is_sorted_by_key(|path| depth_of(path)), "{order:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_tree_shows_only_what_the_key_may_see() {
    let wiki = sample_wiki().await;
    // By the second rule, the key may not read the folder's own path.
    for prefix in ["docs", "docs/"] {
        let key = wiki.key_with(&["read:pages"], prefix);
        let served = Setup::at(&wiki.address(), &key).serve().await;
        let answer = read(&served, TREE, json!({ "depth": 2 })).await;
        let expected = [
            "docs",
            "docs/api",
            "docs/install",
            "docs/operations",
            "docs/configuration",
        ];
        assert_eq!(paths(&answer.unwrap()["nodes"]), expected, "{prefix}");
        let below = read(&served, TREE, json!({ "path": "docs" })).await;
        assert_eq!(paths(&below.unwrap()["nodes"]), expected[1..], "{prefix}");
        let error = read(&served, TREE, json!({ "path": "team" })).await;
        assert_eq!(error.unwrap_err()["code"], "PAGE_NOT_FOUND");
    }
}

#[tokio::test]
async fn below_a_page_without_children_lies_nothing() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        store.add(row("archive"));
        store.add(row("archive/2020/report"));
    });
    let served = Setup::admin(&wiki).serve().await;
    let all = read(&served, TREE, json!({ "path": "archive", "depth": 5 }))
        .await
        .unwrap();
    let paths = paths(&all["nodes"]);
    assert_eq!(paths, ["archive/2020", "archive/2020/report"]);
    let leaf = read(&served, TREE, json!({ "path": "archive/2020/report" })).await;
    assert_eq!(leaf, Ok(json!({ "nodes": [] })));
}

/// Begins a create that leaves the tree empty for a while, and returns when it is empty.
async fn felled(wiki: &DemoWiki) -> tokio::task::JoinHandle<Value> {
    wiki.set_tree_rebuild_time(Duration::from_millis(300));
    let client = WikiClient::new(wiki, Some(&wiki.keys().admin));
    let write = client.clone();
    let writing = tokio::spawn(async move {
        let create = "mutation { pages { create(content: \"x\", description: \"\", editor: \"markdown\", isPublished: true, isPrivate: false, locale: \"en\", path: \"later\", tags: [], title: \"Later\") { responseResult { succeeded } } } }";
        write.run(create, json!({})).await
    });
    let tree = "{ pages { tree(mode: ALL, locale: \"en\") { path } } }";
    loop {
        let answer = client.run(tree, json!({})).await;
        if answer["data"]["pages"]["tree"] == json!([]) {
            return writing;
        }
        assert!(!writing.is_finished(), "the tree was never empty");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_tree_is_not_believed_at_once() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    for (key, tool, arguments, path) in json_rows::<(&str, &str, Value, &str)>(&json!([
        [keys.admin, TREE, {}, "/nodes/0/path"],
        [keys.admin, TREE, { "path": "docs/install" }, "/nodes/0/path"],
        [keys.readonly, BY_PATH, { "path": "docs" }, "/path"],
        [keys.writer, BY_PATH, { "path": "docs" }, "/content"],
        [keys.admin, SEARCH, { "query": "linux" }, "/hits/0/id"],
    ])) {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let writing = felled(&wiki).await;
        let answer = read(&served, tool, arguments.clone()).await;
        let answer = answer.unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"));
        assert!(
            answer.pointer(path).is_some(),
            "{tool} {arguments}: {answer}"
        );
        writing.await.unwrap();
        let id = id_of(&wiki, "later");
        wiki.with_store(|store| store.remove(id));
    }
}

// --- search ---

#[tokio::test]
async fn hits_carry_the_true_ids_of_their_pages() {
    let wiki = sample_wiki().await;
    for row_ids in [false, true] {
        wiki.set_search_row_ids(row_ids);
        for key in [&wiki.keys().admin, &wiki.keys().reader] {
            let served = Setup::at(&wiki.address(), key).serve().await;
            let answer = read(&served, SEARCH, json!({ "query": "linux", "locale": "*" }))
                .await
                .unwrap();
            let english = id_of(&wiki, "docs/install/linux");
            let german =
                wiki.with_store(|store| store.page_at("de", "docs/install/linux").unwrap().id);
            let expected = json!({ "hits": [
                    {
                        "id": english,
                        "locale": "en",
                        "path": "docs/install/linux",
                        "title": "Installing on Linux",
                        "description": "A machine of your own, step by step",
                        "foundIn": ["wiki"],
                    },
                    {
                        "id": german,
                        "locale": "de",
                        "path": "docs/install/linux",
                        "title": "Installation unter Linux",
                        "description": "Eine eigene Maschine, Schritt für Schritt",
                        "foundIn": ["wiki"],
                    },
                ], "searchedIn": ["wiki"] });
            assert_eq!(answer, expected);
        }
    }
}

#[tokio::test]
async fn a_search_keeps_to_its_path_locale_and_limit_in_two_requests() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        store.add(row("docs-old/linux"));
        store.add(row("guides/docs/linux"));
    });
    let served = Setup::admin(&wiki).serve().await;
    let found = async |arguments: Value| {
        let answer = read(&served, SEARCH, arguments).await.unwrap();

        vec_of(paths(&answer["hits"]).into_iter().map(str::to_owned))
    };
    for path in ["docs", "/docs/", "docs/install/linux"] {
        let arguments = json!({ "query": "LINUX", "path": path, "locale": "en" });
        assert_eq!(found(arguments).await, ["docs/install/linux"]);
    }
    assert_eq!(
        found(json!({ "query": "linux", "path": "doc" })).await,
        Vec::<String>::new()
    );
    let everywhere = json!({ "query": "linux", "path": "", "locale": "*" });
    assert_eq!(found(everywhere).await.len(), 4);
    assert_eq!(
        found(json!({ "query": "linux", "locale": "de" })).await,
        ["docs/install/linux"]
    );
    wiki.clear_requests();
    let three = json!({ "query": "o", "limit": 3, "locale": "*" });
    assert_eq!(found(three).await.len(), 3);
    // One search, and the ids of all hits in one request: of the next one too, which tells that
    // there are more.
    let asked = vec_of(wiki.requests().into_iter().map(|seen| seen.fields));
    let named = |field: &str| {
        asked
            .iter()
            .filter(|fields| fields.iter().any(|f| f == field))
            .count()
    };
    assert_eq!((named("pages.search"), named("pages.tree")), (1, 4));
}

#[tokio::test]
async fn drafts_and_contents_are_not_found_by_the_default_engine() {
    let (_wiki, served) = sample(Setup::admin).await;
    for query in ["archiving", "takes about a minute"] {
        let answer = read(&served, SEARCH, json!({ "query": query })).await;
        assert_eq!(answer, Ok(json!({ "hits": [], "searchedIn": ["wiki"] })));
    }
}

// --- history ---

#[tokio::test]
async fn the_history_from_any_entry_on_is_that_of_the_model() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "team/onboarding");
    let client = WikiClient::new(&wiki, Some(&wiki.keys().admin));
    let mut model = vec![("initial", None, "team/onboarding".to_owned())];
    for number in 0..6 {
        if number % 3 == 1 {
            let path = format!("team/moved-{number}");
            let answer = client
                .run(
                    "mutation($id: Int!, $path: String!) { pages { move(id: $id, destinationPath: $path, destinationLocale: \"en\") { responseResult { succeeded message } } } }",
                    json!({ "id": id, "path": path }),
                )
                .await;
            let succeeded = &answer["data"]["pages"]["move"]["responseResult"]["succeeded"];
            assert_eq!(succeeded, true);
            let before = model[0].2.clone();
            // The version that a later write leaves behind shows where the move had led.
            model.insert(0, ("move", Some(before), path));
        } else {
            let answer = client
                .run(
                    "mutation($id: Int!, $text: String!) { pages { update(id: $id, content: $text, description: \"\", title: \"First week\", isPublished: true, tags: []) { responseResult { succeeded } } } }",
                    json!({ "id": id, "text": format!("text {number}") }),
                )
                .await;
            let succeeded = &answer["data"]["pages"]["update"]["responseResult"]["succeeded"];
            assert_eq!(succeeded, true);
            let path = model[0].2.clone();
            model.insert(0, ("edit", None, path));
        }
    }
    // The newest state of all is the page itself, not a version.
    let model: Vec<_> = model.into_iter().skip(1).collect();
    let served = Setup::readonly(&wiki).serve().await;
    let all = read(&served, HISTORY, json!({ "id": id })).await.unwrap();
    let all = all["entries"].as_array().unwrap();
    let labels: Vec<_> = all
        .iter()
        .map(|entry| {
            let from = entry
                .get("movedFrom")
                .map(|path| path.as_str().unwrap().to_owned());
            (entry["action"].as_str().unwrap(), from)
        })
        .collect();
    let wanted: Vec<_> = model
        .iter()
        .map(|(action, from, _)| (*action, from.clone()))
        .collect();
    assert_eq!(labels, wanted);
    for offset in 0..=all.len() + 2 {
        for limit in 1..=all.len() + 2 {
            let arguments = json!({ "id": id, "offset": offset, "limit": limit });
            let part = read(&served, HISTORY, arguments).await;
            let from = offset.min(all.len());
            let to = (offset + limit).min(all.len());
            assert_eq!(
                part,
                Ok(json!({ "entries": all[from..to], "total": all.len() })),
                "{offset} {limit}"
            );
        }
    }
}

#[tokio::test]
async fn a_page_that_was_never_changed_has_an_empty_history() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "home");
    let answer = read(&served, HISTORY, json!({ "id": id })).await;
    let answer = answer.unwrap();
    assert_eq!(answer["entries"], json!([]));
    // Who wrote it is told where the hint says.
    let hint = answer["hint"].as_str().unwrap();
    says(&hint, "view metadata of wikijs_get_page_by_id");
    let arguments = json!({ "id": id, "view": "metadata" });
    let page = read(&served, BY_ID, arguments).await.unwrap();
    let expected = "Administrator (account 1: that person, or any API key)";
    assert_eq!(page["lastAuthor"], expected);
}

// --- tags ---

#[tokio::test]
async fn tags_are_told_by_a_part_of_their_name() {
    let (wiki, served) = sample(Setup::admin).await;
    let tagged = |tag: &str| {
        let has = |page: &&PageRow| page.tags.iter().any(|own| own == tag);
        wiki.with_store(|store| store.pages().filter(has).count())
    };
    for query in ["o", " O "] {
        let answer = read(&served, TAGS, json!({ "query": query })).await;
        let expected = json!({ "tags": [
                { "tag": "docker", "pages": tagged("docker") },
                { "tag": "docs", "pages": tagged("docs") },
                { "tag": "operations", "pages": tagged("operations") },
                { "tag": "postgres", "pages": tagged("postgres") },
                { "tag": "runbook", "pages": tagged("runbook") },
            ] });
        assert_eq!(answer.unwrap(), expected);
    }
    let answer = read(&served, TAGS, json!({ "query": "nothing" })).await;
    assert_eq!(answer, Ok(json!({ "tags": [] })));
    let key = wiki.key_with(&["read:pages"], "team");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let answer = read(&served, TAGS, json!({ "query": "" })).await;
    assert_eq!(
        answer,
        Ok(json!({ "tags": [{ "tag": "meeting", "pages": 2 }, { "tag": "team", "pages": 4 }] }))
    );
}

#[tokio::test]
async fn no_read_sends_a_mutation_or_leaves_a_record() {
    let (wiki, served) = sample(Setup::admin).await;
    let key = wiki.keys().admin.clone();
    all_seven(&wiki, &key).await;
    let kinds: Vec<OperationKind> = wiki.requests().iter().map(|seen| seen.kind).collect();
    assert!(kinds.len() > 7 && kinds.iter().all(|kind| *kind == OperationKind::Query));
    assert_eq!(served.records().len(), 0);
}
