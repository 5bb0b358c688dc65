//! The walk of `docs/review.md`: an agent moves a section, a reviewer leaves a page out, an auditor
//! looks who decided, an operator takes it back.

use std::process::Command as Process;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};

use crate::cli::operators_way::steady;
use crate::prelude::*;
use crate::review::Browser;

const PAGE: &str = "docs/review.md";
/// The most bytes of all pictures of the walk.
const MOST: u64 = 600_000;

/// An agent that says its name.
struct Agent;

impl ClientHandler for Agent {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("claude-code", "2.1");
        ClientConfig::new(ClientCapabilities::default(), own)
    }
}

/// The wiki of the walk, its agent and the page of its operator.
struct Walk {
    wiki: DemoWiki,
    agent: Served<Agent>,
    program: Program,
    link: String,
}

impl Walk {
    async fn begin() -> Self {
        let wiki = wiki_of(&[
            (
                "guide/backup",
                "# Backup\n\nThen [restore](/guide/restore).\n",
            ),
            (
                "guide/restore",
                "# Restore\n\nFrom a [backup](/guide/backup).\n",
            ),
            ("guide/old-faq", "# Old questions\n\nNobody keeps them.\n"),
            (
                "home",
                "# Home\n\nBegin with the [backup](/guide/backup).\n",
            ),
        ])
        .await;
        let agent = Setup::admin(&wiki)
            .indexed()
            .with("WIKI_CONFIRM", "review")
            .toolsets("pages,drafts,proposals,undo")
            .serve_to(Agent, ClientLifecycleMode::Initialize)
            .await;
        let variables = settings(&wiki, &agent);
        let begun = tokio::task::spawn_blocking(move || {
            let variables = vec_of(variables.iter().map(|(name, value)| (*name, &**value)));
            let mut program = Program::start(&["review", "--no-browser"], &variables);
            let link = program.line();
            (program, link)
        });
        let (program, link) = begun.await.unwrap();
        Self {
            wiki,
            agent,
            program,
            link,
        }
    }

    /// What the agent asks for; its call ends with what a person decided.
    fn asked() -> Value {
        json!({
            "path": "guide",
            "moveTo": "handbook",
            "note": "The handbook is where people look; links are mended.",
        })
    }

    /// The page of the operator once more, as after a restart: its link.
    async fn operator(&self, arguments: &[&str]) -> Ended {
        let bare = self.wiki.address().split_once("://").unwrap().1.to_owned();
        let mut command = Command::new(arguments).hide(bare, "wiki.lan");
        for (name, value) in settings(&self.wiki, &self.agent) {
            command = command.with(name, &value);
        }
        command.end().await
    }

    fn places(&self) -> Vec<String> {
        let mut places: Vec<String> = self
            .wiki
            .with_store(|store| store.pages().map(|page| page.path.clone()).collect());
        places.sort();
        places
    }
}

fn settings(wiki: &DemoWiki, agent: &Served<Agent>) -> Vec<(&'static str, String)> {
    vec![
        ("WIKI_BASE_URL", wiki.address()),
        ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
        (
            "WIKI_AUDIT_DIR",
            agent.dir.path().to_str().unwrap().to_owned(),
        ),
        ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
        ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
        ("WIKI_CONFIRM", "review".to_owned()),
        ("WIKI_LOG", "off".to_owned()),
    ]
}

/// JSON of an answer without what is of no use to a reader.
fn shown(marker: &str, kind: &str, text: &str) {
    generated(
        PAGE,
        marker,
        &format!("```{kind}\n{}\n```\n", text.trim_end()),
        steady,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_walk_of_a_review_is_what_the_program_says() {
    let walk = Walk::begin().await;
    let asked = Walk::asked();
    shown(
        "asked",
        "json",
        &serde_json::to_string_pretty(&asked).unwrap(),
    );
    let call = walk.agent.call(BULK, asked);
    let deciding = async {
        let set = waiting(&walk.agent).await;
        let (mut browser, path) = Browser::at(&walk.link);
        browser.sign_in(&path).await;
        let page = browser.open(&format!("/review/sets/{set}")).await.text;
        // The number of the page that stays, which its checkbox sends.
        let (before, _) = page.split_once("guide/old-faq</span> → ").unwrap();
        let number = before.rsplit_once("id=\"change-").unwrap().1;
        let number = number.split(['"', '-']).next().unwrap();
        // The pages on which only links are mended come after the others.
        let (_, next) = page
            .split_once("class=\"button\" type=\"submit\" name=\"turn\" value=\"")
            .unwrap();
        let next = next.split(['"', '#']).next().unwrap();
        browser.open(&format!("/review/sets/{set}{next}")).await;
        let decided = browser
            .decide(&set, "apply", &[("leave_out", number)])
            .await;
        let decided_page = format!("/review/sets/{set}?decided=1");
        assert_eq!(decided.leads_to(), decided_page, "{}", decided.text);
    };
    let (answer, ()) = tokio::join!(call, deciding);
    let answer = answer.unwrap();
    let told = json!({
        "outcome": answer["outcome"], "leftOut": answer["leftOut"], "callId": answer["callId"],
    });
    shown(
        "answered",
        "json",
        &serde_json::to_string_pretty(&told).unwrap(),
    );
    let expected = [
        "guide/old-faq",
        "handbook/backup",
        "handbook/restore",
        "home",
    ];
    assert_eq!(walk.places(), expected);
    for (marker, arguments) in [
        ("listed", &["audit", "list", "--outcome", "applied"][..]),
        ("undone", &["undo", "last", "--yes", "--confirm", "preview"]),
    ] {
        let ended = walk.operator(arguments).await.good();
        shown(marker, "console", &ended.told);
    }
    let expected = ["guide/backup", "guide/old-faq", "guide/restore", "home"];
    assert_eq!(walk.places(), expected);
    assert!(id_of(&walk.wiki, "home") > 0);
    walk.program.kill();
}

#[test]
fn the_pictures_of_the_walk_are_there_and_small() {
    let root = root();
    let page = fs::read_to_string(root.join(PAGE)).unwrap();
    let named: Vec<&str> = { page.split("](review/").skip(1) }
        .map(|rest| rest.split(')').next().unwrap())
        .collect();
    assert_eq!(named.len(), 6, "{named:?}");
    let size = |name: &&str| {
        let file = root.join("docs/review").join(name);
        fs::metadata(&file)
            .unwrap_or_else(|_| panic!("{}", file.display()))
            .len()
    };
    assert!(named.iter().map(size).sum::<u64>() < MOST);
}

/// Leaves its pictures in target/browser/walk; with `INSTA_UPDATE=always`, in docs/review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and Node; `just heavy` runs it"]
#[expect(clippy::print_stderr, reason = "says why it did nothing")]
async fn the_walk_in_a_browser_is_drawn() {
    let is_there = |program: &str| Process::new(program).arg("--version").output().is_ok();
    if !is_there("chromium") || !is_there("node") {
        eprintln!("skipped: the pictures of the walk, since there is no chromium or no node");
        return;
    }
    let walk = Walk::begin().await;
    let root = root();
    let folder = root.join(if crate::house::docs::may_write() {
        "docs/review"
    } else {
        "target/browser/walk"
    });
    fs::create_dir_all(&folder).unwrap();
    let draw = async |link: &str, set: &str, part: &str| {
        let mut browser = Process::new("node");
        browser
            .arg(root.join("tests/browser/walk.mjs"))
            .args(["chromium", link, set])
            .arg(&folder)
            .arg(part);
        let ended = tokio::task::spawn_blocking(move || browser.status()).await;
        assert!(ended.unwrap().unwrap().success());
    };
    let call = walk.agent.call(BULK, Walk::asked());
    let deciding = async {
        let set = waiting(&walk.agent).await;
        draw(&walk.link, &set, "decide").await;
        set
    };
    let (answer, set) = tokio::join!(call, deciding);
    assert_eq!(answer.unwrap()["outcome"], "applied");
    // A link signs in once: an auditor begins with one of their own.
    let variables = settings(&walk.wiki, &walk.agent);
    let again = tokio::task::spawn_blocking(move || {
        let variables = vec_of(variables.iter().map(|(name, value)| (*name, &**value)));
        let mut program = Program::start(&["review", "--no-browser"], &variables);
        let link = program.line();
        (program, link)
    });
    let (program, link) = again.await.unwrap();
    draw(&link, &set, "look").await;
    program.kill();
    walk.program.kill();
}
