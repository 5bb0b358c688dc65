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

/// Arguments that a tool does not take although a caller may well ask for them, each with what is
/// said of it.
pub(super) type Explained = &'static [(&'static str, &'static str)];

/// What a tool says that takes no title.
pub(super) const NAMED_BY_TITLE: (&str, &str) = (
    "title",
    "is not taken here; wikijs_get_page_by_path takes it as path, and answers the id",
);

/// What a tool says that takes a page's id alone.
pub(super) const NAMED_BY_ID: Explained = &[
    (
        "path",
        "is not taken here; wikijs_get_page_by_path takes it, and answers the id",
    ),
    NAMED_BY_TITLE,
];

/// The most bytes of an answer, where a tool has no bound of its own.
const USUAL_BYTES: usize = 256 * 1024;
/// The bound of tools that answer with texts of pages: those have bounds of their own, in bytes of
/// the page, each of which may take six in JSON, and goes out twice.
pub(super) const TEXT_BYTES: usize = 1024 * 1024;

/// The tool that describes another one's arguments.
#[derive(Debug, Clone, Copy)]
pub struct DescribedBy {
    /// Its name.
    pub tool: &'static str,
    /// Description and answer of the other one where this tool is not offered.
    pub alone: (&'static str, &'static str),
}

/// A tool.
pub trait Tool: Send + Sync + 'static {
    /// Its name; fixed, since agents and operators use it.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// When to use it, and when another serves better.
    const DESCRIPTION: &'static str;
    /// What it means that a member of its answer is absent, in a few words.
    const ANSWER: &'static str;
    /// Whether it can change the wiki.
    const KIND: Kind;
    /// Arguments that it does not take although a caller may well ask for them, and why.
    const EXPLAINED: Explained = &[];
    /// The tool whose definition describes its arguments, and which its own description names.
    const DESCRIBED_BY: Option<DescribedBy> = None;
    /// Required arguments that the token of a preview stands for.
    const IN_PREVIEW: &'static [&'static str] = &[];
    /// The most bytes of its answer, as text and as structured content together.
    const MOST_BYTES: usize = USUAL_BYTES;
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema + Validate<Context = ()> + Send + 'static;
    /// Its answer.
    type Output: Serialize + 'static;

    /// Does it.
    fn run(
        context: Context,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}
