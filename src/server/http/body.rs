//! The body of a request: bounded, and made light where it is large.

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::StreamExt as _;

use super::super::intake::{Cargo, MOST_BESIDE, Scan};
use super::refusal::Refusal;

/// A body that is at its limit.
pub(super) const fn too_large() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
}

/// Reads a body up to a limit; the arguments of a large call come beside it.
pub(super) async fn read(body: Body, most: usize) -> Result<(Vec<u8>, Option<Cargo>), Refusal> {
    let mut parts = body.into_data_stream();
    let mut whole = Vec::new();
    let mut scan: Option<Scan> = None;
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body broke off"))?;
        if whole.len() + part.len() > most {
            return Err(too_large());
        }
        whole.extend_from_slice(&part);
        match &mut scan {
            Some(scan) => scan.feed(&part),
            None if whole.len() > MOST_BESIDE => scan = Some(Scan::of(&whole)),
            None => {}
        }
    }
    let Some(scan) = scan else {
        return Ok((whole, None));
    };
    match scan.lighten(whole) {
        Ok((light, cargo)) => Ok((light, Some(cargo))),
        Err(_) => Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "a message may have 64 kB beside the arguments of a call",
        )),
    }
}
