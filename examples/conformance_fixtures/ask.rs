//! What a tool does while its call waits: log, tell progress, ask the client.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequestParams,
    ElicitRequestParams, JsonObject, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, SamplingMessage,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

/// Between two notifications, so that a client sees them one by one.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Three lines; from 2026-07-28 on only if the request asked for a level.
pub(crate) async fn log(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let modern = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let wanted = !modern || context.meta.log_level().is_some();
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        if wanted {
            let told = LoggingMessageNotificationParam::new(LoggingLevel::Info, Value::from(line));
            context
                .peer
                .notify_logging_message(told)
                .await
                .map_err(internal)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("logged"))
}

pub(crate) async fn progress(
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, done).with_total(100.0);
            context.peer.notify_progress(told).await.map_err(internal)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("done"))
}

pub(crate) async fn sample(
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Result<CallToolResult, ErrorData> {
    needs_sampling(context)?;
    let prompt = argument(arguments, "prompt")?;
    let request = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let answer = context
        .peer
        .create_message(request)
        .await
        .map_err(internal)?;
    Ok(text(format!(
        "LLM response: {}",
        json!(answer.message.content)
    )))
}

pub(crate) async fn elicit(
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
    mut question: ElicitRequestParams,
) -> Result<CallToolResult, ErrorData> {
    if let (ElicitRequestParams::FormElicitationParams { message, .. }, Ok(given)) =
        (&mut question, argument(arguments, "message"))
    {
        given.clone_into(message);
    }
    let answer = context
        .peer
        .create_elicitation(question)
        .await
        .map_err(internal)?;
    Ok(text(format!(
        "action={}, content={}",
        json!(answer.action),
        json!(answer.content)
    )))
}

/// # Errors
/// If the client did not declare sampling.
pub(crate) fn needs_sampling(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let client = context.client_capabilities().unwrap_or_default();
    if client.sampling.is_some() {
        return Ok(());
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}

/// # Errors
/// If there is no such argument of text.
pub(crate) fn argument<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, ErrorData> {
    let given = arguments.get(name).and_then(Value::as_str);
    given.ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
