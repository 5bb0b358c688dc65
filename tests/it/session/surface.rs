//! Which tools are offered, and that what is left out is as if it had never been.

use wikijs_gate::config::{Settings, SettingsSource};

use crate::prelude::*;

/// The tools of the toolset `drafts`.
const OF_DRAFTS: &str =
    "wikijs_bulk_update_pages,wikijs_get_change_set,wikijs_submit_draft,wikijs_discard_draft";
const READING: [&str; 7] = [SEARCH, LIST, BY_PATH, BY_ID, TREE, HISTORY, TAGS];
const WRITING: [&str; 3] = [CREATE, UPDATE, DELETE];

async fn served(settings: &[(&str, &str)]) -> Served {
    let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x");
    let with = |setup: Setup, (name, value): &(&str, &str)| setup.with(name, value);
    settings.iter().fold(setup, with).serve().await
}

async fn offered(settings: &[(&str, &str)]) -> Vec<String> {
    let listed = served(settings).await.client.list_tools(None).await;
    let listed = listed.unwrap();
    let names = listed.tools.into_iter().map(|tool| tool.name.into_owned());
    names.collect()
}

/// Why settings stop the start.
fn refused(settings: &[(&str, &str)]) -> String {
    let required = [
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", "x"),
        ("HOME", "/"),
    ];
    let map: HashMap<_, _> = required.iter().chain(settings).copied().collect();
    let get = |name: &str| map.get(name).map(Into::into);
    Settings::read(&SettingsSource::new(&get))
        .unwrap_err()
        .to_string()
}

#[tokio::test]
async fn sets_and_single_tools_make_the_surface_together() {
    assert_eq!(offered(&[]).await, [&READING[..], &WRITING].concat());
    // Single tools beside the sets that are named, or alone.
    assert_eq!(
        offered(&[("WIKI_TOOLS", "wikijs_undo_write,wikijs_list_tags")]).await,
        [UNDO, TAGS]
    );
    assert_eq!(
        offered(&[
            ("WIKI_TOOLSETS", "undo"),
            ("WIKI_TOOLS", "wikijs_list_tags,wikijs_undo_write")
        ])
        .await,
        [UNDO, "wikijs_list_bin", "wikijs_restore_page", TAGS]
    );
    assert_eq!(
        offered(&[
            ("WIKI_TOOLS", "wikijs_list_tags, wikijs_create_page"),
            ("WIKI_EXCLUDE_TOOLS", "wikijs_list_tags,wikijs_delete_page")
        ])
        .await,
        [CREATE]
    );
}

#[tokio::test]
async fn read_only_leaves_every_tool_that_can_change_the_wiki_out_whatever_else_is_set() {
    let all = [
        ("WIKI_READ_ONLY", "true"),
        ("WIKI_TOOLSETS", "pages,undo"),
        ("WIKI_TOOLS", "wikijs_update_page,wikijs_undo_write"),
    ];
    let served = served(&all).await;
    let listed = served.client.list_tools(None).await.unwrap();
    for tool in &listed.tools {
        let annotations = tool.annotations.as_ref().unwrap();
        assert_eq!(annotations.read_only_hint, Some(true), "{}", tool.name);
    }
    // Beside those of pages the one that lists the bin.
    assert_eq!(listed.tools.len(), READING.len() + 1);
}

#[tokio::test]
async fn a_list_of_tools_may_end_with_a_comma() {
    for (name, list) in [
        ("WIKI_TOOLSETS", "undo"),
        ("WIKI_TOOLS", UPDATE),
        ("WIKI_EXCLUDE_TOOLS", DELETE),
    ] {
        let plain = offered(&[(name, list)]).await;
        assert_eq!(offered(&[(name, &format!("{list},"))]).await, plain);
    }
}

#[tokio::test]
async fn a_tool_that_is_left_out_is_refused_to_the_byte_as_one_that_never_was() {
    let served = served(&[("WIKI_READ_ONLY", "true")]).await;
    let mut refusals = Vec::new();
    for name in [UPDATE, UNDO, "wikijs_never_was"] {
        let mut request = CallToolRequestParams::new(name);
        request.arguments = json!({ "id": 1, "nothing": true }).as_object().cloned();
        let refusal = served.client.call_tool(request).await.unwrap_err();
        refusals.push(format!("{refusal:?}").replace(name, "NAME"));
    }
    assert_eq!(refusals[0], refusals[2]);
    assert_eq!(refusals[1], refusals[2]);
    assert!(served.records().is_empty(), "nothing of it is on record");
}

#[test]
fn a_name_that_is_none_and_an_empty_surface_stop_the_start() {
    for (settings, fault) in json_rows::<(BTreeMap<&str, &str>, &str)>(&json!([
        [{ "WIKI_TOOLS": "wikijs_list_tag" },
         "WIKI_TOOLS has \"wikijs_list_tag\", which is no tool; did you mean wikijs_list_tags?"],
        [{ "WIKI_EXCLUDE_TOOLS": "wikijs_delete_pages" },
         "WIKI_EXCLUDE_TOOLS has \"wikijs_delete_pages\", which is no tool; did you mean wikijs_delete_page?"],
        [{ "WIKI_TOOLS": "search" }, "WIKI_TOOLS has \"search\", which is no tool; did you mean wikijs_search_pages?"],
        [{ "WIKI_TOOLS": "custom-tags" },
         "WIKI_TOOLS has \"custom-tags\", which is no name of a custom tool; it must be custom_ and a small letter, then small letters, digits and _, up to 64 characters"],
        [{ "WIKI_TOOLS": "" }, "WIKI_TOOLS is set but empty; give it a value or leave it out"],
        [{ "WIKI_READ_ONLY": "yes" }, "WIKI_READ_ONLY must be true or false"],
        [{ "WIKI_TOOLS": CREATE, "WIKI_READ_ONLY": "true" },
         "WIKI_READ_ONLY leaves no tool; leave it out or offer more tools"],
        [{ "WIKI_TOOLSETS": "drafts", "WIKI_EXCLUDE_TOOLS": OF_DRAFTS },
         "WIKI_EXCLUDE_TOOLS leaves no tool; leave it out or offer more tools"],
    ])) {
        let settings: Vec<_> = settings.into_iter().collect();
        assert_eq!(refused(&settings), fault);
    }
    let toolset = refused(&[("WIKI_TOOLSETS", "page")]);
    begins(
        &toolset,
        "WIKI_TOOLSETS has \"page\", which is no toolset; did you mean pages?; there are pages",
    );
}
