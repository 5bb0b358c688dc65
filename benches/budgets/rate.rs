//! Calls a second: one client that does not wait for answers, a wiki that answers at once.

use std::time::Instant;

use crate::calls;
use crate::client::{Client, at_once};
use crate::figure::{Budget, Figure, Unit};
use crate::instant::InstantWiki;
use crate::server::Server;
use crate::stats::median;
use crate::wiki::Wiki;

const ROUNDS: usize = 5;
const CALLS: u16 = 20_000;
/// How many calls the client has under way.
const WINDOW: usize = 64;
/// How many requests are under way at the wiki, through the server as without it.
const LANES: usize = 8;
/// The budget, and how many the wiki itself answered on the machine that it was set on: on a
/// slower one both answer fewer.
const LEAST: f64 = 10_000.0;
const WIKI_THERE: f64 = 64_000.0;

pub(crate) fn measure() -> Vec<Figure> {
    let demo = Wiki::start();
    let (key, page) = (demo.key(), demo.page());
    let wiki = InstantWiki::like(&demo);
    let runtime = at_once();
    let direct = Client::new(wiki.address(), key, page);
    let mut server = Server::start(wiki.address(), key).ready();
    let (mut through, mut own) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        through.push(rate(|| {
            server.pipeline(CALLS.into(), WINDOW, |id| calls::page(id, page));
        }));
        own.push(rate(|| {
            runtime.block_on(direct.ask_often(CALLS.into(), LANES));
        }));
    }
    let own = median(own);
    vec![Figure {
        what: "calls a second, pipelined",
        unit: Unit::PerSecond,
        measured: median(through),
        budget: Budget::AtLeast(LEAST * (own / WIKI_THERE).min(1.0)),
        wiki: Some(own),
    }]
}

fn rate(calls: impl FnOnce()) -> f64 {
    let began = Instant::now();
    calls();
    f64::from(CALLS) / began.elapsed().as_secs_f64()
}
