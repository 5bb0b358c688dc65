//! Warnings about a change, for people and for programs.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::page::{Field, MOST_SIGNS};
use crate::words::first_of;

/// A warning about a change: a code for programs, a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    // No doc comments here: they would go into the schema of every tool that shows a change.
    #[expect(missing_docs, reason = "see above: its name says it")]
    pub code: Cow<'static, str>,
    #[expect(missing_docs, reason = "see above: its name says it")]
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[expect(missing_docs, reason = "see `Warning::at`")]
    pub at: Option<String>,
}

impl Warning {
    /// The beginning of the codes of the operator's own checks; the check's name follows.
    pub const OF_OPERATOR: &'static str = "check:";

    /// A warning about the whole change.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            at: None,
        }
    }

    /// The same, with a place: a field, and a line of its new text if it has lines, such as
    /// `content:12`.
    #[must_use]
    pub fn at(self, field: Field, line: Option<usize>) -> Self {
        let at = match line {
            Some(line) => format!("{field}:{line}"),
            None => field.to_string(),
        };
        Self {
            at: Some(at),
            ..self
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.at {
            Some(at) => write!(f, " ({at})"),
            None => Ok(()),
        }
    }
}

/// The most names listed in one warning.
const MOST_NAMED: usize = 5;

/// The first few of some names, and how many more there are.
pub(super) fn named(names: &[String]) -> String {
    first_of(names, MOST_NAMED)
}

/// The warning that the content was not checked for what this code is about. It has the code itself,
/// so that a rule about it holds for what nobody looked at.
pub(super) fn unchecked(code: &'static str) -> Warning {
    let message = format!(
        "Not checked: too many signs. The content has more than {MOST_SIGNS} line ends and signs such as [ and <; look at it before you decide."
    );
    Warning::new(code, message).at(Field::Content, None)
}

#[cfg(test)]
mod tests {
    use super::Warning;

    #[test]
    fn a_warning_reads_as_its_code_its_message_and_its_place() {
        let warning = Warning::new("dead_link", "no page is there".to_owned());
        assert_eq!(warning.to_string(), "dead_link: no page is there");
        let placed = Warning {
            at: Some("content:3".to_owned()),
            ..warning
        };
        assert_eq!(
            placed.to_string(),
            "dead_link: no page is there (content:3)"
        );
    }
}
