//! Bytes as a log, and as changes of a log that holds: pairs of where and what.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    texts::chain(bytes);
    let mut log = texts::log();
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([change[0], change[1]])) % log.len();
        match change[2] {
            0 => log.truncate(at.max(1)),
            1 => drop(log.remove(at)),
            byte => log[at] = byte,
        }
        if log.is_empty() {
            return;
        }
    }
    texts::chain(&log);
});
