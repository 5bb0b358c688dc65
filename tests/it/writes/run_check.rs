//! An agent runs the operator's checks on pages and drafts.

use futures_util::future::join_all;

use crate::prelude::*;

const RUN: &str = "wikijs_run_check";

/// The settings of a server with a check that is a line of a shell.
fn with(setup: Setup, script: &str) -> Setup {
    setup
        .toolsets("pages,drafts,checks")
        .with_tables(&table("words", script, "timeout = 1"))
}

fn table(name: &str, script: &str, more: &str) -> String {
    let script = json!(script);
    format!(
        "[[checks]]\nname = \"{name}\"\ncwd = \"/\"\nargv = [\"sh\", \"-c\", {script}]\n{more}\n"
    )
}

#[tokio::test]
async fn a_session_without_checks_does_not_see_the_tool() {
    let wiki = sample_wiki().await;
    let setup = || Setup::admin(&wiki).toolsets("pages,checks");
    for (setup, is_seen) in [(setup(), false), (with(setup(), "true"), true)] {
        let served = setup.serve().await;
        let listed = served.client.list_all_tools().await.unwrap();
        assert_eq!(listed.iter().any(|tool| tool.name == RUN), is_seen);
    }
}

#[tokio::test]
async fn only_the_operators_names_are_run_and_the_others_are_told_them() {
    let wiki = sample_wiki().await;
    let tables = table("words", "true", "") + &table("of-team", "true", "paths = [\"team\"]");
    let setup = with(Setup::admin(&wiki), "").with_tables(&tables);
    let served = setup.serve().await;
    for name in [
        "",
        "Words",
        "../words",
        "/bin/sh",
        "words; id",
        "words\n",
        "wörter",
    ] {
        let call = json!({ "check": name, "page": "home" });
        let error = fails(&served, RUN, call, "COMMAND_NOT_ALLOWED").await;
        assert_eq!(error["details"], json!({ "allowed": ["words", "of-team"] }));
    }
    let call = json!({ "check": "of-team", "page": "home" });
    let error = fails(&served, RUN, call, "COMMAND_NOT_ALLOWED").await;
    assert_eq!(error["details"], json!({ "allowed": ["words"] }));
    let call = json!({ "check": "of-team", "page": "team/onboarding" });
    call_ok(&served, RUN, call)
        .await
        .shows(json!({ "passed": true }));
}

#[tokio::test]
async fn it_gets_the_page_as_json_alone_and_answers_what_it_printed() {
    let wiki = sample_wiki().await;
    // Its arguments are the operator's: what a page is called stands in its input.
    let script = "cat; printf '%s\\033[2J\\342\\200\\256' \"$#\" >&2; exit 3";
    let served = with(Setup::admin(&wiki), script).serve().await;
    let id = id_of(&wiki, "home");
    let title = "a\nb $(id) `id`";
    wiki.with_store(|store| title.clone_into(&mut store.page_mut(id).unwrap().title));
    let answer = call_ok(&served, RUN, json!({ "check": "words", "id": id })).await;
    assert_eq!(answer["passed"], false);
    let run = &answer["runs"][0];
    run.shows(json!({ "page": "en/home", "exitCode": 3, "failed": "ended with exit code 3" }));
    assert_eq!(run["stderr"], "0\\u{1b}[2J\\u{202e}");
    let given: Value = serde_json::from_str(run["stdout"].as_str().unwrap()).unwrap();
    assert_eq!(given["before"], given["after"]);
    given.shows(json!({ "v": 1, "operation": "update", "fields": [] }));
    given["after"].shows(json!({ "path": "home", "title": title }));
}

#[tokio::test]
async fn each_change_of_a_draft_is_checked_and_no_other_draft() {
    let wiki = sample_wiki().await;
    let script = "grep -q forbidden && exit 1 || exit 0";
    let served = with(Setup::editor(&wiki), script).serve().await;
    let new = json!({ "path": "docs/new", "title": "New", "content": "forbidden\n", "draft": "d" });
    call_ok(&served, CREATE, new).await;
    let update = json!({ "id": id_of(&wiki, "home"), "title": "Other", "draft": "d" });
    call_ok(&served, UPDATE, update).await;
    let answer = call_ok(&served, RUN, json!({ "check": "words", "draft": "d" })).await;
    assert_eq!(answer["passed"], false);
    answer["runs"][0].shows(json!({ "page": "en/docs/new", "exitCode": 1 }));
    answer["runs"][1].shows(json!({ "page": "en/home", "exitCode": 0 }));
    let rest = json!({ "check": "words", "draft": "d", "offset": 1 });
    let answer = call_ok(&served, RUN, rest).await;
    answer["runs"][0].shows(json!({ "page": "en/home", "exitCode": 0 }));
    // The first change was not checked by this call.
    assert_eq!(answer["passed"], false);
    let beyond = json!({ "check": "words", "draft": "d", "offset": 2 });
    fails(&served, RUN, beyond, "INVALID_INPUT").await;
    for call in [
        json!({ "check": "words", "draft": "another" }),
        json!({ "check": "words" }),
        json!({ "check": "words", "draft": "d", "id": 1 }),
        json!({ "check": "words", "id": 1, "argv": ["id"] }),
    ] {
        fails(&served, RUN, call, "INVALID_INPUT").await;
    }
}

#[tokio::test]
async fn a_page_that_the_caller_may_not_read_is_not_found() {
    let wiki = sample_wiki().await;
    let setup = with(Setup::admin(&wiki), "cat");
    let served = setup.with("WIKI_DENIED_READ_PATH_PREFIXES", "team");
    let served = served.serve().await;
    for call in [
        json!({ "check": "words", "page": "team/onboarding" }),
        json!({ "check": "words", "id": id_of(&wiki, "team/onboarding") }),
    ] {
        fails(&served, RUN, call, "PAGE_NOT_FOUND").await;
    }
}

#[tokio::test]
async fn floods_forks_and_what_never_ends_are_cut() {
    let wiki = sample_wiki().await;
    for (script, shown) in json_rows(&json!([
        ["exec yes", { "failed": "took longer than 1 s and was ended", "cut": true }],
        ["head -c 1000000000 /dev/zero; exit 2", { "exitCode": 2, "cut": true }],
        ["tail -f /dev/null & tail -f /dev/null & wait",
         { "failed": "took longer than 1 s and was ended" }],
        ["tail -f /dev/null & exit 4", { "exitCode": 4 }],
        ["kill -9 $$", { "failed": "was ended by a signal" }],
    ])) {
        let table = table(
            "words",
            script,
            if script.starts_with("head") {
                ""
            } else {
                "timeout = 1"
            },
        );
        let setup = with(Setup::admin(&wiki), "").with_tables(&table);
        let served = setup.serve().await;
        let answer = call_ok(&served, RUN, json!({ "check": "words", "page": "home" })).await;
        answer["runs"][0].shows(shown);
        assert!(answer.to_string().len() < 80_000, "{script}");
    }
}

/// What it read of the page would fill the room of all that show large changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_takes_long_keeps_no_change_from_being_shown() {
    let wiki = sample_wiki().await;
    let [id, other] = ["home", "docs/install/linux"].map(|path| id_of(&wiki, path));
    let large = "a line of the page\n".repeat(130_000);
    for id in [id, other] {
        wiki.with_store(|store| store.page_mut(id).unwrap().content.clone_from(&large));
    }
    let dir = tempfile::tempdir().unwrap();
    let [begun, end] = ["begun", "end"].map(|name| dir.path().join(name));
    for pipe in [&begun, &end] {
        let made = std::process::Command::new("mkfifo").arg(pipe).status();
        assert!(made.unwrap().success());
    }
    let script = format!(
        "cat >/dev/null; echo begun >{}; read line <{}",
        begun.display(),
        end.display()
    );
    let tables = table("words", &script, "timeout = 60\npaths = [\"home\"]");
    let served = with(Setup::admin(&wiki), "").with_tables(&tables);
    let served = served.serve().await;
    let running = call_ok(&served, RUN, json!({ "check": "words", "id": id }));
    let beside = async {
        let read = tokio::task::spawn_blocking(move || fs::read(begun));
        assert_eq!(read.await.unwrap().unwrap(), b"begun\n");
        let change = json!({ "id": other, "description": "Other" });
        let shown = served.call(UPDATE, change).await;
        fs::write(end, "on\n").unwrap();
        shown
    };
    let (ran, shown) = tokio::join!(running, beside);
    assert_eq!(shown.unwrap()["preview"], true);
    assert_eq!(ran["passed"], true, "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_calls_at_once_four_run_at_a_time() {
    let wiki = sample_wiki().await;
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().display();
    let script = format!("mkdir {place}/$$; ls {place} | wc -l; rmdir {place}/$$");
    let patient = table("words", &script, "timeout = 60");
    let served = with(Setup::admin(&wiki), "").with_tables(&patient);
    let served = served.serve().await;
    let call = json!({ "check": "words", "id": id_of(&wiki, "home") });
    let calls = (0..100).map(|_| call_ok(&served, RUN, call.clone()));
    for answer in join_all(calls).await {
        let at_once = answer["runs"][0]["stdout"].as_str();
        let at_once = at_once.unwrap_or_else(|| panic!("{answer}")).trim();
        assert!(
            (1..=4).contains(&at_once.parse::<usize>().unwrap()),
            "{at_once}"
        );
    }
}

#[test]
fn a_check_ends_with_the_server_that_runs_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let wiki = runtime.block_on(sample_wiki());
    let dir = TempDir::new().unwrap();
    let (config, started) = (dir.path().join("settings.toml"), dir.path().join("started"));
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; exec tail -f /dev/null",
        started.display()
    );
    fs::write(&config, table("words", &script, "timeout = 60")).unwrap();
    let mut program = Program::writing(
        &wiki.address(),
        &wiki.keys().admin,
        dir.path(),
        &[
            ("WIKI_CONFIG", config.to_str().unwrap()),
            ("WIKI_TOOLSETS", "pages,checks"),
            ("PATH", "/usr/bin:/bin"),
        ],
    );
    program.begin(RUN, &json!({ "check": "words", "page": "home" }));
    let until = Instant::now() + Duration::from_secs(20);
    let in_time = || assert!(Instant::now() < until);
    while !started.exists() {
        in_time();
        program.waits(Duration::from_millis(10));
    }
    let process = fs::read_to_string(&started).unwrap();
    program.signal("-TERM");
    program.stopped();
    while Path::new("/proc").join(process.trim()).exists() {
        in_time();
        std::thread::yield_now();
    }
}
