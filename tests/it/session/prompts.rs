//! Prompts: what a user may ask for by name, with a real client.

use rmcp::model::{ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, Reference};
use rmcp::service::ServiceError;
use serde_json::Map;
use wikijs_gate::tools::{Registry, ToolSelection, Toolset};

use crate::prelude::*;

const ALL: &str = "pages,proposals";

async fn served() -> Served {
    let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x");
    setup.toolsets(ALL).serve().await
}

async fn offered(settings: &[(&str, &str)]) -> Vec<String> {
    let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x");
    let with = |setup: Setup, (name, value): &(&str, &str)| setup.with(name, value);
    let served = settings.iter().fold(setup, with).serve().await;
    let listed = served.client.list_prompts(None).await.unwrap();
    vec_of(listed.prompts.into_iter().map(|prompt| prompt.name))
}

async fn text(served: &Served, name: &str, arguments: Value) -> Result<String, String> {
    let request =
        GetPromptRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
    match served.client.get_prompt(request).await {
        Ok(got) => {
            let got = serde_json::to_value(got).unwrap();
            assert_eq!(got["messages"][0]["role"], "user");
            Ok(got["messages"][0]["content"]["text"]
                .as_str()
                .unwrap()
                .to_owned())
        }
        Err(ServiceError::McpError(error)) => {
            assert_eq!(error.code.0, -32_602);
            Err(error.message.into_owned())
        }
        Err(other) => panic!("{other}"),
    }
}

const EXAMPLES: fn() -> Value = || {
    json!([
        ["what-changed", { "since": "2026-11-01", "path": "docs" }],
        ["mend-broken-links", { "path": "docs/\"odd\"" }],
        ["write-page-like", { "example": "docs/install/linux", "path": "docs/install/mac",
                              "about": "Installing on a Mac.\nNeeds version 14." }],
        ["review-proposal", { "id": "0123456789abcdef" }],
    ])
};

#[tokio::test]
async fn the_prompts_and_their_texts_are_the_golden_ones() {
    let served = served().await;
    let listed = served.client.list_prompts(None).await.unwrap();
    let mut told = serde_json::to_string_pretty(&listed.prompts).unwrap();
    for prompt in &listed.prompts {
        let name = format!("`{}`", prompt.name);
        assert!(
            include_str!("../../../docs/reading.md").contains(&name),
            "{name}"
        );
    }
    for (name, arguments) in json_rows(&EXAMPLES()) {
        let text = text(&served, name, arguments).await.unwrap();
        write!(told, "\n\n== {name}\n{text}").unwrap();
    }
    golden("prompts", &told);
}

/// The calls that a text spells out: a tool's name, and arguments in JSON behind it.
fn calls(text: &str) -> Vec<(String, Map<String, Value>)> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once(" {\"") {
        let name = before.rsplit(' ').next().unwrap();
        let json = format!("{{\"{after}");
        let mut values = serde_json::Deserializer::from_str(&json).into_iter::<Map<_, _>>();
        calls.push((name.to_owned(), values.next().unwrap().unwrap()));
        rest = after;
    }
    calls
}

#[tokio::test]
async fn each_call_that_a_prompt_spells_out_is_one_that_its_tool_takes() {
    let served = served().await;
    let registry =
        Registry::new(&ToolSelection::new(&[Toolset::Pages, Toolset::Proposals])).unwrap();
    for (name, arguments) in json_rows(&EXAMPLES()) {
        let text = text(&served, name, arguments).await.unwrap();
        let calls = calls(&text);
        assert_eq!(calls.len(), 1, "{text}");
        for (tool, arguments) in calls {
            let checked = registry.check(&tool, arguments);
            checked.unwrap_or_else(|| panic!("{tool}")).unwrap();
        }
    }
}

#[tokio::test]
async fn a_prompt_is_offered_where_all_its_tools_are() {
    let reading = ["what-changed"];
    let writing = ["what-changed", "mend-broken-links", "write-page-like"];
    assert_eq!(offered(&[]).await, writing);
    assert_eq!(offered(&[("WIKI_READ_ONLY", "true")]).await, reading);
    let expected = [&writing[..], &["review-proposal"]].concat();
    assert_eq!(offered(&[("WIKI_TOOLSETS", ALL)]).await, expected);
    assert_eq!(offered(&[("WIKI_EXCLUDE_TOOLS", SEARCH)]).await, reading);
    let served = Setup::at("http://127.0.0.1:9", "e30.e30.x").serve().await;
    let arguments = json!({ "id": "0123456789abcdef" });
    let none = text(&served, "review-proposal", arguments).await;
    assert_eq!(
        none.unwrap_err(),
        "there is no such prompt; there are: what-changed, mend-broken-links, write-page-like"
    );
}

#[tokio::test]
async fn a_named_client_is_offered_the_prompts_of_its_own_tools() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let reading = names.granted("reading", |grant| grant.read_only = true);
    let server = Setup::editor(&wiki).naming(&names).host().await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list" });
    let listed = server.post(&reading, &list).await.message();
    let prompts = listed["result"]["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 1, "{listed}");
    let get = json!({ "jsonrpc": "2.0", "id": 2, "method": "prompts/get",
        "params": { "name": "mend-broken-links", "arguments": { "path": "docs" } } });
    let refused = server.post(&reading, &get).await.message();
    assert_eq!(refused["error"]["code"], -32_602, "{refused}");
}

#[tokio::test]
async fn arguments_are_checked_and_all_faults_are_told() {
    let served = served().await;
    for (name, arguments, fault) in json_rows::<(&str, Value, &str)>(&json!([
        ["what-changed", { "since": "yesterday", "until": "x" },
         "since must be a date or time in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z; there is an argument beside since, path"],
        ["mend-broken-links", { "path": " " }, "path is required"],
        ["mend-broken-links", { "path": "https://elsewhere.example/en/docs" },
         "path is an address of another site"],
        ["write-page-like", { "path": 3, "about": "x".repeat(2_001) },
         "path must be a string; about must have at most 2000 characters; example is required"],
        ["review-proposal", { "id": "newest" }, "id must be the id of a proposal: 16 hex digits"],
    ])) {
        assert_eq!(text(&served, name, arguments).await.unwrap_err(), fault);
    }
    // Without a time it is a week.
    let week = text(&served, "what-changed", json!({ "since": "" }))
        .await
        .unwrap();
    begins(&week, "Tell me what changed in the wiki since \"2");
}

#[tokio::test]
async fn arguments_of_prompts_have_no_completions() {
    let served = served().await;
    let request = CompleteRequestParams::new(
        Reference::for_prompt("what-changed"),
        ArgumentInfo::new("path", "docs"),
    );
    let answer = served.client.complete(request).await.unwrap();
    assert_eq!(answer.completion.values, Vec::<String>::new());
}
