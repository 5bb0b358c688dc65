//! Memory: idle after the handshake, and after many calls of all reading tools.

use std::path::Path;

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::process::{BINARY, Memory};
use crate::server::Server;
use crate::stats::{median, megabytes};
use crate::wiki::Wiki;

const SERVERS: usize = 5;
const CALLS: usize = 2_000;
const WINDOW: usize = 16;
/// What either build may take of anonymous memory, in megabytes: idle, and after the calls.
const IDLE: f64 = 4.0;
const USED: f64 = 6.0;

/// Measures the packaged build and, where it is given, the README's.
pub(crate) fn measure(readme: Option<&Path>) -> Vec<Figure> {
    let resident = |memory: &Memory| memory.resident;
    let anonymous = |memory: &Memory| memory.anonymous;
    let (idle, used) = memories(Path::new(BINARY));
    let mut figures = vec![
        figure("memory idle, resident", 17.0, &idle, resident),
        figure("memory idle, anonymous", IDLE, &idle, anonymous),
        figure("memory after 2,000 calls, resident", 25.0, &used, resident),
        figure(
            "memory after 2,000 calls, anonymous",
            USED,
            &used,
            anonymous,
        ),
    ];
    if let Some(readme) = readme {
        let (idle, used) = memories(readme);
        figures.extend([
            figure(
                "README's build: memory idle, anonymous",
                IDLE,
                &idle,
                anonymous,
            ),
            figure(
                "README's build: memory after 2,000 calls, anonymous",
                USED,
                &used,
                anonymous,
            ),
        ]);
    }
    figures
}

/// Of several servers of a build, what they take idle and after many calls.
fn memories(binary: &Path) -> (Vec<Memory>, Vec<Memory>) {
    let wiki = Wiki::start();
    let page = wiki.page();
    let (mut idle, mut used) = (Vec::new(), Vec::new());
    for _ in 0..SERVERS {
        let mut server = Server::start_of(binary, &wiki.address(), wiki.key(), &[]).ready();
        idle.push(server.memory());
        server.pipeline(CALLS, WINDOW, |id| calls::reading(id, page));
        used.push(server.memory());
    }
    (idle, used)
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
