//! A line as a selector, the rest as the page that it is of.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (selector, page) = text.split_once('\n').unwrap_or((text, "# A\n\nb\n"));
    texts::selector(selector, page);
});
