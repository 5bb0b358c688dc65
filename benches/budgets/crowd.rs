//! 200 clients at once over HTTP, each in a session of its own and with a call always under way:
//! how long calls take, beside what as many clients of the wiki itself wait; and what memory the
//! server has then.

use std::time::Instant;

use crate::calls;
use crate::client::{Client, at_once};
use crate::figure::{Figure, Unit};
use crate::hosted::Hosted;
use crate::stats::{megabytes, milliseconds, percentile};
use crate::wiki::Wiki;

const CLIENTS: usize = 200;
const ROUNDS: usize = 3;
/// How many calls a client makes in a round.
const CALLS: usize = 20;
/// How many times as long as at the wiki a call may take.
const MOST: f64 = 4.0;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let (key, page) = (wiki.key(), wiki.page());
    let runtime = at_once();
    let server = Hosted::start(&wiki.address(), key, &[]);
    let sessions = runtime.block_on(server.sessions(CLIENTS, &calls::page(1, page)));
    let direct: Vec<Client> = (0..CLIENTS)
        .map(|_| Client::new(&wiki.address(), key, page))
        .collect();
    let (mut through, mut own) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (call_times, wiki_times) = runtime.block_on(async {
            let call_times = latencies(&sessions).await;
            (call_times, latencies(&direct).await)
        });
        // The first one warms up.
        if round > 0 {
            through.extend(call_times);
            own.extend(wiki_times);
        }
    }
    let memory = server.process.memory();
    let mut figures: Vec<Figure> = [
        ("HTTP: 200 clients at once, p50", 50),
        ("HTTP: 200 clients at once, p95", 95),
        ("HTTP: 200 clients at once, p99", 99),
    ]
    .into_iter()
    .map(|(what, percent)| {
        let own = percentile(own.clone(), percent);
        let measured = percentile(through.clone(), percent);
        Figure::at_most(what, Unit::Milliseconds, measured, own * MOST).beside(own)
    })
    .collect();
    figures.push(Figure::at_most(
        "HTTP: memory after 200 clients, resident",
        Unit::Megabytes,
        megabytes(memory.resident),
        96.0,
    ));
    figures
}

/// How long each call of each client took, in milliseconds.
pub(crate) async fn latencies(clients: &[Client]) -> Vec<f64> {
    let calling: Vec<_> = clients
        .iter()
        .map(|client| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut took = Vec::with_capacity(CALLS);
                for _ in 0..CALLS {
                    let began = Instant::now();
                    client.ask().await;
                    took.push(milliseconds(began.elapsed()));
                }
                took
            })
        })
        .collect();
    let mut all = Vec::new();
    for client in calling {
        all.extend(client.await.expect("each client ends"));
    }
    all
}
