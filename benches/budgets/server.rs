//! The release binary as a process, driven over its pipes without a library in between.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The binary that cargo built for this run.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_wikijs-mcp");

/// A running server that has shaken hands.
pub(crate) struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: String,
    _audit: TempDir,
}

/// The memory of a process, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// All of it that is in the machine's memory.
    pub(crate) resident: u64,
    /// That without the pages of files.
    pub(crate) anonymous: u64,
}

impl Server {
    /// Starts a server of a wiki; returns as soon as it has answered `initialize`.
    pub(crate) fn start(address: &str, key: &str) -> Self {
        Self::start_with(address, key, &[])
    }

    /// The same with more settings.
    pub(crate) fn start_with(address: &str, key: &str, settings: &[(&str, &str)]) -> Self {
        let audit = TempDir::new().expect("a temporary directory");
        let mut process = Command::new(BINARY)
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
        let mut server = Self {
            stdin: process.stdin.take(),
            stdout: BufReader::with_capacity(1 << 16, process.stdout.take().expect("a pipe")),
            process,
            line: String::new(),
            _audit: audit,
        };
        server.send(&message(
            0,
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "budgets", "version": "0" },
            }),
        ));
        server.receive();
        server
    }

    /// Says that the handshake is over: from here on calls are answered.
    pub(crate) fn ready(mut self) -> Self {
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(&format!("{note}\n"));
        self
    }

    /// Sends what was made with [`message`], one or several.
    pub(crate) fn send(&mut self, lines: &str) {
        let stdin = self.stdin.as_mut().expect("open until dropped");
        stdin.write_all(lines.as_bytes()).expect("the server reads");
    }

    /// Waits for the next answer, and for nothing else.
    pub(crate) fn receive(&mut self) -> &str {
        self.line.clear();
        let read = self.stdout.read_line(&mut self.line).expect("UTF-8");
        assert!(read > 0, "the server ended");
        let is_good = self.line.contains("\"result\":") && !self.line.contains("\"isError\":true");
        assert!(is_good, "an error was answered: {}", self.line);
        &self.line
    }

    /// Waits for the next answer and reads its result.
    pub(crate) fn result(&mut self) -> Value {
        let mut answer: Value = serde_json::from_str(self.receive()).expect("JSON");
        answer.get_mut("result").expect("a result").take()
    }

    /// Sends requests so that `window` of them are under way at once, until `count` are answered.
    pub(crate) fn pipeline(&mut self, count: usize, window: usize, line: impl Fn(usize) -> String) {
        let mut sent = window.min(count);
        self.send(&(0..sent).map(&line).collect::<String>());
        let mut answered = 0;
        while answered < count {
            // All answers that have come by now, and as many new requests in one go.
            self.receive();
            let mut came = 1;
            while self.stdout.buffer().contains(&b'\n') {
                self.receive();
                came += 1;
            }
            answered += came;
            let next = (sent + came).min(count);
            if next > sent {
                self.send(&(sent..next).map(&line).collect::<String>());
                sent = next;
            }
        }
    }

    /// The time that processors have worked for it so far, in milliseconds.
    pub(crate) fn worked(&self) -> f64 {
        const TICKS_A_SECOND: f64 = 100.0;
        let path = format!("/proc/{}/stat", self.process.id());
        let stat = fs::read_to_string(path).expect("Linux tells of a process");
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
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(path).expect("Linux tells of a process");
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
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends by itself when its input does; what it still says is of no interest.
        let _ = self.stdout.read_to_end(&mut Vec::new());
        let _ = self.process.wait();
    }
}

/// A request in one line.
pub(crate) fn message(id: usize, method: &str, params: &Value) -> String {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    format!("{request}\n")
}
