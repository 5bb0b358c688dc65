//! `wikijs_delete_comment`: deletes a comment (toolset `comments`).

use super::prelude::*;
use crate::write::{CommentWrite, ToComment, WriteRequest};

/// The tool.
pub(super) struct DeleteComment;

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
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for DeleteComment {
    const NAME: &'static str = "wikijs_delete_comment";
    const DESCRIPTION: &'static str = "Delete a comment of a page. Its author and time cannot come back. Without confirm you may get a preview and a token: show the user, then call again with id and confirm.";
    const EXPLAINED: Explained = NAMED_BY_PAGE;
    const TAKES_PAGE_NAME: bool = true;
    const IN_PREVIEW: &'static [&'static str] = &["comment"];
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Comment(CommentWrite {
            page: input.id,
            what: ToComment::Delete { id: input.comment },
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
