//! Reads the body of a request: bounded, and without the arguments if it is large.

use axum::body::{Body, HttpBody as _};
use axum::http::StatusCode;
use futures_util::StreamExt as _;

use super::super::quota::{MessagePermit, MessageQuota};
use super::super::stdio::large_message::{MOST_BESIDE, Payload, Scan};
use super::refusal::HttpRefusal;

/// The refusal of a body over its limit.
pub(super) const fn too_large() -> HttpRefusal {
    HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
}

/// The room for a body, and its owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoomOf<'a> {
    pub(super) room: &'a MessageQuota,
    pub(super) owner: Option<&'a str>,
}

impl RoomOf<'_> {
    async fn take(self, bytes: usize) -> Result<MessagePermit, HttpRefusal> {
        let taken = self.room.take(bytes, self.owner).await;
        taken.map_err(|_| {
            HttpRefusal::busy(
                "large bodies take all the room that there is for them; try again soon",
            )
        })
    }
}

/// Reads a body up to a limit; returns the arguments of a large call separately. A large body takes
/// its room before it is read; without a length, as much as the largest.
pub(super) async fn read(
    body: Body,
    most: usize,
    room: RoomOf<'_>,
) -> Result<(Vec<u8>, Option<Payload>), HttpRefusal> {
    let length = usize::try_from(body.size_hint().exact().unwrap_or_default()).unwrap_or(most);
    let mut taken = None;
    if length > MOST_BESIDE {
        taken = Some(room.take(length).await?);
    }
    let mut parts = body.into_data_stream();
    let mut whole = Vec::with_capacity(length.min(most));
    let mut scan: Option<Scan> = None;
    while let Some(part) = parts.next().await {
        let part =
            part.map_err(|_| HttpRefusal::new(StatusCode::BAD_REQUEST, "the body broke off"))?;
        if whole.len() + part.len() > most {
            return Err(too_large());
        }
        if taken.is_none() && whole.len() + part.len() > MOST_BESIDE {
            taken = Some(room.take(most).await?);
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
    match scan.lighten(whole, taken) {
        Ok((light, cargo)) => Ok((light, Some(cargo))),
        Err(_) => Err(HttpRefusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "a message may have 64 kB beside the arguments of a call",
        )),
    }
}
