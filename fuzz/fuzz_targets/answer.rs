//! Any bytes as an answer: two of the status, the rest the body. Each `~` of the body becomes a
//! word that must not show.
#![no_main]

#[path = "../../tests/it/house/invariants.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod invariants;

use libfuzzer_sys::fuzz_target;

const STATUSES: [u16; 12] = [200, 200, 200, 200, 301, 400, 401, 408, 413, 429, 500, 503];

fuzz_target!(|bytes: &[u8]| {
    let [high, low, body @ ..] = bytes else {
        return;
    };
    let status = match STATUSES.get(usize::from(*high)) {
        Some(status) => *status,
        None => u16::from_be_bytes([*high, *low]),
    };
    let marker = invariants::MARKER.as_bytes();
    let body: Vec<u8> = body
        .iter()
        .flat_map(|byte| match byte {
            b'~' => marker,
            byte => std::slice::from_ref(byte),
        })
        .copied()
        .collect();
    if let Ok(text) = std::str::from_utf8(&body) {
        let (slug, message) = text.split_once('\n').unwrap_or((text, ""));
        invariants::refused(i64::from(status) + 5_800, slug, message);
    }
    invariants::answer(status, None, body);
});
