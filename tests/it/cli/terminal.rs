//! The program at a terminal: what it shows there, and what a person types at its questions.
//!
//! Needs util-linux's `script`, which gives a command a terminal; skipped where there is none.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use crate::prelude::*;

/// How long anything may take to be shown.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program at a terminal of 80 columns and 24 lines.
pub(crate) struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// All that was shown.
    seen: String,
    /// How much of it was waited for.
    at: usize,
    began: Instant,
}

impl Terminal {
    /// Starts it with nothing in its environment but these settings and the usual path; nothing
    /// where there is no `script`.
    pub(crate) fn start(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Self> {
        let quoted = |word: &&str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Vec<String> = arguments.iter().map(quoted).collect();
        let own = env!("CARGO_BIN_EXE_wikijs-gate");
        let line = format!("stty cols 80 rows 24; exec {own} {}", words.join(" "));
        let mut child = Process::new("script")
            .args(["-qefc", &line, "/dev/null"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut shown = child.stdout.take().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Self {
            keyboard: child.stdin.take().unwrap(),
            child,
            screen,
            seen: String::new(),
            at: 0,
            began: Instant::now(),
        })
    }

    /// Waits until this is shown, behind what was waited for before; gives what came up to it.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            if let Some(found) = self.seen.get(self.at..).unwrap().find(text) {
                let end = self.at + found + text.len();
                let shown = self.seen.get(self.at..end).unwrap().to_owned();
                self.at = end;
                return shown;
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{error}, no {text:?} in {}", self.seen),
            }
        }
    }

    /// True if this is shown, behind what was waited for before; false once nothing more comes for
    /// a second.
    fn shows_soon(&mut self, text: &str) -> bool {
        loop {
            if self.seen.get(self.at..).unwrap().contains(text) {
                return true;
            }
            match self.screen.recv_timeout(Duration::from_secs(1)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => {
                    assert!(self.began.elapsed() < 4 * PATIENCE, "{error}, no {text:?}");
                    return false;
                }
            }
        }
    }

    /// Waits until this is shown or the program ended; says whether it is shown.
    pub(crate) fn shows_or_ends(&mut self, text: &str) -> bool {
        while !self.seen.contains(text) {
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(error) => panic!("{error}, no {text:?} in {}", self.seen),
            }
        }
        true
    }

    /// Types, as fast as a paste.
    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for its end: its exit code and all that was shown.
    pub(crate) fn end(mut self) -> (i32, String) {
        loop {
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}: {}", self.seen),
            }
        }
        let code = self.child.wait().unwrap().code().unwrap();
        (code, self.seen)
    }
}

/// Works with the terminal beside the wiki.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Has a person answer a command's questions: each answer is typed when its question is shown. Its
/// exit code and all that was shown, or nothing where there is no terminal.
pub(crate) async fn answered(
    settings: Vec<(&'static str, String)>,
    arguments: &[&str],
    answers: &[(&'static str, &'static str)],
) -> Option<(i32, String)> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let answers = answers.to_vec();
    beside(move || {
        let settings = vec_of(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut terminal = Terminal::start(&arguments, &settings)?;
        for (question, answer) in answers {
            terminal.wait_for(question);
            terminal.types(answer);
        }
        Some(terminal.end())
    })
    .await
}

/// What a command that writes is set to.
struct Desk {
    wiki: DemoWiki,
    dir: TempDir,
}

impl Desk {
    async fn new() -> Self {
        Self {
            wiki: sample_wiki().await,
            dir: TempDir::new().unwrap(),
        }
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn settings(&self, pager: &str) -> Vec<(&'static str, String)> {
        vec![
            ("WIKI_BASE_URL", self.wiki.address()),
            ("WIKI_API_TOKEN", self.wiki.keys().scripter.clone()),
            ("WIKI_AUDIT_DIR", self.file("audit")),
            ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
            ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
            ("WIKI_LOG", "error".to_owned()),
            ("WIKI_INDEX", "off".to_owned()),
            ("PAGER", pager.to_owned()),
        ]
    }

    /// The same as [`answered`], with these settings.
    async fn answered(
        &self,
        pager: &str,
        arguments: &[&str],
        answers: &[(&'static str, &'static str)],
    ) -> Option<(i32, String)> {
        answered(self.settings(pager), arguments, answers).await
    }

    /// A change of 3,000 lines, the last a script; its arguments in a file.
    fn long_change(&self) -> String {
        let mut content: Vec<String> = (0..3_000)
            .map(|line| format!("line {line} of it"))
            .collect();
        content.push("<script>evil()</script>".to_owned());
        let mut script: Vec<String> = (0..1_500)
            .map(|line| format!("harmless({line});"))
            .collect();
        script.push("evil();".to_owned());
        let change = json!({
            "id": id_of(&self.wiki, "docs/configuration"),
            "content": content.join("\n"),
            "scriptJs": script.join("\n"),
        });
        let file = self.file("change.json");
        fs::write(&file, change.to_string()).unwrap();
        format!("@{file}")
    }
}

/// That all of the long change is in a text.
#[track_caller]
fn is_whole(shown: &str) {
    for line in 0..3_000 {
        assert!(shown.contains(&format!("+line {line} of it")), "{line}");
    }
    for line in 0..1_500 {
        assert!(shown.contains(&format!("+harmless({line});")), "{line}");
    }
    assert!(shown.contains("+<script>evil()</script>"));
    assert!(shown.contains("+evil();"));
}

#[tokio::test]
async fn a_terminal_that_is_not_capable_of_colours_gets_none() {
    let desk = Desk::new().await;
    for (term, has_colours) in [("xterm", true), ("dumb", false)] {
        let mut settings = desk.settings("");
        settings.extend([("TERM", term.to_owned()), ("NO_COLOR", String::new())]);
        let Some((_, told)) = answered(settings, &["doctor"], &[]).await else {
            return;
        };
        assert_eq!(told.contains('\u{1b}'), has_colours, "{term}: {told}");
    }
}

#[tokio::test]
async fn the_pager_shows_all_of_a_long_change_before_it_is_asked_about() {
    let desk = Desk::new().await;
    let (shown, environment) = (desk.file("shown"), desk.file("environment"));
    let pager = format!("env > '{environment}'; cat > '{shown}'");
    let change = desk.long_change();
    let call = ["tool", "call", UPDATE, "--args", &change];
    let answers = [("Write it? [y/N]", "y\n")];
    let Some((code, told)) = desk.answered(&pager, &call, &answers).await else {
        return;
    };
    assert_eq!(code, 0, "{told}");
    is_whole(&fs::read_to_string(&shown).unwrap());
    assert!(!told.contains("+line 7 of it"), "{told}");
    assert_eq!(mutations(&desk.wiki).len(), 1);
    // A pager runs as the operator: it gets no key, and those that can are told to start nothing.
    let environment = fs::read_to_string(environment).unwrap();
    for line in ["LESSSECURE=1", "MORESECURE=1", "PAGERSECURE=1", "LESS=R"] {
        assert!(
            environment.lines().any(|other| other == line),
            "{environment}"
        );
    }
    assert!(!environment.contains("WIKI_API_TOKEN"), "{environment}");

    let answers = [("Take it back? [y/N]", "n\n")];
    let (code, told) = desk
        .answered(&pager, &["undo", "last"], &answers)
        .await
        .unwrap();
    assert_eq!(code, 3, "{told}");
    is_whole(
        &fs::read_to_string(&shown)
            .unwrap()
            .replace("\n  -", "\n  +"),
    );
    assert_eq!(mutations(&desk.wiki).len(), 1);
}

#[tokio::test]
async fn what_the_pager_did_not_take_is_acknowledged_by_its_number() {
    let desk = Desk::new().await;
    let change = desk.long_change();
    let call = ["tool", "call", UPDATE, "--args", &change];
    let pager = "head -n 3 > /dev/null";
    for answer in ["y\n", "1\n", "\n"] {
        let answers = [("lines that were not shown, or nothing for no:", answer)];
        let Some((code, told)) = desk.answered(pager, &call, &answers).await else {
            return;
        };
        assert_eq!(code, 3, "{told}");
        assert!(told.ends_with("error: not written\r\n"), "{told}");
    }
    assert_eq!(mutations(&desk.wiki).len(), 0);

    let settings = desk.settings(pager);
    let (code, told) = beside(move || {
        let settings = vec_of(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let call = ["tool", "call", UPDATE, "--args", &change];
        let mut terminal = Terminal::start(&call, &settings).unwrap();
        let told = terminal.wait_for(" lines were not shown.");
        let count = told.lines().last().unwrap().split(' ').next().unwrap();
        assert!((3_000..4_510).contains(&count.parse().unwrap()), "{told}");
        terminal.wait_for("nothing for no:");
        terminal.types(&format!("{count}\n"));
        terminal.end()
    })
    .await;
    assert_eq!(code, 0, "{told}");
    assert_eq!(mutations(&desk.wiki).len(), 1);
}

#[tokio::test]
async fn without_a_pager_all_of_a_long_change_is_shown() {
    let desk = Desk::new().await;
    let change = desk.long_change();
    let call = ["tool", "call", UPDATE, "--args", &change];
    // None, one that is not there, and one that fails.
    for pager in ["", "/no/such/pager", "cat > /dev/null; exit 1"] {
        let answers = [("Write it? [y/N]", "n\n")];
        let Some((code, told)) = desk.answered(pager, &call, &answers).await else {
            return;
        };
        assert_eq!(code, 3, "{told}");
        is_whole(&told);
    }
    assert_eq!(mutations(&desk.wiki).len(), 0);
}

#[tokio::test]
async fn a_long_proposal_is_shown_whole_and_a_short_one_without_the_pager() {
    let desk = Desk::new().await;
    let change = desk.long_change();
    let shown = desk.file("shown");
    let pager = format!("cat > '{shown}'");
    let id = id_of(&desk.wiki, "docs/install/linux");
    let short = json!({ "id": id, "title": "Short" }).to_string();
    let mut proposed = Vec::new();
    for change in [&*change, &*short] {
        let mut settings = desk.settings("");
        settings.retain(|(name, _)| *name != "WIKI_MUTATION_DRY_RUN");
        let change = change.to_owned();
        let answer = beside(move || {
            let call = ["tool", "call", UPDATE, "--json", "--args", &change];
            let command = settings.iter().fold(
                crate::command::Command::new(&call),
                |command, (name, value)| command.with(name, value),
            );
            command.run()
        });
        let answer = answer.await.json();
        // An agent's answer is bounded, and says so.
        assert!(answer["diff"].as_str().map_or(0, str::len) < 33_000);
        proposed.push(answer["proposal"].as_str().unwrap().to_owned());
    }
    let apply = ["proposals", "apply", &proposed[1]];
    let answers = [("Apply it? [y/N]", "y\n")];
    let Some((code, told)) = desk.answered(&pager, &apply, &answers).await else {
        return;
    };
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("-> \"Short\""), "{told}");
    assert!(!Path::new(&shown).exists());
    let apply = ["proposals", "apply", &proposed[0]];
    let (code, told) = desk.answered(&pager, &apply, &answers).await.unwrap();
    assert_eq!(code, 0, "{told}");
    is_whole(&fs::read_to_string(&shown).unwrap());
}

#[tokio::test]
async fn less_is_left_by_ctrl_c_and_q_and_the_question_still_stands() {
    let desk = Desk::new().await;
    if !Path::new("/usr/bin/less").exists() {
        return;
    }
    let change = desk.long_change();
    let settings = desk.settings("less -R");
    let ended = beside(move || {
        let settings = vec_of(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let call = ["tool", "call", UPDATE, "--args", &change];
        let mut terminal = Terminal::start(&call, &settings)?;
        // Its first page is whole, and its prompt is there.
        terminal.wait_for("+harmless(19);");
        terminal.wait_for(":");
        terminal.types("\u{3}");
        // Interrupted before it reads, less says nothing until a key comes; and a key that comes
        // while it is interrupted is lost.
        while !terminal.shows_soon("nothing for no:") {
            terminal.types("q");
        }
        terminal.types("\n");
        Some(terminal.end())
    });
    let Some((code, told)) = ended.await else {
        return;
    };
    assert_eq!(code, 3, "{told}");
    assert!(told.ends_with("error: not written\r\n"), "{told}");
}

/// `config init` for a wiki, with these answers.
async fn initialised(
    home: &TempDir,
    arguments: &'static [&'static str],
    answers: Vec<(&'static str, String)>,
) -> Option<(i32, String)> {
    let home = home.path().to_str().unwrap().to_owned();
    beside(move || {
        let arguments = [&["config", "init"], arguments].concat();
        let mut terminal = Terminal::start(&arguments, &[("HOME", &home)])?;
        for (question, answer) in answers {
            terminal.wait_for(question);
            terminal.types(&answer);
        }
        Some(terminal.end())
    })
    .await
}

#[tokio::test]
async fn a_key_is_shown_at_no_question_whatever_the_order_of_answers() {
    let wiki = sample_wiki().await;
    let (address, key) = (wiki.address(), wiki.keys().editor.clone());
    // Pasted in one go, and at the wrong question first.
    let pasted = vec![("Address", format!("{address}\n{key}\n1\n"))];
    let wrong_way_round = vec![
        ("Address", format!("{key}\n")),
        ("looks like a key", String::new()),
        ("Address", format!("{address}\n")),
        ("API key", format!("{key}\n")),
        ("What may agents do?", "1\n".to_owned()),
    ];
    for answers in [pasted, wrong_way_round] {
        let home = TempDir::new().unwrap();
        let Some((code, told)) = initialised(&home, &[], answers).await else {
            return;
        };
        assert_eq!(code, 0, "{told}");
        assert!(!told.contains(key.get(3..12).unwrap()), "{told}");
        let file = home.path().join(".config/wikijs-gate/config.toml");
        let text = fs::read_to_string(file).unwrap();
        for line in [
            format!("\nbase_url = \"{address}\"\n"),
            format!("\napi_token = \"{key}\"\n"),
        ] {
            assert!(text.contains(&line), "{text}");
        }
    }
}

#[tokio::test]
async fn after_a_bad_answer_config_init_asks_again_and_the_wiki_is_asked_before_it_writes() {
    let wiki = sample_wiki().await;
    let home = TempDir::new().unwrap();
    let (address, key) = (wiki.address(), wiki.keys().editor.clone());
    let answers = vec![
        ("Address", "wiki\n".to_owned()),
        ("The address must", String::new()),
        ("Address", "http://127.0.0.1:9\n".to_owned()),
        ("API key", "secret-words\n".to_owned()),
        ("nobody listens", String::new()),
        ("again, keep or end", "perhaps\n".to_owned()),
        ("must be one of", String::new()),
        ("again, keep or end", "again\n".to_owned()),
        ("Address", format!("{address}\n")),
        ("guest", String::new()),
        ("again, keep or end", "\n".to_owned()),
        ("API key", "\n".to_owned()),
        ("API key", format!("{key}\n")),
        ("What may agents do?", "3\n".to_owned()),
        ("Below which paths", "a//../b\n".to_owned()),
        ("Below which paths", "docs\n".to_owned()),
    ];
    let Some((code, told)) = initialised(&home, &[], answers).await else {
        return;
    };
    assert_eq!(code, 0, "{told}");
    for secret in ["secret-words", key.get(3..12).unwrap()] {
        assert!(!told.contains(secret), "{told}");
    }
    let file = home.path().join(".config/wikijs-gate/config.toml");
    let text = fs::read_to_string(file).unwrap();
    for line in [
        "mutations_enabled = true",
        "allowed_mutation_path_prefixes = [\"docs\"]",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!home.path().join(".local").exists());
}

#[tokio::test]
async fn ctrl_c_ends_config_init_and_nothing_is_written() {
    let home = TempDir::new().unwrap();
    let answers = vec![("Address", "https://w\u{3}".to_owned())];
    let Some((code, told)) = initialised(&home, &[], answers).await else {
        return;
    };
    assert_eq!(code, 2, "{told}");
    ends(&told, "error: no answer; nothing was written\r\n");
    assert!(!home.path().join(".config").exists());
}

#[tokio::test]
async fn a_report_is_broken_at_words_within_the_terminal() {
    let desk = Desk::new().await;
    let Some((code, told)) = desk.answered("", &["doctor"], &[]).await else {
        return;
    };
    assert_eq!(code, 6, "{told}");
    let is_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ');
    let audit = desk.file("audit");
    let wide: Vec<&str> = told.lines().filter(is_wide).collect();
    // No word is broken, so that it can be copied.
    assert!(wide.iter().all(|line| line.contains(&audit)), "{told}");
    let below = "\r\n                   titles, descriptions and paths;";
    assert!(
        told.contains(below) || !told.contains("descriptions and paths"),
        "{told}"
    );
}
