//! Any text as a place where a page shall come to be.
#![no_main]

#[path = "../../tests/it/house/invariants.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod invariants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    invariants::new_path(text);
});
