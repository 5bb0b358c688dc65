//! The release binary, driven over its pipes without a library in between.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::thread;

use serde_json::{Value, json};

use crate::process::{BINARY, Memory, Process};

/// A running server that has shaken hands.
pub(crate) struct Server {
    pub(crate) process: Process,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    /// Starts a server of a wiki; returns as soon as it has answered `initialize`.
    pub(crate) fn start(address: &str, key: &str) -> Self {
        Self::start_with(address, key, &[])
    }

    /// The same with more settings.
    pub(crate) fn start_with(address: &str, key: &str, settings: &[(&str, &str)]) -> Self {
        Self::start_of(Path::new(BINARY), address, key, settings)
    }

    /// The same with another binary.
    pub(crate) fn start_of(
        binary: &Path,
        address: &str,
        key: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        let mut process = Process::start_of(binary, &[], address, key, settings);
        let mut server = Self {
            stdin: process.child.stdin.take(),
            stdout: BufReader::with_capacity(1 << 16, process.child.stdout.take().expect("a pipe")),
            process,
            line: String::new(),
        };
        server.send(&initialize());
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

    /// Sends requests without a look at the answers, which are read meanwhile: the most memory
    /// that it took, looked at all along.
    pub(crate) fn flood(&mut self, count: usize, line: impl Fn(usize) -> String + Sync) -> u64 {
        const LOOK: usize = 200;
        let mut stdin = self.stdin.take().expect("open until dropped");
        let mut peak = 0;
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for id in 0..count {
                    stdin.write_all(line(id).as_bytes()).expect("it reads");
                }
            });
            for answered in 0..count {
                self.receive();
                if answered % LOOK == 0 {
                    peak = peak.max(self.process.memory().resident);
                }
            }
            writer.join().expect("all was sent");
        });
        self.stdin = Some(stdin);
        peak
    }

    /// See [`Process::worked`].
    pub(crate) fn worked(&self) -> f64 {
        self.process.worked()
    }

    /// See [`Process::memory`].
    pub(crate) fn memory(&self) -> Memory {
        self.process.memory()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends by itself when its input does; what it still says is of no interest.
        let _ = self.stdout.read_to_end(&mut Vec::new());
        let _ = self.process.child.wait();
    }
}

/// A request in one line.
pub(crate) fn message(id: usize, method: &str, params: &Value) -> String {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    format!("{request}\n")
}

/// The first request of a client.
pub(crate) fn initialize() -> String {
    message(
        0,
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "budgets", "version": "0" },
        }),
    )
}
