//! Measures what an agent reads of the preview of a set of 50 changes.

use serde_json::json;

use crate::calls;
use crate::figure::{Figure, Unit};
use crate::server::Server;
use crate::stats::whole;
use crate::wiki::Wiki;
use wikijs_gate::demo::PageRow;

const CHANGES: usize = 50;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let pages = (0..CHANGES).map(|number| PageRow {
        path: format!("docs/set/p{number}"),
        content: "A page of a set, as it was.\n\nAn old line.\n".to_owned(),
        title: format!("Page {number}"),
        ..PageRow::default()
    });
    let ids = wiki.add(pages);
    let settings = [
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_TOOLSETS", "pages,drafts"),
        ("WIKI_LOG", "error"),
    ];
    let mut server = Server::start_with(&wiki.address(), wiki.admin(), &settings).ready();
    let bulk = json!({ "ids": ids, "replaceAll": [{ "oldText": "old", "newText": "new" }] });
    server.send(&calls::call(1, "wikijs_bulk_update_pages", &bulk));
    let answer = server.result();
    let text = answer
        .pointer("/content/0/text")
        .and_then(|text| text.as_str());
    let bytes = text.expect("a text").len();
    vec![Figure::at_most(
        "the preview of a set of 50 changes, as text",
        Unit::Bytes,
        whole(bytes.try_into().unwrap_or(u64::MAX)),
        8_000.0,
    )]
}
