//! Names in a sentence, and the sentence of a check that was not done.

use super::super::warning::Warning;
use crate::page::{Field, MOST_SIGNS};

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

/// The warning that the content was not checked for what this code is about. It has the code itself,
/// so that a rule about it holds for what nobody looked at.
pub(super) fn unchecked(code: &'static str) -> Warning {
    let message = format!(
        "Not checked: too many signs. The content has more than {MOST_SIGNS} line ends and signs such as [ and <; look at it before you decide."
    );
    Warning::new(code, message).at(Field::Content, None)
}
