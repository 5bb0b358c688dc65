//! Answers clients that declare the tasks extension: a write that waits for people is a task, whose
//! id is the set's. Its state is the set's document; nothing of it is kept here.

use std::slice;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, ErrorCode, JsonObject, ProtocolVersion, Task,
    TaskPayload, TaskStatus,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::time::Instant;

use super::caller::CallerContext;
use super::resources::refused;
use super::result;
use crate::audit::ProposalId;
use crate::error::Code;
use crate::tools::{self, TaskState, WITHDRAW, WriteTask};
use crate::write::Asker;

/// Milliseconds that a client should leave between two questions about a task that waits for people,
/// and about one that is being applied.
const POLL_MS: [u64; 2] = [5_000, 1_000];
/// Time after which an unknown id is answered: another's takes no longer than one that never was.
const UNKNOWN_AFTER: Duration = Duration::from_millis(50);

/// The methods of the protocol about tasks, of a handler with these callers at its sites.
macro_rules! task_methods {
    (|$handler:ident, $context:ident| $visits:expr) => {
        async fn get_task(
            &self,
            request: rmcp::model::GetTaskParams,
            context: RequestContext<RoleServer>,
        ) -> Result<rmcp::model::GetTaskResult, ErrorData> {
            let ($handler, $context) = (self, &context);
            let visits = $visits;
            let get = tasks::get(&visits, &context, &request.task_id);
            let task = answered(&context, get).await;
            task.map(rmcp::model::GetTaskResult::new)
        }

        // No task of ours asks for anything: what is brought is ignored.
        async fn update_task(
            &self,
            request: rmcp::model::UpdateTaskParams,
            context: RequestContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            let asked = rmcp::model::GetTaskParams::new(request.task_id);
            self.get_task(asked, context).await.map(drop)
        }

        async fn cancel_task(
            &self,
            request: rmcp::model::CancelTaskParams,
            context: RequestContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            let ($handler, $context) = (self, &context);
            let visits = $visits;
            let cancel = tasks::cancel(&visits, &context, &request.task_id);
            answered(&context, cancel).await
        }
    };
}

pub(super) use task_methods;

/// True if a request's client takes a task for an answer. Older protocols do not know them.
pub(in crate::server) fn takes(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version().unwrap_or_default();
    let client = context.client_capabilities();
    version >= ProtocolVersion::V_2026_07_28 && client.is_some_and(|client| client.supports_tasks())
}

/// The state of a task of one of these sites.
///
/// # Errors
/// The id is not of a task of this caller's; what the record or the wiki says.
pub(in crate::server) async fn get(
    visits: &[CallerContext],
    context: &RequestContext<RoleServer>,
    id: &str,
) -> Result<DetailedTask, ErrorData> {
    let (visit, task) = find(visits, context, id).await?;
    Ok(detailed(visit, task))
}

/// The answer of a call whose write waits for people: its task. What else a call without tasks would
/// be answered is beside it.
///
/// # Errors
/// What the record or the wiki says.
pub(in crate::server) async fn created(
    visit: &CallerContext,
    context: &RequestContext<RoleServer>,
    id: ProposalId,
    answer: CallToolResult,
) -> Result<CreateTaskResult, ErrorData> {
    let task = get(slice::from_ref(visit), context, &id.to_string())
        .await?
        .task;
    let mut meta = result::untrusted();
    if let Some(answer) = answer.structured_content {
        meta.0.insert("waiting".to_owned(), answer);
    }
    Ok(CreateTaskResult::new(task).with_meta(meta))
}

/// Takes back a task that nobody has decided on; one that has ended, or is being applied, stays as
/// it is.
///
/// # Errors
/// As for [`get`]; if the caller may not call the tool any more that made it.
pub(in crate::server) async fn cancel(
    visits: &[CallerContext],
    context: &RequestContext<RoleServer>,
    id: &str,
) -> Result<(), ErrorData> {
    let (visit, task) = find(visits, context, id).await?;
    if !matches!(task.state, TaskState::Waiting) {
        return Ok(());
    }
    if !visit.offered().has(&task.proposal.tool) {
        let why = "this client may not call the tool any more whose write this task is";
        return Err(ErrorData::invalid_request(why, None));
    }
    let caller = visit.caller(WITHDRAW, Asker::Nobody, context);
    match tools::withdraw(&visit.app.desk, &caller, id).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.code == Code::ProposalOutdated => Ok(()),
        Err(failure) if failure.code == Code::InvalidInput => Err(unknown()),
        Err(failure) => Err(refused(visit, failure).await),
    }
}

async fn find<'a>(
    visits: &'a [CallerContext],
    context: &RequestContext<RoleServer>,
    id: &str,
) -> Result<(&'a CallerContext, WriteTask), ErrorData> {
    if !takes(context) {
        let why = "tasks are known from protocol 2026-07-28 on";
        return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None));
    }
    let asked = Instant::now();
    for visit in visits {
        let caller = visit.caller("", Asker::Nobody, context);
        match tools::task(&visit.app.desk, &caller, id).await {
            Ok(Some(task)) => return Ok((visit, task)),
            Ok(None) => {}
            Err(failure) => return Err(refused(visit, failure).await),
        }
    }
    tokio::time::sleep_until(asked + UNKNOWN_AFTER).await;
    Err(unknown())
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task", None)
}

fn detailed(visit: &CallerContext, told: WriteTask) -> DetailedTask {
    let proposal = told.proposal;
    let [waiting, applying] = POLL_MS;
    let (poll, payload) = match told.state {
        TaskState::Waiting => (waiting, TaskPayload::Working),
        TaskState::Applying => (applying, TaskPayload::Working),
        TaskState::Withdrawn => (waiting, TaskPayload::Cancelled),
        TaskState::Ended(value) => {
            let result = answer(visit, &proposal.tool, value);
            (waiting, TaskPayload::Completed { result })
        }
    };
    let updated = proposal.state.decided().unwrap_or(&proposal.created);
    let updated = updated.as_str().to_owned();
    let ttl = visit.app.desk.proposals().ttl(&proposal);
    let created = String::from(proposal.created);
    let task = Task::new(
        proposal.id.to_string(),
        TaskStatus::Working,
        created,
        updated,
    );
    let task = task
        .with_status_message(told.message)
        .with_ttl_ms(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
        .with_poll_interval_ms(poll);
    DetailedTask::new(task, payload)
}

/// The answer of the tool that was called.
fn answer(visit: &CallerContext, tool: &str, mut value: Value) -> JsonObject {
    visit.offered().answer(&mut value);
    let result = match visit.app.registry().find(tool) {
        Some(tool) => result::answer(tool, value, visit.app.indent),
        // It was offered when it was called.
        None => CallToolResult::structured(value).with_meta(Some(result::untrusted())),
    };
    let result = serde_json::to_value(result).ok();
    let result = result.and_then(|result| result.as_object().cloned());
    result.unwrap_or_default()
}
