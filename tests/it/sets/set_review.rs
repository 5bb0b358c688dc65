//! Sets of changes as they are looked at: in the audit's commands and its page, and as resources.

use rmcp::model::{ErrorCode, ReadResourceRequestParams};
use rmcp::service::ServiceError;

use crate::prelude::*;

async fn served(wiki: &DemoWiki, toolsets: &str) -> Served {
    let setup = Setup::admin(wiki);
    setup.toolsets(toolsets).serve().await
}

/// A set of two changes that was applied, and a single write beside it: the set's id.
async fn set(wiki: &DemoWiki, served: &Served) -> String {
    let ids = ["home", "releases/2-4"].map(|path| id_of(wiki, path));
    let title = json!({ "id": ids[0], "title": "Single" });
    is_applied(served, UPDATE, title).await;
    let tagged = json!({ "ids": ids, "addTags": ["set"] });
    let done = is_applied(served, BULK, tagged).await;
    done["callId"].as_str().unwrap().to_owned()
}

async fn audit(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Ended {
    Command::new(&[&["audit"], arguments].concat())
        .log_of(&wiki.address(), served.dir.path())
        .good()
        .await
}

async fn audit_json(wiki: &DemoWiki, served: &Served, arguments: &[&str]) -> Value {
    let ended = audit(wiki, served, &[arguments, &["--json"]].concat()).await;
    ended.json()
}

#[tokio::test]
async fn a_set_is_listed_shown_and_counted_with_its_changes() {
    let wiki = sample_wiki().await;
    let served = served(&wiki, "pages,drafts").await;
    let set = set(&wiki, &served).await;
    let beginning = set.get(..6).unwrap();
    let listed = audit_json(&wiki, &served, &["list", "--set", beginning]).await;
    let calls = listed["calls"].as_array().unwrap();
    assert!(calls.iter().all(|call| call["set"] == *set), "{listed}");
    let written = calls.iter().filter(|call| call["path"].is_string());
    let mut paths: Vec<&str> = written.map(|call| call["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["home", "releases/2-4"]);

    let shown = audit_json(&wiki, &served, &["show", beginning]).await;
    let members = shown["members"].as_array().unwrap();
    let outcomes: Vec<&Value> = members.iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["applied", "applied"]);
    let shown = audit(&wiki, &served, &["show", &set]).await;
    for path in ["en:home", "en:releases/2-4"] {
        assert!(shown.stdout.contains(path), "{}", shown.told);
    }

    let figures = audit_json(&wiki, &served, &["stats"]).await;
    assert_eq!(figures["sets"], 1);
    // A set is no further write beside its changes.
    let days = figures["writesByDay"].as_object().unwrap();
    let writes: u64 = days.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(writes, 3);
    let told = audit(&wiki, &served, &["stats"]).await;
    assert!(told.stdout.contains("1 set of changes"), "{}", told.told);
}

#[tokio::test]
async fn a_proposed_set_is_found_by_each_of_its_pages_and_its_own_rows_name_none_alone() {
    let pages = [
        ("team/a", "# A\n"),
        ("team/b", "# B\n"),
        ("team/c", "# C\n"),
    ];
    let wiki = wiki_of(&pages).await;
    let served = served(&wiki, "pages,drafts,proposals").await;
    let ids = pages.map(|(path, _)| id_of(&wiki, path));
    let proposed = async |tag| {
        let tagged = json!({ "ids": ids, "addTags": [tag], "propose": true });
        let answer = call_ok(&served, BULK, tagged).await;
        answer["proposal"].as_str().unwrap().to_owned()
    };
    let decide = async |arguments: &[&str]| {
        let arguments = [&["proposals"], arguments].concat();
        let command = Command::operator(&wiki, served.dir.path(), &arguments);
        command.good().await.stdout
    };
    let of_page = async |id: &i64| {
        let listed = audit_json(&wiki, &served, &["list", "--page", &id.to_string()]).await;
        let calls = listed["calls"].as_array().unwrap().iter();
        let told = calls.map(|call| (call["outcome"].clone(), call["path"].clone()));
        told.collect::<Vec<_>>()
    };
    let (proposal, applied) = (json!("proposal"), json!("applied"));
    let first = proposed("x").await;
    for id in &ids {
        assert_eq!(of_page(id).await, [(proposal.clone(), Value::Null)]);
    }
    decide(&["apply", &first, "--yes"]).await;
    for (id, (path, _)) in ids.iter().zip(pages) {
        let change = (applied.clone(), json!(path));
        let expected = [change, (proposal.clone(), Value::Null)];
        assert_eq!(of_page(id).await, expected, "{path}");
        let stats = ["stats", "--page", &id.to_string()];
        assert_eq!(audit_json(&wiki, &served, &stats).await["calls"], 2);
    }
    let listed = audit_json(&wiki, &served, &["list"]).await;
    let rows = listed["calls"].as_array().unwrap();
    let own = |row: &&Value| row["set"] == row["call"];
    let own: Vec<&Value> = rows.iter().filter(own).collect();
    let counts: Vec<&Value> = own.iter().map(|row| &row["pages"]).collect();
    // The decision with the preview that it showed, and the proposal.
    assert_eq!(counts, [&Value::Null, &Value::Null, &json!(3)]);
    for row in own {
        for name in ["id", "locale", "path"] {
            assert_eq!(row[name], Value::Null, "{row}");
        }
        let call = row["call"].as_str().unwrap();
        let shown = audit(&wiki, &served, &["show", call]).await;
        let facts = shown.stdout.lines().map(str::trim_start);
        let mut writes = facts.filter(|line| line.starts_with("write "));
        assert!(writes.all(|line| !line.contains("team/")), "{}", shown.told);
    }
    says(
        &audit(&wiki, &served, &["list"]).await.stdout,
        "  3 pages  ",
    );
    let second = proposed("y").await;
    let rejected = decide(&["reject", &second, "--why", "no"]).await;
    assert_eq!(rejected, format!("rejected: {second}, update 3 pages\n"));
}

async fn resource(served: &Served, uri: &str) -> Result<Value, ServiceError> {
    let request = ReadResourceRequestParams::new(uri);
    let read = served.client.read_resource(request).await?;
    let read = serde_json::to_value(read).unwrap();
    let text = read["contents"][0]["text"].as_str().unwrap().to_owned();
    Ok(serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn a_set_is_a_resource_of_its_own_client_with_what_the_tool_answers() {
    let wiki = sample_wiki().await;
    let served = served(&wiki, "pages,drafts").await;
    let set = set(&wiki, &served).await;
    let templates = served.client.list_all_resource_templates().await.unwrap();
    let told = serde_json::to_string(&templates).unwrap();
    assert!(told.contains("wikijs://change-sets/{id}"), "{told}");
    let read = resource(&served, &format!("wikijs://change-sets/{set}")).await;
    let tool = served.call(CHANGE_SET, json!({ "id": set }));
    assert_eq!(read.unwrap(), tool.await.unwrap());
    for none in ["0000000000000000", "home", ""] {
        let refused = resource(&served, &format!("wikijs://change-sets/{none}")).await;
        let Err(ServiceError::McpError(error)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND, "{error:?}");
    }
}

#[tokio::test]
async fn sets_are_no_resources_where_their_tool_is_not_offered() {
    let wiki = sample_wiki().await;
    let own = served(&wiki, "pages,drafts").await;
    let set = set(&wiki, &own).await;
    let setup = Setup::admin(&wiki).in_dir_of(&own);
    let served = setup.toolsets("pages").serve().await;
    let templates = served.client.list_all_resource_templates().await.unwrap();
    lacks(&serde_json::to_string(&templates).unwrap(), "change-sets");
    let read = resource(&served, &format!("wikijs://change-sets/{set}")).await;
    assert!(read.is_err(), "{read:?}");
}
