//! The way of a new operator, from nothing: settings, a look at them, proposals of an agent, what is
//! decided about them, the log. The real program at every step; the page in the docs is its output.

use std::sync::Mutex;

use super::process::Program;
use crate::prelude::*;

/// An operator's machine: a home, and nothing else.
struct Machine<'a> {
    home: TempDir,
    wiki: &'a DemoWiki,
    /// What the page of the docs shows.
    told: Mutex<Vec<(String, String)>>,
}

impl Machine<'_> {
    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    /// Runs a command there, and gives its whole output to the page of the docs.
    async fn run(&self, page: Option<&str>, arguments: &[&str], stdin: &str) -> Ended {
        let wiki = self.wiki.address();
        let bare = wiki.split_once("://").unwrap().1.to_owned();
        let ended = Command::new(arguments)
            .with("HOME", self.home())
            .with("WIKI_LOG", "error")
            .stdin(stdin)
            .hide(self.home(), "/home/op")
            .hide(bare.replace([':', '.'], "_"), "wiki.lan")
            .hide(bare, "wiki.lan")
            .end()
            .await;
        if let Some(page) = page {
            let told = format!("```console\n{}```\n", ended.told);
            self.told.lock().unwrap().push((page.to_owned(), told));
        }
        ended
    }

    /// Holds the page of the docs to all of it. If one part is out of date, all are written: they
    /// are of one run.
    fn document(self) {
        let told = self.told.into_inner().unwrap();
        let all: String = told.iter().map(|(_, text)| text.as_str()).collect();
        let page = fs::read_to_string(root().join("docs/operators.md"));
        let page = page.unwrap();
        let blocks = page.split("```console\n").skip(1);
        let written: Vec<String> = blocks
            .map(|block| format!("```console\n{}```\n", block.split("```").next().unwrap()))
            .collect();
        let written = written.concat();
        if steady(&written) != steady(&all) {
            for (marker, text) in told {
                generated("docs/operators.md", &marker, &text, str::to_owned);
            }
        }
    }

    /// An agent's client, with a server that reads the same settings.
    async fn propose(&self, calls: &Value) -> Vec<String> {
        let (home, calls) = (self.home().to_owned(), json_rows::<(String, Value)>(calls));
        let proposed = tokio::task::spawn_blocking(move || {
            let mut server = Program::start(&[], &[("HOME", &home), ("WIKI_LOG", "error")]);
            server.shake_hands_as("an-agent", &json!({}));
            let mut proposed = Vec::new();
            for (tool, arguments) in calls {
                let preview = server.call(&tool, &arguments);
                proposed.push(preview["proposal"].as_str().unwrap().to_owned());
            }
            server.stopped();
            proposed
        });
        proposed.await.unwrap()
    }
}

/// Ids, hashes, times, users and how long something took differ from run to run.
pub(crate) fn steady(told: &str) -> String {
    // Columns are as wide as their widest cell, and a time that ends in a nought is shorter.
    told.split_whitespace()
        .map(|word| {
            let bare = word
                .trim()
                .trim_matches(['.', ',', ':', '"', '(', ')', '/']);
            let bare = bare.rsplit('-').next().unwrap_or(bare);
            let bare = bare.trim_end_matches(".jsonl");
            let is_hex = bare.len() >= 8 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_number = word.trim().bytes().any(|byte| byte.is_ascii_digit())
                && word
                    .trim()
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || b":-.TZ".contains(&byte));
            let is_place = word.contains("wiki.lan~") || word.contains("/home/op/.local/state");
            if is_hex || is_number || is_place {
                "*".to_owned()
            } else if word.starts_with("user:") {
                "user:*".to_owned()
            } else {
                word.trim().to_owned()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn exists(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.len() > 0)
}

#[tokio::test]
async fn from_nothing_to_a_reviewed_log() {
    let wiki = DemoWiki::start(DemoOptions::default()).await.unwrap();
    let machine = Machine {
        home: TempDir::new().unwrap(),
        wiki: &wiki,
        told: Mutex::default(),
    };
    let address = wiki.address();
    let init = [
        "config",
        "init",
        "--base-url",
        &address,
        "--key-stdin",
        "--mutations-enabled",
        "true",
        "--allowed-mutation-path-prefixes",
        "docs,team",
    ];
    let ended = machine
        .run(Some("init"), &init, &wiki.keys().scripter)
        .await;
    assert_eq!(ended.code, 0, "{}", ended.told);
    machine.run(Some("doctor"), &["doctor"], "").await.good();

    let linux = id_of(&wiki, "docs/install/linux");
    let docker = id_of(&wiki, "docs/install/docker");
    let title = |id| wiki.with_store(|store| store.page(id).unwrap().title.clone());
    let before = title(docker);
    let proposed = machine
        .propose(&json!([
            [UPDATE, { "id": linux, "title": "Installing on Debian" }],
            [UPDATE, { "id": docker, "description": "With one command" }],
            [DELETE, { "id": id_of(&wiki, "docs/configuration") }],
        ]))
        .await;
    let [first, second, third] = proposed.as_slice() else {
        panic!("{proposed:?}");
    };
    assert_eq!(mutations(&wiki).len(), 0);

    machine
        .run(Some("list"), &["proposals", "list"], "")
        .await
        .good();
    let ended = machine
        .run(Some("show"), &["proposals", "show", first], "")
        .await;
    assert_eq!(ended.code, 0, "{}", ended.told);
    let apply = ["proposals", "apply", first, second, "--yes"];
    machine.run(Some("apply"), &apply, "").await.good();
    assert_eq!(title(linux), "Installing on Debian");
    let reject = [
        "proposals",
        "reject",
        third,
        "--why",
        "we still need this page",
    ];
    machine.run(Some("reject"), &reject, "").await.good();

    let ended = machine
        .run(
            Some("undo"),
            &["undo", "last", "--yes", "--mutation-dry-run", "false"],
            "",
        )
        .await;
    assert_eq!(ended.code, 0, "{}", ended.told);
    assert_eq!(title(docker), before);
    assert_eq!(title(linux), "Installing on Debian");

    machine
        .run(Some("log"), &["audit", "list"], "")
        .await
        .good();
    machine
        .run(Some("verify"), &["audit", "verify"], "")
        .await
        .good();
    let report = machine.home.path().join("report.html");
    let arguments = ["audit", "report", "--html", report.to_str().unwrap()];
    machine.run(Some("report"), &arguments, "").await.good();
    assert!(exists(&report));
    machine.document();
}
