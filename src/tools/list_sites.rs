//! `wikijs_list_sites`: the wikis of this server that the caller may see (toolset `sites`).

use serde_json::Value;

use super::prelude::*;
use crate::write::{Caller, SiteDirectory};

/// The tool.
pub(super) struct ListSites;

/// It has no arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

/// Its answer.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    sites: Vec<Value>,
}

impl Tool for ListSites {
    const NAME: &'static str = "wikijs_list_sites";
    const DESCRIPTION: &'static str = "The wikis of this server that you may see, your session's first: name, address, whether it answers, what the key may do, pages, index, your open sets. Only wikijs_site_status and wikijs_sync_site reach other sites than your session's.";
    const ANSWER: &'static str = "fault: why a wiki does not answer. Absent: not known.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, _input: Input) -> Result<Output> {
        let caller = &context.caller;
        let sites = directory(caller)?.list(caller).await;
        Ok(Output { sites })
    }
}

/// The sites of a caller.
pub(super) fn directory(caller: &Caller) -> Result<&dyn SiteDirectory> {
    let none = || Failure::new(Code::InternalError, "The sites of this call are not known.");
    caller.sites.as_deref().ok_or_else(none)
}
