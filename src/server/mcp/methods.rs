//! Incoming requests: unknown ones, and the arguments of a call.

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CustomRequest, ErrorCode, Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};

use super::super::stdio::large_message::{Payload, PayloadContent};
use crate::tools::Arguments;

/// Requests of the protocol that we know; with malformed parameters they arrive as custom ones.
const KNOWN: [&str; 15] = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Those of them that protocol 2026-07-28 has no more.
const DROPPED: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// The name and version of this server.
pub(in crate::server) fn server_info() -> Implementation {
    Implementation::new("wikijs-gate", env!("CARGO_PKG_VERSION")).with_title("Wiki.js")
}

/// The error for a request that is not one of the protocol.
pub(in crate::server) fn refusal(
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> ErrorData {
    if load(context).is_some() {
        return ErrorData::invalid_request(
            "the message is larger than is taken: 64 kB, and the arguments of a call up to 7 MB in all",
            None,
        );
    }
    let method = request.method.as_str();
    let version = context.protocol_version().unwrap_or_default();
    let is_dropped = DROPPED.contains(&method) && version >= ProtocolVersion::V_2026_07_28;
    if KNOWN.contains(&method) && !is_dropped {
        malformed(method)
    } else {
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, printable(method), None)
    }
}

/// The load beside a message, if there is one.
fn load(context: &RequestContext<RoleServer>) -> Option<PayloadContent> {
    let parts = context.extensions.get::<Parts>();
    let cargo = context
        .extensions
        .get::<Payload>()
        .or_else(|| parts?.extensions.get());
    cargo?.take()
}

/// The arguments of a call; large ones are read outside of the threads that other calls need.
pub(in crate::server) async fn arguments(
    request: &mut CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Arguments, ErrorData> {
    match load(context) {
        None => Ok(request.arguments.take().unwrap_or_default().into()),
        Some(Err(refusal)) => Ok(refusal.into()),
        Some(Ok(json)) => {
            let read = crate::blocking::run(move || Arguments::read(&json)).await;
            let read = read.and_then(Result::ok);
            read.ok_or_else(|| malformed("tools/call"))
        }
    }
}

fn malformed(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("malformed params of {method}"), None)
}

/// The beginning of a name that a client made up.
pub(in crate::server) fn printable(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}
