//! A small client of the protocol: a server as a process, one line of JSON a message.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::cli::prelude::*;

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and the way to talk to it.
pub(super) struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<Value>,
    count: u64,
}

impl Client {
    /// Starts this very program as a server with exactly these settings, and shakes hands.
    pub(super) fn start(variables: &[(&'static str, String)]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|_| "this program does not find itself")?;
        let mut server = Command::new(program)
            .arg("serve")
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("the server could not be started: {error}"))?;
        let stdin = server.stdin.take();
        let stdout = server.stdout.take().ok_or("the server has no stdout")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Ok(answer) = serde_json::from_str(&line) else {
                    break;
                };
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        let mut client = Self {
            server,
            stdin,
            answers,
            count: 0,
        };
        client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "wikijs-gate-demo", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Calls a tool: its answer, or the error that it answered with.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
    ) -> Result<Result<Value, Value>, String> {
        let result = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )?;
        if result.get("isError") == Some(&Value::Bool(true)) {
            let text = result.pointer("/content/0/text").and_then(Value::as_str);
            let error = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            let error = error.and_then(|error| error.get("error").cloned());
            return Ok(Err(error.ok_or("an error without its text")?));
        }
        let answer = result
            .get("structuredContent")
            .ok_or("an answer without content")?;
        Ok(Ok(answer.clone()))
    }

    /// Closes the server's stdin and waits for its end, so that its log is closed.
    pub(super) fn end(mut self) -> Result<(), String> {
        drop(self.stdin.take());
        let status = self
            .server
            .wait()
            .map_err(|error| format!("the server did not end: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended with {status}"))
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.count += 1;
        let id = self.count;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let answer = self
                .answers
                .recv_timeout(PATIENCE)
                .map_err(|_| format!("the server did not answer {method}"))?;
            if answer.get("id") == Some(&json!(id)) {
                return answer
                    .get("result")
                    .cloned()
                    .ok_or_else(|| format!("{method} failed: {answer}"));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or("the server's stdin is closed")?;
        writeln!(stdin, "{message}").map_err(|error| format!("the server hung up: {error}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Only a server that was not ended in order is still there; nothing more can be done.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
