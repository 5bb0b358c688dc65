//! Two texts with NUL between them as styles.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (a, b) = text.split_once('\0').unwrap_or((text, text));
    texts::css(a, b);
});
