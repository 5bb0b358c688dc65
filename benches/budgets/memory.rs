//! Memory: idle after the handshake, and after many calls of all reading tools.

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::process::Memory;
use crate::server::Server;
use crate::stats::{median, megabytes};
use crate::wiki::Wiki;

const SERVERS: usize = 5;
const CALLS: usize = 2_000;
const WINDOW: usize = 16;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let page = wiki.page();
    let (mut idle, mut used) = (Vec::new(), Vec::new());
    for _ in 0..SERVERS {
        let mut server = Server::start(&wiki.address(), wiki.key()).ready();
        idle.push(server.memory());
        server.pipeline(CALLS, WINDOW, |id| calls::reading(id, page));
        used.push(server.memory());
    }
    let resident = |memory: &Memory| memory.resident;
    let anonymous = |memory: &Memory| memory.anonymous;
    vec![
        figure("memory idle, resident", 16.0, &idle, resident),
        figure("memory idle, anonymous", 4.0, &idle, anonymous),
        figure("memory after 2,000 calls, resident", 24.0, &used, resident),
        figure(
            "memory after 2,000 calls, anonymous",
            12.0,
            &used,
            anonymous,
        ),
    ]
}

fn figure(
    what: &'static str,
    most: f64,
    memories: &[Memory],
    of: impl Fn(&Memory) -> u64,
) -> Figure {
    let all = memories.iter().map(|memory| megabytes(of(memory)));
    Figure::at_most(what, Unit::Megabytes, median(all.collect()), most)
}
