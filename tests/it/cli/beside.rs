//! Commands of one user beside the service of another. Tried as root, who may act as both; where
//! the tests run as somebody else, each says by its name that it was skipped.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use crate::prelude::*;

/// The user of the service, and one who is neither that nor root.
const SERVICE: u32 = 64_123;
const STRANGER: u32 = 64_124;

/// A directory of the service, and a program that any user may run.
struct Machine {
    dir: TempDir,
    wiki: DemoWiki,
}

impl Machine {
    /// Nothing, said by the test's name, where this is not root.
    async fn new(test: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            // Past the capture of what tests print.
            let _ = writeln!(std::io::stderr(), "skipped, since it needs root: {test}");
            return None;
        }
        let dir = TempDir::new().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = dir.path().join("wikijs-gate");
        if fs::hard_link(env!("CARGO_BIN_EXE_wikijs-gate"), &program).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_wikijs-gate"), &program).unwrap();
        }
        let machine = Self {
            dir,
            wiki: sample_wiki().await,
        };
        fs::create_dir(machine.state()).unwrap();
        fs::set_permissions(machine.state(), fs::Permissions::from_mode(0o700)).unwrap();
        chown(machine.state(), Some(SERVICE), Some(SERVICE)).unwrap();
        Some(machine)
    }

    /// The state directory of the service.
    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn audit(&self) -> PathBuf {
        self.state().join("audit")
    }

    /// Runs a command as a user, to its end.
    async fn run(&self, user: u32, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.dir.path().join("wikijs-gate"));
        command
            .args(arguments)
            .env_clear()
            .env("WIKI_BASE_URL", self.wiki.address())
            .env("WIKI_API_TOKEN", &self.wiki.keys().editor)
            .env("WIKI_MUTATIONS_ENABLED", "true")
            .env("WIKI_MUTATION_DRY_RUN", "false")
            .env("WIKI_AUDIT_DIR", self.audit())
            .env("WIKI_INDEX", "disk")
            .env("WIKI_INDEX_DIR", self.state().join("index"))
            .env("WIKI_SERVE_TOKENS_FILE", self.state().join("tokens"))
            .current_dir(self.dir.path())
            .uid(user)
            .gid(user)
            .stdin(Stdio::null());
        if user != STRANGER {
            command.env("WIKI_LOG_DIR", self.state().join("log"));
        }
        let ended = tokio::task::spawn_blocking(move || command.output());
        ended.await.unwrap().unwrap()
    }

    async fn create(&self, user: u32, path: &str) -> Output {
        let page = new_page(path).to_string();
        let arguments = ["tool", "call", CREATE, "--args", &page, "--yes"];
        self.run(user, &arguments).await
    }

    async fn doctor(&self, user: u32) -> Vec<(String, String)> {
        let ended = self.run(user, &["doctor", "--json"]).await;
        let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let checks = told["checks"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        checks
            .filter(|check| check["check"] == "audit")
            .map(|check| {
                let told = [text(&check["seen"]), text(&check["todo"])].concat();
                (text(&check["verdict"]), told)
            })
            .collect()
    }
}

fn said(ended: &Output) -> String {
    String::from_utf8_lossy(&[&*ended.stdout, &*ended.stderr].concat()).into_owned()
}

fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn what_roots_commands_make_belongs_to_the_service_which_works_on() {
    let name = "what_roots_commands_make_belongs_to_the_service_which_works_on";
    let Some(machine) = Machine::new(name).await else {
        return;
    };
    // Root is first: even the directories are yet to be made.
    for (user, path) in [(0, "docs/one"), (SERVICE, "docs/two"), (0, "docs/three")] {
        let ended = machine.create(user, path).await;
        assert!(ended.status.success(), "{path}: {}", said(&ended));
    }
    let commands: [&[&str]; 5] = [
        &["undo", "last", "--yes"],
        &[
            "tool",
            "call",
            SEARCH,
            "--args",
            r#"{"query":"setup","in":"content"}"#,
        ],
        &["token", "new", "ci"],
        &["token", "new", "other"],
        &["token", "revoke", "ci"],
    ];
    for command in commands {
        let ended = machine.run(0, command).await;
        assert!(ended.status.success(), "{command:?}: {}", said(&ended));
    }
    let made = below(&machine.state());
    let parts = "tree.lock pages.lock .jsonl .json.gz .db .log tokens";
    for part in parts.split(' ') {
        let is_part = |path: &PathBuf| path.to_str().unwrap().ends_with(part);
        assert!(made.iter().any(is_part), "{part}: {made:?}");
    }
    for path in &made {
        let found = fs::metadata(path).unwrap();
        let owner = (found.uid(), found.gid());
        assert_eq!(owner, (SERVICE, SERVICE), "{}", path.display());
        let others = found.permissions().mode() & 0o077;
        assert_eq!(others, 0, "{}", path.display());
    }
    let commands: [&[&str]; 5] = [
        &["audit", "list"],
        &["audit", "verify"],
        &["undo", "last", "--yes"],
        &["token", "list"],
        &[
            "tool",
            "call",
            SEARCH,
            "--args",
            r#"{"query":"setup","in":"content"}"#,
        ],
    ];
    for command in commands {
        let ended = machine.run(SERVICE, command).await;
        assert!(ended.status.success(), "{command:?}: {}", said(&ended));
    }
    for user in [0, SERVICE] {
        let [(verdict, told)] = &machine.doctor(user).await[..] else {
            panic!("one line");
        };
        assert_eq!(verdict, "good", "{told}");
    }
}

#[tokio::test]
async fn a_command_that_may_not_hand_over_refuses_before_it_writes() {
    let name = "a_command_that_may_not_hand_over_refuses_before_it_writes";
    let Some(machine) = Machine::new(name).await else {
        return;
    };
    let ended = machine.create(SERVICE, "docs/one").await;
    assert!(ended.status.success(), "{}", said(&ended));
    // The stranger may get there, and into none of the directories.
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(machine.state(), open).unwrap();
    let before = below(&machine.audit());
    let asked = mutations(&machine.wiki).len();
    let ended = machine.create(STRANGER, "docs/two").await;
    assert_eq!(ended.status.code(), Some(1));
    says(&said(&ended), "belongs to another user (uid 64123)");
    assert_eq!(below(&machine.audit()), before);
    assert_eq!(mutations(&machine.wiki).len(), asked);
}

#[tokio::test]
async fn files_that_the_service_cannot_open_are_told_by_doctor_of_either_user() {
    let name = "files_that_the_service_cannot_open_are_told_by_doctor_of_either_user";
    let Some(machine) = Machine::new(name).await else {
        return;
    };
    let ended = machine.create(SERVICE, "docs/one").await;
    assert!(ended.status.success(), "{}", said(&ended));
    let found = below(&machine.audit());
    for part in ["tree.lock", ".jsonl", ".json.gz", "runs"] {
        let part = found
            .iter()
            .find(|path| path.to_str().unwrap().ends_with(part))
            .unwrap();
        chown(part, Some(0), Some(0)).unwrap();
        for user in [0, SERVICE] {
            let told = machine.doctor(user).await;
            let is_named = |(verdict, told): &(String, String)| {
                verdict == "wrong"
                    && told.contains(part.to_str().unwrap())
                    && told.contains("chown -R 64123:64123 ")
            };
            assert!(told.iter().any(is_named), "{user} {told:?}");
        }
        chown(part, Some(SERVICE), Some(SERVICE)).unwrap();
    }
}

#[tokio::test]
async fn root_hands_over_nothing_that_a_link_of_the_service_leads_to() {
    let name = "root_hands_over_nothing_that_a_link_of_the_service_leads_to";
    let Some(machine) = Machine::new(name).await else {
        return;
    };
    let ended = machine.create(SERVICE, "docs/one").await;
    assert!(ended.status.success(), "{}", said(&ended));
    let found = below(&machine.audit());
    let lock = found
        .iter()
        .find(|path| path.ends_with("tree.lock"))
        .unwrap();
    let secret = machine.dir.path().join("secret");
    fs::write(&secret, "root's").unwrap();
    fs::remove_file(lock).unwrap();
    std::os::unix::fs::symlink(&secret, lock).unwrap();
    // Nor a directory that a link leads to.
    let runs = lock.with_file_name("runs");
    let elsewhere = machine.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(&runs).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &runs).unwrap();
    let ended = machine.create(0, "docs/two").await;
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    for path in [&[secret][..], &below(&elsewhere)].concat() {
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (0, 0), "{}", path.display());
    }
}
