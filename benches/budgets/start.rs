//! Start to the answer of `initialize`, for a wiki over plain HTTP and over TLS.

use std::time::Instant;

use crate::client::{Client, one_by_one};
use crate::figure::{Budget, Figure, Unit};
use crate::server::Server;
use crate::stats::{median, milliseconds};
use crate::wiki::Wiki;

const STARTS: usize = 31;
const MOST: Budget = Budget::AtMost(15.0);

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let runtime = one_by_one();
    let direct = Client::new(&wiki.address(), wiki.key(), wiki.page());
    let (mut plain, mut tls, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        plain.push(start(&wiki.address(), wiki.key()));
        // Nothing is sent before the first call, so the wiki need not be there.
        tls.push(start("https://wiki.invalid", wiki.key()));
        let began = Instant::now();
        runtime.block_on(direct.ask());
        own.push(milliseconds(began.elapsed()));
    }
    let own = median(own);
    let figure = |what, times| Figure {
        what,
        unit: Unit::Milliseconds,
        measured: median(times),
        budget: MOST,
        wiki: Some(own),
    };
    vec![
        figure("start to the answer of initialize", plain),
        figure("the same, wiki behind TLS", tls),
    ]
}

fn start(address: &str, key: &str) -> f64 {
    let began = Instant::now();
    let server = Server::start(address, key);
    let took = began.elapsed();
    drop(server);
    milliseconds(took)
}
