//! An example of each tool's arguments; each does something on the embedded demo wiki.

/// The example of a tool.
pub(super) fn example(tool: &str) -> &'static str {
    match tool {
        "wikijs_search_pages" => r#"{"query": "backup", "limit": 5}"#,
        "wikijs_list_pages" => r#"{"orderBy": "UPDATED", "direction": "DESC", "limit": 5}"#,
        "wikijs_get_page_by_path" => r#"{"path": "docs/configuration"}"#,
        "wikijs_get_page_by_id" => r#"{"id": 1, "view": "outline"}"#,
        "wikijs_get_page_tree" => r#"{"depth": 2}"#,
        "wikijs_get_page_history" => r#"{"id": 1, "limit": 5}"#,
        "wikijs_list_tags" => r#"{"orderBy": "PAGES"}"#,
        "wikijs_create_page" => {
            r##"{"path": "notes/today", "title": "Today", "content": "# Today\n"}"##
        }
        "wikijs_update_page" => r#"{"id": 1, "addTags": ["start"]}"#,
        "wikijs_delete_page" | "wikijs_list_comments" => r#"{"id": 1}"#,
        "wikijs_list_proposals" => r#"{"state": "open"}"#,
        "wikijs_get_proposal"
        | "wikijs_withdraw_proposal"
        | "wikijs_get_change_set"
        | "wikijs_forget" => r#"{"id": "0123456789abcdef"}"#,
        "wikijs_bulk_update_pages" => r#"{"path": "docs", "addTags": ["reviewed"]}"#,
        "wikijs_submit_draft" | "wikijs_discard_draft" => r#"{"draft": "rework"}"#,
        "wikijs_remember" => r#"{"content": "Tags of this wiki are in German.", "type": "fact"}"#,
        "wikijs_recall" => r#"{"query": "tags"}"#,
        "wikijs_add_comment" => r#"{"id": 1, "content": "Is this still so?"}"#,
        "wikijs_update_comment" => r#"{"id": 1, "comment": 1, "content": "It is."}"#,
        "wikijs_delete_comment" => r#"{"id": 1, "comment": 1}"#,
        "wikijs_list_assets" => r#"{"folder": "docs"}"#,
        "wikijs_get_asset" | "wikijs_delete_asset" => r#"{"path": "docs/plan.png"}"#,
        "wikijs_upload_asset" => r#"{"path": "notes.csv", "text": "day,what\n"}"#,
        "wikijs_rename_asset" => r#"{"path": "docs/plan.png", "name": "old-plan.png"}"#,
        "wikijs_delegate" => r#"{"task": "check the links of docs", "prefixes": ["docs"]}"#,
        "wikijs_end_delegation" => r#"{"delegate": "ci/delegate-1a2b3c4d"}"#,
        "wikijs_run_check" => r#"{"check": "words", "id": 1}"#,
        "wikijs_site_status" | "wikijs_sync_site" => r#"{"name": "docs"}"#,
        "wikijs_undo_write" => r#"{"callId": "last"}"#,
        "wikijs_restore_page" => r#"{"page": "docs/old"}"#,
        _ => "{}",
    }
}
