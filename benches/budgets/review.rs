//! The review page: what its pages take and weigh, and when a browser has painted a large set.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use wikijs_gate::demo::PageRow;

use crate::audit;
use crate::calls;
use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::script::{ADDRESS, Script, keep, page};
use crate::server::Server;
use crate::stats::{median, milliseconds, whole};
use crate::wiki::Wiki;

const TURNS: usize = 21;
/// How many sets wait, the large one included.
const SETS: usize = 20;
/// How many changes the large set has.
const CHANGES: usize = 40;
const RECORDS: usize = 1_000;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let ids = wiki.add((0..CHANGES).map(row));
    let settings = [
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "true"),
        ("WIKI_TOOLSETS", "pages,drafts,proposals"),
    ];
    let mut agent = Server::start_with(&wiki.address(), wiki.admin(), &settings).ready();
    for (at, id) in ids.iter().enumerate().take(SETS - 1) {
        let edit = json!({ "oldText": "line 3.", "newText": "line three." });
        let edit = json!({ "id": id, "edits": [edit], "note": "As the style guide says." });
        propose(&mut agent, at, "wikijs_update_page", &edit);
    }
    let all = json!({
        "ids": ids, "addTags": ["reviewed"], "note": "Every page, as the team agreed.",
        "replaceAll": [{ "oldText": "A line", "newText": "A good line" }],
    });
    let large = propose(&mut agent, SETS, "wikijs_bulk_update_pages", &all);
    let desk = Desk::open(agent.process.audit(), &wiki.address(), wiki.admin());
    let mut figures = Vec::new();
    let set = format!("/review/sets/{large}");
    desk.figures(
        &mut figures,
        "/review",
        [
            "review page, queue of 20: time",
            "review page, queue of 20: size",
        ],
        (30.0, 40e3),
    );
    desk.figures(
        &mut figures,
        &set,
        [
            "review page, set of 40 changes: time",
            "review page, set of 40 changes: size",
        ],
        (120.0, 400e3),
    );
    figures.extend(painted(agent.process.audit(), &wiki, &set));
    let dir = audit::with_proposals(&wiki.address());
    let desk = Desk::open(dir.path(), &wiki.address(), wiki.admin());
    desk.figures(
        &mut figures,
        "/review",
        [
            "review page, queue of 10,000: time",
            "review page, queue of 10,000: size",
        ],
        (500.0, 80e3),
    );
    let dir = recorded();
    let desk = Desk::open(dir.path(), ADDRESS, wiki.admin());
    desk.figures(
        &mut figures,
        "/review/record",
        [
            "review page, list of 1,000 records: time",
            "review page, list of 1,000 records: size",
        ],
        (100.0, 100e3),
    );
    figures
}

/// A page of so many lines, a few of which change.
fn row(number: usize) -> PageRow {
    let lines = (0..12).map(|line| format!("A line of this page, line {line}.\n\n"));
    let text = lines.collect::<Vec<_>>().concat();
    PageRow {
        path: format!("bench/page-{number}"),
        title: format!("Page {number}"),
        content: format!("# Page {number}\n\n{text}"),
        ..PageRow::default()
    }
}

/// Has a write kept for people: the id of its set.
fn propose(agent: &mut Server, id: usize, tool: &str, arguments: &Value) -> String {
    agent.send(&calls::call(id, tool, arguments));
    let result = agent.result();
    let set = result.pointer("/structuredContent/proposal");
    let set = set.and_then(Value::as_str);
    set.unwrap_or_else(|| panic!("no proposal in {result}"))
        .to_owned()
}

/// A record of so many calls.
fn recorded() -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    let states = ["one\n", "two\n"].map(|text| keep(dir.path(), &page("docs/page", "Page", text)));
    let mut script = Script::begin(dir.path(), "2030-01-01T00:00:00", "00000000000000aa", &[]);
    for record in 0..RECORDS {
        let call = record / 2;
        let [before, after] = &states;
        let mut one = json!({
            "call": format!("{call:016x}"), "tool": "wikijs_update_page", "operation": "update",
            "client": { "name": "claude-code", "version": "2.1" }, "id": call % 500, "locale": "en",
            "path": format!("docs/page-{call}"), "fields": ["content"], "before": before,
            "after": after, "step": "update", "linesAdded": 1, "linesRemoved": 1,
        });
        let more = if record % 2 == 0 {
            json!({ "event": "attempt", "gate": "confirm", "decision": "preview" })
        } else {
            json!({ "event": "outcome", "outcome": "applied" })
        };
        if let (Value::Object(one), Value::Object(more)) = (&mut one, more) {
            one.extend(more);
        }
        let time = format!("2030-01-01T{:02}:{:02}:00", record / 60 % 24, record % 60);
        script.add(&time, &one);
    }
    script.close("2030-01-01T23:59:59");
    dir
}

/// The operator's review page.
struct Desk {
    process: Child,
    link: String,
    host: String,
    cookie: String,
}

impl Desk {
    fn start(audit: &Path, address: &str, key: &str) -> Self {
        let mut process = Command::new(BINARY)
            .args(["review", "--no-browser"])
            .env_clear()
            .env("WIKI_BASE_URL", address)
            .env("WIKI_API_TOKEN", key)
            .env("WIKI_AUDIT_DIR", audit)
            .env("WIKI_MUTATIONS_ENABLED", "true")
            .env("WIKI_LOG", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut link = String::new();
        let mut said = BufReader::new(process.stdout.take().expect("a pipe"));
        said.read_line(&mut link).expect("a link");
        let link = link.trim().to_owned();
        let host = link.split('/').nth(2).expect("an address").to_owned();
        Self {
            process,
            link,
            host,
            cookie: String::new(),
        }
    }

    /// One whose operator is signed in.
    fn open(audit: &Path, address: &str, key: &str) -> Self {
        let mut desk = Self::start(audit, address, key);
        let secret = desk
            .link
            .split("link=")
            .nth(1)
            .expect("a secret")
            .to_owned();
        let form = format!("link={secret}&then=");
        let (head, _) = desk.ask("POST", "/review/sign-in", &form);
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap_or_else(|| panic!("not signed in: {head}"));
        cookie
            .split(';')
            .next()
            .expect("a cookie")
            .clone_into(&mut desk.cookie);
        desk
    }

    /// The head and the body of an answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (String, Vec<u8>) {
        let port = self
            .host
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok());
        let to = ("127.0.0.1", port.expect("a port"));
        let mut stream = TcpStream::connect(to).expect("the page listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nconnection: close\r\n\
             cookie: {}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            self.cookie,
            body.len(),
            host = self.host,
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .expect("a head");
        let body = answer.split_off(end + 4);
        (String::from_utf8_lossy(&answer).into_owned(), body)
    }

    /// How long a page takes, and how much it weighs.
    fn figures(
        &self,
        to: &mut Vec<Figure>,
        path: &str,
        names: [&'static str; 2],
        most: (f64, f64),
    ) {
        let (mut times, mut size) = (Vec::new(), 0);
        for _ in 0..TURNS {
            let began = Instant::now();
            let (head, body) = self.ask("GET", path, "");
            times.push(milliseconds(began.elapsed()));
            assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
            size = size.max(body.len());
        }
        let size = whole(size.try_into().unwrap_or(u64::MAX));
        let [time_of, size_of] = names;
        to.push(Figure::at_most(
            time_of,
            Unit::Milliseconds,
            median(times),
            most.0,
        ));
        to.push(Figure::at_most(size_of, Unit::Bytes, size, most.1));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// When a browser has painted a set, from its click on; nothing where there is no browser.
fn painted(audit: &Path, wiki: &Wiki, set: &str) -> Option<Figure> {
    let desk = Desk::start(audit, &wiki.address(), wiki.admin());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/paint.mjs");
    let drawn = Command::new("node")
        .args([script, "chromium", &desk.link, set])
        .output();
    let Some(drawn) = drawn.ok().filter(|drawn| drawn.status.success()) else {
        eprintln!("skipped: the first paint in a browser, since there is no chromium or no node");
        return None;
    };
    let times = String::from_utf8_lossy(&drawn.stdout);
    let times = times
        .split_whitespace()
        .filter_map(|time| time.parse().ok());
    let what = "review page, set of 40 changes: first paint in Chromium";
    let painted = median(times.collect());
    Some(Figure::at_most(what, Unit::Milliseconds, painted, 200.0))
}
