//! `wikijs_submit_draft`: writes all changes of a draft as one set.

use super::bulk_update_pages::OnFailure;
use super::prelude::*;
use crate::write::{Submit, WriteRequest};

/// The tool.
pub(super) struct SubmitDraft;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[garde(skip)]
    confirm: Option<String>,
    /// Its name, or its id.
    #[garde(custom(rule::required(rule::draft)))]
    draft: String,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
    // By default, applied changes are undone if a later one fails.
    #[garde(skip)]
    on_failure: Option<OnFailure>,
}

impl WriteTool for SubmitDraft {
    const NAME: &'static str = "wikijs_submit_draft";
    const DESCRIPTION: &'static str = "Write all changes of a draft as one set, all or none. A preview gives a token: show the user, then call again with draft and confirm.";
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Submit(Submit {
            owner: context.desk.draft_owner(&context.caller),
            draft: input::draft(&input.draft)?,
            keeps_on_failure: input.on_failure == Some(OnFailure::Keep),
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
