//! Every door of a write at every level: what happens is what the table in docs/writes.md says.

use wikijs_gate::gates::PolicyLevel;

use crate::cli::custom_tools::put;
use crate::cli::files::Work;
use crate::cli::terminal::{Terminal, beside};
use crate::prelude::*;
use crate::review::{Browser, reviewer};
use crate::session::person::{self, Asking, Generation, Person};

const TOKEN: &str = "open sesame, please";

/// The doors that a test here walks through; the table has no other row.
const WALKED: [&str; 16] = [
    "tools",
    "custom tools",
    "comments",
    "assets",
    "tools of a delegate",
    "`tool call --yes`",
    "`files push --yes`",
    "`undo --yes`",
    "`files push`, your yes",
    "`undo`, your yes",
    "`proposals apply`, with `--yes` too",
    "`wikijs-gate review`",
    "review page, a reviewer",
    "review page, a reviewer with `--may-apply-in-dry-run`",
    "`wikijs_remember`, `wikijs_forget`",
    "`memory restore`, `forget`, `import`",
];

/// The settings that come to a level.
fn settings(level: PolicyLevel) -> Vec<(&'static str, &'static str)> {
    let enabled = if level == PolicyLevel::Off {
        "false"
    } else {
        "true"
    };
    let dry_run = if level == PolicyLevel::DryRun {
        "true"
    } else {
        "false"
    };
    let mut settings = vec![
        ("WIKI_MUTATIONS_ENABLED", enabled),
        ("WIKI_MUTATION_DRY_RUN", dry_run),
    ];
    settings.extend(match level {
        PolicyLevel::Off | PolicyLevel::DryRun | PolicyLevel::Preview => None,
        PolicyLevel::Review => Some(("WIKI_CONFIRM", "review")),
        PolicyLevel::Person => Some(("WIKI_CONFIRM", "person")),
        PolicyLevel::Token => Some(("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN)),
    });
    settings
}

/// The table of docs/writes.md: each door with its cells, in the order of the levels.
fn table() -> Vec<(String, Vec<String>)> {
    let path = root().join("docs/writes.md");
    let text = fs::read_to_string(path).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("| door |"));
    let levels = PolicyLevel::ALL.map(|level| format!("`{}`", level.as_str()));
    assert_eq!(cells(lines.next().unwrap())[1..], levels);
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let mut cells = cells(line);
        (cells.remove(0), cells)
    })
    .collect()
}

/// Walks through a door at every level.
async fn walk(door: &str, through: impl AsyncFn(PolicyLevel) -> String) {
    assert!(WALKED.contains(&door), "{door}");
    let rows = table();
    let found = rows.iter().find(|(name, _)| name == door);
    let (_, cells) = found.unwrap_or_else(|| panic!("no row {door:?}"));
    for (level, cell) in PolicyLevel::ALL.into_iter().zip(cells) {
        assert_eq!(through(level).await, *cell, "{door} at {level:?}");
    }
}

#[test]
fn every_door_of_the_table_is_walked_and_each_has_six_cells() {
    let rows = table();
    let doors: Vec<&str> = rows.iter().map(|(door, _)| door.as_str()).collect();
    assert_eq!(doors, WALKED);
    assert!(rows.iter().all(|(_, cells)| cells.len() == 6));
}

/// The refusal of a level names it, and the setting that set it.
fn assert_named(error: &Value, level: PolicyLevel) {
    assert_eq!(error["details"]["level"], level.as_str(), "{error}");
    let line = error["details"]["setBy"].as_str().unwrap();
    let setting = match level {
        PolicyLevel::Off => "WIKI_MUTATIONS_ENABLED",
        PolicyLevel::Token => "WIKI_MUTATION_CONFIRM_TOKEN",
        _ => "WIKI_CONFIRM",
    };
    assert!(line.starts_with(setting), "{error}");
}

/// A write by a tool, as far as the caller can bring it: what it took.
async fn by_tool(
    wiki: &DemoWiki,
    level: PolicyLevel,
    mut arguments: Value,
    call: impl AsyncFn(Value) -> Result<Value, Value>,
    is_asked: impl Fn() -> bool,
) -> String {
    let before = mutations(wiki).len();
    let sent = || mutations(wiki).len() - before;
    let answer = match call(arguments.clone()).await {
        Err(error) if error["code"] == "MUTATIONS_DISABLED" => {
            assert_named(&error, level);
            assert_eq!(sent(), 0);
            return "refused".to_owned();
        }
        Err(error) if error["code"] == "APPROVAL_DENIED" => {
            assert_eq!(error["details"]["reason"], "cannot_ask");
            assert_named(&error, level);
            assert_eq!(sent(), 0);
            return "asked".to_owned();
        }
        Err(error) => {
            assert_eq!(error["code"], "CONFIRM_REQUIRED", "{error}");
            assert_named(&error, level);
            assert_eq!(sent(), 0);
            arguments["confirm"] = "a preview's token".into();
            let error = call(arguments.clone()).await.unwrap_err();
            assert_eq!(error["code"], "CONFIRM_MISMATCH", "{error}");
            arguments["confirm"] = TOKEN.into();
            let applied = call(arguments).await.unwrap();
            assert_eq!((applied["outcome"].as_str(), sent()), (Some("applied"), 1));
            return "static token".to_owned();
        }
        Ok(answer) => answer,
    };
    if is_asked() {
        assert_eq!((answer["outcome"].as_str(), sent()), (Some("applied"), 1));
        return "asked".to_owned();
    }
    assert_eq!(sent(), 0, "{answer}");
    if let Some(token) = answer.get("confirm") {
        arguments["confirm"] = token.clone();
        let applied = call(arguments).await.unwrap();
        assert_eq!((applied["outcome"].as_str(), sent()), (Some("applied"), 1));
        return "own preview".to_owned();
    }
    assert!(answer["proposal"].is_string(), "{answer}");
    let is_waiting = answer["outcome"] == "waiting";
    if is_waiting { "waits" } else { "proposed" }.to_owned()
}

/// A client that can ask a person, who says yes to everything.
struct Agent {
    served: Served<Asking>,
    person: tokio::sync::Mutex<Person>,
    was_asked: std::sync::atomic::AtomicBool,
}

impl Agent {
    async fn of(mut setup: Setup) -> Self {
        setup.thinking = Some(Duration::from_millis(20));
        let is_person = setup.says("WIKI_CONFIRM", "person");
        if is_person {
            setup.thinking = None;
        }
        let (served, person) = person::serve(setup, Generation::Within).await;
        Self {
            served,
            person: person.into(),
            was_asked: false.into(),
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let mut person = self.person.lock().await;
        let mut call = Box::pin(self.served.call(tool, arguments));
        loop {
            tokio::select! {
                answer = &mut call => return answer,
                asked = person.is_asked() => {
                    self.was_asked.store(true, std::sync::atomic::Ordering::SeqCst);
                    asked.answers("once");
                }
            }
        }
    }

    fn was_asked(&self) -> bool {
        self.was_asked.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn at(level: PolicyLevel, setup: Setup) -> Setup {
    let all = settings(level).into_iter();
    all.fold(setup, |setup, (name, value)| setup.with(name, value))
}

/// Walks through a tool, with arguments of their own at each level.
async fn walk_tool(
    door: &str,
    wiki: &DemoWiki,
    tool: &str,
    setup: impl Fn(Setup) -> Setup,
    arguments: impl Fn(PolicyLevel) -> Value,
) {
    walk(door, async |level| {
        wiki.later_for_comments(Duration::from_secs(31));
        let own = at(level, setup(Setup::admin(wiki)));
        let agent = Agent::of(own).await;
        let call = async |arguments| agent.call(tool, arguments).await;
        by_tool(wiki, level, arguments(level), call, || agent.was_asked()).await
    })
    .await;
}

async fn wiki() -> DemoWiki {
    wiki_of(&[("docs/a", "# A\n"), ("docs/b", "# B\n")]).await
}

fn title(level: PolicyLevel) -> String {
    format!("At {}", level.as_str())
}

#[tokio::test]
async fn tools_do_what_the_table_says() {
    let wiki = wiki().await;
    let id = id_of(&wiki, "docs/a");
    walk_tool(
        "tools",
        &wiki,
        UPDATE,
        |setup| setup,
        |level| json!({ "id": id, "title": title(level) }),
    )
    .await;
}

#[tokio::test]
async fn custom_tools_do_what_the_table_says() {
    const RECIPE: &str = r#"name = "custom_note"
description = "Creates a note."
tool = "wikijs_create_page"

[arguments.name]
type = "string"
description = "A short name for the path"

[values]
path = "notes/{{name}}"
title = "A note"
content = "A note.\n"
"#;
    let dir = TempDir::new().unwrap();
    put(dir.path(), "note.toml", RECIPE);
    let wiki = wiki().await;
    let setup = |setup: Setup| setup.with("WIKI_CUSTOM_TOOLS_DIR", dir.path().to_str().unwrap());
    walk_tool(
        "custom tools",
        &wiki,
        "custom_note",
        setup,
        |level| json!({ "name": level.as_str().replace('_', "-") }),
    )
    .await;
}

#[tokio::test]
async fn comments_and_assets_do_what_the_table_says() {
    let wiki = wiki().await;
    let id = id_of(&wiki, "docs/a");
    let tools = |setup: Setup| setup.toolsets("pages,comments,assets");
    walk_tool(
        "comments",
        &wiki,
        ADD_COMMENT,
        tools,
        |level| json!({ "id": id, "content": title(level) }),
    )
    .await;
    walk_tool(
        "assets",
        &wiki,
        UPLOAD,
        tools,
        |level| json!({ "path": format!("{}.csv", level.as_str()), "text": "day,what\n" }),
    )
    .await;
}

#[tokio::test]
async fn a_delegate_does_what_the_table_says() {
    let wiki = wiki().await;
    let id = id_of(&wiki, "docs/a");
    walk("tools of a delegate", async |level| {
        let names = Names::new();
        let maker = names.client("ci");
        let tools = "pages,delegate";
        let mut setup = at(level, Setup::admin(&wiki)).naming(&names);
        setup.thinking = Some(Duration::from_millis(20));
        let server = setup.toolsets(tools).host().await;
        // What a maker in a dry run hands on is in a dry run.
        let task =
            json!({ "task": "mend titles", "prefixes": ["docs"], "writes": 20, "sends": true });
        let made = server.call(&maker, DELEGATE, task).await;
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                // A maker that may not write hands on no writes.
                assert_eq!(error["code"], "DELEGATION_DENIED", "{error}");
                return "refused".to_owned();
            }
        };
        let token = format!("Bearer {}", made["token"].as_str().unwrap());
        let delegate = Caller::default().with("authorization", &token);
        let call = async |arguments| server.call(&delegate, UPDATE, arguments).await;
        let arguments = json!({ "id": id, "title": title(level) });
        by_tool(&wiki, level, arguments, call, || false).await
    })
    .await;
}

#[tokio::test]
async fn memories_do_what_the_table_says() {
    let wiki = wiki().await;
    let dir = Arc::new(TempDir::new().unwrap());
    walk("`wikijs_remember`, `wikijs_forget`", async |level| {
        let setup = at(level, Setup::admin(&wiki));
        let setup = setup.toolsets("pages,memory").in_dir(&dir);
        let served = setup.serve().await;
        let memory = json!({ "content": title(level), "type": "fact" });
        match served.call(REMEMBER, memory).await {
            Ok(_) => "applied",
            Err(error) => {
                assert_eq!(error["code"], "MUTATIONS_DISABLED");
                assert_named(&error, level);
                "refused"
            }
        }
        .to_owned()
    })
    .await;
    walk("`memory restore`, `forget`, `import`", async |level| {
        let setup = Setup::of(&wiki, |keys| &keys.admin).with("WIKI_TOOLSETS", "pages,memory");
        let served = setup.in_dir(&dir).serve().await;
        let memory = json!({ "content": format!("Once more {}", title(level)), "type": "fact" });
        served.call(REMEMBER, memory).await.unwrap();
        let forget = ["memory", "forget", "--all", "--yes"];
        operator(&wiki, dir.path(), level, &forget).await.good();
        "applied".to_owned()
    })
    .await;
}

fn command(wiki: &DemoWiki, dir: &Path, level: PolicyLevel, arguments: &[&str]) -> Command {
    let command = Command::new(arguments).at(&wiki.address(), &wiki.keys().admin, dir);
    let command = command.with("WIKI_INDEX", "off").quiet();
    let all = settings(level).into_iter();
    all.fold(command, |command, (name, value)| command.with(name, value))
}

async fn operator(wiki: &DemoWiki, dir: &Path, level: PolicyLevel, arguments: &[&str]) -> Ended {
    let command = command(wiki, dir, level, arguments);
    command.end().await
}

/// How many proposals lie in an audit directory.
pub(crate) fn proposals(dir: &Path) -> usize {
    let all = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
    let of_wikis = all(dir.to_owned()).map(|wiki| all(wiki.path().join("proposals")).count());
    of_wikis.sum()
}

/// What a command that was to write did: by its exit, the wiki and the proposals.
async fn did(wiki: &DemoWiki, dir: &Path, run: impl Future<Output = (i32, String)>) -> String {
    let before = (mutations(wiki).len(), proposals(dir));
    let (code, told) = run.await;
    let (sent, kept) = (mutations(wiki).len() - before.0, proposals(dir) - before.1);
    match (code, sent, kept) {
        (0, 1.., 0) => "applied",
        (3, 0, 1) => "proposed",
        (3, 0, 0) => "refused",
        _ => panic!("exit {code}, {sent} sent, {kept} proposed: {told}"),
    }
    .to_owned()
}

#[tokio::test]
async fn tool_call_does_what_the_table_says() {
    let wiki = wiki().await;
    let (id, dir) = (id_of(&wiki, "docs/a"), TempDir::new().unwrap());
    walk("`tool call --yes`", async |level| {
        let mut arguments = json!({ "id": id, "title": title(level) });
        let call = async |arguments: &Value| {
            let arguments = arguments.to_string();
            let words = ["tool", "call", UPDATE, "--yes", "--args", &arguments];
            operator(&wiki, dir.path(), level, &words).await
        };
        let run = async {
            let ended = call(&arguments).await;
            (ended.code, ended.told)
        };
        let first = did(&wiki, dir.path(), run).await;
        if level != PolicyLevel::Token {
            return first;
        }
        assert_eq!(first, "refused");
        arguments["confirm"] = TOKEN.into();
        assert_eq!(call(&arguments).await.code, 0);
        "static token".to_owned()
    })
    .await;
}

/// A folder of files with an edit that is to be pushed at this level.
pub(crate) async fn edited(wiki: &Arc<DemoWiki>, level: PolicyLevel) -> Work {
    let mut work = Work {
        key: wiki.keys().admin.clone(),
        wiki: Arc::clone(wiki),
        dir: Arc::new(TempDir::new().unwrap()),
        audit: Arc::new(TempDir::new().unwrap()),
        settings: Vec::new(),
    };
    for (name, value) in settings(level) {
        work = work.with(name, value);
    }
    work.good("pull", &[]).await;
    let text = format!("\n\n# A\n\n{}\n", title(level));
    work.edit("en/docs/a.md", "\n\n# A\n", &text);
    work
}

#[tokio::test]
async fn files_push_and_undo_that_ask_nobody_do_what_the_table_says() {
    let wiki = Arc::new(wiki().await);
    walk("`files push --yes`", async |level| {
        let work = edited(&wiki, level).await;
        let run = async {
            let ended = work.run("push", &["--yes", "-m", "as agreed"]).await;
            (ended.code, ended.told)
        };
        did(&wiki, work.audit.path(), run).await
    })
    .await;
    walk("`undo --yes`", async |level| {
        let (served, call) = written(&wiki, level).await;
        let dir = served.dir.path();
        let run = async {
            let ended = operator(&wiki, dir, level, &["undo", &call, "--yes"]).await;
            (ended.code, ended.told)
        };
        did(&wiki, dir, run).await
    })
    .await;
}

/// A server that wrote something, and the call.
async fn written(wiki: &DemoWiki, level: PolicyLevel) -> (Served, String) {
    let served = Setup::admin(wiki).serve().await;
    let update =
        json!({ "id": id_of(wiki, "docs/b"), "title": format!("Before {}", title(level)) });
    let done = served.confirmed(UPDATE, update).await.unwrap();
    let call = done["callId"].as_str().unwrap().to_owned();
    (served, call)
}

/// Has a person say yes to a command's question. Nothing where there is no terminal.
async fn said_yes(
    arguments: Vec<String>,
    settings: Vec<(&'static str, String)>,
    question: &'static str,
) -> Option<(i32, String)> {
    beside(move || {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut all = vec_of((settings.iter()).map(|(name, value)| (*name, value.as_str())));
        all.push(("PAGER", ""));
        let mut terminal = Terminal::start(&words, &all)?;
        // What is refused asks nothing.
        if terminal.shows_or_ends(question) {
            terminal.types("y\n");
        }
        Some(terminal.end())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_yes_at_a_terminal_does_what_the_table_says() {
    let wiki = Arc::new(wiki().await);
    if Terminal::start(&["--version"], &[])
        .map(Terminal::end)
        .is_none()
    {
        return;
    }
    walk("`files push`, your yes", async |level| {
        let work = edited(&wiki, level).await;
        let folder = work.dir.path().to_str().unwrap().to_owned();
        let words = ["files".to_owned(), "push".to_owned(), folder];
        let run = async {
            let run = said_yes(words.to_vec(), work.variables(), "Push it? [y/N]");
            run.await.unwrap()
        };
        did(&wiki, work.audit.path(), run).await
    })
    .await;
    walk("`undo`, your yes", async |level| {
        let (served, call) = written(&wiki, level).await;
        let dir = served.dir.path();
        let mut variables = vec![
            ("WIKI_BASE_URL", wiki.address()),
            ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
            ("WIKI_AUDIT_DIR", dir.to_str().unwrap().to_owned()),
            ("WIKI_LOG", "off".to_owned()),
        ];
        let own = settings(level).into_iter();
        variables.extend(own.map(|(name, value)| (name, value.to_owned())));
        let run = async {
            let words = vec!["undo".to_owned(), call.clone()];
            said_yes(words, variables, "Take it back? [y/N]")
                .await
                .unwrap()
        };
        did(&wiki, dir, run).await
    })
    .await;
}

/// A proposal of an agent, and the server that has it on record.
async fn proposed(wiki: &DemoWiki, level: PolicyLevel) -> (Served, String) {
    let served = Setup::admin(wiki).dry().serve().await;
    let update = json!({ "id": id_of(wiki, "docs/a"), "title": title(level) });
    let shown = served.call(UPDATE, update).await.unwrap();
    let id = shown["proposal"].as_str().unwrap().to_owned();
    (served, id)
}

#[tokio::test]
async fn proposals_apply_does_what_the_table_says() {
    let wiki = wiki().await;
    walk("`proposals apply`, with `--yes` too", async |level| {
        let (served, id) = proposed(&wiki, level).await;
        let dir = served.dir.path();
        let run = async {
            let words = ["proposals", "apply", &id, "--yes"];
            let ended = operator(&wiki, dir, level, &words).await;
            (ended.code, ended.told)
        };
        did(&wiki, dir, run).await
    })
    .await;
}

/// What somebody at the review page could do.
async fn decided(wiki: &DemoWiki, browser: &Browser, id: &str) -> String {
    let before = mutations(wiki).len();
    browser.decide(id, "apply", &[]).await;
    match mutations(wiki).len() - before {
        0 => "refused",
        _ => "applied",
    }
    .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_review_page_does_what_the_table_says() {
    let wiki = wiki().await;
    for (door, more) in [
        ("review page, a reviewer", &[][..]),
        (
            "review page, a reviewer with `--may-apply-in-dry-run`",
            &["--may-apply-in-dry-run"],
        ),
    ] {
        walk(door, async |level| {
            let (served, id) = proposed(&wiki, level).await;
            let names = Names::new();
            let setup = at(level, Setup::admin(&wiki));
            let hosted = setup.naming(&names).in_dir_of(&served).host().await;
            let words = [&["anna", "--reviewer"], more].concat();
            let browser = reviewer(&hosted, &names, &words).await;
            decided(&wiki, &browser, &id).await
        })
        .await;
    }
    walk("`wikijs-gate review`", async |level| {
        let (served, id) = proposed(&wiki, level).await;
        let dir = served.dir.path().to_str().unwrap().to_owned();
        let (address, key) = (wiki.address(), wiki.keys().admin.clone());
        let begun = tokio::task::spawn_blocking(move || {
            let mut variables = vec![
                ("WIKI_BASE_URL", &*address),
                ("WIKI_API_TOKEN", &key),
                ("WIKI_AUDIT_DIR", &dir),
            ];
            variables.extend(settings(level));
            let mut program = Program::start(&["review", "--no-browser"], &variables);
            let link = program.line();
            (program, link)
        });
        let (program, link) = begun.await.unwrap();
        let (mut browser, path) = Browser::at(&link);
        browser.sign_in(&path).await;
        let did = decided(&wiki, &browser, &id).await;
        program.kill();
        did
    })
    .await;
}
