//! Over HTTP what is measured over standard input and output: what is added to a call, and calls
//! a second.

use std::time::Instant;

use crate::added::{SERVERS, Times, added};
use crate::calls;
use crate::client::{Client, ask_often, at_once, one_by_one};
use crate::figure::{Budget, Figure, Unit};
use crate::hosted::Hosted;
use crate::instant::InstantWiki;
use crate::stats::median;
use crate::wiki::Wiki;

const ROUNDS: usize = 5;
const CALLS: u16 = 10_000;
/// How many clients call at once, each in a session of its own.
const CLIENTS: usize = 64;
/// How many requests are under way at the wiki, through the server as without it.
const LANES: usize = 8;

pub(crate) fn measure() -> Vec<Figure> {
    vec![added_to_one(), rate()]
}

fn added_to_one() -> Figure {
    let wiki = Wiki::start();
    let runtime = one_by_one();
    let runs = (0..SERVERS).map(|_| {
        let server = Hosted::start(&wiki.address(), wiki.key(), &[]);
        let session = runtime.block_on(server.session(calls::page(1, wiki.page())));
        Times::of(&wiki, &runtime, || {
            runtime.block_on(session.ask());
        })
    });
    let what = "HTTP: added to a call of the wiki, median";
    added(what, 0.4, &runs.collect::<Vec<_>>())
}

fn rate() -> Figure {
    let demo = Wiki::start();
    let (key, page) = (demo.key(), demo.page());
    let wiki = InstantWiki::like(&demo);
    let runtime = at_once();
    let direct = Client::new(wiki.address(), key, page);
    let server = Hosted::start(wiki.address(), key, &[]);
    let sessions = runtime.block_on(server.sessions(CLIENTS, &calls::page(1, page)));
    let (mut through, mut own) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        runtime.block_on(ask_often(&sessions, CALLS.into()));
        through.push(f64::from(CALLS) / began.elapsed().as_secs_f64());
        let began = Instant::now();
        runtime.block_on(direct.ask_often(CALLS.into(), LANES));
        own.push(f64::from(CALLS) / began.elapsed().as_secs_f64());
    }
    let own = median(own);
    Figure {
        what: "HTTP: calls a second, 64 clients",
        unit: Unit::PerSecond,
        measured: median(through),
        // Each call is two exchanges over HTTP, and both ends of both share the machine.
        budget: Budget::AtLeast(own / 10.0),
        wiki: Some(own),
    }
}
