//! Any JSON object as arguments of every tool.
#![no_main]

#[path = "../../tests/it/house/texts.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod texts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(arguments) = serde_json::from_str(text) {
        REGISTRY.with(|registry| texts::arguments(registry, &arguments));
    }
});

thread_local! {
    static REGISTRY: wikijs_gate::tools::Registry = texts::registry();
}
