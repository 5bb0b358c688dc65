//! `wikijs_delete_asset`: a file goes (toolset `assets`).

use super::prelude::*;
use crate::page::PagePath;
use crate::write::{AssetWrite, ToAsset, WriteRequest};

/// The tool.
pub(super) struct DeleteAsset;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// Folder and name, as docs/a.png.
    #[garde(custom(rule::required(rule::asset)))]
    path: String,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for DeleteAsset {
    const NAME: &'static str = "wikijs_delete_asset";
    const DESCRIPTION: &'static str = "Delete a file. Undo uploads it anew, under a new id. Without confirm you may get a preview and a token: show the user, then call again with path and confirm.";
    const EXPLAINED: Explained = &[TAKES_NO_TITLE];
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Asset(AssetWrite {
            path: PagePath::new(&input.path),
            what: ToAsset::Delete,
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
