//! Any text as a reference to a page, the address of a resource, or a cursor.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    texts::reference(text);
    texts::cursor(text);
});
