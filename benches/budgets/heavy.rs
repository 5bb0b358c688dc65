//! A wiki of 10,000 pages and 50 MB: the content index fills at its rate and stays small, and
//! what is asked then is quick. Takes nine minutes, most of them waiting.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Builder;
use wikijs_mcp::demo::{DemoOptions, DemoWiki};

use crate::client::{Client, one_by_one};
use crate::figure::{Figure, Unit};
use crate::pages;
use crate::server::{Server, message};
use crate::stats::{median, megabytes, milliseconds, whole};

const PAGES: usize = 10_000;
const TURNS: usize = 50;
/// How often it is looked how far the index is.
const LOOK: Duration = Duration::from_millis(500);
/// Words of every kind: on few pages and on most, in each script, several, and beginnings.
const QUERIES: [&str; 8] = [
    "term00042",
    "backup restore",
    "datenbank",
    "会议记录",
    "東京",
    "deplo",
    "request",
    "zertifikat prüfung",
];

pub(crate) fn measure() -> Vec<Figure> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a thread");
    let wiki = runtime
        .block_on(DemoWiki::start(DemoOptions::empty()))
        .expect("the embedded wiki starts");
    pages::plant(&wiki, PAGES);
    let key = wiki.keys().readonly.clone();
    let dir = TempDir::new().expect("a temporary directory");
    let settings = [
        ("WIKI_INDEX", "disk"),
        ("WIKI_INDEX_DIR", dir.path().to_str().expect("UTF-8")),
    ];
    let mut server = Server::start_with(&wiki.address(), &key, &settings).ready();
    let began = Instant::now();
    let mut peak = 0;
    loop {
        let answer = call(&mut server, "wikijs_search_pages", &content("term00001"));
        peak = peak.max(server.memory().anonymous);
        // Of a complete index nothing is said.
        if answer.pointer("/index/complete") != Some(&Value::Bool(false)) {
            break;
        }
        sleep(LOOK);
    }
    let filled = began.elapsed();
    let searches = (0..TURNS * QUERIES.len()).map(|turn| {
        let query = QUERIES.get(turn % QUERIES.len()).expect("one of them");
        let began = Instant::now();
        let found = call(&mut server, "wikijs_search_pages", &content(query));
        let took = milliseconds(began.elapsed());
        let hits = found.pointer("/hits").and_then(Value::as_array);
        assert!(
            hits.is_some_and(|hits| !hits.is_empty()),
            "{query} was not found"
        );
        took
    });
    let typical = median(searches.collect());
    peak = peak.max(server.memory().anonymous);
    let resolved = titles(&mut server, &wiki);
    let (listed, own) = list(&mut server, &wiki.address(), &key);
    vec![
        Figure::at_most(
            "10,000 pages: pages indexed a second",
            Unit::PerSecond,
            whole(u64::try_from(PAGES).unwrap_or(u64::MAX)) / filled.as_secs_f64(),
            20.5,
        ),
        Figure::at_most(
            "10,000 pages: anonymous memory, highest",
            Unit::Megabytes,
            megabytes(peak),
            150.0,
        ),
        Figure::at_most(
            "10,000 pages: warm search of content, median",
            Unit::Milliseconds,
            typical,
            20.0,
        ),
        Figure::at_most(
            "10,000 pages: a page by its title, median",
            Unit::Milliseconds,
            resolved,
            10.0,
        ),
        Figure::at_most(
            "10,000 pages: a listing of 50, median",
            Unit::Milliseconds,
            listed,
            own * 2.0,
        )
        .beside(own),
    ]
}

/// A page by its title, after the first.
fn titles(server: &mut Server, wiki: &DemoWiki) -> f64 {
    let titles: Vec<String> = wiki.with_store(|store| {
        let some = store.pages().step_by(PAGES / TURNS);
        some.map(|page| page.title.clone()).collect()
    });
    let mut took = Vec::new();
    for title in &titles {
        let began = Instant::now();
        let page = call(
            server,
            "wikijs_get_page_by_path",
            &json!({ "path": title, "maxBytes": 256 }),
        );
        took.push(milliseconds(began.elapsed()));
        assert_eq!(
            page.pointer("/title").and_then(Value::as_str),
            Some(title.as_str())
        );
    }
    median(took.split_off(1))
}

/// A listing of 50 through the server, and the wiki's own limited query; turn by turn.
fn list(server: &mut Server, address: &str, key: &str) -> (f64, f64) {
    let runtime = one_by_one();
    let direct = Client::list(address, key, 50);
    let (mut through, mut own) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let began = Instant::now();
        call(server, "wikijs_list_pages", &json!({ "limit": 50 }));
        through.push(milliseconds(began.elapsed()));
        let began = Instant::now();
        runtime.block_on(direct.ask());
        own.push(milliseconds(began.elapsed()));
    }
    (median(through), median(own))
}

fn content(query: &str) -> Value {
    json!({ "query": query, "in": "content" })
}

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    server.send(&message(1, "tools/call", &params));
    let mut result = server.result();
    let answer = result.get_mut("structuredContent");
    answer.expect("a structured answer").take()
}
