//! One line changed in a page of 2 MB: what it costs the client to say and to read, and the
//! server to do. Its own time is that of the processors, so that the wiki's does not count.

use std::fmt::Write as _;

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::server::Server;
use crate::stats::whole;
use crate::wiki::Wiki;

const BYTES: usize = 2_000_000;
const EDITS: usize = 20;
const TOKEN: &str = "the-token-of-the-bench";

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    wiki.write(&text());
    let settings = [
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
    ];
    let mut server = Server::start_with(&wiki.address(), wiki.key(), &settings).ready();
    let (mut sent, mut answered) = (0, 0);
    let mut worked = 0.0;
    for edit in 0..=EDITS {
        let (old, new) = (line(5_000, edit), line(5_000, edit + 1));
        let call = calls::edit(edit, wiki.page(), TOKEN, &old, &new);
        server.send(&call);
        sent = sent.max(call.len());
        answered = answered.max(server.receive().len());
        if edit == 0 {
            // The first one warms up.
            worked = server.worked();
        }
    }
    let own = (server.worked() - worked) / whole(EDITS.try_into().unwrap_or(u64::MAX));
    let bytes = |bytes: usize| whole(bytes.try_into().unwrap_or(u64::MAX));
    vec![
        Figure::at_most(
            "one line of a page of 2 MB: sent",
            Unit::Bytes,
            bytes(sent),
            2_000.0,
        ),
        Figure::at_most(
            "one line of a page of 2 MB: answered",
            Unit::Bytes,
            bytes(answered),
            4_000.0,
        ),
        Figure::at_most(
            "one line of a page of 2 MB: own time",
            Unit::Milliseconds,
            own,
            50.0,
        ),
    ]
}

fn line(number: usize, edit: usize) -> String {
    format!("Line {number} as it was left by edit {edit} of the bench, and no other.\n")
}

fn text() -> String {
    let mut text = String::with_capacity(BYTES + 100);
    let mut number = 0;
    while text.len() < BYTES {
        let _ = write!(text, "{}", line(number, 0));
        number += 1;
    }
    text
}
