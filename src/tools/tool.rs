//! Defines the declarations that every tool makes about itself.

use garde::Validate;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::ToolContext;
use crate::error::Result;

/// The effect of a tool on the wiki: if it can change it, and how destructively. The annotations
/// that clients see and every filter that leaves out writing tools derive from this value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// It changes nothing.
    Read,
    /// It changes nothing of the wiki, but something of the server.
    Aside,
    /// It only adds.
    Add,
    /// It can remove something; repeating the same call has no further effect.
    Change,
}

impl ToolKind {
    /// True if it can change the wiki.
    pub const fn writes(self) -> bool {
        match self {
            Self::Read | Self::Aside => false,
            Self::Add | Self::Change => true,
        }
    }
}

/// Arguments that a tool does not take although a caller may well try them, each with its message.
pub(super) type Explained = &'static [(&'static str, &'static str)];

/// The message of a tool that does not take a title.
pub(super) const TAKES_NO_TITLE: (&str, &str) = (
    "title",
    "is not taken here; wikijs_get_page_by_path takes it as path, and returns the id",
);

/// The message of a tool that takes a title as `page`.
pub(super) const TITLE_GOES_INTO_PAGE: (&str, &str) =
    ("title", "is not taken by that name: a title goes into page");

/// The messages of a tool that takes a path or a title as `page`.
pub(super) const NAMED_BY_PAGE: Explained = &[
    ("path", "is not taken by that name: a path goes into page"),
    TITLE_GOES_INTO_PAGE,
];

/// The messages of a tool that takes only a page's id.
pub(super) const NAMED_BY_ID: Explained = &[
    (
        "path",
        "is not taken here; wikijs_get_page_by_path takes it, and returns the id",
    ),
    TAKES_NO_TITLE,
];

/// The most bytes of an answer, unless a tool has its own bound.
const USUAL_BYTES: usize = 256 * 1024;
/// The bound of tools that answer with page texts. These have bounds of their own in bytes of the
/// page, each of which may take six in JSON and is sent twice.
pub(super) const TEXT_BYTES: usize = 1024 * 1024;

/// A tool that documents another one's arguments.
#[derive(Debug, Clone, Copy)]
pub struct DescribedBy {
    /// Its name.
    pub tool: &'static str,
    /// Description and answer of the other tool if this one is not offered.
    pub alone: (&'static str, &'static str),
}

/// A tool.
pub trait Tool: Send + Sync + 'static {
    /// Its name; stable, since agents and operators rely on it. Its display name is made of it.
    const NAME: &'static str;
    /// The advice on when to use it, and when to use another.
    const DESCRIPTION: &'static str;
    /// The meaning of absent members in its answer, in a few words.
    const ANSWER: &'static str;
    /// Its effect on the wiki.
    const KIND: ToolKind;
    /// Arguments that it does not take although a caller may well try them, and why.
    const EXPLAINED: Explained = &[];
    /// The tool whose definition documents its arguments; its own description names it.
    const DESCRIBED_BY: Option<DescribedBy> = None;
    /// Required arguments that a preview's token replaces.
    const IN_PREVIEW: &'static [&'static str] = &[];
    /// The most bytes of its answer, as text and as structured content together.
    const MOST_BYTES: usize = USUAL_BYTES;
    /// True if its answer may have an image, which goes out as one.
    const SHOWS_IMAGE: bool = false;
    /// True if it takes the id of a page, or a name of it as `page`.
    const TAKES_PAGE_NAME: bool = false;
    /// True if it takes the path of a new page, or `folder` and its title.
    const TAKES_FOLDER: bool = false;
    /// True if its answer shows changes, and `detail` says how much of them.
    const SHOWS_CHANGES: bool = false;
    /// True if `propose` leaves its change to people.
    const CAN_PROPOSE: bool = false;
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema + Validate<Context = ()> + Send + 'static;
    /// Its answer.
    type Output: Serialize + 'static;

    /// Runs the tool.
    fn run(
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}
