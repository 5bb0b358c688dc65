//! Arguments with a fixed set of words: a shell completes them, and a wrong one gets our own
//! message.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::audit::MAX_WHY;
use crate::change::Operation;
use crate::page::{Note, Whose, is_invisible};
use crate::tools::{Registry, ToolSelection, Toolset};
use crate::words::joined;

/// Takes one of some words.
#[derive(Clone)]
pub(super) struct OneOf<T> {
    words: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
}

/// Accepts one of these words, with a function that says what is wrong with any other.
pub(super) const fn one_of<T>(
    words: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
) -> OneOf<T> {
    OneOf { words, parse }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, Error> {
        // The same words of clap around our sentence as for any function.
        TypedValueParser::parse_ref(&self.parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

/// The names of all tools, whether they are offered or not.
pub(super) fn tools() -> Vec<&'static str> {
    let registry = Registry::new(&ToolSelection::new(&Toolset::ALL));
    let names = registry.iter().flat_map(Registry::definitions);
    names.map(|tool| tool.name).collect()
}

/// The kinds of changes.
pub(super) fn operations() -> Vec<&'static str> {
    Operation::ALL.map(Operation::as_str).to_vec()
}

/// The kind of change that a word means.
pub(super) fn operation(word: &str) -> Result<Operation, String> {
    Operation::ALL
        .into_iter()
        .find(|operation| operation.as_str() == word)
        .ok_or_else(|| format!("must be {}", joined(operations(), "or")))
}

/// Accepts any text: whoever uses it reports faults.
#[expect(clippy::unnecessary_wraps, reason = "a reader of values may fail")]
pub(super) fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Takes an operator's note on a write.
pub(super) fn note(text: &str) -> Result<Note, String> {
    Note::parse(text, Whose::Operator)
}

/// Takes a reason: one line of visible text.
pub(super) fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_WHY {
        return Err(format!("must have 1 to {MAX_WHY} characters"));
    }
    if text.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err("must be one line, without control or invisible characters".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn a_reason_is_one_line_of_visible_text() {
        assert_eq!(reason(" not here ").as_deref(), Ok("not here"));
        for bad in [
            "",
            "  ",
            "a\nb",
            "a\u{1b}[2J",
            "a\u{202e}b",
            &"x".repeat(501),
        ] {
            assert!(reason(bad).is_err(), "{bad:?}");
        }
    }
}
