//! The form of answers: one line, text and structured content alike; what has its default is left
//! out, and only then; what was not read is named.

use wikijs_gate::page::Field;

use crate::prelude::*;

/// A page that has its default in every field that has one.
fn plain() -> PageRow {
    titled("answers/plain", "Plain", "Zebra\n").but(|row| row.is_published = true)
}

/// A page that has its default in none of them.
fn dressed() -> PageRow {
    PageRow {
        path: "answers/dressed".to_owned(),
        title: "Dressed".to_owned(),
        description: Some("Of stripes".to_owned()),
        content: "Zebra\n".to_owned(),
        tags: vec!["striped".to_owned()],
        is_published: false,
        is_private: true,
        publish_start_date: "2026-01-01T00:00:00.000Z".to_owned(),
        publish_end_date: "2030-01-01T00:00:00.000Z".to_owned(),
        script_css: "a{b:c}".to_owned(),
        script_js: "f()".to_owned(),
        ..PageRow::default()
    }
}

/// The fields that are left out where they have their default: all but those that every page has.
fn left_out() -> Vec<&'static str> {
    let may_be_left_out = |field: &Field| match field {
        Field::Locale | Field::Path | Field::Title | Field::Content | Field::Editor => false,
        Field::Description
        | Field::Tags
        | Field::IsPublished
        | Field::IsPrivate
        | Field::PublishStartDate
        | Field::PublishEndDate
        | Field::ScriptCss
        | Field::ScriptJs => true,
    };
    let fields = Field::ALL.into_iter().filter(may_be_left_out);
    fields.map(Field::name).collect()
}

/// Those that the wiki's list has.
const LISTED: [&str; 4] = ["description", "tags", "isPublished", "isPrivate"];

/// Of each field, a `+` if it is told, a `?` if it is named as not read, else a `-`: it has its default.
fn fields(page: &Value, unavailable: &Value, names: &[&str]) -> String {
    names
        .iter()
        .map(|name| match (page.get(*name), unavailable.get(*name)) {
            (Some(_), None) => '+',
            (None, Some(reason)) => {
                assert!(reason.as_str().unwrap().len() > 5, "{reason}");
                '?'
            }
            (None, None) => '-',
            (Some(_), Some(_)) => panic!("{name} is told and not: {page}"),
        })
        .collect()
}

/// A page's own answer and its line of a list, in these signs.
async fn told(served: &Served, id: i64) -> (String, String) {
    let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
    let list = json!({ "path": "answers" });
    let list = served.call(LIST, list).await.unwrap();
    let mut pages = list["pages"].as_array().unwrap().iter();
    let line = pages.find(|page| page["id"] == id).unwrap();
    (
        fields(&page, &page["unavailable"], &left_out()),
        fields(line, &list["unavailable"], &LISTED),
    )
}

/// With every kind of key: a field that says nothing has its default, and of a page that has none
/// every field is told or named as not read.
#[tokio::test]
async fn a_field_is_left_out_only_where_it_was_read_and_has_its_default() {
    let wiki = sample_wiki().await;
    let (plain, dressed) = wiki.with_store(|store| (store.add(plain()), store.add(dressed())));
    let keys = wiki.keys().clone();
    for (key, of_plain, of_dressed) in [
        (&keys.admin, "--------", "++++++++"),
        (&keys.editor, "--------", "++++++++"),
        (&keys.writer, "--------", "++++++++"),
        (&keys.readonly, "----????", "++++????"),
        (&keys.reader, "----????", "++++????"),
    ] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let (page, line) = told(&served, plain).await;
        assert_eq!((page.as_str(), line.as_str()), (of_plain, "----"));
        let (page, line) = told(&served, dressed).await;
        assert_eq!((page.as_str(), line.as_str()), (of_dressed, "++++"));
    }
    // A list by tags does not know all tags of its pages, and says so.
    let served = Setup::admin(&wiki).serve().await;
    let list = served.call(LIST, json!({ "tags": ["striped"] })).await;
    let list = list.unwrap();
    let line = &list["pages"][0];
    assert_eq!(fields(line, &list["unavailable"], &LISTED), "+?++");
    // Nor does an old version keep all fields.
    let edit = json!({ "id": dressed, "title": "Dressed anew" });
    served.confirmed(UPDATE, edit).await.unwrap();
    let history = json!({ "id": dressed });
    let history = served.call(HISTORY, history).await;
    let version = history.unwrap()["entries"][0]["versionId"].clone();
    let old = json!({ "id": dressed, "version": version });
    let old = served.call(BY_ID, old).await.unwrap();
    assert_eq!(fields(&old, &old["unavailable"], &left_out()), "+?++++??");
    // Beside a part, an outline or another view no field is told but the page's names.
    for how in [
        json!({ "lines": "1-1" }),
        json!({ "view": "outline" }),
        json!({ "view": "text" }),
        json!({ "view": "rendered" }),
    ] {
        let mut arguments = how;
        arguments["id"] = json!(dressed);
        let part = served.call(BY_ID, arguments).await.unwrap();
        assert_eq!(fields(&part, &json!({}), &left_out()), "--------", "{part}");
    }
}

/// One good call of each of the ten tools, with what it answers.
fn calls(wiki: &DemoWiki) -> Value {
    let id = id_of(wiki, "docs");
    json!([
        [SEARCH, { "query": "linux" }],
        [LIST, {}],
        [BY_PATH, { "path": "docs" }],
        [BY_ID, { "ids": [id, id] }],
        [TREE, { "depth": 3 }],
        [HISTORY, { "id": id }],
        [HISTORY, { "id": id, "compare": { "from": "current" } }],
        [TAGS, {}],
        [CREATE, { "path": "answers/new", "title": "New", "content": "x" }],
        [UPDATE, { "id": id, "title": "Other" }],
        [UPDATE, { "id": id, "title": "Documentation" }],
        [DELETE, { "id": id }],
    ])
}

/// Every default that somebody could say in an answer, by the places where it stands.
fn defaults(value: &Value, at: &str) -> Vec<String> {
    let is_default = match value {
        Value::Bool(said) => *said == (at.ends_with(".isPublished")),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        // A list that is the answer itself says that nothing was found.
        Value::Array(items) => items.is_empty() && at.matches('.').count() > 1,
        Value::Object(members) => members.is_empty(),
        Value::Null => true,
    };
    let own = is_default.then(|| format!("{at} {value}"));
    let below: Vec<String> = match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|item| defaults(item, &format!("{at}[]")))
            .collect(),
        Value::Object(members) => members
            .iter()
            // Values before and after are what they are.
            .filter(|(name, _)| *name != "changes")
            .flat_map(|(name, value)| defaults(value, &format!("{at}.{name}")))
            .collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(below).collect()
}

#[tokio::test]
async fn no_answer_says_a_default() {
    let (wiki, served) = sample(|wiki| Setup::editor(wiki).indexed()).await;
    for (tool, arguments) in json_rows(&calls(&wiki)) {
        let answer = served.call(tool, arguments).await.unwrap();
        assert_eq!(defaults(&answer, tool), Vec::<String>::new(), "{answer}");
        // Where a person sees a page is said of single pages alone.
        let lists = ["hits", "pages", "nodes"].map(|name| answer[name].to_string());
        assert!(
            !lists.iter().any(|list| list.contains("\"url\"")),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn text_is_one_line_unless_it_is_to_be_indented() {
    let wiki = sample_wiki().await;
    let text = async |indent: &str, tool: &str, arguments: Value| {
        let setup = Setup::editor(&wiki);
        let served = setup.with("WIKI_JSON_INDENT", indent).serve().await;
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = arguments.as_object().cloned();
        let result = served.client.call_tool(request).await.unwrap();
        let block = serde_json::to_value(&result.content).unwrap();
        let text = block[0]["text"].as_str().unwrap().to_owned();
        (text, result)
    };
    let (calls, wrong) = (calls(&wiki), || json!({ "id": 99_999 }));
    let calls: Vec<(&str, Value)> = json_rows(&calls);
    for (tool, arguments) in calls.into_iter().take(8).chain([(BY_ID, wrong())]) {
        let (line, result) = text("0", tool, arguments.clone()).await;
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line, value.to_string(), "{tool}");
        let _ = read(&result);
        let (indented, _) = text("2", tool, arguments.clone()).await;
        let again: Value = serde_json::from_str(&indented).unwrap();
        assert_eq!(
            indented,
            serde_json::to_string_pretty(&again).unwrap(),
            "{tool}"
        );
        let keys = |value: &Value| {
            value
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(&again), keys(&value), "{tool}");
        let (one, _) = text("1", tool, arguments).await;
        assert!(one.starts_with("{\n \""), "{one}");
    }
}

#[tokio::test]
async fn a_list_has_twenty_pages_unless_asked_and_names_authors_where_the_key_may_know() {
    let wiki = sample_wiki().await;
    for number in 0..30 {
        wiki.with_store(|store| {
            let path = format!("answers/{number}");
            let author = format!("Author {number}");
            store.add(PageRow {
                path,
                author,
                ..plain()
            })
        });
    }
    let list = |more: Value| {
        let mut arguments = json!({ "path": "answers", "fields": ["path", "lastAuthor"] });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    for (key, layers) in [(&wiki.keys().admin, 1), (&wiki.keys().writer, 2)] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let served = served.acquainted().await;
        let short = served.call(LIST, list(json!({}))).await.unwrap();
        assert_eq!(short["pages"].as_array().unwrap().len(), 20);
        let plain = json!({ "path": "answers", "limit": 30 });
        served.call(LIST, plain).await.unwrap();
        wiki.clear_requests();
        call_ok(&served, LIST, list(json!({ "limit": 30 }))).await;
        let listed = wiki.requests().len();
        let answer = call_ok(&served, LIST, list(json!({ "limit": 30 }))).await;
        // Operations of one request are seen one by one: each page is asked for once a layer.
        assert_eq!(listed, 1 + layers * 30);
        for page in answer["pages"].as_array().unwrap() {
            let number = page["path"].as_str().unwrap();
            let number = number.trim_start_matches("answers/");
            assert_eq!(page["lastAuthor"], format!("Author {number}"));
            assert_eq!(page.as_object().unwrap().len(), 3);
        }
        assert_eq!(answer.get("unavailable"), None);
    }
    let served = Setup::readonly(&wiki).serve().await;
    let answer = served.call(LIST, list(json!({}))).await.unwrap();
    let expected = json!({ "lastAuthor": "write:pages" });
    assert_eq!(answer["unavailable"], expected);
    assert_eq!(answer["pages"][0].get("lastAuthor"), None);
}

#[tokio::test]
async fn a_history_says_which_entries_were_not_compared() {
    let (wiki, served) = sample(|wiki| {
        Setup::editor(wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
    })
    .await;
    let id = id_of(&wiki, "docs");
    for number in 0..23 {
        let edit = json!({ "id": id, "description": format!("{number}"), "confirm": "open-sesame-please" });
        served.call(UPDATE, edit).await.unwrap();
    }
    let history = async |offset: u64, limit: u64| {
        let arguments = json!({ "id": id, "offset": offset, "limit": limit });
        served.call(HISTORY, arguments).await.unwrap()
    };
    let compared = |answer: &Value| {
        let entries = answer["entries"].as_array().unwrap().iter();
        entries
            .filter(|entry| entry.get("changed").is_some())
            .count()
    };
    let first = history(0, 20).await;
    assert_eq!((compared(&first), first.get("unavailable")), (20, None));
    let all = history(0, 50).await;
    assert_eq!(compared(&all), 20);
    says(&all["unavailable"]["changed"], "offset");
    // The oldest made the page, and has nothing before it.
    let rest = history(20, 20).await;
    assert_eq!((compared(&rest), rest.get("unavailable")), (2, None));
}
