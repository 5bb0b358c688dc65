//! Tools whose calls are answered with tasks, which the protocol's library keeps in memory.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult,
    InputRequest, JsonObject,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde_json::{Value, json};

use crate::ask::{argument, text};

/// What a call of one of these tools comes to; `None` for other tools.
pub(crate) async fn call(
    manager: &TaskManager,
    name: &str,
    arguments: &JsonObject,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let takes_tasks = context
        .client_capabilities()
        .is_some_and(|client| client.supports_tasks());
    let seconds = arguments.get("seconds").and_then(Value::as_u64);
    let time = Duration::from_secs(seconds.unwrap_or(1));
    Some(match name {
        "greet" => argument(arguments, "name").map(|name| text(format!("Hello, {name}!")).into()),
        "slow_compute" if !takes_tasks => {
            tokio::time::sleep(time).await;
            Ok(text("computed").into())
        }
        "failing_job" if !takes_tasks => {
            let needed = ClientCapabilities::builder().enable_tasks().build();
            Err(ErrorData::missing_required_client_capability(needed))
        }
        "slow_compute" => Ok(spawned(manager, move |task| async move {
            tokio::select! {
                () = tokio::time::sleep(time) => Ok(text("computed")),
                () = task.cancelled() => Err(TaskExit::Cancelled),
            }
        })),
        "failing_job" => Ok(spawned(manager, move |_| async move {
            tokio::time::sleep(time).await;
            Ok(CallToolResult::error(vec![ContentBlock::text("failed")]))
        })),
        "protocol_error_job" => Ok(spawned(manager, |_| async {
            Err(ErrorData::internal_error("broke off", None).into())
        })),
        "confirm_delete" => Ok(spawned(manager, |task| async move {
            let answer = task.request_input("confirm", question()?).await?;
            Ok(text(answer.to_string()))
        })),
        "multi_input" => Ok(spawned(manager, |task| async move {
            let (one, other) = (question()?, question()?);
            let both = (
                task.request_input("one", one),
                task.request_input("other", other),
            );
            let (one, other) = tokio::join!(both.0, both.1);
            Ok(text(format!("{} {}", one?, other?)))
        })),
        _ => return None,
    })
}

/// A task of this work.
pub(crate) fn spawned<F>(
    manager: &TaskManager,
    work: impl FnOnce(TaskContext) -> F,
) -> CallToolResponse
where
    F: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
{
    let task = manager.spawn(TaskOptions::new(), |task| Box::pin(work(task)));
    CreateTaskResult::new(task).into()
}

fn question() -> Result<InputRequest, ErrorData> {
    let form = json!({ "type": "object", "properties": { "confirm": { "type": "boolean" } } });
    let question = json!({ "method": "elicitation/create",
        "params": { "mode": "form", "message": "Sure?", "requestedSchema": form } });
    serde_json::from_value(question)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
