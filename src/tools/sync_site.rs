//! `wikijs_sync_site`: brings the content index of a site up to date (toolset `sites`).

use super::context::ToolContext;
use super::list_sites::directory;
use super::site_status::{Input, unknown};
use super::tool::{Tool, ToolKind};
use crate::error::Failure;
use serde_json::Value;

/// The tool.
pub(super) struct SyncSite;

impl Tool for SyncSite {
    const NAME: &'static str = "wikijs_sync_site";
    const TITLE: &'static str = "Sync site";
    const DESCRIPTION: &'static str = "Look at a site's pages now and bring its content index up to date, so that searches find what others changed meanwhile.";
    const ANSWER: &'static str = "pages: how many are indexed; of: how many there are. isComplete false: the rest follows in the background, or cannot be read.";
    const KIND: ToolKind = ToolKind::Aside;
    type Input = Input;
    type Output = Value;

    async fn run(context: ToolContext, input: Input) -> Result<Value, Failure> {
        let caller = &context.caller;
        let synced = directory(caller)?.sync(input.name.as_deref());
        synced.await.ok_or_else(unknown)?
    }
}
