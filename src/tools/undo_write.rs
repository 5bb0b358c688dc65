//! `wikijs_undo_write`: undoes a write (toolset `undo`).

use super::prelude::*;
use crate::audit::CallSelector;
use crate::page::NewPath;
use crate::write::{UndoRequest, WriteRequest};

/// The tool.
pub(super) struct UndoWrite;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token, or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// Its callId, its first four or more characters, or "last": this session's, else the newest.
    #[garde(length(chars, min = 4, max = 16))]
    call_id: String,
    /// Take fields back even if they changed since.
    #[garde(skip)]
    force: Option<bool>,
    /// Changes of a set that cannot be taken back; by default stop.
    #[garde(skip)]
    on_conflict: Option<OnConflict>,
    /// Where a deleted or moved page comes back, if not at its old path.
    #[garde(length(chars, max = 255))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

/// What to do with the changes of a set that cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum OnConflict {
    /// Take nothing back.
    Stop,
    /// Take the others back.
    Skip,
}

impl WriteTool for UndoWrite {
    const NAME: &'static str = "wikijs_undo_write";
    const DESCRIPTION: &'static str = "Take back what a write changed, a deletion too (under a new id). Without confirm you may get a preview and a token: show the user, then call again with callId and confirm.";
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let call: CallSelector = input.call_id.parse().map_err(|_| {
            invalid_argument(
                "callId",
                "must be a call id, four or more of its first characters, or \"last\"",
            )
        })?;
        let path = input.path.as_deref().map(NewPath::parse).transpose();
        let path = path.map_err(|fault| invalid_argument("path", fault))?;
        let undo = UndoRequest {
            owner: context.desk.owner_of_call(&context.caller, &call).await,
            call,
            session: Some(context.caller.session.clone()),
            force: input.force.unwrap_or(false),
            path: path.map(NewPath::into_path),
            skips: input.on_conflict == Some(OnConflict::Skip),
        };
        let undo = WriteRequest::Undo(undo);
        Ok(RequestedWrite::new(undo, input.confirm, input.note))
    }
}
