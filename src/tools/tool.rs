//! What every tool says of itself.

use garde::Validate;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use crate::error::Failure;

/// Whether a tool can change the wiki, and how badly. The annotations that a client sees and
/// everything that leaves out writing tools come from this one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It changes nothing.
    Read,
    /// It adds and takes nothing away.
    Add,
    /// It can take something away; the same call twice does no more than once.
    Change,
}

/// A tool.
pub trait Tool: Send + Sync + 'static {
    /// Its name; fixed, since agents and operators use it.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// When to use it, and when another serves better.
    const DESCRIPTION: &'static str;
    /// Whether it can change the wiki.
    const KIND: Kind;
    /// Arguments that it does not take although a caller may well ask for them, and why.
    const EXPLAINED: &'static [(&'static str, &'static str)] = &[];
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema + Validate<Context = ()> + Send + 'static;
    /// Its answer.
    type Output: Serialize + JsonSchema + 'static;

    /// Does it.
    fn run(
        context: Context,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}
