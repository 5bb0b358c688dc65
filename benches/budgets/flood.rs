//! Memory over time under pipelined calls: of a client that keeps many under way, and of one that
//! sends all it has without waiting for any answer.

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::instant::InstantWiki;
use crate::server::Server;
use crate::stats::megabytes;
use crate::wiki::Wiki;

const ROUNDS: usize = 8;
const CALLS: usize = 10_000;
const WINDOW: usize = 256;
const FLOOD: usize = 30_000;

pub(crate) fn measure() -> Vec<Figure> {
    let demo = Wiki::start();
    let (key, page) = (demo.key(), demo.page());
    let wiki = InstantWiki::like(&demo);
    let mut server = Server::start(wiki.address(), key).ready();
    let mut resident = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        server.pipeline(CALLS, WINDOW, |id| calls::page(id, page));
        resident.push(megabytes(server.memory().resident));
    }
    // The first round fills what is kept for later calls.
    let second = resident.get(1).copied().expect("several rounds");
    let last = resident.last().copied().expect("several rounds");
    let mut server = Server::start(wiki.address(), key).ready();
    let peak = server.flood(FLOOD, |id| calls::page(id, page));
    let figure = |what, measured, most| Figure::at_most(what, Unit::Megabytes, measured, most);
    vec![
        figure(
            "memory, from 20,000 to 80,000 pipelined calls",
            last - second,
            1.0,
        ),
        figure(
            "memory, 30,000 calls sent at once, highest",
            megabytes(peak),
            32.0,
        ),
    ]
}
