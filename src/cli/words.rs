//! Arguments that are one of some words: a shell completes them, and a wrong one is told in our
//! own sentence.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::tools::{Registry, Surface, Toolset};

/// Takes one of some words.
#[derive(Clone)]
pub(super) struct OneOf<T> {
    words: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
}

/// Takes one of these words, by a function that says what is wrong with any other.
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
    let registry = Registry::of(&Surface::of(&Toolset::ALL));
    let names = registry.iter().flat_map(Registry::definitions);
    names.map(|tool| tool.name).collect()
}

/// Takes any text: what is wrong with it is told by who uses it.
#[expect(clippy::unnecessary_wraps, reason = "a reader of values may fail")]
pub(super) fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}
