//! Ten naive calls of each tool and more: ids as text, titles as paths, everything wrapped in an
//! object, made-up names, stale tokens. Each is understood, or refused in words that lead, taken to
//! the letter, to a call that works.

/// What becomes of a call.
pub(crate) enum Told {
    /// It is understood.
    Takes,
    /// It is refused with this code and these words; the call that they lead to works.
    Leads(&'static str, &'static str, &'static str, &'static str),
}
use Told::{Leads, Takes};

use crate::prelude::*;

const BAD: &str = "INVALID_INPUT";
const NONE: &str = "PAGE_NOT_FOUND";
const OLD: &str = "CONFIRM_EXPIRED";
const OTHER: &str = "CONFIRM_MISMATCH";
/// The code of a tool that there is not: the protocol's own.
const TOOL: &str = "-32602";

/// A call each: the tool's name, its arguments (`$ID` and `$UNREAD` are pages, `$VERSION` one of
/// `$ID`, `$TOKEN` confirms a preview of a new title of `$ID`), and what becomes of it.
#[rustfmt::skip]
pub(crate) const CALLS: &[(&str, &str, Told)] = &[
    (SEARCH, r#"{"query": "linux", "limit": "5"}"#, Takes),
    (SEARCH, r#"{"query": "linux", "path": "/en/docs/"}"#, Takes),
    (SEARCH, r#"{"q": "linux"}"#, Leads(BAD, "did you mean query?", SEARCH, r#"{"query": "linux"}"#)),
    (SEARCH, r#"{"arguments": {"query": "linux"}}"#, Leads(BAD, "without it around them", SEARCH, r#"{"query": "linux"}"#)),
    (SEARCH, "{}", Leads(BAD, "query is required", SEARCH, r#"{"query": "linux"}"#)),
    (SEARCH, r#"{"query": "linux", "relatedTo": $ID}"#, Leads(BAD, "leave one of them out", SEARCH, r#"{"relatedTo": $ID}"#)),
    (SEARCH, r#"{"query": "linux", "tags": "start"}"#, Leads(BAD, "must be an array", SEARCH, r#"{"query": "linux", "tags": ["start"]}"#)),
    (SEARCH, r#"{"query": "linux", "in": "title"}"#, Leads(BAD, "one of auto, wiki, content", SEARCH, r#"{"query": "linux", "in": "wiki"}"#)),
    (SEARCH, r#"{"query": "linux", "limit": 1000}"#, Leads(BAD, "at most 100", SEARCH, r#"{"query": "linux", "limit": 100}"#)),
    (SEARCH, r#"{"relatedTo": "docs"}"#, Leads(BAD, "takes a path or a title", BY_PATH, r#"{"path": "docs"}"#)),
    ("find_pages", r#"{"query": "linux"}"#, Leads(TOOL, "call wikijs_search_pages", SEARCH, r#"{"query": "linux"}"#)),

    (LIST, r#"{"limit": "5", "path": "/en/docs"}"#, Takes),
    (LIST, r##"{"tags": ["#start"]}"##, Takes),
    (LIST, r#"{"tag": "start"}"#, Leads(BAD, "did you mean tags?", LIST, r#"{"tags": ["start"]}"#)),
    (LIST, r#"{"published": true}"#, Leads(BAD, "did you mean isPublished?", LIST, r#"{"isPublished": true}"#)),
    (LIST, r#"{"sort": "updated"}"#, Leads(BAD, "orderBy", LIST, r#"{"orderBy": "UPDATED"}"#)),
    (LIST, r#"{"orderBy": "updated"}"#, Leads(BAD, "TITLE, UPDATED", LIST, r#"{"orderBy": "UPDATED"}"#)),
    (LIST, r#"{"direction": "desc"}"#, Leads(BAD, "ASC, DESC", LIST, r#"{"direction": "DESC"}"#)),
    (LIST, r#"{"fields": ["author"]}"#, Leads(BAD, "lastAuthor", LIST, r#"{"fields": ["lastAuthor"]}"#)),
    (LIST, r#"{"linksTo": "docs"}"#, Takes),
    (LIST, r#"{"linksTo": $ID}"#, Takes),
    (LIST, r#"{"linksTo": "docs#Steps"}"#, Leads(BAD, "linksTo takes the page alone", LIST, r#"{"linksTo": "docs"}"#)),
    (LIST, r#"{"author": 1}"#, Leads(BAD, "lastAuthorId", LIST, r#"{"lastAuthorId": 1}"#)),
    (LIST, r#"{"updatedSince": "yesterday"}"#, Leads(BAD, "ISO 8601", LIST, r#"{"updatedSince": "2026-01-01T00:00:00Z"}"#)),
    (LIST, r#"{"cursor": "2"}"#, Leads(BAD, "is not the nextCursor", LIST, "{}")),
    ("recent_changes", "{}", Leads(TOOL, "call wikijs_list_pages", LIST, "{}")),

    (BY_PATH, r#"{"path": "Installing on Linux"}"#, Takes),
    (BY_PATH, r#"{"path": "[how to](/en/docs/install/linux)"}"#, Takes),
    (BY_PATH, r#"{"path": "docs", "lines": {"from": 1, "to": 3}}"#, Takes),
    (BY_PATH, r#"{"path": $ID}"#, Leads(BAD, "takes an id", BY_ID, r#"{"id": $ID}"#)),
    (BY_PATH, r#"{"id": $ID}"#, Leads(BAD, "takes it", BY_ID, r#"{"id": $ID}"#)),
    (BY_PATH, r#"{"url": "docs"}"#, Leads(BAD, "it takes path", BY_PATH, r#"{"path": "docs"}"#)),
    (BY_PATH, r#"{"title": "Documentation"}"#, Leads(BAD, "goes into path", BY_PATH, r#"{"path": "Documentation"}"#)),
    (BY_PATH, r#"{"paths": "docs"}"#, Leads(BAD, "must be an array", BY_PATH, r#"{"paths": ["docs"]}"#)),
    (BY_PATH, r#"{"page": {"path": "docs"}}"#, Leads(BAD, "without it around them", BY_PATH, r#"{"path": "docs"}"#)),
    (BY_PATH, r#"{"path": "docs/nowhere"}"#, Leads(NONE, SEARCH, SEARCH, r#"{"query": "nowhere"}"#)),
    (BY_PATH, r#"{"path": "docs", "view": "full"}"#, Leads(BAD, "one of content", BY_PATH, r#"{"path": "docs", "view": "content"}"#)),
    (BY_PATH, r#"{"path": "docs", "lines": [1, 3]}"#, Leads(BAD, "such as 12-40", BY_PATH, r#"{"path": "docs", "lines": "1-3"}"#)),
    (BY_PATH, r#"{"path": "docs/install/linux", "section": "Stepps"}"#, Leads("SECTION_NOT_FOUND", "heading:h2[1]", BY_PATH, r#"{"path": "docs/install/linux", "section": "heading:h2[1]"}"#)),
    ("get_page", r#"{"path": "docs"}"#, Leads(TOOL, "call wikijs_get_page_by_path", BY_PATH, r#"{"path": "docs"}"#)),

    (BY_ID, r#"{"id": "$ID"}"#, Takes),
    (BY_ID, r#"{"ids": ["$ID", $ID]}"#, Takes),
    (BY_ID, r#"{"id": $ID, "section": "h2[0]"}"#, Takes),
    (BY_ID, r#"{"id": "docs"}"#, Leads(BAD, "takes a path or a title", BY_PATH, r#"{"path": "docs"}"#)),
    (BY_ID, r#"{"path": "docs"}"#, Leads(BAD, "wikijs_get_page_by_path takes it", BY_PATH, r#"{"path": "docs"}"#)),
    (BY_ID, r#"{"pageId": $ID}"#, Leads(BAD, "it takes id", BY_ID, r#"{"id": $ID}"#)),
    (BY_ID, r#"{"id": [$ID]}"#, Leads(BAD, "must be an integer", BY_ID, r#"{"id": $ID}"#)),
    (BY_ID, r#"{"input": {"id": $ID}}"#, Leads(BAD, "without it around them", BY_ID, r#"{"id": $ID}"#)),
    (BY_ID, r#"{"id": 99999}"#, Leads(NONE, SEARCH, SEARCH, r#"{"query": "linux"}"#)),
    (BY_ID, r#"{"id": $ID, "version": 99999}"#, Leads("VERSION_NOT_FOUND", HISTORY, HISTORY, r#"{"id": $ID}"#)),
    (BY_ID, r#"{"id": $ID, "view": "html"}"#, Leads(BAD, "rendered", BY_ID, r#"{"id": $ID, "view": "rendered"}"#)),
    (BY_ID, r#"{"id": $ID, "maxBytes": 1000000}"#, Leads(BAD, "65536", BY_ID, r#"{"id": $ID, "maxBytes": 65536}"#)),

    (TREE, r#"{"path": "/"}"#, Takes),
    (TREE, r#"{"path": "/en/docs/", "depth": "2"}"#, Takes),
    (TREE, r#"{"depth": 10}"#, Leads(BAD, "at most 5", TREE, r#"{"depth": 5}"#)),
    (TREE, r#"{"mode": "all"}"#, Leads(BAD, "FOLDERS, PAGES, ALL", TREE, r#"{"mode": "ALL"}"#)),
    (TREE, r#"{"root": "docs"}"#, Leads(BAD, "it takes mode, path", TREE, r#"{"path": "docs"}"#)),
    (TREE, r#"{"parent": "docs"}"#, Leads(BAD, "path", TREE, r#"{"path": "docs"}"#)),
    (TREE, r#"{"path": $ID}"#, Leads(BAD, "must be a string", TREE, r#"{"path": "docs"}"#)),
    (TREE, r#"{"path": null}"#, Leads(BAD, "leave it out", TREE, "{}")),
    (TREE, r#"{"recursive": true}"#, Leads(BAD, "depth", TREE, r#"{"depth": 5}"#)),
    (TREE, r#"{"params": {"path": "docs"}}"#, Leads(BAD, "without it around them", TREE, r#"{"path": "docs"}"#)),
    ("list_folders", "{}", Leads(TOOL, "call wikijs_get_page_tree", TREE, "{}")),

    (HISTORY, r#"{"id": "$ID"}"#, Takes),
    (HISTORY, r#"{"id": $ID, "compare": {"from": $VERSION}}"#, Takes),
    (HISTORY, r#"{"id": "docs"}"#, Leads(BAD, "page takes a path or a title", HISTORY, r#"{"page": "docs"}"#)),
    (HISTORY, r#"{"page": "/en/docs"}"#, Takes),
    (HISTORY, r#"{"page": $ID}"#, Leads(BAD, "must be a string, not a number", HISTORY, r#"{"id": $ID}"#)),
    (HISTORY, r#"{"title": "Documentation"}"#, Leads(BAD, "goes into page", HISTORY, r#"{"page": "Documentation"}"#)),
    (HISTORY, r#"{"page": "docs", "id": $ID}"#, Leads(BAD, "cannot be combined with id", HISTORY, r#"{"page": "docs"}"#)),
    (HISTORY, r#"{"page": "docs/nowhere"}"#, Leads(NONE, SEARCH, SEARCH, r#"{"query": "nowhere"}"#)),
    (HISTORY, r#"{"pageId": $ID}"#, Leads(BAD, "it takes id", HISTORY, r#"{"id": $ID}"#)),
    (HISTORY, r#"{"id": $ID, "limit": 500}"#, Leads(BAD, "at most 100", HISTORY, r#"{"id": $ID, "limit": 100}"#)),
    (HISTORY, r#"{"id": $ID, "compare": ["$VERSION", "current"]}"#, Leads(BAD, "must be an object", HISTORY, r#"{"id": $ID, "compare": {"from": "$VERSION", "to": "current"}}"#)),
    (HISTORY, r#"{"id": $ID, "compare": {"from": "yesterday"}}"#, Leads(BAD, "a time in ISO 8601, or current", HISTORY, r#"{"id": $ID, "compare": {"from": "current"}}"#)),
    (HISTORY, r#"{"id": $ID, "compare": {"from": "99999"}}"#, Leads("VERSION_NOT_FOUND", HISTORY, HISTORY, r#"{"id": $ID}"#)),
    (HISTORY, r#"{"id": 99999}"#, Leads(NONE, SEARCH, SEARCH, r#"{"query": "linux"}"#)),
    ("get_revisions", r#"{"id": $ID}"#, Leads(TOOL, "call wikijs_get_page_history", HISTORY, r#"{"id": $ID}"#)),

    (TAGS, r##"{"query": "#start"}"##, Takes),
    (TAGS, r#"{"query": "START"}"#, Takes),
    (TAGS, r#"{"tag": "start"}"#, Leads(BAD, "it takes query", TAGS, r#"{"query": "start"}"#)),
    (TAGS, r#"{"search": "start"}"#, Leads(BAD, "it takes query", TAGS, r#"{"query": "start"}"#)),
    (TAGS, r#"{"querry": "start"}"#, Leads(BAD, "did you mean query?", TAGS, r#"{"query": "start"}"#)),
    (TAGS, r#"{"orderBy": "count"}"#, Leads(BAD, "TAG, PAGES", TAGS, r#"{"orderBy": "PAGES"}"#)),
    (TAGS, r#"{"query": ["start"]}"#, Leads(BAD, "must be a string", TAGS, r#"{"query": "start"}"#)),
    (TAGS, r#"{"query": null}"#, Leads(BAD, "leave it out", TAGS, "{}")),
    (TAGS, r#"{"limit": 10}"#, Leads(BAD, "it takes query", TAGS, "{}")),
    (TAGS, r#"{"args": {"query": "start"}}"#, Leads(BAD, "without it around them", TAGS, r#"{"query": "start"}"#)),
    ("wikijs_get_tags", "{}", Leads(TOOL, "call wikijs_list_tags", TAGS, "{}")),

    (CREATE, r#"{"path": "/en/naive/a", "title": "A", "content": "x"}"#, Takes),
    (CREATE, r#"{"path": "naive/a", "title": "A"}"#, Leads(BAD, "content is required", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x"}"#)),
    (CREATE, r#"{"path": "naive/a b", "title": "A", "content": "x"}"#, Leads(BAD, "a space", CREATE, r#"{"path": "naive/a-b", "title": "A", "content": "x"}"#)),
    (CREATE, r#"{"path": "docs", "title": "A", "content": "x"}"#, Leads("PAGE_EXISTS", "docs-2", CREATE, r#"{"path": "docs-2", "title": "A", "content": "x"}"#)),
    (CREATE, r#"{"path": "naive/a", "title": "A", "body": "x"}"#, Leads(BAD, "content", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x"}"#)),
    (CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "tags": "a, b"}"#, Leads(BAD, "must be an array", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "tags": ["a", "b"]}"#)),
    (CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "isPublished": "true"}"#, Leads(BAD, "must be a boolean", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "isPublished": true}"#)),
    (CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "editor": "md"}"#, Leads(BAD, "markdown", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "editor": "markdown"}"#)),
    (CREATE, r#"{"path": "naive/a", "confirm": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}"#, Leads(OLD, "with all arguments, without confirm", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x"}"#)),
    (CREATE, r#"{"path": "naive/a", "title": "A", "content": "x", "confirm": "yes"}"#, Leads(OTHER, "without confirm", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x"}"#)),
    ("wikijs_new_page", r#"{"path": "naive/a"}"#, Leads(TOOL, "call wikijs_create_page", CREATE, r#"{"path": "naive/a", "title": "A", "content": "x"}"#)),

    (UPDATE, r#"{"id": "$ID", "title": "A"}"#, Takes),
    (UPDATE, r#"{"path": "docs", "title": "A"}"#, Leads(BAD, "page with a path or a title in its place", UPDATE, r#"{"page": "docs", "title": "A"}"#)),
    (UPDATE, r#"{"id": "docs", "title": "A"}"#, Leads(BAD, "page takes a path or a title", UPDATE, r#"{"page": "docs", "title": "A"}"#)),
    (UPDATE, r#"{"page": "Documentation", "title": "A"}"#, Takes),
    (UPDATE, r#"{"page": "docs/install/linux#Steps", "title": "A"}"#, Leads(BAD, "takes the page alone", UPDATE, r#"{"page": "docs/install/linux", "title": "A"}"#)),
    (UPDATE, r#"{"page": ["docs"], "title": "A"}"#, Leads(BAD, "must be a string, not an array", UPDATE, r#"{"page": "docs", "title": "A"}"#)),
    (UPDATE, r#"{"page": "https://elsewhere.example/docs", "title": "A"}"#, Leads(BAD, "page", UPDATE, r#"{"page": "docs", "title": "A"}"#)),
    (UPDATE, r#"{"id": $ID}"#, Leads(BAD, "name a field, such as title", UPDATE, r#"{"id": $ID, "title": "A"}"#)),
    (UPDATE, r#"{"id": $ID, "edits": {"oldText": "a", "newText": "b"}}"#, Leads(BAD, "must be an array", UPDATE, r##"{"id": $ID, "edits": [{"oldText": "# Installing", "newText": "b"}]}"##)),
    (UPDATE, r##"{"id": $ID, "edits": [{"oldText": "# Instaling on Linux", "newText": "b"}]}"##, Leads("EDIT_NOT_APPLICABLE", "# Installing on Linux", UPDATE, r##"{"id": $ID, "edits": [{"oldText": "# Installing on Linux", "newText": "b"}]}"##)),
    (UPDATE, r#"{"id": $ID, "content": "a", "section": "Steps"}"#, Leads(BAD, "name one way", UPDATE, r#"{"id": $ID, "content": "a"}"#)),
    (UPDATE, r#"{"id": $ID, "section": "Stepps", "sectionContent": "a"}"#, Leads("SECTION_NOT_FOUND", "heading:h2[1]", UPDATE, r#"{"id": $ID, "section": "heading:h2[1]", "sectionContent": "a"}"#)),
    (UPDATE, r#"{"id": $ID, "addTags": "a"}"#, Leads(BAD, "must be an array", UPDATE, r#"{"id": $ID, "addTags": ["a"]}"#)),
    (UPDATE, r#"{"id": $ID, "description": null}"#, Leads(BAD, "leave it out", UPDATE, r#"{"id": $ID, "title": "A"}"#)),
    (UPDATE, r#"{"id": $ID, "confirm": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}"#, Leads(OLD, "with all arguments, without confirm", UPDATE, r#"{"id": $ID, "title": "A"}"#)),
    (UPDATE, r#"{"id": $ID, "title": "B", "confirm": "$TOKEN"}"#, Leads(OTHER, "leave out details.differing", UPDATE, r#"{"id": $ID, "confirm": "$TOKEN"}"#)),
    (UPDATE, r#"{"id": $ID, "title": "A", "propose": true}"#, Takes),
    (UPDATE, r#"{"id": $ID, "confirm": "$TOKEN", "propose": true}"#, Leads(BAD, "propose with all other arguments", UPDATE, r#"{"id": $ID, "title": "A", "propose": true}"#)),
    (UPDATE, r#"{"id": $ID, "title": "A", "propose": "yes"}"#, Leads(BAD, "must be a boolean", UPDATE, r#"{"id": $ID, "title": "A", "propose": true}"#)),
    (UPDATE, r#"{"id": $ID, "title": "A", "proposal": true}"#, Leads(BAD, "did you mean propose?", UPDATE, r#"{"id": $ID, "title": "A", "propose": true}"#)),
    ("move_page", r#"{"id": $ID, "path": "naive/b"}"#, Leads(TOOL, "call wikijs_update_page with path", UPDATE, r#"{"id": $ID, "path": "naive/b"}"#)),

    (DELETE, r#"{"id": "$ID"}"#, Takes),
    (DELETE, r#"{"path": "docs"}"#, Leads(BAD, "a path goes into page", DELETE, r#"{"page": "docs"}"#)),
    (DELETE, r#"{"id": "docs"}"#, Leads(BAD, "page takes a path or a title", DELETE, r#"{"page": "docs"}"#)),
    (DELETE, r#"{"ids": [$ID]}"#, Leads(BAD, "did you mean id?", DELETE, r#"{"id": $ID}"#)),
    (DELETE, r#"{"id": 99999}"#, Leads(NONE, SEARCH, SEARCH, r#"{"query": "linux"}"#)),
    (DELETE, r#"{"id": $ID, "force": true}"#, Leads(BAD, "it takes confirm, id", DELETE, r#"{"id": $ID}"#)),
    (DELETE, r#"{"id": $ID, "trash": true}"#, Leads(BAD, "leave trash out", DELETE, r#"{"id": $ID}"#)),
    (DELETE, r#"{"id": $ID, "confirm": true}"#, Leads(BAD, "must be a string", DELETE, r#"{"id": $ID}"#)),
    (DELETE, r#"{"id": $ID, "confirm": "yes"}"#, Leads(OTHER, "without confirm", DELETE, r#"{"id": $ID}"#)),
    (DELETE, r#"{"id": $ID, "confirm": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}"#, Leads(OLD, "without confirm", DELETE, r#"{"id": $ID}"#)),
    ("remove_page", r#"{"id": $ID}"#, Leads(TOOL, "call wikijs_delete_page", DELETE, r#"{"id": $ID}"#)),
];

/// Calls a tool that may not be there: its answer, or its code and all that it says.
async fn call(served: &Served, tool: &str, arguments: Value) -> Result<Value, (String, String)> {
    let mut request = rmcp::model::CallToolRequestParams::new(tool.to_owned());
    request.arguments = arguments.as_object().cloned();
    match served.client.call_tool(request).await {
        Ok(result) => crate::harness::read(&result).map_err(|error| {
            (
                error["code"].as_str().unwrap().to_owned(),
                error.to_string(),
            )
        }),
        Err(rmcp::ServiceError::McpError(error)) => {
            Err((error.code.0.to_string(), error.message.to_string()))
        }
        Err(error) => panic!("{tool}: {error}"),
    }
}

async fn served() -> (DemoWiki, Served, i64) {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/install/linux");
    let served = Setup::editor(&wiki).serve().await;
    let edit = json!({ "id": id, "description": "Before" });
    served.confirmed(UPDATE, edit).await.unwrap();
    (wiki, served, id)
}

#[tokio::test]
async fn naive_calls_are_understood_or_lead_to_calls_that_work() {
    let (_wiki, served, id) = served().await;
    let history = served.call(HISTORY, json!({ "id": id })).await;
    let version = history.unwrap()["entries"][0]["versionId"].to_string();
    let preview = json!({ "id": id, "title": "Previewed" });
    let preview = served.call(UPDATE, preview).await.unwrap();
    let token = preview["confirm"].as_str().unwrap();
    let read = |arguments: &str| -> Value {
        let arguments = arguments.replace("$ID", &id.to_string());
        let arguments = arguments.replace("$VERSION", &version);
        serde_json::from_str(&arguments.replace("$TOKEN", token)).unwrap()
    };
    let mut wrong = Vec::new();
    for (tool, arguments, told) in CALLS {
        let answer = call(&served, tool, read(arguments)).await;
        let said = format!("{tool} {arguments}: {answer:?}");
        match (answer, told) {
            (Ok(_), Takes) => {}
            (Err((code, text)), Leads(wanted, words, next, arguments)) => {
                // The other tool that is called next is the one that was named.
                let is_named = next == tool || text.contains(next);
                if code != *wanted || !text.contains(words) || !is_named {
                    wrong.push(said);
                }
                if let Err(error) = call(&served, next, read(arguments)).await {
                    wrong.push(format!("then {next} {arguments}: {error:?}"));
                }
            }
            _ => wrong.push(said),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn each_of_the_ten_tools_is_called_naively_ten_times_or_more() {
    for tool in [
        SEARCH, LIST, BY_PATH, BY_ID, TREE, HISTORY, TAGS, CREATE, UPDATE, DELETE,
    ] {
        let calls = CALLS.iter().filter(|(called, _, told)| match told {
            Leads(TOOL, _, next, _) => *next == tool,
            Takes | Leads(..) => *called == tool,
        });
        assert!(calls.count() >= 10, "{tool}");
    }
}
