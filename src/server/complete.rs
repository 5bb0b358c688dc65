//! What can be typed for an argument of a prompt, or of a page's address.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, Reference};

use super::visit::Visit;
use super::{prompts, resources};
use crate::write::Caller;

/// What can be typed.
pub(super) async fn complete(
    visit: &Visit,
    caller: &Caller,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    match &request.r#ref {
        Reference::Prompt(prompt) => prompts::complete(visit, caller, &prompt.name, &request).await,
        Reference::Resource(named) if named.uri == resources::TEMPLATE => {
            visit.may_read_resources()?;
            resources::complete(&visit.app, request).await
        }
        _ => Err(ErrorData::invalid_params(
            format!("only {} and prompts can be completed", resources::TEMPLATE),
            None,
        )),
    }
}
