//! Whatever a session is told names no tool that its `tools/list` has not.

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};

use crate::prelude::*;
use crate::session::naive_calls::{CALLS, Told};

const TEN: [&str; 10] = [
    SEARCH, LIST, BY_PATH, BY_ID, TREE, HISTORY, TAGS, CREATE, UPDATE, DELETE,
];
const BESIDE: [&str; 3] = [UNDO, LIST_PROPOSALS, GET_PROPOSAL];

/// Each way in which a surface may be narrow.
fn surfaces() -> Vec<Vec<(&'static str, &'static str)>> {
    let all = TEN.iter().chain(&BESIDE);
    let alone = all.clone().map(|tool| vec![("WIKI_TOOLS", *tool)]);
    let without = all.map(|tool| {
        let sets = ("WIKI_TOOLSETS", "pages,undo,proposals");
        vec![sets, ("WIKI_EXCLUDE_TOOLS", *tool)]
    });
    let others = [
        vec![],
        vec![("WIKI_READ_ONLY", "true")],
        vec![("WIKI_TOOLSETS", "undo,proposals")],
        vec![("WIKI_MUTATIONS_ENABLED", "false")],
        vec![("WIKI_MUTATION_DRY_RUN", "true")],
    ];
    alone.chain(without).chain(others).collect()
}

async fn tools_of(served: &Served) -> Vec<String> {
    let listed = served.client.list_tools(None).await.unwrap();
    vec_of(listed.tools.into_iter().map(|tool| tool.name.into_owned()))
}

/// Everything that a session is told before it calls a tool.
async fn told_first(served: &Served) -> Vec<String> {
    let client = &served.client;
    let instructions = client.peer_info().unwrap().instructions.clone();
    let mut told = vec![instructions.unwrap()];
    let tools = client.list_tools(None).await.unwrap();
    told.extend(
        tools
            .tools
            .iter()
            .map(|tool| serde_json::to_string(tool).unwrap()),
    );
    let prompts = client.list_prompts(None).await.unwrap().prompts;
    told.push(serde_json::to_string(&prompts).unwrap());
    for prompt in prompts {
        let arguments =
            json!({ "path": "docs", "example": "docs", "about": "x", "id": "0123456789abcdef" });
        let own = prompt.arguments.unwrap_or_default();
        let mut arguments = arguments.as_object().unwrap().clone();
        arguments.retain(|name, _| own.iter().any(|argument| argument.name == *name));
        let get = GetPromptRequestParams::new(prompt.name).with_arguments(arguments);
        told.push(serde_json::to_string(&client.get_prompt(get).await.unwrap()).unwrap());
    }
    for resource in client.list_resources(None).await.unwrap().resources {
        let read = ReadResourceRequestParams::new(resource.uri.clone());
        told.push(serde_json::to_string(&client.read_resource(read).await.unwrap()).unwrap());
    }
    let missing = ReadResourceRequestParams::new("wikijs://en/not/there");
    told.push(client.read_resource(missing).await.unwrap_err().to_string());
    told
}

/// What the tools that are offered answer: to naive calls, and where something is left out.
async fn answers(served: &Served, offered: &[String], id: i64) -> Vec<String> {
    let more = [
        (HISTORY, r#"{"id": $ID}"#),
        (HISTORY, r#"{"id": $ID, "compare": {"from": "1"}}"#),
        (HISTORY, r#"{"since": "2020-01-01"}"#),
        (LIST, r#"{"tags": ["start"]}"#),
        (LIST, r#"{"links": "BROKEN"}"#),
        (LIST, r#"{"links": "ORPHANS"}"#),
        (BY_ID, r#"{"id": 99999}"#),
        (BY_PATH, r#"{"path": "not/there"}"#),
        (TREE, r#"{"path": "not/there"}"#),
        (UNDO, r#"{"callId": "last"}"#),
        (UNDO, r#"{"callId": "0123", "path": "x"}"#),
        (GET_PROPOSAL, r#"{"id": "0123456789abcdef"}"#),
        (LIST_PROPOSALS, "{}"),
        (UPDATE, r#"{"id": $ID, "content": ""}"#),
        (DELETE, r#"{"id": 99999}"#),
    ];
    let naive = CALLS.iter().flat_map(|(tool, arguments, told)| match told {
        Told::Takes => vec![(*tool, *arguments)],
        Told::Leads(_, _, next, then) => vec![(*tool, *arguments), (*next, *then)],
    });
    let mut answers = Vec::new();
    for (tool, arguments) in more.into_iter().chain(naive) {
        if !offered.iter().any(|offered| offered == tool) {
            continue;
        }
        let arguments = arguments.replace("$ID", &id.to_string());
        let arguments = arguments.replace("$VERSION", "1");
        let arguments: Value = serde_json::from_str(&arguments.replace("$TOKEN", "0a0a")).unwrap();
        let answer = served.call(tool, arguments.clone()).await;
        let answer = answer.unwrap_or_else(|error| {
            assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
            error
        });
        answers.push(format!("{tool} {arguments}: {answer}"));
    }
    answers
}

#[tokio::test]
async fn nothing_that_a_session_is_told_names_a_tool_that_it_is_not_offered() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "docs/install/linux");
    let mut wrong = Vec::new();
    for surface in surfaces() {
        let setup = Setup::editor(&wiki);
        let with = |setup: Setup, (name, value): &(&str, &str)| setup.with(name, value);
        let served = surface.iter().fold(setup, with).serve().await;
        let offered = tools_of(&served).await;
        let mut told = told_first(&served).await;
        told.extend(answers(&served, &offered, id).await);
        let is_offered = |tool: &&str| offered.iter().any(|offered| offered == tool);
        let all = TEN.iter().chain(&BESIDE);
        for absent in all.copied().filter(|tool| !is_offered(tool)) {
            let names = told.iter().filter(|told| told.contains(absent));
            wrong.extend(names.map(|told| format!("{surface:?}: {absent} in {told}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} times, first {}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n\n")
    );
}

#[tokio::test]
async fn each_reading_tool_alone_describes_its_own_arguments() {
    for tool in [BY_ID, BY_PATH] {
        let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x").with("WIKI_TOOLS", tool);
        let served = setup.serve().await;
        let listed = served.client.list_tools(None).await.unwrap();
        let [listed] = &listed.tools[..] else {
            panic!("{tool}")
        };
        says(&**listed.description.as_ref().unwrap(), "counted from 0");
        let properties = listed.input_schema["properties"].as_object().unwrap();
        let said = properties
            .values()
            .filter(|of| of.get("description").is_some());
        assert!(said.count() > 3, "{properties:?}");
    }
}

#[tokio::test]
async fn prompts_that_write_are_offered_where_a_write_can_come_of_it() {
    for (setting, value, offered) in [
        ("WIKI_MUTATIONS_ENABLED", "false", 1),
        ("WIKI_MUTATION_DRY_RUN", "true", 3),
        ("WIKI_MUTATION_DRY_RUN", "false", 3),
    ] {
        let setup = Setup::at("http://127.0.0.1:9", "e30.e30.x").with(setting, value);
        let prompts = setup.serve().await.client.list_prompts(None).await.unwrap();
        assert_eq!(prompts.prompts.len(), offered, "{setting}={value}");
    }
}

#[tokio::test]
async fn pages_are_resources_where_a_tool_reads_pages() {
    let wiki = sample_wiki().await;
    for (tools, pages) in [
        (BY_ID, true),
        ("wikijs_get_page_by_path,wikijs_list_tags", true),
        ("wikijs_list_tags,wikijs_search_pages", false),
    ] {
        let setup = Setup::editor(&wiki).with("WIKI_TOOLS", tools);
        let served = setup.serve().await;
        let listed = served.client.list_resources(None).await.unwrap().resources;
        let uris = vec_of(listed.iter().map(|resource| resource.uri.as_str()));
        let is_page = |uri: &&str| uri.starts_with("wikijs://en/");
        assert_eq!(uris.iter().any(is_page), pages, "{tools}: {uris:?}");
        assert!(uris.contains(&"wikijs://guide/markdown"), "{uris:?}");
        assert!(!uris.contains(&"wikijs://guide/editing"), "{uris:?}");
        let templates = served.client.list_resource_templates(None).await.unwrap();
        assert_eq!(templates.resource_templates.len(), usize::from(pages));
        let read = ReadResourceRequestParams::new("wikijs://en/docs/install/linux");
        assert_eq!(
            served.client.read_resource(read).await.is_ok(),
            pages,
            "{tools}"
        );
    }
}
