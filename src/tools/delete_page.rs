//! `wikijs_delete_page`: deletes a page.

use super::prelude::*;
use crate::write::{Delete, WriteRequest};

/// The tool.
pub(super) struct DeletePage;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: i64,
    /// The updatedAt that you know.
    #[garde(custom(rule::optional(rule::time)))]
    if_updated_at: Option<String>,
    // Joins this draft: nothing is sent.
    #[garde(custom(rule::optional(rule::draft)))]
    draft: Option<String>,
    /// Move it to the wiki's trash, unpublished.
    #[garde(skip)]
    trash: Option<bool>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for DeletePage {
    const NAME: &'static str = "wikijs_delete_page";
    const DESCRIPTION: &'static str = "Delete (remove) a page with its history and comments. Without confirm you may get a preview and a token: show the user, then call again with id and confirm. To keep it: trash, or wikijs_update_page with isPublished false.";
    const EXPLAINED: Explained = NAMED_BY_PAGE;
    const TAKES_PAGE_NAME: bool = true;
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Delete(Delete {
            id: input.id,
            trash: input.trash.or(input.confirm.is_none().then_some(false)),
            if_updated_at: input::date("ifUpdatedAt", input.if_updated_at.as_deref())?,
        });
        let write = RequestedWrite::new(plan, input.confirm, input.note);
        Ok(write.joining(input.draft))
    }
}
