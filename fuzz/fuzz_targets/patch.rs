//! Three texts with NUL between them: a page, what it becomes, a patch or a text to be edited.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, '\0');
    let mut next = || parts.next().unwrap_or_default();
    texts::patch(next(), next(), next());
});
