//! Reads the answer of a GraphQL server without a tree in between: a text that is made for it
//! becomes a tree of forty times its size.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The largest error that is parsed, in bytes.
const MAX_ERROR_BYTES: usize = 1 << 20;
/// The most errors that are parsed: more than one request can cause.
const MAX_ERRORS: usize = 64;

/// Data and errors, as in the answer.
#[derive(Deserialize)]
pub(in crate::wiki) struct Envelope<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    errors: First<'a>,
}

/// The first of some errors, at most [`MAX_ERRORS`]; the others are passed over.
#[derive(Default)]
struct First<'a>(Vec<&'a RawValue>);

/// The known parts of an error.
#[derive(Default, Deserialize)]
pub(in crate::wiki) struct GraphQlError {
    #[serde(default)]
    pub(in crate::wiki) message: String,
    #[serde(default)]
    pub(in crate::wiki) path: Vec<Value>,
    #[serde(default)]
    pub(in crate::wiki) extensions: Value,
}

impl<'a> Envelope<'a> {
    /// The data, as JSON.
    pub(in crate::wiki) fn data(&self) -> &'a str {
        self.data.map_or("null", RawValue::get)
    }

    /// The first error, if any; one that is too large or malformed is empty.
    pub(in crate::wiki) fn error(&self) -> Option<GraphQlError> {
        self.errors().next()
    }

    /// The errors, one after another.
    pub(in crate::wiki) fn errors(&self) -> impl Iterator<Item = GraphQlError> {
        self.errors.0.iter().map(|error| {
            let error = error.get();
            let error = (error.len() <= MAX_ERROR_BYTES).then_some(error);
            let error = error.and_then(|error| serde_json::from_str(error).ok());
            error.unwrap_or_default()
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for First<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Errors;
        impl<'de> Visitor<'de> for Errors {
            type Value = First<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of errors")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut errors: A) -> Result<First<'de>, A::Error> {
                let mut first = Vec::new();
                while first.len() < MAX_ERRORS
                    && let Some(error) = errors.next_element()?
                {
                    first.push(error);
                }
                while errors.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }
        deserializer.deserialize_seq(Errors)
    }
}
