//! Several servers on one page: who shares an audit directory loses nothing, and who does not is
//! told of what was overwritten.

use std::thread;

use crate::prelude::*;

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
    let calls = servers.iter().enumerate();
    let calls = calls.map(|(number, server)| server.call(UPDATE, arguments(number)));
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
            applied.shows(json!({ "outcome": "applied", "warnings": null }));
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
    let refused = fails(&two, UPDATE, confirmed.clone(), "TIMEOUT").await;
    says(&refused["message"], "the token of a preview stays valid");
    assert_eq!(mutations(&wiki).len(), 0);
    let told = told(&two.records());
    assert_eq!(told, ["preview", "refusal TIMEOUT"]);
    // Its token was not used up.
    drop(held);
    is_applied(&two, UPDATE, confirmed).await;
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
        let overwriters = answers.iter().filter(|it| warns(it, "overwrote_newer"));
        let overwriters = overwriters.count();
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
    let ids = vec_of(history.entries.iter().map(|entry| entry.version_id));
    let versions = wiki.versions(id, &ids).await.unwrap();
    versions
        .into_iter()
        .flatten()
        .map(|version| version.page.content.unwrap())
        .collect()
}

/// The number of threads of a process.
fn threads(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let count = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    count.unwrap().trim().parse().unwrap()
}

/// The records of an event so far, by the runs of servers that are at work.
fn so_far(dir: &Path, event: AuditEvent) -> Vec<Record> {
    let runs = runs(dir).into_iter();
    let text: String = runs.map(|run| fs::read_to_string(run).unwrap()).collect();
    let records = text
        .lines()
        .filter_map(|line| Record::parse(line.as_bytes()).ok());
    records.filter(|record| record.event == event).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_writers_of_a_page_take_few_threads_and_the_first_is_on_record_in_a_second() {
    const EACH: usize = 60;
    const DELAY: Duration = Duration::from_secs(4);
    let wiki = Arc::new(sample_wiki().await);
    let id = prepared(&wiki);
    wiki.set_write_delay(DELAY);
    let dir = TempDir::new().unwrap();
    let of_wiki = Arc::clone(&wiki);
    let checked = tokio::task::spawn_blocking(move || {
        let (address, key) = (of_wiki.address(), &of_wiki.keys().admin);
        let more = [
            ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
            ("WIKI_INDEX", "off"),
        ];
        let serve = |_| Program::writing(&address, key, dir.path(), &more);
        let mut servers: Vec<Program> = (0..SERVERS).map(serve).collect();
        for number in 0..EACH {
            for (at, server) in servers.iter_mut().enumerate() {
                server.begin(UPDATE, &adds(id, &line(number, at)));
            }
        }
        let mut most = 0;
        let outcome = loop {
            let counts = servers.iter().map(|server| threads(server.id()));
            most = most.max(counts.max().unwrap());
            if let Some(first) = so_far(dir.path(), AuditEvent::Outcome).into_iter().next() {
                break first;
            }
            servers[0].waits(Duration::from_millis(20));
        };
        let attempts = so_far(dir.path(), AuditEvent::Attempt);
        let attempt = attempts.iter().find(|attempt| attempt.call == outcome.call);
        let took = outcome.instant().unwrap() - attempt.unwrap().instant().unwrap();
        assert!(took < DELAY + Duration::from_secs(1), "{took}");
        // The service's unit allows 64.
        assert!(most <= 64, "{most} threads");
        // The others waited for it, and go on.
        assert!(attempts.len() <= 2, "{attempts:?}");
        of_wiki.set_write_delay(Duration::ZERO);
        let mut applied = 0;
        // What the first server said is read already, in part.
        for server in servers.iter_mut().skip(1) {
            let mut answered = 0;
            while answered < EACH {
                let message: Value = serde_json::from_str(&server.line()).unwrap();
                answered += usize::from(message.get("result").is_some());
                applied +=
                    usize::from(message["result"]["structuredContent"]["outcome"] == "applied");
            }
        }
        assert!(applied > 0);
        applied
    });
    let applied = checked.await.unwrap();
    let lines = content(&wiki, id)
        .lines()
        .filter(|line| line.starts_with("Line "))
        .count();
    assert!(lines >= applied, "{lines} of {applied}");
}
