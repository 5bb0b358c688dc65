//! The size of what `tools/list` answers: it is in the context of every model from the start.

use serde_json::json;

use crate::figure::{Figure, Unit};
use crate::server::{Server, message};
use crate::stats::whole;
use crate::wiki::Wiki;

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Wiki::start();
    let mut server = Server::start(&wiki.address(), wiki.key()).ready();
    server.send(&message(1, "tools/list", &json!({})));
    let compact = server.result().to_string();
    let bytes = u64::try_from(compact.len()).expect("a size");
    vec![Figure::at_most(
        "tools/list, compact JSON",
        Unit::Bytes,
        whole(bytes),
        14_500.0,
    )]
}
