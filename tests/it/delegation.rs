//! Delegation: a client hands on a part of its rights for a task, and never more than it has.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use wikijs_mcp::audit::Event;
use wikijs_mcp::demo::DemoWiki;
use wikijs_mcp::server::http::{Delegate, DelegatesFile, Grant};

use crate::harness::{Setup, wiki_of};
use crate::hosted::{Caller, Hosted, Names, call, speaking};

const DELEGATE: &str = "wikijs_delegate";
const END: &str = "wikijs_end_delegation";
const READ: &str = "wikijs_get_page_by_path";
const CREATE: &str = "wikijs_create_page";
const ALL: &str = "pages,undo,proposals,drafts,delegate";

async fn wiki() -> DemoWiki {
    wiki_of(&[
        ("home", "# Home\n"),
        ("docs/alpha", "# Alpha\n"),
        ("docs/beta", "# Beta\n"),
        ("hr/pay", "# Pay\n"),
    ])
    .await
}

fn serving(wiki: &DemoWiki, names: &Names) -> Setup {
    Setup::of(wiki, |keys| &keys.editor)
        .with("WIKI_TOOLSETS", ALL)
        .naming(names)
}

fn agent(answer: &Value) -> Caller {
    let token = answer["token"].as_str().unwrap();
    Caller::default().with("authorization", &format!("Bearer {token}"))
}

fn file(names: &Names) -> DelegatesFile {
    names.file().delegates()
}

fn path(names: &Names) -> PathBuf {
    file(names).path().to_owned()
}

/// Changes the lines of the file of delegates.
fn rewrite(names: &Names, change: impl Fn(&mut Value)) {
    let text = fs::read_to_string(path(names)).unwrap();
    let lines = text.lines().map(|line| {
        let mut line = serde_json::from_str(line).unwrap();
        change(&mut line);
        format!("{line}\n")
    });
    let text: String = lines.collect();
    fs::write(path(names), text).unwrap();
}

impl Hosted {
    async fn delegate(&self, maker: &Caller, arguments: Value) -> Value {
        self.call(maker, DELEGATE, arguments).await.unwrap()
    }

    async fn status(&self, caller: &Caller) -> u16 {
        let arguments = json!({ "path": "home" });
        self.post(caller, &call(READ, arguments)).await.status
    }
}

fn page(path: &str) -> Value {
    json!({ "path": path, "title": "New", "content": "# New\n" })
}

fn reason(refused: &Result<Value, Value>) -> &str {
    let error = refused.as_ref().unwrap_err();
    assert_eq!(error["code"], "DELEGATION_DENIED", "{error}");
    error["details"]["reason"].as_str().unwrap()
}

/// The delegate of this answer, once its end is settled.
async fn settled(names: &Names, answer: &Value) -> Delegate {
    let id = answer["id"].as_str().unwrap();
    let look = async {
        loop {
            let all = file(names).read().unwrap();
            let one = all.into_iter().find(|one| one.id().to_string() == id);
            let one = one.unwrap();
            let text = fs::read_to_string(path(names)).unwrap();
            let line = text.lines().find(|line| line.contains(id)).unwrap();
            if line.contains("\"isSettled\":true") {
                return one;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), look)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_researcher_reads_below_its_prefixes_and_does_nothing_else() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.add("ci", Grant::default());
    let server = serving(&wiki, &names).host().await;
    let made = server
        .delegate(
            &maker,
            json!({ "task": "look at the docs", "kind": "researcher", "prefixes": ["docs"] }),
        )
        .await;
    let name = made["delegate"].as_str().unwrap();
    assert!(name.starts_with("ci/researcher-"), "{name}");
    let agent = agent(&made);
    assert_eq!(
        server.tools(&agent).await,
        [
            "wikijs_search_pages",
            "wikijs_list_pages",
            "wikijs_get_page_by_path",
            "wikijs_get_page_by_id",
            "wikijs_get_page_tree",
            "wikijs_list_tags"
        ]
    );
    let read = server
        .call(&agent, READ, json!({ "path": "docs/alpha" }))
        .await;
    assert!(read.is_ok(), "{read:?}");
    let hidden = server.call(&agent, READ, json!({ "path": "home" })).await;
    assert_eq!(hidden.unwrap_err()["code"], "PAGE_NOT_FOUND");
    // The token is kept nowhere.
    let token = made["token"].as_str().unwrap();
    let kept = fs::read_to_string(path(&names)).unwrap();
    assert!(!kept.contains(token) && !kept.contains(&token[4..]));
}

#[tokio::test]
async fn a_writer_leaves_its_writes_open_and_they_are_its_own() {
    let (wiki, names) = (wiki().await, Names::new());
    let maker = names.add("ci", Grant::default());
    let server = serving(&wiki, &names).host().await;
    let wanted = json!({ "task": "write docs/new", "kind": "writer", "prefixes": ["docs"] });
    let made = server.delegate(&maker, wanted).await;
    let agent = agent(&made);
    let written = server.call(&agent, CREATE, page("docs/new")).await.unwrap();
    assert_eq!(written["dryRun"], true, "{written}");
    let proposal = written["proposal"].as_str().unwrap();
    let outside = server.call(&agent, CREATE, page("new")).await;
    assert_eq!(outside.unwrap_err()["code"], "PATH_NOT_ALLOWED");
    let end = json!({ "delegate": made["delegate"] });
    let did = server.call(&maker, END, end).await.unwrap();
    assert_eq!(did["sets"][0]["proposal"], proposal, "{did}");
    assert_eq!(
        (&did["writesUsed"], &did["writes"]),
        (&json!(1), &json!(20))
    );
    assert_eq!(did["why"], "ended by its maker");
    assert_eq!(server.status(&agent).await, 401);
    let told: Vec<_> = server
        .records()
        .into_iter()
        .filter(|record| record.event == Event::Delegation)
        .map(|record| record.decision.unwrap())
        .collect();
    assert_eq!(told, ["made", "ended"]);
}
