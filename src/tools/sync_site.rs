//! `wikijs_sync_site`: brings the content index of a site up to date, and exchanges its memories
//! with a peer server (toolset `sites`).

use super::list_sites::directory;
use super::prelude::*;
use super::site_status::unknown;
use serde_json::Value;

/// The tool.
pub(super) struct SyncSite;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// As `wikijs_list_sites` has it; without it, your session's site.
    #[garde(length(chars, max = 200))]
    name: Option<String>,
    /// Only from a peer server.
    #[garde(length(max = 1_000_000))]
    memories: Option<String>,
}

impl Tool for SyncSite {
    const NAME: &'static str = "wikijs_sync_site";
    const DESCRIPTION: &'static str = "Look at a site's pages now and bring its content index up to date, so that searches find what others changed meanwhile; and exchange memories with the peer server that the operator named, if one is.";
    const ANSWER: &'static str = "pages: how many are indexed; of: how many there are. isComplete false: the rest follows in the background, or cannot be read. memories.conflicts: changed on both sides; the newest holds.";
    const KIND: ToolKind = ToolKind::Aside;
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Value;

    async fn run(context: ToolContext, input: Input) -> Result<Value> {
        let message = input.memories.as_deref().map(serde_json::from_str);
        let message = message
            .transpose()
            .map_err(|_| invalid_argument("memories", "is no message of a server; leave it out"))?;
        let caller = &context.caller;
        let synced = directory(caller)?.sync(caller, input.name.as_deref(), message);
        synced.await.ok_or_else(unknown)?
    }
}
