//! `wikijs_rename_asset`: another name in the same folder (toolset `assets`).

use super::prelude::*;
use crate::page::PagePath;
use crate::write::{AssetWrite, ToAsset, WriteRequest};

/// The tool.
pub(super) struct RenameAsset;

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
    /// With the same extension.
    #[garde(custom(rule::required(rule::asset)))]
    name: String,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for RenameAsset {
    const NAME: &'static str = "wikijs_rename_asset";
    const DESCRIPTION: &'static str = "Rename a file within its folder; pages that show it by its old name do so no more. Without confirm you may get a preview and a token: show the user, then call again with path and confirm.";
    const EXPLAINED: Explained = &[TAKES_NO_TITLE];
    const IN_PREVIEW: &'static [&'static str] = &["name"];
    type Input = Input;

    async fn request(_: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let plan = WriteRequest::Asset(AssetWrite {
            path: PagePath::new(&input.path),
            what: ToAsset::Rename { name: input.name },
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}
