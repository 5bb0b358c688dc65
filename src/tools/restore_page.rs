//! `wikijs_restore_page`: brings a deleted page back, as it was seen last (toolset `undo`).

use super::prelude::*;
use crate::page::NewPath;
use crate::write::{PageRestore, WriteRequest};

/// The tool.
pub(super) struct RestorePage;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// A preview's token, or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// Its id or last path, as the bin lists it.
    #[garde(length(chars, min = 1, max = 255))]
    page: String,
    /// Its new place, if not its old path.
    #[garde(length(chars, max = 255))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for RestorePage {
    const NAME: &'static str = "wikijs_restore_page";
    const DESCRIPTION: &'static str = "Bring a page of the bin back, as this server saw it last, under a new id. Without confirm you may get a preview and a token: show the user, then call again with page and confirm.";
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let path = input.path.as_deref().map(NewPath::parse).transpose();
        let path = path.map_err(|fault| invalid_argument("path", fault))?;
        let mirror = context.mirror()?;
        let key = context.wiki.key().digest_on_record().to_string();
        let scope = context.wiki.scope();
        let found = mirror.find(&input.page, scope, Some(&key)).await?;
        let restore = PageRestore::of(mirror, &found, path).await?;
        let restore = WriteRequest::Restore(Box::new(restore));
        Ok(RequestedWrite::new(restore, input.confirm, input.note))
    }
}
