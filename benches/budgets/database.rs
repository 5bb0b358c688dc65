//! What a database in place of files adds to a call, what several servers on it answer, and what the commands that read
//! a record of 1,000,000 events take there. Clients, servers, database and wiki share the machine.

use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use tokio::runtime::Runtime;

use crate::audit::{OF_HAMMER, log, timed};
use crate::calls;
use crate::client::{Client, ask_often, at_once, one_by_one};
use crate::cluster::Cluster;
use crate::figure::{Budget, Figure, Unit};
use crate::hosted::{Hosted, call};
use crate::instant::InstantWiki;
use crate::process::BINARY;
use crate::stats::{median, milliseconds};
use crate::wiki::Wiki;
use crate::writes::{self, TOKEN};

const READS: usize = 2_000;
const WRITES: usize = 300;
const ROUNDS: usize = 5;
const CALLS: u16 = 10_000;
/// How many clients call at once, each in a session of its own.
const CLIENTS: usize = 66;

pub(crate) fn measure() -> Vec<Figure> {
    let Some(cluster) = Cluster::start() else {
        eprintln!("PostgreSQL is not installed: nothing measured of a database");
        return Vec::new();
    };
    let address = cluster.address();
    run("/nowhere", Some(&address), &["store", "migrate"]);
    let mut figures = of_reads(&address);
    figures.push(of_writes(&address));
    figures.extend(of_several(&address));
    figures.extend(of_a_large_record(&address));
    figures
}

/// Runs a command on the files in a directory, or on a database.
fn run(directory: &str, database: Option<&str>, arguments: &[&str]) {
    let done = Command::new(BINARY)
        .args(arguments)
        .env_clear()
        .envs(OF_HAMMER.iter().copied())
        .env("WIKI_AUDIT_DIR", directory)
        .envs(database.map(|address| ("WIKI_STORE", address)))
        .stdout(Stdio::null())
        .status();
    assert!(done.expect("the program starts").success(), "{arguments:?}");
}

/// What a read takes longer in milliseconds, without a session and in one, which lies in the database.
fn of_reads(store: &str) -> Vec<Figure> {
    let wiki = Wiki::start();
    let (files, database) = (served(&wiki, &[]), served(&wiki, &[("WIKI_STORE", store)]));
    let runtime = one_by_one();
    let (key, page) = (wiki.key(), wiki.page());
    let direct = Client::new(&wiki.address(), key, page);
    let arguments = json!({ "id": page });
    let alone = |server: &Hosted| server.without_session("wikijs_get_page_by_id", &arguments);
    let within = |server: &Hosted| runtime.block_on(server.session(calls::page(1, page)));
    [
        (
            "PostgreSQL: added to a read, without a session",
            alone(&files),
            alone(&database),
        ),
        (
            "PostgreSQL: added to a read, in a session",
            within(&files),
            within(&database),
        ),
    ]
    .into_iter()
    .map(|(what, files, database)| {
        let [files, database, own] = in_turns(READS, &runtime, [&files, &database, &direct]);
        Figure::at_most(what, Unit::Milliseconds, database - files, 0.1).beside(own)
    })
    .collect()
}

/// What an edit takes longer in milliseconds: intent, attempt and outcome are in the database before it is answered.
fn of_writes(store: &str) -> Figure {
    let wiki = Wiki::start();
    wiki.write("The first line.\n");
    let page = wiki.page();
    let runtime = one_by_one();
    let in_database = [&writes::SETTINGS[..], &[("WIKI_STORE", store)]].concat();
    let servers = [
        served(&wiki, &writes::SETTINGS),
        served(&wiki, &in_database),
    ];
    let sessions = servers
        .each_ref()
        .map(|server| runtime.block_on(server.session(String::new())));
    let mut took = [Vec::new(), Vec::new()];
    for edit in 0..WRITES {
        let (session, took) = match edit % 2 {
            0 => (&sessions[0], &mut took[0]),
            _ => (&sessions[1], &mut took[1]),
        };
        let edits = json!([{ "oldText": line(edit), "newText": line(edit + 1) }]);
        let arguments = json!({ "id": page, "edits": edits, "confirm": TOKEN });
        let text = calls::call(edit, "wikijs_update_page", &arguments);
        if edit == 0 {
            wiki.write(&line(0));
        }
        let began = Instant::now();
        let answer = runtime.block_on(call(session, text));
        took.push(milliseconds(began.elapsed()));
        assert_ne!(answer.get("isError"), Some(&true.into()), "{answer}");
    }
    let [files, database] = took.map(median);
    Figure::at_most(
        "PostgreSQL: added to a write",
        Unit::Milliseconds,
        database - files,
        10.0,
    )
}

fn line(edit: usize) -> String {
    format!("The line as edit {edit} left it, and no other.\n")
}

/// Calls a second of one, two and three servers.
fn of_several(store: &str) -> Vec<Figure> {
    let demo = Wiki::start();
    let (key, page) = (demo.key(), demo.page());
    let wiki = InstantWiki::like(&demo);
    let runtime = at_once();
    let servers = [(); 3].map(|()| Hosted::start(wiki.address(), key, &[("WIKI_STORE", store)]));
    [
        ("PostgreSQL: calls a second, 1 server", 1),
        ("PostgreSQL: calls a second, 2 servers", 2),
        ("PostgreSQL: calls a second, 3 servers", 3),
    ]
    .into_iter()
    .map(|(what, count)| {
        let mut sessions = Vec::new();
        for server in servers.iter().take(count) {
            let body = calls::page(1, page);
            sessions.extend(runtime.block_on(server.sessions(CLIENTS / count, &body)));
        }
        let rates = (0..ROUNDS).map(|_| {
            let began = Instant::now();
            runtime.block_on(ask_often(&sessions, CALLS.into()));
            f64::from(CALLS) / began.elapsed().as_secs_f64()
        });
        Figure {
            what,
            unit: Unit::PerSecond,
            measured: median(rates.collect()),
            budget: Budget::NotSet,
            wiki: None,
        }
    })
    .collect()
}

/// What the questions that people ask again and again take for 1,000,000 events in the database.
fn of_a_large_record(store: &str) -> Vec<Figure> {
    let files = log(1_000_000, 0);
    let began = Instant::now();
    let from = files.path().display().to_string();
    run(&from, None, &["store", "copy", "--to", store]);
    let copied = began.elapsed().as_secs_f64();
    let own = tempfile::TempDir::new().expect("a temporary directory");
    let settings = [OF_HAMMER, &[("WIKI_STORE", store)]].concat();
    let seconds = |what, measured| Figure {
        what,
        unit: Unit::Seconds,
        measured,
        budget: Budget::NotSet,
        wiki: None,
    };
    let list: &[&str] = &["audit", "list", "--limit", "50"];
    let began = Instant::now();
    crate::audit::run(own.path(), &settings, list);
    let indexed = began.elapsed().as_secs_f64();
    let commands: [(&'static str, &[&str]); 3] = [
        ("PostgreSQL, 1,000,000 events: audit list (50)", list),
        (
            "PostgreSQL, 1,000,000 events: audit show",
            &["audit", "show", "last"],
        ),
        (
            "PostgreSQL, 1,000,000 events: a page's story",
            &["audit", "list", "--page", "7"],
        ),
    ];
    let timed = |(what, arguments)| timed((&own, &settings), what, arguments, 300.0).0;
    let mut figures: Vec<Figure> = commands.into_iter().map(timed).collect();
    figures.push(seconds("PostgreSQL, 1,000,000 events: store copy", copied));
    figures.push(seconds(
        "PostgreSQL, 1,000,000 events: a server's first list, which makes its index",
        indexed,
    ));
    figures
}

fn served(wiki: &Wiki, settings: &[(&str, &str)]) -> Hosted {
    Hosted::start(&wiki.address(), wiki.key(), settings)
}

/// What each of them takes for the same question, asked in turns: medians, in milliseconds.
fn in_turns<const N: usize>(turns: usize, runtime: &Runtime, clients: [&Client; N]) -> [f64; N] {
    let mut took = [const { Vec::new() }; N];
    for turn in 0..turns {
        for (client, took) in clients.iter().zip(&mut took) {
            let began = Instant::now();
            runtime.block_on(client.ask());
            // The first ones warm up.
            if turn >= turns / 10 {
                took.push(milliseconds(began.elapsed()));
            }
        }
    }
    took.map(median)
}
