//! A set of changes of this client's: what `wikijs_get_change_set` answers.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents, ResourceTemplate};
use serde_json::json;
use tokio::sync::watch;

use super::{ResourceReader, refused};
use crate::audit::CallId;
use crate::error::{Code, Failure};

/// The tool that answers the same.
const TOOL: &str = "wikijs_get_change_set";
const BEFORE_ID: &str = "wikijs://change-sets/";
const MIME_TYPE: &str = "application/json";

/// The template of their addresses.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{BEFORE_ID}{{id}}"), "change-set")
        .with_title("Change set")
        .with_description(
            "A set of changes that this client sent: how far it is, or what came of it.",
        )
        .with_mime_type(MIME_TYPE)
}

/// True if sets can be read in a session.
pub(super) fn is_offered(reads: &crate::tools::SessionTools) -> bool {
    reads.has(TOOL)
}

/// The id of the set that an address names, if it is the address of one.
pub(super) fn id_of(uri: &str) -> Option<&str> {
    uri.strip_prefix(BEFORE_ID)
}

/// A set, if it is one of this client's.
pub(super) async fn read(
    reader: &ResourceReader<'_>,
    uri: &str,
    id: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let none = || {
        Failure::new(
            Code::InvalidInput,
            "This is the address of no set of this client.",
        )
    };
    let not_found = |failure: Failure| {
        ErrorData::resource_not_found(failure.message.clone(), Some(json!({ "error": failure })))
    };
    if id.parse::<CallId>().is_err() {
        return Err(not_found(none()));
    }
    let arguments = json!({ "id": id }).as_object().cloned().unwrap_or_default();
    let caller = reader.caller.clone();
    let progress = watch::Sender::default();
    let app = &reader.visit.app;
    match app.call(TOOL, caller, progress, arguments.into()).await {
        Some(Ok(set)) => {
            let text = ResourceContents::text(set.to_string(), uri).with_mime_type(MIME_TYPE);
            Ok(ReadResourceResult::new(vec![text]))
        }
        Some(Err(failure)) if failure.code != Code::InvalidInput => {
            Err(refused(reader.visit, failure).await)
        }
        Some(Err(_)) | None => Err(not_found(none())),
    }
}
