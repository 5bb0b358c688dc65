//! Every way to say a change, made of one page and taken back, and what became of each field.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use wikijs_gate::page::Field;

/// The fields of a page by their names; what could not be read is absent.
pub(crate) type Fields = BTreeMap<&'static str, Value>;

/// A server to call, and another look at its wiki.
pub(crate) trait Site {
    /// Calls a tool: its answer, or its error.
    async fn call(&self, tool: &'static str, arguments: Value) -> Result<Value, Value>;
    /// The fields of a page as they are now; none if it is gone.
    async fn look(&self, id: i64) -> Fields;
}

/// What became of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It is as it was.
    Kept,
    /// It is as was asked for.
    Changed,
    /// It is neither, and the answer said so.
    Told,
    /// It is neither.
    Lost,
    /// It could not be looked at.
    Unread,
}

/// One write, and what became of each field.
#[derive(Debug)]
pub(crate) struct Row {
    /// How the change was said.
    pub(crate) way: String,
    /// What was answered: an outcome, or the code of an error.
    pub(crate) answer: String,
    /// The fields, in order of their names.
    pub(crate) fields: BTreeMap<&'static str, Mark>,
}

/// A way to say a change, and what shall come of it.
struct Way {
    name: &'static str,
    tool: &'static str,
    arguments: Value,
    expected: Value,
}

/// The names of all fields.
pub(crate) fn names() -> [&'static str; Field::ALL.len()] {
    Field::ALL.map(Field::name)
}

/// Styles in the form in which they are stored, with what the editor's view does not show.
pub(crate) const CSS: &str = "@import url(none.css);body{color:red}";

/// The fields that need a right of their own to be written.
const CODE: [(&str, &str); 2] = [("scriptCss", "write:styles"), ("scriptJs", "write:scripts")];

/// The content of a page that all ways can be tried on.
pub(crate) const CONTENT: &str = "---\nkey: value\n---\n\nBefore.\r\n\n# One\n\nodd \u{a0} spaces  \n\n```\n# no heading\n```\n\n## Two\n\nbelow\n\n# Three\n\nend\n";

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "=",
            Self::Changed => "*",
            Self::Told => "!",
            Self::Lost => "X",
            Self::Unread => "?",
        })
    }
}

impl Row {
    /// Whether no field was lost in silence.
    #[cfg_attr(
        test,
        expect(dead_code, reason = "the test looks at the marks themselves")
    )]
    pub(crate) fn is_good(&self) -> bool {
        self.fields.values().all(|mark| *mark != Mark::Lost)
    }

    fn of(
        way: impl Into<String>,
        answer: &Result<Value, Value>,
        before: &Fields,
        after: &Fields,
        expected: &Value,
    ) -> Self {
        let answer_of = |name: &str| match answer {
            Ok(value) => value[name].as_str().unwrap_or_default().to_owned(),
            Err(error) => error["code"].as_str().unwrap_or_default().to_owned(),
        };
        let mark = |name: &'static str| {
            // What is asked for in vain must leave everything as it was.
            let wanted = expected.get(name).filter(|_| answer.is_ok());
            let mark = match (wanted, before.get(name), after.get(name)) {
                (Some(wanted), _, Some(now)) if plain(name, wanted) == plain(name, now) => {
                    Mark::Changed
                }
                (None, Some(then), Some(now)) if plain(name, then) == plain(name, now) => {
                    Mark::Kept
                }
                (_, Some(_), Some(_)) if is_told(answer, name) => Mark::Told,
                (_, Some(_), Some(_)) | (Some(_), None, Some(_)) => Mark::Lost,
                _ => Mark::Unread,
            };
            (name, mark)
        };
        Self {
            way: way.into(),
            answer: answer_of("outcome"),
            fields: names().map(mark).into(),
        }
    }
}

/// Whether an error names the field as one that did not become as asked.
fn is_told(answer: &Result<Value, Value>, name: &str) -> bool {
    let fields = answer
        .as_ref()
        .err()
        .map(|error| &error["details"]["fields"]);
    fields
        .and_then(Value::as_array)
        .is_some_and(|fields| fields.contains(&json!(name)))
}

/// A value without what means nothing: the order of tags, white space in styles (W24).
fn plain(name: &str, value: &Value) -> String {
    match (name, value) {
        ("tags", Value::Array(tags)) => {
            let mut tags: Vec<String> = tags.iter().map(Value::to_string).collect();
            tags.sort();
            tags.join(",")
        }
        ("scriptCss", Value::String(css)) => css.split_whitespace().collect(),
        (_, value) => value.to_string(),
    }
}

/// The arguments that create a page with something in every field.
pub(crate) fn page(path: &str) -> Value {
    json!({
        "path": path,
        "title": "Fidelity",
        "description": "Something in every field",
        "content": CONTENT,
        "tags": ["zeta", "alpha"],
        "isPublished": true,
        "publishStartDate": "2020-01-01T00:00:00.000Z",
        "publishEndDate": "2040-01-01T00:00:00.000Z",
        "scriptCss": CSS,
        "scriptJs": "console.log(\"</script>\")",
    })
}

/// Creates a page, and says what became of what was asked for. A key that may not write styles or
/// scripts is refused before anything is sent; it creates the page without them.
pub(crate) async fn create(site: &impl Site, path: &str) -> (Vec<Row>, Option<i64>) {
    let mut arguments = page(path);
    let (row, id, lacking) = created(site, "create", &arguments).await;
    let mut rows = vec![row];
    let mut is_less = false;
    for (field, right) in CODE {
        if lacking.iter().any(|lacks| lacks == right)
            && let Some(arguments) = arguments.as_object_mut()
        {
            is_less |= arguments.remove(field).is_some();
        }
    }
    if !is_less {
        return (rows, id);
    }
    let (row, id, _) = created(site, "create without refused fields", &arguments).await;
    rows.push(row);
    (rows, id)
}

/// Creates a page with these arguments: its row, its id, and the rights that its key lacks.
async fn created(
    site: &impl Site,
    way: &str,
    arguments: &Value,
) -> (Row, Option<i64>, Vec<String>) {
    let path = arguments["path"].as_str().unwrap_or_default();
    let answer = confirmed(site, "wikijs_create_page", arguments).await;
    let id = id_at(site, path).await;
    let after = match id {
        Some(id) => site.look(id).await,
        None => Fields::new(),
    };
    // What a create does not say is as the wiki has it.
    let row = Row::of(way, &answer, &after, &after, arguments);
    let lacking = answer
        .err()
        .map(|error| error["details"]["lacking"][0]["rights"].clone());
    let lacking = lacking.as_ref().and_then(Value::as_array);
    let lacking = lacking.into_iter().flatten();
    let lacking = lacking.filter_map(|right| right.as_str().map(str::to_owned));
    (row, id, lacking.collect())
}

/// Gives a page the styles and scripts that its maker may not write.
#[cfg_attr(
    test,
    expect(dead_code, reason = "the test puts its page into the wiki's store")
)]
pub(crate) async fn dressed(site: &impl Site, id: i64) -> Result<Value, Value> {
    let page = page("");
    let arguments =
        json!({ "id": id, "scriptCss": page["scriptCss"], "scriptJs": page["scriptJs"] });
    confirmed(site, "wikijs_update_page", &arguments).await
}

async fn id_at(site: &impl Site, path: &str) -> Option<i64> {
    let page = site
        .call("wikijs_get_page_by_path", json!({ "path": path }))
        .await;
    page.ok()?["id"].as_i64()
}

/// Makes every change of a page, takes each back, and says what became of the fields. Gives
/// the id that the page has at the end: it was deleted and taken back on the way.
pub(crate) async fn run(site: &impl Site, id: i64) -> (Vec<Row>, i64) {
    let base = site.look(id).await;
    let mut rows = Vec::new();
    let path = base
        .get("path")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    for way in updates(id, &path) {
        tried(site, id, &base, way, &mut rows).await;
        // Taking it back left the changed content behind as a version.
        if rows.len() == 2 {
            let history = json!({ "id": id, "limit": 1 });
            let history = site.call("wikijs_get_page_history", history).await;
            if let Some(version) = history
                .ok()
                .and_then(|it| it["entries"][0]["versionId"].as_i64())
            {
                let way = update(
                    "fromVersion",
                    id,
                    json!({ "fromVersion": version }),
                    json!({ "content": whole() }),
                );
                tried(site, id, &base, way, &mut rows).await;
            }
        }
    }
    let trash = Way {
        name: "trash",
        tool: "wikijs_delete_page",
        arguments: json!({ "id": id, "trash": true }),
        expected: json!({ "path": format!("{}/trash/{id}-{path}", path.split('/').next().unwrap_or_default()), "isPublished": false }),
    };
    tried(site, id, &base, trash, &mut rows).await;
    let delete = confirmed(site, "wikijs_delete_page", &json!({ "id": id })).await;
    let Ok(deleted) = &delete else {
        rows.push(Row::of(
            "delete",
            &delete,
            &base,
            &site.look(id).await,
            &json!({}),
        ));
        return (rows, id);
    };
    let undone = confirmed(
        site,
        "wikijs_undo_write",
        &json!({ "callId": deleted["callId"] }),
    )
    .await;
    let again = id_at(site, &path).await.unwrap_or(id);
    rows.push(Row::of(
        "delete, undone",
        &undone,
        &base,
        &site.look(again).await,
        &json!({}),
    ));
    (rows, again)
}

async fn tried(site: &impl Site, id: i64, base: &Fields, way: Way, rows: &mut Vec<Row>) {
    let answer = confirmed(site, way.tool, &way.arguments).await;
    rows.push(Row::of(
        way.name,
        &answer,
        base,
        &site.look(id).await,
        &way.expected,
    ));
    let call = match &answer {
        Ok(applied) if applied["outcome"] == "applied" => applied["callId"].clone(),
        _ => return,
    };
    let undone = confirmed(site, "wikijs_undo_write", &json!({ "callId": call })).await;
    let name = format!("{}, undone", way.name);
    rows.push(Row::of(
        name,
        &undone,
        base,
        &site.look(id).await,
        &json!({}),
    ));
}

/// Previews a write and confirms it.
pub(crate) async fn confirmed(
    site: &impl Site,
    tool: &'static str,
    arguments: &Value,
) -> Result<Value, Value> {
    let preview = site.call(tool, arguments.clone()).await?;
    let mut arguments = arguments.clone();
    match preview.get("confirm") {
        Some(token) => arguments["confirm"] = token.clone(),
        None => return Ok(preview),
    }
    site.call(tool, arguments).await
}

fn whole() -> String {
    CONTENT.replace("below", "wholly other")
}

fn update(name: &'static str, id: i64, mut arguments: Value, expected: Value) -> Way {
    arguments["id"] = json!(id);
    Way {
        name,
        tool: "wikijs_update_page",
        arguments,
        expected,
    }
}

/// Every way of `wikijs_update_page`, the whole content first.
fn updates(id: i64, path: &str) -> Vec<Way> {
    let section = |mode: &str, text: &str| json!({ "section": "One/Two", "sectionMode": mode, "sectionContent": text });
    let content = |from: &str, to: &str| json!({ "content": CONTENT.replace(from, to) });
    let two = "## Two\n\nbelow\n\n";
    let mut ways = vec![
        update(
            "content",
            id,
            json!({ "content": whole() }),
            json!({ "content": whole() }),
        ),
        update(
            "edits",
            id,
            json!({ "edits": [{ "oldText": "below", "newText": "under" }] }),
            content("below", "under"),
        ),
        update(
            "patch",
            id,
            json!({ "patch": "@@ -17,1 +17,1 @@\n-below\n+under\n" }),
            content("below", "under"),
        ),
        update(
            "section replace",
            id,
            section("replace", "## Two\n\nunder\n"),
            content("below", "under"),
        ),
        update(
            "section append",
            id,
            section("append", "more\n"),
            content("below\n\n", "below\n\nmore\n\n"),
        ),
        update(
            "section prepend",
            id,
            section("prepend", "more\n"),
            content("below\n", "more\n\nbelow\n"),
        ),
        update(
            "section insertAfter",
            id,
            section("insertAfter", "## New\n"),
            content("below\n\n", "below\n\n## New\n\n"),
        ),
        update(
            "section remove",
            id,
            json!({ "section": "One/Two", "sectionMode": "remove" }),
            content(two, ""),
        ),
    ];
    ways.extend(of_other_fields(id, path));
    ways
}

/// The ways that leave the content as it is, and two that change more than one field.
fn of_other_fields(id: i64, path: &str) -> Vec<Way> {
    let set = |name: &'static str, value: Value| {
        update(name, id, json!({ name: value }), json!({ name: value }))
    };
    vec![
        set("title", json!("Another title")),
        set("description", json!("Another description")),
        update(
            "description cleared",
            id,
            json!({ "description": "" }),
            json!({ "description": "" }),
        ),
        set("tags", json!(["beta", "gamma"])),
        update(
            "tags cleared",
            id,
            json!({ "tags": [] }),
            json!({ "tags": [] }),
        ),
        update(
            "addTags, removeTags",
            id,
            json!({ "addTags": ["beta"], "removeTags": ["zeta"] }),
            json!({ "tags": ["alpha", "beta"] }),
        ),
        set("isPublished", json!(false)),
        set("publishStartDate", json!("2021-01-01T00:00:00.000Z")),
        update(
            "publishStartDate cleared",
            id,
            json!({ "publishStartDate": "" }),
            json!({ "publishStartDate": "" }),
        ),
        set("publishEndDate", json!("2041-01-01T00:00:00.000Z")),
        update(
            "publishEndDate cleared",
            id,
            json!({ "publishEndDate": "" }),
            json!({ "publishEndDate": "" }),
        ),
        set("scriptCss", json!("body{color:green}")),
        update(
            "scriptCss cleared",
            id,
            json!({ "scriptCss": "" }),
            json!({ "scriptCss": "" }),
        ),
        set("scriptJs", json!("console.log(2)")),
        update(
            "scriptJs cleared",
            id,
            json!({ "scriptJs": "" }),
            json!({ "scriptJs": "" }),
        ),
        set("path", json!(format!("{path}-moved"))),
        update(
            "path and content",
            id,
            json!({ "path": format!("{path}-moved"), "content": whole() }),
            json!({ "path": format!("{path}-moved"), "content": whole() }),
        ),
        update(
            "edits and tags",
            id,
            json!({ "edits": [{ "oldText": "below", "newText": "under" }], "addTags": ["beta"] }),
            json!({ "content": CONTENT.replace("below", "under"), "tags": ["zeta", "alpha", "beta"] }),
        ),
    ]
}
