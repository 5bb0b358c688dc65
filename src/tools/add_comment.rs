//! `wikijs_add_comment`: writes a comment (toolset `comments`).

use super::prelude::*;
use crate::write::{CommentWrite, ToComment, WriteRequest};

/// The tool.
pub(super) struct AddComment;

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
    /// In Markdown.
    #[garde(custom(rule::required(rule::comment)))]
    content: String,
    /// The comment that it answers.
    #[garde(range(min = 1, max = 2_147_483_647))]
    reply_to: Option<i64>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for AddComment {
    const NAME: &'static str = "wikijs_add_comment";
    const DESCRIPTION: &'static str = "Write a comment on a page. The wiki takes one in 15 to 30 s, whoever writes. Without confirm you may get a preview and a token: show the user, then call again with id and confirm.";
    const KIND: ToolKind = ToolKind::Add;
    const EXPLAINED: Explained = NAMED_BY_PAGE;
    const TAKES_PAGE_NAME: bool = true;
    const IN_PREVIEW: &'static [&'static str] = &["content"];
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Comment(CommentWrite {
            page: input.id,
            what: ToComment::Add {
                content: input.content,
                reply_to: input.reply_to,
            },
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
