//! Any lines as a locale, a path, a prefix within which it may lie, and others that are allowed
//! (`+`) or denied.
#![no_main]

#[path = "../../tests/it/house/invariants.rs"]
#[expect(dead_code, reason = "each target uses its part of them")]
mod invariants;

use libfuzzer_sys::fuzz_target;
use wikijs_gate::page::Prefix;

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let (Some(locale), Some(path)) = (lines.next(), lines.next()) else {
        return;
    };
    let (mut allowed, mut denied) = (Vec::new(), Vec::new());
    for line in lines {
        invariants::within(path, line);
        invariants::prefix(line);
        match line.strip_prefix('+') {
            Some(line) => allowed.extend(Prefix::parse(line).ok()),
            None => denied.extend(Prefix::parse(line).ok()),
        }
    }
    let allowed = Some(allowed).filter(|allowed| !allowed.is_empty());
    invariants::gate(locale, path, allowed.as_deref(), &denied);
});
