//! The calls that are measured.

use serde_json::{Value, json};

use crate::server::message;

/// The call that everything is measured with: a page by its id.
pub(crate) fn page(id: usize, page: i64) -> String {
    call(id, "wikijs_get_page_by_id", &json!({ "id": page }))
}

/// One line of a page is exchanged for another.
pub(crate) fn edit(id: usize, page: i64, token: &str, old: &str, new: &str) -> String {
    let edits = json!([{ "oldText": old, "newText": new }]);
    call(
        id,
        "wikijs_update_page",
        &json!({ "id": page, "edits": edits, "confirm": token }),
    )
}

/// Each of the reading tools in turn.
pub(crate) fn reading(id: usize, page: i64) -> String {
    let calls = [
        ("wikijs_search_pages", json!({ "query": "backup" })),
        ("wikijs_list_pages", json!({ "limit": 20 })),
        ("wikijs_get_page_by_path", json!({ "path": "home" })),
        ("wikijs_get_page_by_id", json!({ "id": page })),
        ("wikijs_get_page_tree", json!({ "depth": 2 })),
        ("wikijs_get_page_history", json!({ "id": page })),
        ("wikijs_list_tags", json!({})),
    ];
    let (tool, arguments) = calls.get(id % calls.len()).expect("one of them");
    call(id, tool, arguments)
}

/// A call of a tool.
pub(crate) fn call(id: usize, tool: &str, arguments: &Value) -> String {
    message(
        id,
        "tools/call",
        &json!({ "name": tool, "arguments": arguments }),
    )
}
