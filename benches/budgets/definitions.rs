//! The size of what `tools/list` answers: it is in the context of every model from the start.

use serde_json::json;

use crate::figure::{Budget, Figure, Unit};
use crate::server::{Server, message};
use crate::stats::whole;

pub(crate) fn measure() -> Vec<Figure> {
    let mut server = Server::start("http://127.0.0.1:9", "none").ready();
    server.send(&message(1, "tools/list", &json!({})));
    let compact = server.result().to_string();
    let bytes = u64::try_from(compact.len()).expect("a size");
    vec![Figure {
        what: "tools/list, compact JSON",
        unit: Unit::Bytes,
        measured: whole(bytes),
        budget: Budget::AtMost(12_000.0),
        wiki: None,
    }]
}
