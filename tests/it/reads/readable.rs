//! What may not be read is as if it were not there, at every exit: each answer of a server that
//! may not read some pages is, to the letter, that of a server whose wiki never had them.

use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ReadResourceRequestParams,
    Reference,
};
use rmcp::service::ServiceError;
use serde_json::Map;

use crate::prelude::*;

const ALL: &str = "pages,undo,proposals,drafts,memory,comments,assets";
/// Words that stand in hidden pages alone.
const NEEDLES: [&str; 4] = [
    "xyloquartz",
    "docs/vault",
    "runbooks/veiled",
    "zirconbranch",
];

/// Files that may not be read in one of them, and are not in the other.
const HIDDEN_ASSETS: [&str; 4] = [
    "xyloquartz.csv",
    "vault/plan.csv",
    "docs/vault/plan.csv",
    "docs/vault/below/deep.csv",
];

/// Pages that may not be read: by an allowed prefix, by a denied one, by tags. They link to pages
/// that may be, share their tags, stand beside and below them, and were changed last.
fn hide_some(wiki: &DemoWiki) -> Vec<i64> {
    let page = |path: &str, tags: &[&str], locale: &str| PageRow {
        path: path.to_owned(),
        locale: locale.to_owned(),
        title: format!("Xyloquartz of {path}"),
        description: Some("xyloquartz, and backup".to_owned()),
        content: format!(
            "# Xyloquartz\n\nxyloquartz backup postgres [x](/en/docs/configuration) of {path}\n"
        ),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..PageRow::default()
    };
    wiki.with_store(|store| {
        for path in HIDDEN_ASSETS {
            store.add_asset(path, "text/csv", b"xyloquartz,backup\n");
        }
        [
            page("vault/plan", &["docs"], "en"),
            page("docs/vault", &["docs", "zirconbranch/a"], "en"),
            page("docs/vault/below/deep", &["docs"], "en"),
            page("docs/Vault-open", &["docs", "Secret-xyloquartz"], "en"),
            page("runbooks/veiled", &["runbook", "secret-xyloquartz"], "en"),
            page("runbooks/folder/veiled", &["secret-xyloquartz"], "en"),
            page("docs/vault", &["docs"], "de"),
        ]
        .map(|page| {
            let id = store.add(page);
            store.add_comment(id, "Xyloquartz", "xyloquartz said");
            id
        })
        .to_vec()
    })
}

/// What bounds reading in both wikis.
fn bounded(setup: Setup) -> Setup {
    setup
        .toolsets(ALL)
        .with(
            "WIKI_ALLOWED_READ_PATH_PREFIXES",
            "docs,runbooks,home,glossary",
        )
        .with("WIKI_DENIED_READ_PATH_PREFIXES", "docs/VAULT")
        .with("WIKI_DENIED_READ_TAGS", "Secret-*")
}

/// Calls of every tool that reads, and writes that end before anything is sent.
fn questions(ids: &[i64], visible: i64) -> Vec<Value> {
    let mut all: Vec<Value> = json_rows(&json!([
        [LIST, {}],
        [LIST, { "limit": 3 }],
        [LIST, { "limit": 100, "orderBy": "updated" }],
        [LIST, { "tags": ["docs"] }],
        [LIST, { "tags": ["secret-xyloquartz"] }],
        [LIST, { "tags": ["zirconbranch/*"] }],
        [LIST, { "path": "docs/vault" }],
        [LIST, { "path": "vault" }],
        [LIST, { "linksTo": visible }],
        [LIST, { "linksTo": "docs/vault" }],
        [LIST, { "locale": "de" }],
        [TREE, {}],
        [TREE, { "depth": 5 }],
        [TREE, { "path": "docs", "depth": 3 }],
        [TREE, { "path": "docs/vault" }],
        [TREE, { "path": "runbooks/folder" }],
        [TREE, { "path": "vault" }],
        [TAGS, {}],
        [TAGS, { "query": "zircon" }],
        [SEARCH, { "query": "xyloquartz" }],
        [SEARCH, { "query": "backup" }],
        [SEARCH, { "query": "backup", "limit": 1 }],
        [SEARCH, { "relatedTo": visible }],
        [SEARCH, { "query": "xylo", "match": "exact" }],
        [SEARCH, { "query": "xylo.*z", "match": "regex" }],
        [SEARCH, { "query": "backup", "match": "exact" }],
        [LIST, { "brokenLinks": true }],
        [LIST, { "orphans": true }],
        [HISTORY, { "since": "2020-01-01" }],
        [HISTORY, { "since": "2020-01-01", "path": "docs/vault" }],
        [BY_ID, { "id": visible, "view": "links" }],
        [BY_ID, { "id": visible, "view": "metadata" }],
        [BY_PATH, { "path": "Xyloquartz of docs/vault" }],
        [BY_PATH, { "path": "veiled" }],
        [BY_PATH, { "path": "configuratio" }],
        [DELETE, { "id": visible }],
        [UPDATE, { "id": visible, "path": "docs/settings" }],
        [UPDATE, { "id": visible, "path": "docs/vault/new" }],
        [UPDATE, { "id": visible, "tags": ["secret-new"] }],
        [BULK, { "path": "docs", "addTags": ["one"] }],
        [BULK, { "tags": ["docs"], "addTags": ["one"] }],
        [BULK, { "linksTo": visible, "addTags": ["one"] }],
        [BULK, { "ids": ids, "addTags": ["one"] }],
        [BULK, { "path": "docs/vault", "addTags": ["one"] }],
        [LIST_COMMENTS, { "id": visible }],
        [ADD_COMMENT, { "id": visible, "content": "Mine", "replyTo": 3 }],
        [UPDATE_COMMENT, { "id": visible, "comment": 3, "content": "Mine" }],
        [DELETE_COMMENT, { "id": visible, "comment": 3 }],
        [LIST_ASSETS, {}],
        [LIST_ASSETS, { "folder": "docs" }],
        [GET_ASSET, { "path": "docs/seen.csv", "usedBy": true }],
        [LIST_PROPOSALS, {}],
        [CHANGE_SET, {}],
        [SUBMIT, { "draft": "none" }],
        [DISCARD, { "draft": "none" }],
        [UNDO, { "callId": "last" }],
        ["wikijs_list_bin", {}],
        ["wikijs_restore_page", { "page": "vault/plan" }],
        [RECALL, {}],
        [RECALL, { "query": "xyloquartz backup" }],
        [RECALL, { "type": "fact", "limit": 1 }],
    ]));
    for path in HIDDEN_ASSETS {
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        all.push(json!([LIST_ASSETS, { "folder": folder }]));
        for path in [path.to_owned(), path.to_uppercase(), format!("/{path}/")] {
            all.push(json!([GET_ASSET, { "path": path }]));
            all.push(json!([UPLOAD, { "path": path, "text": "x", "replace": true }]));
            all.push(json!([RENAME_ASSET, { "path": path, "name": "other.csv" }]));
            all.push(json!([DELETE_ASSET, { "path": path }]));
        }
    }
    let paths = "docs/vault docs/VAULT/below/deep vault/plan runbooks/veiled en/docs/vault \
        docs/vault-open";
    for path in paths.split(' ') {
        all.push(json!([BY_PATH, { "path": path }]));
        let is_by_tag = path == "runbooks/veiled" || path == "docs/vault-open";
        if !is_by_tag {
            all.push(json!([CREATE, { "path": path, "title": "New", "content": "x" }]));
        }
    }
    for id in ids {
        all.extend(json_rows::<Value>(&json!([
            [BY_ID, { "id": id }],
            [BY_ID, { "id": id, "view": "metadata" }],
            [BY_ID, { "id": id, "view": "rendered" }],
            [HISTORY, { "id": id }],
            [HISTORY, { "id": id, "compare": { "from": "2020-01-01" } }],
            [LIST, { "linksTo": id }],
            [SEARCH, { "relatedTo": id }],
            [UPDATE, { "id": id, "title": "Other" }],
            [UPDATE, { "id": id, "edits": [{ "oldText": "x", "newText": "y" }] }],
            [DELETE, { "id": id }],
            [LIST_COMMENTS, { "id": id }],
            [ADD_COMMENT, { "id": id, "content": "Mine" }],
            [DELETE_COMMENT, { "id": id, "comment": 3 }],
            [REMEMBER, { "content": "of xyloquartz", "page": id }],
            [RECALL, { "page": id }],
            [CREATE, { "path": "docs/copy", "title": "Copy", "fromPage": id }],
        ])));
    }
    all
}

/// What differs from call to call: its id and token, the time, the address of the wiki.
fn plain(mut told: Value, address: &str) -> String {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let names = "callId previewId confirm expiresAt confirmExpiresAt";
                for name in names.split(' ') {
                    if members.contains_key(name) {
                        members.insert(name.to_owned(), Value::Null);
                    }
                }
                members.values_mut().for_each(walk);
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut told);
    let times = regex::Regex::new(r"20\d\d-\d\d-\d\dT[0-9:.]+Z?").unwrap();
    let told = if address.is_empty() {
        told.to_string()
    } else {
        told.to_string().replace(address, "WIKI")
    };
    let host = address.strip_prefix("http://").unwrap_or(address);
    let told = if host.is_empty() {
        told
    } else {
        told.replace(host, "HOST")
    };
    let told = times.replace_all(&told, "TIME").into_owned();
    // A cursor begins with the mark of its list, which is the wiki's own, too.
    let marks = regex::Regex::new("\"nextCursor\":\"[^\"]{11}").unwrap();
    marks
        .replace_all(&told, "\"nextCursor\":\"MARK")
        .into_owned()
}

async fn resource(served: &Served, uri: &str) -> Value {
    let read = served
        .client
        .read_resource(ReadResourceRequestParams::new(uri));
    match read.await {
        Ok(read) => serde_json::to_value(read).unwrap(),
        Err(ServiceError::McpError(error)) => serde_json::to_value(error).unwrap(),
        Err(other) => panic!("{other}"),
    }
}

#[expect(deprecated, reason = "protocols up to 2025-11-25 subscribe so")]
async fn subscribed(served: &Served, uri: &str) -> Value {
    let request = rmcp::model::SubscribeRequestParams::new(uri);
    match served.client.subscribe(request).await {
        Ok(()) => "subscribed".into(),
        Err(ServiceError::McpError(error)) => serde_json::to_value(error).unwrap(),
        Err(other) => panic!("{other}"),
    }
}

async fn completed(served: &Served, of: Reference, argument: &str, value: &str) -> Value {
    let argument = ArgumentInfo::new(argument, value);
    let request = CompleteRequestParams::new(of, argument);
    let answer = served.client.complete(request).await.unwrap();
    serde_json::to_value(answer.completion).unwrap()
}

/// Everything that a client is told beside the tools.
async fn beside_the_tools(served: &Served) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    let listed = served.client.list_all_resources().await.unwrap();
    told.push((
        "resources".to_owned(),
        serde_json::to_value(listed).unwrap(),
    ));
    let uris = "wikijs://status wikijs://en/docs/vault wikijs://en/runbooks/veiled \
        wikijs://de/docs/vault wikijs://en/vault/plan";
    for uri in uris.split(' ') {
        told.push((uri.to_owned(), resource(served, uri).await));
        if uri != "wikijs://status" {
            told.push((
                format!("subscription to {uri}"),
                subscribed(served, uri).await,
            ));
        }
    }
    let template = || Reference::for_resource("wikijs://{locale}/{+path}");
    for (argument, value) in [
        ("path", ""),
        ("path", "docs/"),
        ("path", "va"),
        ("locale", ""),
    ] {
        let answer = completed(served, template(), argument, value).await;
        told.push((format!("completion of {argument} {value:?}"), answer));
    }
    for prompt in served.client.list_all_prompts().await.unwrap() {
        for argument in prompt.arguments.unwrap_or_default() {
            for value in ["", "docs/v", "runbooks/"] {
                let of = Reference::for_prompt(&prompt.name);
                let answer = completed(served, of, &argument.name, value).await;
                told.push((
                    format!("{} {} {value:?}", prompt.name, argument.name),
                    answer,
                ));
            }
        }
        let arguments = [
            ("since", "2026-11-01"),
            ("path", "docs"),
            ("example", "docs"),
            ("about", "x"),
            ("id", "0123456789abcdef"),
        ];
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value.into()));
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        let request = GetPromptRequestParams::new(&prompt.name).with_arguments(arguments);
        if let Ok(got) = served.client.get_prompt(request).await {
            told.push((prompt.name.clone(), serde_json::to_value(got).unwrap()));
        }
    }
    told
}

/// The two wikis, the hidden pages of the first, and a page that may be read.
async fn two_wikis() -> (DemoWiki, DemoWiki, Vec<i64>, i64) {
    let (with, without) = (sample_wiki().await, sample_wiki().await);
    for wiki in [&with, &without] {
        wiki.with_store(|store| store.add_asset("docs/seen.csv", "text/csv", b"seen,backup\n"));
    }
    let hidden = hide_some(&with);
    let visible = id_of(&with, "docs/configuration");
    assert_eq!(visible, id_of(&without, "docs/configuration"));
    (with, without, hidden, visible)
}

/// A server that may read everything, with a memory of each hidden page; their ids.
async fn remembering(wiki: &DemoWiki, hidden: &[i64]) -> (Served, Vec<String>) {
    let open = Setup::admin(wiki).toolsets(ALL);
    let open = open.serve().await;
    let mut ids = Vec::new();
    for page in hidden {
        let about = json!({ "content": format!("xyloquartz of {page}"), "page": page });
        let kept = open.call(REMEMBER, about).await.unwrap();
        ids.push(kept["id"].as_str().unwrap().to_owned());
    }
    (open, ids)
}

#[tokio::test]
async fn every_answer_is_that_of_a_wiki_without_the_hidden_pages() {
    let (with, without, hidden, visible) = two_wikis().await;
    let mut different = Vec::new();
    let keys: [fn(&wikijs_gate::demo::Keys) -> &String; 3] = [
        |keys| &keys.admin,
        |keys| &keys.editor,
        |keys| &keys.readonly,
    ];
    for key in keys {
        let (open, memories) = remembering(&with, &hidden).await;
        let one = bounded(Setup::of(&with, key).indexed()).in_dir_of(&open);
        let one = one.serve().await;
        let other = bounded(Setup::of(&without, key).indexed()).serve().await;
        let mut questions = questions(&hidden, visible);
        for id in memories {
            questions.push(json!([FORGET, { "id": id }]));
            questions.push(json!([REMEMBER, { "content": "other", "id": id }]));
        }
        let questions = Value::Array(questions);
        let questions: Vec<(&str, Value)> = json_rows(&questions);
        let asked: BTreeSet<&str> = questions.iter().map(|(tool, _)| *tool).collect();
        for tool in one.app.registry().definitions() {
            let is_asked =
                asked.contains(tool.name) || [GET_PROPOSAL, WITHDRAW].contains(&tool.name);
            assert!(is_asked, "{}", tool.name);
        }
        for (tool, arguments) in questions {
            let (told, wanted) = tokio::join!(
                one.call(tool, arguments.clone()),
                other.call(tool, arguments.clone())
            );
            let told = plain(told.unwrap_or_else(|error| error), &with.address());
            let wanted = plain(wanted.unwrap_or_else(|error| error), &without.address());
            if told != wanted {
                different.push(format!("{tool} {arguments}\n  {told}\n  {wanted}"));
            }
        }
        let (told, wanted) = (beside_the_tools(&one).await, beside_the_tools(&other).await);
        assert_eq!(told.len(), wanted.len());
        for ((name, told), (_, wanted)) in told.into_iter().zip(wanted) {
            let (told, wanted) = (
                plain(told, &with.address()),
                plain(wanted, &without.address()),
            );
            if name == "wikijs://status" {
                // It tells times and counts of its own run.
                for needle in NEEDLES {
                    assert!(!told.contains(needle), "{name} {told}");
                }
            } else if told != wanted {
                different.push(format!("{name}\n  {told}\n  {wanted}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(mutations(&with).is_empty());
}

#[tokio::test]
async fn a_client_reads_within_its_grant_alone_and_others_read_on() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let hidden = hide_some(&wiki);
    let wide = names.client("wide");
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let narrow = names.add(
        "narrow",
        Grant {
            read_prefixes: texts(&["docs"]),
            denied_read_prefixes: texts(&["docs/vault"]),
            denied_read_tags: texts(&["secret-xyloquartz"]),
            ..Grant::default()
        },
    );
    let server = Setup::admin(&wiki)
        .indexed()
        .with("WIKI_DENIED_READ_PATH_PREFIXES", "team")
        .naming(&names)
        .host()
        .await;
    let search = json!({ "query": "xyloquartz" });
    // Whichever asks first fills no index for the other.
    let told = server.call(&narrow, SEARCH, search.clone()).await.unwrap();
    assert!(!told.to_string().contains("loquartz"), "{told}");
    let told = server.call(&wide, SEARCH, search.clone()).await.unwrap();
    assert!(told.to_string().contains("vault"), "{told}");
    let told = server.call(&narrow, SEARCH, search).await.unwrap();
    assert!(!told.to_string().contains("loquartz"), "{told}");
    for id in hidden {
        let read = json!({ "id": id });
        let told = server.call(&narrow, BY_ID, read.clone()).await;
        assert_eq!(told.unwrap_err()["code"], "PAGE_NOT_FOUND");
        server.call(&wide, BY_ID, read).await.unwrap();
    }
    let pages = server.ok(&narrow, LIST, json!({ "limit": 100 })).await;
    let paths = pages["pages"].as_array().unwrap().iter();
    let paths = paths.map(|page| page["path"].as_str().unwrap());
    assert!(paths.clone().count() > 3);
    for path in paths {
        assert!(path.starts_with("docs") && !path.contains("ault"), "{path}");
    }
    let home = json!({ "path": "home" });
    let told = server.call(&narrow, BY_PATH, home.clone()).await;
    assert_eq!(told.unwrap_err()["code"], "PAGE_NOT_FOUND");
    server.call(&wide, BY_PATH, home).await.unwrap();
    // What is counted for all counts hidden pages, too.
    let counted = server.send("GET", "/metrics", &narrow, "").await;
    assert_eq!(counted.status, 403);
    // The server's own bounds hold for all.
    let team = json!({ "path": "team/onboarding" });
    server.fails(&wide, BY_PATH, team, "PAGE_NOT_FOUND").await;
}

#[tokio::test]
async fn what_is_on_record_of_hidden_pages_is_not_told() {
    let wiki = sample_wiki().await;
    let hidden = hide_some(&wiki);
    let dir = Arc::new(TempDir::new().unwrap());
    let setup = |wiki: &DemoWiki| {
        let setup = Setup::admin(wiki).toolsets(ALL);
        setup.in_dir(&dir)
    };
    let all = setup(&wiki).serve().await;
    let mut calls = Vec::new();
    for (tool, arguments) in json_rows(&json!([
        [UPDATE, { "id": hidden[1], "title": "Xyloquartz, changed" }],
        [UPDATE, { "id": hidden[4], "description": "xyloquartz too" }],
        [DELETE, { "id": hidden[2] }],
        [DELETE, { "id": hidden[5] }],
        [BULK, { "ids": [hidden[0], hidden[6]], "addTags": ["more"] }],
    ])) {
        let done = all.confirmed(tool, arguments).await.unwrap();
        calls.push(done["callId"].as_str().unwrap().to_owned());
    }
    drop(all);
    let dry = setup(&wiki).dry().serve().await;
    let mut proposals = Vec::new();
    let visible = id_of(&wiki, "docs/configuration");
    for (tool, arguments) in json_rows(&json!([
        [UPDATE, { "id": hidden[1], "title": "Xyloquartz, proposed" }],
        [UPDATE, { "id": hidden[4], "title": "Xyloquartz, proposed" }],
        // A set is hidden by any of its pages.
        [BULK, { "ids": [visible, hidden[6]], "addTags": ["other"] }],
    ])) {
        let made = dry.call(tool, arguments).await.unwrap();
        let proposal = made["proposal"]
            .as_str()
            .or(made["proposal"]["id"].as_str());
        proposals.push(proposal.unwrap_or_else(|| panic!("{made}")).to_owned());
    }
    drop(dry);

    let served = bounded(setup(&wiki)).serve().await;
    let none = served
        .call(UNDO, json!({ "callId": "0123456789abcdef" }))
        .await;
    let none = plain(none.unwrap_err(), "");
    for call in calls {
        let told = served.call(UNDO, json!({ "callId": call })).await;
        assert_eq!(plain(told.unwrap_err(), ""), none);
        let set = json!({ "id": call });
        served.call(CHANGE_SET, set).await.unwrap_err();
    }
    let unknown = json!({ "id": "0123456789abcdef" });
    let none = served.call(GET_PROPOSAL, unknown).await.unwrap_err();
    for id in proposals {
        for tool in [GET_PROPOSAL, WITHDRAW] {
            let told = served.call(tool, json!({ "id": id })).await;
            assert_eq!(told.unwrap_err(), none);
        }
    }
    let listed = served.call(LIST_PROPOSALS, json!({})).await.unwrap();
    assert_eq!(listed["proposals"], json!([]));
    let changes = json!({ "since": "2020-01-01", "limit": 100 });
    let changes = served.call(HISTORY, changes).await.unwrap();
    let status = resource(&served, "wikijs://status").await;
    for told in [changes, status] {
        for needle in NEEDLES {
            assert!(!told.to_string().contains(needle), "{needle}: {told}");
        }
    }
}

#[tokio::test]
async fn a_page_that_is_tagged_or_moved_meanwhile_is_gone_at_once() {
    let (wiki, served) = sample(|wiki| bounded(Setup::admin(wiki).indexed())).await;
    let id = id_of(&wiki, "docs/configuration");
    let read = json!({ "id": id });
    let list = json!({ "path": "docs/configuration" });
    call_ok(&served, SEARCH, json!({ "query": "configuration" })).await;
    served.call(BY_ID, read.clone()).await.unwrap();
    wiki.with_store(|store| store.rewrite(id, |page| page.tags.push("secret-now".to_owned())));
    fails(&served, BY_ID, read.clone(), "PAGE_NOT_FOUND").await;
    let told = served.call(LIST, list.clone()).await.unwrap();
    assert_eq!(told["pages"], json!([]));
    let update = json!({ "id": id, "title": "Other" });
    fails(&served, UPDATE, update, "PAGE_NOT_FOUND").await;
}

#[tokio::test]
async fn a_hidden_page_keeps_its_place_and_says_nothing_else() {
    let wiki = sample_wiki().await;
    hide_some(&wiki);
    let served = bounded(Setup::admin(&wiki)).serve().await;
    let create = json!({ "path": "runbooks/veiled", "title": "New", "content": "x" });
    let told = fails(&served, CREATE, create, "PAGE_EXISTS").await;
    lacks(&told.to_string().to_lowercase(), "xyloquartz");
    let outside = json!({ "path": "vault/new", "title": "New", "content": "x" });
    fails(&served, CREATE, outside, "PATH_NOT_ALLOWED").await;
    let tagged =
        json!({ "path": "docs/new", "title": "New", "content": "x", "tags": ["secret-x"] });
    fails(&served, CREATE, tagged, "PATH_NOT_ALLOWED").await;
    // What may be read is written as before.
    let page = json!({ "path": "docs/new", "title": "New", "content": "x", "tags": ["open"] });
    let made = is_applied(&served, CREATE, page).await;
    let read = json!({ "id": made["target"]["id"] });
    served.call(BY_ID, read).await.unwrap();
}

/// What asks the wiki and gives no page away that was not looked at before, or only to the writer.
const ASKS_FOR_NO_PAGE: [(&str, &str); 16] = [
    ("pages/authors", "adds to pages that were read"),
    ("client", "sends, and understands nothing"),
    (
        "pages/content",
        "reads for the index, which holds its pages against the list at every question",
    ),
    (
        "pages/editor_view",
        "one layer of a page; page.rs looks at the whole",
    ),
    ("transport/batch", "sends for content.rs"),
    ("transport/classify", "the source is an error's"),
    ("operations/mutate", "the writer's"),
    ("attached/upload", "the writer's"),
    ("transport/reach", "asks whose wiki it is"),
    ("pages/rendered", "a view of a page that was read"),
    ("rights/pages", "of a page that was read"),
    ("rights/site", "what the site is set up as"),
    ("rights/key_status", "what the key is taken for"),
    ("pages/styles", "one layer of a page that was read"),
    (
        "pages/tree",
        "makes trees from a list of readable pages; asks for places of theirs",
    ),
    (
        "pages/shared_list",
        "lists what list.rs and changes.rs look at",
    ),
];

#[test]
fn whatever_asks_the_wiki_for_pages_looks_whether_they_may_be_read() {
    let asks = [
        "query::<",
        "batch::<",
        "pair::<",
        "many::<",
        ".transport.",
        ".read_by_",
        ".rows(",
        ".source(",
    ];
    let looks = [
        ".scope()",
        ".bounds(",
        "bounds_by_tags()",
        ".sights()",
        "admitted_ids()",
        "seen_of(",
        "admit_id(",
        "admitted_one(",
    ];
    let mut found = BTreeSet::new();
    for (path, source) in crate::house::sources::sources() {
        let name = path.strip_prefix("src/wiki/");
        let Some(name) = name.and_then(|name| name.strip_suffix(".rs")) else {
            continue;
        };
        let is_apart = ["transport", "transport/look", "rights/readable_pages"].contains(&name);
        if is_apart || name.ends_with("/tests") {
            continue;
        }
        let (source, _) = source.split_once("mod tests {").unwrap_or((&source, ""));
        let asks = asks.iter().any(|ask| source.contains(ask));
        if asks && !looks.iter().any(|look| source.contains(look)) {
            found.insert(name.to_owned());
        }
    }
    let known = ASKS_FOR_NO_PAGE.iter().map(|(name, _)| (*name).to_owned());
    let known: BTreeSet<String> = known.collect();
    assert_eq!(found, known);
}

/// The files that may read without bounds, and why.
const READS_WITHOUT_BOUNDS: [(&str, &str); 7] = [
    ("wiki/rights/readable_pages.rs", "makes the reader"),
    ("wiki/operations/mutate.rs", "settles a write by its page"),
    (
        "wiki/pages/deleted_pages.rs",
        "a page that is hidden now is not deleted; it tells nothing but that",
    ),
    (
        "write/undo/deletions.rs",
        "a page that is hidden now is not gone; of what it read it tells nothing",
    ),
    (
        "write/shared.rs",
        "settles a write even if nobody may read its page any more",
    ),
    (
        "write/links/new_place.rs",
        "a hidden page takes its place all the same; of the page it tells nothing",
    ),
    (
        "write/source/swap.rs",
        "a hidden page takes a temporary place all the same; of the page it tells nothing",
    ),
];

#[test]
fn only_the_writer_reads_without_bounds() {
    let found = crate::house::promises::files_that_contain("unbounded()").into_iter();
    let known = READS_WITHOUT_BOUNDS.map(|(name, _)| format!("src/{name}"));
    assert_eq!(found.collect::<BTreeSet<_>>(), known.into());
}

#[tokio::test]
async fn a_history_does_not_name_the_hidden_place_that_a_page_came_from() {
    let wiki = sample_wiki().await;
    let id = wiki
        .with_page(titled("vault/plan", "Plan", "plan\n").but(|row| row.locale = "de".to_owned()));
    let all = Setup::admin(&wiki).serve().await;
    // The oldest entry of a history names no place, so the move is not the first.
    for change in [
        json!({ "title": "Plans" }),
        json!({ "path": "docs/plan" }),
        json!({ "title": "A plan" }),
    ] {
        let mut change = change;
        change["id"] = id.into();
        all.confirmed(UPDATE, change).await.unwrap();
    }
    let history = json!({ "id": id });
    let told = all.call(HISTORY, history.clone()).await;
    assert!(told.unwrap().to_string().contains("vault/plan"));
    let bounded = Setup::admin(&wiki).with("WIKI_DENIED_READ_PATH_PREFIXES", "de:vault");
    let bounded = bounded.serve().await;
    let told = bounded.call(HISTORY, history).await;
    let told = told.unwrap();
    assert!(!told.to_string().contains("vault/plan"), "{told}");
}
