//! The program's command line: one command, run to its end, told whole.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use serde_json::Value;
use wikijs_gate::demo::DemoWiki;

use crate::testkit::text_rows;

/// A command, with nothing in its environment but what it is given.
pub(crate) struct Command {
    process: Process,
    told: String,
    stdin: String,
    hidden: Vec<(String, &'static str)>,
}

/// How it ended.
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) code: i32,
    /// What it said on stdout.
    pub(crate) stdout: String,
    /// What it said on stderr.
    pub(crate) stderr: String,
    /// All of it as a terminal shows it: the command, stdout, stderr, the exit code if it is
    /// not 0, with what differs from run to run replaced.
    pub(crate) told: String,
}

impl Ended {
    /// The same, which must have ended well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        self.exits(0)
    }

    /// The same, which must have ended with this code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.told);
        self
    }

    /// The JSON that it said on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{}", self.told))
    }

    /// The same, which must have said this on stdout.
    #[track_caller]
    pub(crate) fn prints(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "{}", self.told);
        self
    }

    /// The same, which must have said this on stderr.
    #[track_caller]
    pub(crate) fn warns(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "{}", self.told);
        self
    }
}

/// Arguments as a shell takes them.
fn quoted(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|argument| match argument {
        argument if argument.contains([' ', '"', '\'']) && !argument.contains('\'') => {
            format!("'{argument}'")
        }
        argument => (*argument).to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

impl Command {
    /// A command without settings.
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let mut process = Process::new(env!("CARGO_BIN_EXE_wikijs-gate"));
        process
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            process,
            told: format!("$ wikijs-gate {}\n", quoted(arguments)),
            stdin: String::new(),
            hidden: Vec::new(),
        }
    }

    /// The same with a setting.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.process.env(name, value);
        self
    }

    /// The same on a wiki by a key, with the log in a directory.
    pub(crate) fn at(self, address: &str, key: &str, dir: impl AsRef<Path>) -> Self {
        self.log_of(address, dir).with("WIKI_API_TOKEN", key)
    }

    /// The same on the log of a wiki, without a key.
    pub(crate) fn log_of(self, address: &str, dir: impl AsRef<Path>) -> Self {
        self.with("WIKI_BASE_URL", address)
            .with("WIKI_AUDIT_DIR", dir.as_ref().to_str().unwrap())
    }

    /// A command of the operator, who may write, on the log of a server.
    pub(crate) fn operator(wiki: &DemoWiki, dir: impl AsRef<Path>, arguments: &[&str]) -> Self {
        Self::new(arguments)
            .at(&wiki.address(), &wiki.keys().admin, dir)
            .with("WIKI_MUTATIONS_ENABLED", "true")
            .quiet()
    }

    /// The same by somebody who may write, confirmed by previews.
    pub(crate) fn writing(self) -> Self {
        self.with("WIKI_MUTATIONS_ENABLED", "true")
            .with("WIKI_MUTATION_DRY_RUN", "false")
    }

    /// The same without a log on stderr.
    pub(crate) fn quiet(self) -> Self {
        self.with("WIKI_LOG", "off")
    }

    /// The same with these toolsets.
    pub(crate) fn toolsets(self, toolsets: &str) -> Self {
        self.with("WIKI_TOOLSETS", toolsets)
    }

    /// The same, in which writes end as proposals.
    pub(crate) fn dry(self) -> Self {
        self.with("WIKI_MUTATION_DRY_RUN", "true")
    }

    /// The same, started in a directory.
    pub(crate) fn in_dir(mut self, dir: &Path) -> Self {
        self.process.current_dir(dir);
        self
    }

    /// The same with what it reads on stdin.
    pub(crate) fn stdin(mut self, text: &str) -> Self {
        self.stdin.push_str(text);
        self
    }

    /// The same, with a word in place of a text wherever it is told.
    pub(crate) fn hide(mut self, text: impl Into<String>, word: &'static str) -> Self {
        self.hidden.push((text.into(), word));
        self
    }

    /// Runs it to its end.
    pub(crate) async fn end(self) -> Ended {
        tokio::task::spawn_blocking(|| self.run()).await.unwrap()
    }

    /// Runs it to its end, which must be a good one.
    pub(crate) async fn good(self) -> Ended {
        self.end().await.good()
    }

    /// Runs it to its end. Blocks.
    pub(crate) fn run(mut self) -> Ended {
        let mut child = self.process.spawn().unwrap();
        // A command that reads nothing may have ended.
        let _ = child.stdin.take().unwrap().write_all(self.stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code().unwrap();
        let mut told = format!("{}{stdout}{stderr}", self.told);
        if code != 0 {
            writeln!(told, "exit {code}").unwrap();
        }
        for (text, word) in &self.hidden {
            told = told.replace(text, word);
        }
        Ended {
            code,
            stdout,
            stderr,
            told,
        }
    }
}

#[test]
fn a_failure_is_json_too_for_whoever_asked_for_that() {
    let dir = tempfile::TempDir::new().unwrap();
    for arguments in [
        &["audit", "show", "last"][..],
        &["audit", "verify"],
        &["audit", "report", "--html", "/no/such/directory/x.html"],
        &["token", "new", "a"],
        &["token", "revoke", "a"],
        &["config", "init"],
        &["tool", "show", "nope"],
        &["tool", "call", "nope"],
        &["undo", "last"],
        &["proposals", "list"],
    ] {
        let in_json = [arguments, &["--json"]].concat();
        for settings in [
            &[][..],
            &[
                ("WIKI_BASE_URL", "http://127.0.0.1:9"),
                ("WIKI_API_TOKEN", "e30.e30.x"),
                ("WIKI_SERVE_TOKENS_FILE", "/no/such/directory/tokens"),
            ],
        ] {
            let command =
                Command::new(&in_json).with("WIKI_AUDIT_DIR", dir.path().to_str().unwrap());
            let with = |command: Command, (name, value): &(&str, &str)| command.with(name, value);
            let ended = settings.iter().fold(command, with).run();
            if ended.code == 0 {
                assert_eq!(arguments, ["proposals", "list"], "{}", ended.told);
                continue;
            }
            let answer = ended.json();
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(ended.stderr.contains(message), "{}", ended.told);
        }
    }
}

#[test]
fn a_wrong_command_line_is_json_too_and_has_no_words_of_the_program() {
    for [arguments, told] in text_rows(
        "
        audit list --since soon => '--since <WHEN>': must be a date
        audit list --limit x => '--limit <COUNT>': must be a whole number
        audit list --limit 0 => must be a number from 1 to 65535
        audit list --limit 99999999999999999999 => must be a smaller number
        proposals apply 1234 --leave-out 0 => must be a number from 1 up
        store hammer --dir x --writers 65 => must be a number from 1 to 64
        tool call => were not provided: <NAME>
        undo => were not provided: <CALL|--client <NAME>>
        bin restore => were not provided: <PAGE|--at <WHEN>>
        mirror forget => were not provided: <PATH|--before <WHEN>>
    ",
    ) {
        let arguments: Vec<&str> = arguments.split(' ').chain(["--json"]).collect();
        let ended = Command::new(&arguments).run().exits(2);
        let answer = ended.json();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{}", ended.told);
        let words = [
            "digit found",
            "target type",
            "is not in",
            "syntax",
            "Usage",
            "error:",
        ];
        assert!(
            !words.iter().any(|word| message.contains(word)),
            "{message}"
        );
    }
    let demo = Command::new(&["demo", "--wiki", "nope"]).run().exits(2);
    demo.warns("must be an address and a port");
    let plain = Command::new(&["audit", "list", "--limit", "0"])
        .run()
        .exits(2);
    assert_eq!(plain.stdout, "");
    assert!(
        plain.stderr.contains("must be a number from 1 to 65535\n"),
        "{}",
        plain.told
    );
}

/// A command whose stdout or stderr is this, run to its end: its exit code, and what it said on the other one.
fn with_output(arguments: &[&str], stdout: Stdio, stderr: Stdio) -> (Option<i32>, String) {
    let mut process = Process::new(env!("CARGO_BIN_EXE_wikijs-gate"));
    process.args(arguments).env_clear().stdin(Stdio::null());
    let ended = process.stdout(stdout).stderr(stderr).spawn().unwrap();
    let ended = ended.wait_with_output().unwrap();
    let told = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8(told).unwrap())
}

#[test]
fn a_reader_that_has_gone_away_stops_no_command_and_a_full_disk_is_told() {
    let gone = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for arguments in [
        &["--help"][..],
        &["audit", "list", "--help"],
        &["config", "schema"],
    ] {
        let (code, told) = with_output(arguments, gone(), Stdio::piped());
        assert_eq!((code, &*told), (Some(0), ""), "{arguments:?}");
    }
    for arguments in [&["nope"][..], &["audit", "list"], &["config", "check"]] {
        let (code, _) = with_output(arguments, Stdio::piped(), gone());
        assert_eq!(code, Some(2), "{arguments:?}");
    }
    if cfg!(target_os = "linux") {
        let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
        for arguments in [&["--help"][..], &["config", "schema"]] {
            let (code, told) = with_output(arguments, full(), Stdio::piped());
            assert_eq!(code, Some(1), "{arguments:?}");
            assert!(
                told.starts_with("error: not all of the output could be written"),
                "{told}"
            );
        }
    }
}
