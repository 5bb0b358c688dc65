//! Asks a person for a yes before a set is sent.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::audit::{AuditLog, CallId};
use crate::change::Warning;
use crate::error::{Code, Failure};
use crate::gates::{ApprovalScope, Approved, Approver, ChangeSet, Gate, Policy, Refusal};
use crate::page::LineCounts;

use super::check::SetCheck;
use super::question;
use crate::write::asker::{Asker, HandedOut, PersonReply, Question};
use crate::write::audit_entry::{EntryBuilder, unavailable};
use crate::write::caller::Caller;
use crate::write::context::WriteContext;
use crate::write::route::Brought;

/// A set that waits for a person's yes.
#[derive(Debug)]
pub(in crate::write) struct ToAsk {
    set: ChangeSet,
    diff: String,
    lines: LineCounts,
    warnings: Vec<Warning>,
    each: Vec<Vec<Warning>>,
}

impl ToAsk {
    /// A set with the results of its checks.
    pub(in crate::write) fn of(set: &ChangeSet, checked: SetCheck) -> Self {
        Self {
            set: set.clone(),
            diff: checked.diff,
            lines: checked.lines,
            warnings: checked.notes.warnings,
            each: checked.each,
        }
    }
}

/// A yes that the caller brought, if its call answers a question that was handed out.
///
/// # Errors
/// The answer was not a yes, or belongs to no question; on record.
pub(in crate::write) async fn brought(
    desk: &WriteContext,
    docket: &mut EntryBuilder,
    caller: &Caller,
) -> Result<Brought, Refusal> {
    let Asker::Answered { question, reply } = &caller.asker else {
        return Ok(Brought::Nothing);
    };
    let Some(set) = desk.memory.answered(&caller.session, question) else {
        let reply = match reply {
            PersonReply::TimedOut => PersonReply::TimedOut,
            _ => PersonReply::NotOurs,
        };
        return Err(denied(desk, docket, reply, None).await);
    };
    docket.about(&set);
    answered(desk, docket, caller, set, *reply)
        .await
        .map(Brought::Yes)
}

/// A standing approval that covers the set, or a person's yes within the limit.
///
/// # Errors
/// The answer was not a yes, or nobody can be asked; on record.
pub(in crate::write) async fn approval(
    (desk, policy): (&WriteContext, &Policy),
    docket: &EntryBuilder,
    caller: &Caller,
    asked: ToAsk,
    limit: Duration,
) -> Result<Approved, Refusal> {
    match desk.memory.approval(&approver(caller), &asked.set) {
        Some(approved) => Ok(approved),
        None => ask((desk, policy), docket, caller, asked, limit).await,
    }
}

async fn ask(
    (desk, policy): (&WriteContext, &Policy),
    docket: &EntryBuilder,
    caller: &Caller,
    ToAsk {
        set,
        diff,
        lines,
        warnings,
        each,
    }: ToAsk,
    limit: Duration,
) -> Result<Approved, Refusal> {
    let only = set.first();
    let message = if set.is_list() {
        question::message_of_set(&set, &each, &warnings)
    } else {
        let said = (set.note(), warnings.as_slice());
        question::message(&only.change, only.undoes, (&diff, lines), said)
    };
    let question = Question {
        message,
        scopes: ApprovalScope::offered(&caller.session, &set),
    };
    match &caller.asker {
        Asker::Within(person) => {
            let mut unanswered = AbandonedQuestion {
                audit: &desk.audit,
                tasks: &desk.house.tasks,
                docket: Some(docket),
            };
            let reply = tokio::time::timeout(limit, person.ask(question)).await;
            unanswered.docket = None;
            let reply = reply.unwrap_or(PersonReply::TimedOut);
            answered(desk, docket, caller, set, reply).await
        }
        Asker::Between(handout) => {
            let at_record = |failure| Refusal::at(Gate::Record, failure);
            desk.audit
                .record(docket.approval("asked", None))
                .await
                .map_err(|error| at_record(unavailable(&error)))?;
            let name = desk.memory.question(&caller.session, set).map_err(at_record)?;
            match handout.give(HandedOut { question, name, limit }).await {}
        }
        // A brought answer was already handled in `brought`.
        Asker::Answered { .. } => Err(refusal(PersonReply::NotOurs)),
        Asker::Nobody => Err(refused(
            policy.refuse(
                Code::ApprovalDenied,
                "A person must say yes to this write, and this client cannot ask anybody.",
            )
            .hint("Tell the user: use a client that supports MCP elicitation, or have the operator set WIKI_CONFIRM_FALLBACK=preview.")
            .detail("reason", "cannot_ask"),
        )),
    }
}

/// Records a person's answer, and makes an approval from a yes.
async fn answered(
    desk: &WriteContext,
    docket: &EntryBuilder,
    caller: &Caller,
    set: ChangeSet,
    reply: PersonReply,
) -> Result<Approved, Refusal> {
    let scope = match reply {
        PersonReply::Yes(scope)
            if ApprovalScope::offered(&caller.session, &set).contains(&scope) =>
        {
            scope
        }
        PersonReply::Yes(_) => {
            return Err(denied(desk, docket, PersonReply::Failed, Some(set.id())).await);
        }
        reply => return Err(denied(desk, docket, reply, Some(set.id())).await),
    };
    // An approval that could not be recorded counts neither now nor for later writes.
    desk.audit
        .record(docket.approval(reply.as_str(), Some(set.id())))
        .await
        .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
    desk.memory
        .approve(approver(caller), set, scope, docket.call())
        .ok_or_else(|| refusal(PersonReply::Failed))
}

/// The refusal for an answer that was not a yes; on record.
async fn denied(
    desk: &WriteContext,
    docket: &EntryBuilder,
    reply: PersonReply,
    asked: Option<CallId>,
) -> Refusal {
    desk.audit
        .record(docket.approval(reply.as_str(), asked))
        .await
        .map_or_else(
            |error| Refusal::at(Gate::Record, unavailable(&error)),
            |()| refusal(reply),
        )
}

/// Records a question whose call ended before the answer.
struct AbandonedQuestion<'a> {
    audit: &'a Arc<AuditLog>,
    tasks: &'a TaskTracker,
    docket: Option<&'a EntryBuilder>,
}

impl Drop for AbandonedQuestion<'_> {
    fn drop(&mut self) {
        // Without a runtime the program is ending.
        let (Some(docket), Ok(runtime)) = (self.docket, Handle::try_current()) else {
            return;
        };
        let entry = docket.approval("cancelled", None);
        let audit = Arc::clone(self.audit);
        let record = async move {
            if let Err(error) = audit.record(entry).await {
                tracing::error!(%error, "a question without an answer could not be put on record");
            }
        };
        self.tasks.spawn_on(record, &runtime);
    }
}

fn approver(caller: &Caller) -> Approver {
    Approver::new(&caller.session, &caller.client)
}

fn refusal(reply: PersonReply) -> Refusal {
    refused(Failure::new(Code::ApprovalDenied, reply.sentence()).detail("reason", reply.as_str()))
}

fn refused(failure: Failure) -> Refusal {
    Refusal::at(Gate::Confirm, failure)
}

#[cfg(test)]
mod tests;
