//! Collects the faults of a call's arguments: lists the first in full, and counts the others.

use serde::Serialize;
use serde_json::json;

use crate::error::{Code, Failure, Result};

/// The most faults that one answer lists.
pub(super) const MOST_LISTED: usize = 20;
/// The longest path of a fault that is shown, in characters.
const MOST_PLACE: usize = 128;
/// The longest message, in characters: one may quote what was sent.
const MOST_MESSAGE: usize = 500;

/// One fault of the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ArgumentFault {
    /// The argument, as a path into the arguments.
    pub path: String,
    /// The fault; left out of a single fault, which the failure's own message describes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl ArgumentFault {
    fn new(path: &str, message: &str) -> Self {
        Self {
            path: printable(path, MOST_PLACE),
            message: printable(message, MOST_MESSAGE),
        }
    }
}

/// The faults of one call, in the order in which they were found.
///
/// However many there are, only those listed take memory; the others are merely counted.
#[derive(Debug, Default)]
pub(super) struct ArgumentFaults {
    listed: Vec<ArgumentFault>,
    count: usize,
}

impl ArgumentFaults {
    /// One more; its message is made only if it is listed.
    pub(super) fn add(&mut self, path: &str, message: impl FnOnce() -> String) {
        if self.listed.len() < MOST_LISTED {
            self.listed.push(ArgumentFault::new(path, &message()));
        }
        self.count += 1;
    }

    /// Counts more faults, of which nothing else is known.
    pub(super) const fn count_more(&mut self, more: usize) {
        self.count += more;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if a fault of this path, or of the list that contains it, is listed.
    pub(super) fn covers(&self, path: &str) -> bool {
        let list = path.split('[').next().unwrap_or(path);
        self.listed
            .iter()
            .any(|fault| fault.path == path || fault.path == list)
    }

    /// The failure that names them.
    pub(super) fn into_failure(self) -> Failure {
        let Self { mut listed, count } = self;
        let message = match listed.as_slice() {
            [ArgumentFault { path, message }] if path.is_empty() => {
                format!("The arguments are not valid: {message}.")
            }
            [ArgumentFault { path, message }] => format!("The argument {path} {message}."),
            listed if listed.len() < count => format!(
                "{count} arguments are not valid; details.fields lists the first {}.",
                listed.len()
            ),
            listed => format!(
                "{} arguments are not valid; see details.fields.",
                listed.len()
            ),
        };
        if let [only] = listed.as_mut_slice() {
            only.message.clear();
        }
        let failure = Failure::new(Code::InvalidInput, message);
        let failure = if listed.len() < count {
            failure.detail("faults", count)
        } else {
            failure
        };
        failure.detail("fields", json!(listed))
    }
}

/// A failure that names one faulty argument.
pub(super) fn invalid_argument(path: &str, message: impl Into<String>) -> Failure {
    let mut faults = ArgumentFaults::default();
    faults.add(path, || message.into());
    faults.into_failure()
}

/// Refuses a call for one faulty argument.
pub(super) fn refuse<T>(path: &str, message: impl Into<String>) -> Result<T> {
    Err(invalid_argument(path, message))
}

/// Makes text from a client safe to show: shortened and without control characters.
fn printable(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        if c.is_control() {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{ArgumentFaults, MOST_LISTED, invalid_argument};

    #[test]
    fn beyond_the_first_faults_only_their_number_is_told() {
        let mut faults = ArgumentFaults::default();
        for n in 0..MOST_LISTED {
            faults.add(&format!("a{n}"), || "is wrong".to_owned());
        }
        let mut is_read = false;
        faults.add("z", || {
            is_read = true;
            String::new()
        });
        assert!(!is_read, "nobody reads it");
        faults.count_more(9);
        let failure = faults.into_failure();
        assert_eq!(
            failure.message,
            "30 arguments are not valid; details.fields lists the first 20."
        );
        assert_eq!(failure.details["faults"], 30);
        assert_eq!(failure.details["fields"].as_array().map(Vec::len), Some(20));
    }

    #[test]
    fn what_was_sent_is_cut_and_escaped() {
        let failure = invalid_argument(&"p".repeat(1 << 20), "\u{1b}x".repeat(1 << 20));
        assert!(failure.message.len() < 4_000, "{}", failure.message.len());
        assert!(!failure.message.chars().any(char::is_control));
    }
}
