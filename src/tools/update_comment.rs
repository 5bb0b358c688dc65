//! `wikijs_update_comment`: changes the text of a comment (toolset `comments`).

use super::prelude::*;
use crate::write::{CommentWrite, ToComment, WriteRequest};

/// The tool.
pub(super) struct UpdateComment;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// The page.
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: i64,
    /// Which, by its id.
    #[garde(range(min = 1, max = 2_147_483_647))]
    comment: i64,
    /// In Markdown.
    #[garde(custom(rule::required(rule::comment)))]
    content: String,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for UpdateComment {
    const NAME: &'static str = "wikijs_update_comment";
    const DESCRIPTION: &'static str = "Replace the text of a comment of a page. Without confirm you may get a preview and a token: show the user, then call again with id and confirm.";
    const EXPLAINED: Explained = NAMED_BY_PAGE;
    const TAKES_PAGE_NAME: bool = true;
    const IN_PREVIEW: &'static [&'static str] = &["comment", "content"];
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Comment(CommentWrite {
            page: input.id,
            what: ToComment::Change {
                id: input.comment,
                content: input.content,
            },
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
