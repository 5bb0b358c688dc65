//! What the server adds to a call of the wiki: the same request through it and without it,
//! turn by turn.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tokio::runtime::Runtime;

use crate::calls;
use crate::client::{Client, one_by_one};
use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::server::Server;
use crate::stats::{median, milliseconds};
use crate::wiki::Wiki;

/// How many servers are asked.
pub(crate) const SERVERS: usize = 5;
const TURNS: usize = 600;
const WARM_UP: usize = 200;
/// What the wiki itself took, in milliseconds, on the machine that the budgets were set on: on a
/// slower one both take longer.
const WIKI_THERE: f64 = 0.2;

/// Measures the packaged build and, where it is given, the README's.
pub(crate) fn measure(readme: Option<&Path>) -> Vec<Figure> {
    // Where the kernel puts client, server and wiki on several cores changes both times by a half.
    let _one = OneCore::hold();
    let mut figures = vec![added(
        "added to a call of the wiki, median",
        0.12,
        &runs(Path::new(BINARY)),
    )];
    if let Some(readme) = readme {
        figures.push(added(
            "README's build: added to a call of the wiki, median",
            0.20,
            &runs(readme),
        ));
    }
    figures
}

/// The times of several servers of a build.
fn runs(binary: &Path) -> Vec<Times> {
    let wiki = Wiki::start();
    let runs = (0..SERVERS).map(|_| {
        let mut server = Server::start_of(binary, &wiki.address(), wiki.key(), &[]).ready();
        let mut turn = 0;
        Times::of(&wiki, &one_by_one(), || {
            server.send(&calls::page(turn, wiki.page()));
            server.receive();
            turn += 1;
        })
    });
    runs.collect()
}

/// What the same request took through one server and without it, asked in turns: medians, in
/// milliseconds.
pub(crate) struct Times {
    added: f64,
    own: f64,
}

impl Times {
    /// Measures them; `call` asks through the server.
    pub(crate) fn of(wiki: &Wiki, runtime: &Runtime, mut call: impl FnMut()) -> Self {
        let direct = Client::new(&wiki.address(), wiki.key(), wiki.page());
        let (mut through, mut own) = (Vec::new(), Vec::new());
        for turn in 0..WARM_UP + TURNS {
            let began = Instant::now();
            call();
            let call_took = began.elapsed();
            let began = Instant::now();
            runtime.block_on(direct.ask());
            let wiki_took = began.elapsed();
            if turn >= WARM_UP {
                through.push(milliseconds(call_took));
                own.push(milliseconds(wiki_took));
            }
        }
        let own = median(own);
        Self {
            added: median(through) - own,
            own,
        }
    }
}

/// What a call takes beyond what the wiki itself takes for it, the median of several servers;
/// `most` where the wiki answers as fast as where the budget was set.
pub(crate) fn added(what: &'static str, most: f64, runs: &[Times]) -> Figure {
    let own = median(runs.iter().map(|times| times.own).collect());
    let added = median(runs.iter().map(|times| times.added).collect());
    let most = most * (own / WIKI_THERE).max(1.0);
    Figure::at_most(what, Unit::Milliseconds, added, most).beside(own)
}

/// This process and all that it starts run on one core, as long as this lives; where there is no
/// `taskset`, on all of them.
struct OneCore;

impl OneCore {
    fn hold() -> Self {
        run_on("0");
        Self
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        // The kernel leaves out those that are not there.
        run_on("0-1023");
    }
}

fn run_on(cores: &str) {
    let process = std::process::id().to_string();
    let done = Command::new("taskset")
        .args(["-a", "-c", "-p", cores, &process])
        .stdout(Stdio::null())
        .status();
    if !done.is_ok_and(|status| status.success()) {
        eprintln!("taskset could not be run: what is added to a call is measured on all cores");
    }
}
