//! What the server adds to a call of the wiki: the same request through it and without it,
//! turn by turn.

use std::time::Instant;

use crate::calls;
use crate::client::{Client, one_by_one};
use crate::figure::{Budget, Figure, Unit};
use crate::server::Server;
use crate::stats::{median, milliseconds};
use crate::wiki::Wiki;

const TURNS: usize = 3_000;
const WARM_UP: usize = 200;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let runtime = one_by_one();
    let direct = Client::new(&wiki.address(), wiki.key(), wiki.page());
    let mut server = Server::start(&wiki.address(), wiki.key()).ready();
    let (mut through, mut own) = (Vec::new(), Vec::new());
    for turn in 0..WARM_UP + TURNS {
        let call = calls::page(turn, wiki.page());
        let began = Instant::now();
        server.send(&call);
        server.receive();
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
    vec![Figure {
        what: "added to a call of the wiki, median",
        unit: Unit::Milliseconds,
        measured: median(through) - own,
        budget: Budget::AtMost(0.15),
        wiki: Some(own),
    }]
}
