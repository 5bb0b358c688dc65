//! A wiki of 10,000 pages as files: the first pull, a later one with few changes, and the status of
//! the folder.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::Builder;
use wikijs_gate::demo::{DemoOptions, DemoWiki};

use crate::figure::{Figure, Unit};
use crate::pages;
use crate::process::BINARY;
use crate::stats::milliseconds;

const PAGES: usize = 10_000;
/// How many of them change before the later pull.
const CHANGED: usize = 20;

pub(crate) fn measure() -> Vec<Figure> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a thread");
    let wiki = runtime
        .block_on(DemoWiki::start(DemoOptions::empty()))
        .expect("the embedded wiki starts");
    pages::plant(&wiki, PAGES, None);
    let dir = TempDir::new().expect("a temporary directory");
    let first = run(&wiki, dir.path(), "pull");
    wiki.with_store(|store| {
        let ids: Vec<i64> = store.pages().map(|page| page.id).collect();
        for id in ids.into_iter().step_by(PAGES / CHANGED) {
            let page = store.page_mut(id).expect("the page");
            page.content.push_str("\nOne more line.\n");
            "2031-01-01T00:00:00.000Z".clone_into(&mut page.updated_at);
        }
    });
    let later = run(&wiki, dir.path(), "pull");
    let status = run(&wiki, dir.path(), "status");
    let figure = |what, time, most| {
        let seconds = milliseconds(time) / 1_000.0;
        Figure::at_most(what, Unit::Seconds, seconds, most)
    };
    vec![
        figure("10,000 pages as files: the first pull", first, 60.0),
        figure("10,000 pages as files: a pull of 20 changes", later, 5.0),
        figure("10,000 pages as files: status", status, 5.0),
    ]
}

/// How long a command takes.
fn run(wiki: &DemoWiki, dir: &Path, command: &str) -> Duration {
    let began = Instant::now();
    let ended = Command::new(BINARY)
        .args(["files", command])
        .arg(dir.join("files"))
        .env_clear()
        .env("WIKI_BASE_URL", wiki.address())
        .env("WIKI_API_TOKEN", &wiki.keys().admin)
        .env("WIKI_AUDIT_DIR", dir.join("audit"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(ended.success(), "files {command}: {ended}");
    began.elapsed()
}
