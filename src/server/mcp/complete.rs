//! Completion of a prompt's arguments and of page addresses.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, Reference};

use super::{prompts, resources};
use crate::write::Caller;

/// The possible values.
pub(in crate::server) async fn complete(
    offer: &prompts::Offer<'_>,
    caller: &Caller,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    match &request.r#ref {
        Reference::Prompt(prompt) => offer.complete(caller, &prompt.name, &request).await,
        Reference::Resource(named) if named.uri == resources::TEMPLATE => {
            offer.visit.may_read_resources()?;
            resources::complete(offer.visit, request).await
        }
        _ => Err(ErrorData::invalid_params(
            format!("only {} and prompts can be completed", resources::TEMPLATE),
            None,
        )),
    }
}
