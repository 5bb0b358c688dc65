//! Names in a sentence.

/// The most names listed in one warning.
const MOST_NAMED: usize = 5;

/// The first few of some names, and how many more there are.
pub(super) fn named(names: &[String]) -> String {
    let shown = names.get(..MOST_NAMED.min(names.len())).unwrap_or_default();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
