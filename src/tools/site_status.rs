//! `wikijs_site_status`: what `wikijs://status` says, of any site that the caller may see (toolset `sites`).

use serde_json::Value;

use super::list_sites::directory;
use super::prelude::*;

/// The tool.
pub(super) struct StatusOfSite;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// As `wikijs_list_sites` has it; without it, your session's site.
    #[garde(length(chars, max = 200))]
    pub(super) name: Option<String>,
}

impl Tool for StatusOfSite {
    const NAME: &'static str = "wikijs_site_status";
    const DESCRIPTION: &'static str = "What a site lets you do: whether and where you may write and how a write is confirmed, the key's rights, index, open proposals, approvals.";
    const ANSWER: &'static str = "As resource wikijs://status.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Value;

    async fn run(context: ToolContext, input: Input) -> Result<Value> {
        let caller = &context.caller;
        let status = directory(caller)?.status(caller, input.name.as_deref());
        status.await.ok_or_else(unknown)?
    }
}

/// The failure for a site that is not there, or not for this caller.
pub(super) fn unknown() -> Failure {
    let fault = "names no site that you may see; wikijs_list_sites names those";
    invalid_argument("name", fault)
}
