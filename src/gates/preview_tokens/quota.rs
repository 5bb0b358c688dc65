//! Room for previews: bounded, and shared between owners.

use std::collections::HashMap;

use super::PreviewEntry;
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::share::evict_index;

/// The most previews that are kept.
pub(super) const MAX_PREVIEWS: usize = 100;
/// The most bytes of pages that they may hold together.
pub(super) const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The tokens to evict for one more preview of a session; `None` if it is too large to be kept
/// beside those of others.
pub(super) fn gone_for(
    kept: &HashMap<String, PreviewEntry>,
    session: &SessionId,
    bytes: usize,
) -> Option<Vec<String>> {
    let mut held: Vec<_> = kept.iter().collect();
    held.sort_by_key(|(_, preview)| preview.expires);
    let mut gone = Vec::new();
    loop {
        let is_crowded = held.len() >= MAX_PREVIEWS;
        let all: usize = held.iter().map(|(_, preview)| preview.bytes).sum();
        if !is_crowded && (held.is_empty() || all + bytes <= MAX_BYTES) {
            return Some(gone);
        }
        let weight = |bytes| if is_crowded { 1 } else { bytes };
        let weights = held.iter();
        let weights = weights.map(|(_, preview)| (preview.session.owner(), weight(preview.bytes)));
        let place = evict_index(weights, (session.owner(), weight(bytes)))?;
        gone.push(held.remove(place).0.clone());
    }
}

pub(super) fn no_room() -> Failure {
    Failure::new(
        Code::TooLarge,
        "The preview is too large to be kept beside those of other clients.",
    )
    .hint("Call again in ten minutes, or split the change.")
}
