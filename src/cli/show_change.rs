//! A change for a person: its fields before and after, and the difference of its text.
//!
//! Text from the wiki is escaped: it must not steer the terminal.

use serde_json::{Map, Value};

use super::print::{self, Paint};

/// The fields that change, but content.
pub(super) fn fields(changes: &Map<String, Value>) {
    for (field, values) in changes {
        let value = |name| {
            values
                .get(name)
                .map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        print::line(&format!(
            "  {field}: {} -> {}",
            print::harmless(&value("before")),
            print::harmless(&value("after"))
        ));
    }
}

/// A unified difference.
pub(super) fn diff(text: &str) {
    for line in text.lines() {
        print::diff_line(line);
    }
}

/// Warnings.
pub(super) fn warnings(warnings: &[String]) {
    for warning in warnings {
        print::line(&format!(
            "{} {}",
            print::painted("warning:", Paint::Yellow),
            print::harmless(warning)
        ));
    }
}
