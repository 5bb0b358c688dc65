//! Any text as a page: Markdown, HTML, or neither.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| texts::outline(text));
