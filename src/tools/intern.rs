//! Names that last as long as the process.
//!
//! Whatever holds a tool's name holds a `&'static str`, since ours are constants. Names of an
//! operator's own tools come and go with files, so each is kept once and never given back; how
//! many there can be is bounded.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// The most names: more than anybody tries between two starts.
const MOST: usize = 10_000;
/// The longest, in bytes.
const MOST_BYTES: usize = 256;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The same text, for as long as the process lasts; `None` if there is no room for another.
pub(super) fn lasting(text: &str) -> Option<&'static str> {
    let mut names = NAMES.lock();
    if let Some(known) = names.get(text) {
        return Some(known);
    }
    if names.len() >= MOST || text.len() > MOST_BYTES {
        return None;
    }
    let kept: &'static str = Box::leak(text.into());
    names.insert(kept);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn a_name_is_kept_once() {
        let (first, second) = (lasting("custom_a"), lasting(&String::from("custom_a")));
        assert!(first.is_some_and(|name| second.is_some_and(|it| std::ptr::eq(name, it))));
        assert_eq!(lasting(&"x".repeat(1_000)), None);
    }
}
