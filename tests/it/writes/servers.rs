//! Several servers on one page: who shares an audit directory loses nothing, and who does not is
//! told of what was overwritten.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use wikijs_gate::demo::DemoWiki;

use crate::cli::process::Program;
use crate::harness::{Served, Setup, id_of, mutations, sample_wiki};
use crate::testkit::{UPDATE, fails};

const TOKEN: &str = "sesame-sesame-sesame";
const SERVERS: usize = 5;
const ROUNDS: usize = 6;

fn line(round: usize, server: usize) -> String {
    format!("Line {round} of server {server}.")
}

/// A line of its own before the last line, whatever else the page holds.
fn adds(id: i64, line: &str) -> Value {
    let edit = json!({ "oldText": "The end.", "newText": format!("{line}\n\nThe end.") });
    json!({ "id": id, "edits": [edit], "confirm": TOKEN })
}

fn prepared(wiki: &DemoWiki) -> i64 {
    let id = id_of(wiki, "home");
    wiki.with_store(|store| store.rewrite(id, |page| "The end.\n".clone_into(&mut page.content)));
    // Long enough that all have read the page before the first is written.
    wiki.set_write_delay(Duration::from_millis(40));
    wiki.clear_requests();
    id
}

fn content(wiki: &DemoWiki, id: i64) -> String {
    wiki.with_store(|store| store.page(id).unwrap().content.clone())
}

/// Servers on one audit directory.
async fn sharing(wiki: &DemoWiki, confirm: &[(&str, &str)]) -> Vec<Served> {
    let dir = Arc::new(TempDir::new().unwrap());
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        let setup = Setup::editor(wiki).in_dir(&dir);
        let setup = confirm
            .iter()
            .fold(setup, |setup, (name, value)| setup.with(name, value));
        servers.push(setup.serve().await);
    }
    servers
}

/// The same call of each server, at once.
async fn at_once(
    servers: &[Served],
    arguments: impl Fn(usize) -> Value,
) -> Vec<Result<Value, Value>> {
    let calls = servers
        .iter()
        .enumerate()
        .map(|(number, server)| server.call(UPDATE, arguments(number)));
    futures_util::future::join_all(calls).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_servers_on_one_page_and_one_audit_directory_lose_no_line() {
    let wiki = sample_wiki().await;
    let id = prepared(&wiki);
    let servers = sharing(&wiki, &[("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN)]).await;
    for round in 0..ROUNDS {
        let answers = at_once(&servers, |server| adds(id, &line(round, server))).await;
        for answer in answers {
            let applied = answer.unwrap();
            assert_eq!(applied["outcome"], "applied");
            assert_eq!(applied.get("warnings"), None);
        }
    }
    let content = content(&wiki, id);
    for round in 0..ROUNDS {
        for server in 0..SERVERS {
            let line = line(round, server);
            assert_eq!(content.matches(&line).count(), 1, "{line}: {content}");
        }
    }
    assert_eq!(mutations(&wiki).len(), ROUNDS * SERVERS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_five_servers_with_previews_of_one_state_one_writes_and_four_meet_its_edit() {
    let wiki = sample_wiki().await;
    let id = prepared(&wiki);
    let servers = sharing(&wiki, &[]).await;
    // However busy the machine, nobody reads behind the first write by chance.
    wiki.set_write_delay(Duration::from_millis(600));
    let mut tokens = Vec::new();
    for (number, server) in servers.iter().enumerate() {
        let arguments = json!({ "id": id, "content": line(0, number) });
        let preview = server.call(UPDATE, arguments).await.unwrap();
        tokens.push(preview["confirm"].clone());
    }
    let confirmed = |server: usize| json!({ "id": id, "confirm": tokens[server] });
    let answers = at_once(&servers, confirmed).await;
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    let codes: Vec<&Value> = refused.map(|error| &error["code"]).collect();
    assert_eq!(codes, ["EDIT_CONFLICT"; SERVERS - 1]);
    assert_eq!(mutations(&wiki).len(), 1);
}

/// The same with the real program, five times.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_processes_on_one_page_and_one_audit_directory_lose_no_line() {
    let wiki = sample_wiki().await;
    let id = prepared(&wiki);
    let dir = TempDir::new().unwrap();
    let (address, key) = (wiki.address(), wiki.keys().editor.clone());
    let run = tokio::task::spawn_blocking(move || {
        let variables = [
            ("WIKI_BASE_URL", address.as_str()),
            ("WIKI_API_TOKEN", &key),
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_MUTATION_DRY_RUN", "false"),
            ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
            ("WIKI_INDEX", "off"),
            ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
        ];
        thread::scope(|scope| {
            for server in 0..SERVERS {
                let mut program = Program::serve(&[], &variables);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let arguments = adds(id, &line(round, server));
                        let applied = program.call(UPDATE, &arguments);
                        assert_eq!(applied["outcome"], "applied", "{applied}");
                    }
                });
            }
        });
    });
    run.await.unwrap();
    let content = content(&wiki, id);
    for round in 0..ROUNDS {
        for server in 0..SERVERS {
            let line = line(round, server);
            assert_eq!(content.matches(&line).count(), 1, "{line}: {content}");
        }
    }
}

#[tokio::test]
async fn an_update_that_waits_too_long_for_another_server_sends_nothing_and_is_on_record() {
    let wiki = sample_wiki().await;
    let id = prepared(&wiki);
    let one = Setup::editor(&wiki).serve().await;
    let mut setup = Setup::editor(&wiki).in_dir_of(&one);
    setup.patience.queueing = Duration::from_millis(60);
    let two = setup.serve().await;
    let arguments = json!({ "id": id, "title": "Two" });
    let preview = two.call(UPDATE, arguments).await.unwrap();
    let audit = one.app.desk.audit();
    let held = audit.lock_page(id, Duration::ZERO).await.unwrap();
    let confirmed = json!({ "id": id, "confirm": preview["confirm"] });
    fails(&two, UPDATE, confirmed.clone(), "TIMEOUT").await;
    assert_eq!(mutations(&wiki).len(), 0);
    assert_eq!(
        crate::harness::told(&two.records()),
        ["preview", "refusal TIMEOUT"]
    );
    // Its token was not used up.
    drop(held);
    let applied = two.call(UPDATE, confirmed).await.unwrap();
    assert_eq!(applied["outcome"], "applied");
}

/// Servers that share nothing, on a wiki whose updates overlap: what is lost is told, by whoever
/// wrote it or by whoever wrote over it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_a_common_audit_directory_no_line_is_lost_in_silence() {
    let mut lost = 0;
    for (round, overlap) in [0, 0, 5, 30, 60, 90].into_iter().enumerate() {
        let wiki = sample_wiki().await;
        let id = prepared(&wiki);
        wiki.set_overlapping_updates(Duration::from_millis(overlap));
        let mut servers = Vec::new();
        for _ in 0..SERVERS {
            let setup = Setup::editor(&wiki);
            let setup = setup.with("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN);
            servers.push(setup.serve().await);
        }
        let answers = at_once(&servers, |server| adds(id, &line(round, server))).await;
        let content = content(&wiki, id);
        let kept = versions(&servers[0], id).await;
        let warns = |answer: &Result<Value, Value>, code: &str| {
            let told = answer
                .as_ref()
                .map(|applied| applied["warnings"].to_string());
            told.is_ok_and(|told| told.contains(code))
        };
        let overwriters = answers
            .iter()
            .filter(|it| warns(it, "overwrote_newer"))
            .count();
        for (server, answer) in answers.iter().enumerate() {
            let line = line(round, server);
            let is_there = content.contains(&line);
            let is_kept = kept.iter().any(|kept| kept.contains(&line));
            match answer {
                Ok(applied) => {
                    assert_eq!(applied["outcome"], "applied");
                    // Read back, or found in a version.
                    assert!(is_there || is_kept || overwriters > 0, "{round} {line}");
                }
                Err(error) => {
                    assert_eq!(error["details"]["outcome"], "unknown", "{error}");
                    assert!(!is_there && !is_kept, "{round} {line}: {content}");
                }
            }
            if !is_there {
                lost += 1;
                assert!(
                    overwriters > 0 || answer.is_err(),
                    "{round} {line}: {answers:?}"
                );
            }
        }
    }
    // They did get in each other's way.
    assert!(lost > 0);
}

/// The texts of a page's versions.
async fn versions(server: &Served, id: i64) -> Vec<String> {
    let wiki = &server.app.wiki;
    let history = wiki.history(id, 0, 20).await.unwrap();
    let ids: Vec<i64> = history
        .entries
        .iter()
        .map(|entry| entry.version_id)
        .collect();
    let versions = wiki.versions(id, &ids).await.unwrap();
    versions
        .into_iter()
        .flatten()
        .map(|version| version.content)
        .collect()
}
