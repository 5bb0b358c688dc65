//! What a write asks of the wiki, and what a plain edit costs beside the binary of before change
//! sets, the two in turns in one run.

use std::path::Path;

use serde_json::{Value, json};

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::server::Server;
use crate::stats::whole;
use crate::wiki::Wiki;

pub(crate) const TOKEN: &str = "the-token-of-the-bench";
pub(crate) const SETTINGS: [(&str, &str); 3] = [
    ("WIKI_MUTATIONS_ENABLED", "true"),
    ("WIKI_MUTATION_DRY_RUN", "false"),
    ("WIKI_MUTATION_CONFIRM_TOKEN", TOKEN),
];
const TURNS: usize = 16;
const EDITS_A_TURN: usize = 50;

/// Measures them; `former` is the binary of before change sets, which `just former` builds.
pub(crate) fn measure(former: Option<&Path>) -> Vec<Figure> {
    let mut figures = requests();
    match former {
        Some(former) => figures.extend(beside_former(former)),
        None => eprintln!("without --former an edit is not compared with the former binary's"),
    }
    figures
}

/// How many operations each kind of write sends to the wiki, reads of it before and after included.
fn requests() -> Vec<Figure> {
    let mut figures = requests_of(
        Wiki::admin,
        &[
            ("operations of a text edit", 4.0),
            ("operations of an edit that adds a link", 6.0),
            ("operations of a create", 5.0),
            ("operations of a move", 12.0),
            ("operations of a delete", 8.0),
        ],
    );
    // Its rights at each place are asked for before anything is promised.
    figures.extend(requests_of(
        Wiki::key,
        &[
            ("a key with page rules: operations of a text edit", 7.0),
            ("a key with page rules: of an edit that adds a link", 9.0),
            ("a key with page rules: operations of a create", 6.0),
            ("a key with page rules: operations of a move", 16.0),
            ("a key with page rules: operations of a delete", 12.0),
        ],
    ));
    figures
}

/// The same by one key.
fn requests_of(key: impl Fn(&Wiki) -> &str, rows: &[(&'static str, f64); 5]) -> Vec<Figure> {
    let wiki = Wiki::start();
    wiki.write("The first line.\n");
    let page = wiki.page();
    let mut server = Server::start_with(&wiki.address(), key(&wiki), &SETTINGS).ready();
    let mut count = |tool: &str, mut arguments: Value| {
        if let Some(members) = arguments.as_object_mut() {
            members.insert("confirm".to_owned(), TOKEN.into());
        }
        wiki.forget_requests();
        server.send(&calls::call(1, tool, &arguments));
        server.receive();
        whole(wiki.requests().len().try_into().unwrap_or(u64::MAX))
    };
    let update = "wikijs_update_page";
    let edit =
        |old: &str, new: &str| json!({ "id": page, "edits": [{ "oldText": old, "newText": new }] });
    // The first write also learns what the wiki and the key are.
    count(update, edit("first", "second"));
    let new = json!({ "path": "docs/bench", "title": "Bench", "content": "Text.\n" });
    let measured = [
        count(update, edit("second", "third")),
        count(update, edit("third line", "[third](/home) line")),
        count("wikijs_create_page", new),
        count(update, json!({ "id": page, "path": "docs/install/bench" })),
        count("wikijs_delete_page", json!({ "id": page })),
    ];
    let figure = |(&(what, most), measured)| Figure::at_most(what, Unit::Pieces, measured, most);
    rows.iter().zip(measured).map(figure).collect()
}

/// One binary with a wiki of its own, which it edits again and again.
struct Side {
    wiki: Wiki,
    server: Server,
    edits: usize,
}

impl Side {
    fn start(binary: &Path) -> Self {
        let wiki = Wiki::start();
        wiki.write(&line(0));
        let server = Server::start_of(binary, &wiki.address(), wiki.key(), &SETTINGS).ready();
        let mut side = Self {
            wiki,
            server,
            edits: 0,
        };
        side.edit(EDITS_A_TURN);
        side
    }

    /// Edits the page so often: the time of the processors that the server took, in milliseconds.
    fn edit(&mut self, times: usize) -> f64 {
        let before = self.server.worked();
        for _ in 0..times {
            let (old, new) = (line(self.edits), line(self.edits + 1));
            let call = calls::edit(self.edits, self.wiki.page(), TOKEN, &old, &new);
            self.server.send(&call);
            self.server.receive();
            self.edits += 1;
        }
        self.server.worked() - before
    }

    /// What one edit asks of the wiki, in the order of its requests.
    fn asked(&mut self) -> Vec<Vec<String>> {
        self.wiki.forget_requests();
        self.edit(1);
        self.wiki.requests()
    }
}

/// A text edit that touches no link, by the two binaries in turns.
fn beside_former(former: &Path) -> Vec<Figure> {
    let mut former = Side::start(former);
    let mut now = Side::start(Path::new(BINARY));
    assert_eq!(now.asked(), former.asked(), "the same requests as before");
    let (mut before, mut after) = (0.0, 0.0);
    for _ in 0..TURNS {
        before += former.edit(EDITS_A_TURN);
        after += now.edit(EDITS_A_TURN);
    }
    let edits = whole((TURNS * EDITS_A_TURN).try_into().unwrap_or(u64::MAX));
    vec![
        Figure::at_most(
            "a text edit: own time; at most 1.1 of the former binary's",
            Unit::Milliseconds,
            after / edits,
            before / edits * 1.1,
        ),
        Figure::at_most(
            "a text edit: own time beside the former binary's",
            Unit::Percent,
            after / before * 100.0,
            110.0,
        ),
    ]
}

fn line(edit: usize) -> String {
    format!("The line as edit {edit} left it, and no other.\n")
}
