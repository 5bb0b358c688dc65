//! The page on operation is tried: its own lines are run by a shell, on a state directory and a
//! wiki of the test.

use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use wikijs_gate::error::Code;

use crate::prelude::*;

/// The state directory that the page speaks of.
const STATE: &str = "/var/lib/wikijs-gate";

fn page() -> String {
    let path = root().join("docs/operations.md");
    fs::read_to_string(path).unwrap()
}

/// The lines that a section of the page shows for root.
fn lines_of(section: &str) -> Vec<String> {
    let page = page();
    let rest = page.split_once(&format!("\n## {section}\n")).unwrap().1;
    let section = rest.split("\n## ").next().unwrap();
    let lines = section.lines().filter_map(|line| line.strip_prefix("# "));
    lines.map(str::to_owned).collect()
}

/// A machine with the service's files, and its operator's shell.
struct Machine {
    dir: TempDir,
    wiki: DemoWiki,
    address: String,
}

impl Machine {
    async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        let program = dir.path().join("bin/wikijs-gate");
        symlink(env!("CARGO_BIN_EXE_wikijs-gate"), program).unwrap();
        let wiki = sample_wiki().await;
        let machine = Self {
            dir,
            address: wiki.address(),
            wiki,
        };
        fs::create_dir(machine.state()).unwrap();
        machine
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// A line of the page, with this machine's state directory.
    async fn shell(&self, line: &str) -> Output {
        let state = self.state();
        let mut command = Command::new("sh");
        command
            .args(["-c", &line.replace(STATE, state.to_str().unwrap())])
            .current_dir(self.dir.path())
            .env_clear()
            .env(
                "PATH",
                format!("{}/bin:/usr/bin:/bin", self.dir.path().display()),
            )
            .env("WIKI_BASE_URL", &self.address)
            .env("WIKI_API_TOKEN", &self.wiki.keys().editor)
            .env("WIKI_MUTATIONS_ENABLED", "true")
            .env("WIKI_MUTATION_DRY_RUN", "false")
            .env("WIKI_AUDIT_DIR", state.join("audit"))
            .env("WIKI_SERVE_TOKENS_FILE", state.join("tokens"));
        let ended = tokio::task::spawn_blocking(move || command.output());
        ended.await.unwrap().unwrap()
    }

    /// The same, with its exit code as it must be.
    async fn ends(&self, line: &str, code: i32) -> String {
        let ended = self.shell(line).await;
        let told = String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{line}: {told}");
        told
    }

    /// The lines of a section, each of which succeeds; `doctor` may have warnings.
    async fn all(&self, section: &str) {
        for line in lines_of(section) {
            let is_doctor = line == "wikijs-gate doctor";
            self.ends(&line, if is_doctor { 6 } else { 0 }).await;
        }
    }

    async fn call(&self, tool: &str, arguments: &Value, settings: &str) -> String {
        let line = format!("{settings} wikijs-gate tool call {tool} --args '{arguments}' --yes");
        let ended = self.shell(&line).await;
        String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap()
    }

    async fn audit_line_of_doctor(&self) -> String {
        let told = self.ends("wikijs-gate doctor --json", 6).await;
        let told: Value = serde_json::from_str(&told).unwrap();
        let mut checks = told["checks"].as_array().unwrap().iter();
        let audit = checks.find(|check| check["check"] == "audit").unwrap();
        audit["seen"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_log_is_backed_up_restored_and_renamed_as_the_page_says() {
    let mut machine = Machine::new().await;
    let id = id_of(&machine.wiki, "docs/configuration");
    let applied = "applied: ";
    let made = machine.call(CREATE, &new_page("docs/a"), "").await;
    assert!(made.contains(applied), "{made}");
    let title = |title: &str| json!({ "id": id, "title": title });
    machine.call(UPDATE, &title("One"), "").await;
    let proposed = machine
        .call(UPDATE, &title("Two"), "WIKI_MUTATION_DRY_RUN=true")
        .await;
    let why = "nothing was written: the level is dry_run, set by WIKI_MUTATION_DRY_RUN";
    assert!(proposed.contains(why), "{proposed}");
    machine.ends("wikijs-gate token new ci", 0).await;

    machine.all("Backup").await;
    machine.all("What the disk bears").await;
    let other = id_of(&machine.wiki, "docs/install/linux");
    let later = json!({ "id": other, "description": "Later" });
    says(&machine.call(UPDATE, &later, "").await, applied);
    machine.ends("wikijs-gate audit head > newer.txt", 0).await;

    fs::remove_dir_all(machine.state()).unwrap();
    fs::create_dir(machine.state()).unwrap();
    machine.all("Restore").await;
    let lost = machine
        .ends("wikijs-gate audit verify --head newer.txt", 5)
        .await;
    says(&lost, "is missing: the list of heads saw it");
    machine.ends("wikijs-gate token list | grep -q ci", 0).await;

    // The same wiki by another name.
    machine.address = machine.address.replace("127.0.0.1", "localhost");
    let [listing, doctor, rename, verify] = &lines_of("The wiki's address changes")[..] else {
        panic!("four lines");
    };
    let none = machine.ends(listing, 2).await;
    let old = none.split("there are logs of ").nth(1).unwrap();
    let old = old.split(':').next().unwrap();
    assert_eq!(doctor, "wikijs-gate doctor");
    let seen = machine.audit_line_of_doctor().await;
    let expected = seen
        .strip_suffix(" is not there yet and can be made")
        .unwrap();
    let expected = Path::new(expected).file_name().unwrap().to_str().unwrap();
    let rename = rename
        .replace("wiki.lan", old)
        .replace("wiki.example.org", expected);
    machine.ends(&rename, 0).await;
    machine.ends(verify, 0).await;
    says(&machine.ends(listing, 0).await, "en:docs/a");
    let proposals = machine.ends("wikijs-gate proposals list --json", 0).await;
    let proposals: Value = serde_json::from_str(&proposals).unwrap();
    let proposal = proposals["proposals"][0]["id"].as_str().unwrap();
    let apply = format!("wikijs-gate proposals apply {proposal} --yes");
    says(&machine.ends(&apply, 0).await, applied);
    let undone = machine.ends("wikijs-gate undo last --yes", 0).await;
    assert!(undone.contains("taken back: "), "{undone}");
    machine.ends(verify, 0).await;
}

#[test]
fn alerts_name_metrics_and_codes_that_there_are() {
    let table = wikijs_gate::server::metrics::table();
    let page = page();
    let words = page.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    let mut metrics = 0;
    for word in words.filter(|word| word.starts_with("wikijs_gate_")) {
        assert!(table.contains(&format!("`{word}`")), "{word}");
        metrics += 1;
    }
    assert!(metrics > 5);
    let codes: Vec<String> = Code::ALL.iter().map(ToString::to_string).collect();
    let words = page.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    let is_code = |word: &&str| {
        let is_word = word.starts_with(|c: char| c.is_ascii_uppercase());
        is_word && word.contains('_') && !word.starts_with("WIKI_")
    };
    for word in words.filter(is_code) {
        assert!(codes.iter().any(|code| code == word), "{word}");
    }
}
