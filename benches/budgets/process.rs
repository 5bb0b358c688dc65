//! The release binary as a process, and what Linux tells of it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The binary that cargo built for this run.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_wikijs-gate");

/// A running server with a record of its own.
pub(crate) struct Process {
    /// It, with the pipes that it was given.
    pub(crate) child: Child,
    audit: TempDir,
}

/// The memory of a process, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// All of it that is in the machine's memory.
    pub(crate) resident: u64,
    /// That without the pages of files.
    pub(crate) anonymous: u64,
}

impl Process {
    /// Starts a server of a wiki; returns at once.
    pub(crate) fn start(
        arguments: &[&str],
        address: &str,
        key: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        Self::start_of(Path::new(BINARY), arguments, address, key, settings)
    }

    /// The same with another binary.
    pub(crate) fn start_of(
        binary: &Path,
        arguments: &[&str],
        address: &str,
        key: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        let audit = TempDir::new().expect("a temporary directory");
        let child = Command::new(binary)
            .args(arguments)
            .env_clear()
            .env("WIKI_BASE_URL", address)
            .env("WIKI_API_TOKEN", key)
            .env("WIKI_AUDIT_DIR", audit.path())
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        Self { child, audit }
    }

    /// Where its record is.
    pub(crate) fn audit(&self) -> &Path {
        self.audit.path()
    }

    /// Ends it by SIGTERM if it still runs: its exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        if let Ok(None) = self.child.try_wait() {
            let process = self.child.id().to_string();
            let sent = Command::new("kill").args(["-TERM", &process]).status();
            assert!(sent.is_ok_and(|sent| sent.success()), "a signal is sent");
        }
        self.child.wait().expect("the server ends").code()
    }

    /// Has its record checked by `audit verify`: how many outcomes of writes are in it.
    pub(crate) fn verified(&self, address: &str) -> usize {
        let verified = Command::new(BINARY)
            .args(["audit", "verify"])
            .env_clear()
            .env("WIKI_BASE_URL", address)
            .env("WIKI_AUDIT_DIR", self.audit.path())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&verified.stdout);
        assert!(verified.status.success(), "audit verify: {said}");
        let inside = |dir: fs::DirEntry| fs::read_dir(dir.path().join("runs")).ok();
        let wikis = fs::read_dir(self.audit.path()).expect("a record");
        wikis
            .flatten()
            .filter_map(inside)
            .flatten()
            .flatten()
            .map(|run| fs::read_to_string(run.path()).expect("a run's records"))
            .map(|run| run.matches("\"event\":\"outcome\"").count())
            .sum()
    }

    /// The time that processors have worked for it so far, in milliseconds.
    pub(crate) fn worked(&self) -> f64 {
        const TICKS_A_SECOND: f64 = 100.0;
        let stat = self.told("stat");
        // The name, in parentheses, may hold anything.
        let (_, rest) = stat.rsplit_once(')').expect("a name");
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: f64 = ticks
            .map(|ticks| ticks.parse::<f64>().expect("ticks"))
            .sum();
        ticks * 1e3 / TICKS_A_SECOND
    }

    /// What it takes of the machine's memory now.
    pub(crate) fn memory(&self) -> Memory {
        let status = self.told("status");
        let bytes = |name: &str| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .expect("Linux tells of memory");
            let kib = line.trim().trim_end_matches(" kB").parse::<u64>();
            kib.expect("a number of KiB") * 1024
        };
        Memory {
            resident: bytes("VmRSS:"),
            anonymous: bytes("RssAnon:"),
        }
    }

    /// How many entries a directory of Linux about it has: `fd` or `task`.
    pub(crate) fn count(&self, what: &str) -> usize {
        let path = format!("/proc/{}/{what}", self.child.id());
        fs::read_dir(path)
            .expect("Linux tells of a process")
            .count()
    }

    fn told(&self, what: &str) -> String {
        let path = format!("/proc/{}/{what}", self.child.id());
        fs::read_to_string(path).expect("Linux tells of a process")
    }
}
