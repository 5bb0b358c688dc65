//! Asks a person for a yes before a set is sent.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::audit::{AuditLog, CallId};
use crate::error::{Code, Failure};
use crate::gates::{
    ApprovalScope, Approved, Approver, ChangeSet, Gate, Gated, Policy, Refusal, THINKING,
};

use super::question;
use crate::write::{
    Asker, Brought, Caller, EntryBuilder, HandedOut, PersonReply, Question, SetCheck, WriteContext,
    record_or_log,
};

/// A set that waits for a person's yes, and the results of its checks.
#[derive(Debug)]
pub(crate) struct ToAsk {
    pub(crate) set: ChangeSet,
    pub(crate) checked: SetCheck,
}

impl ToAsk {
    fn message(&self) -> String {
        let Self { set, checked } = self;
        let warnings = checked.notes.warnings.as_slice();
        if set.is_list() {
            return question::message_of_set(set, &checked.each, warnings);
        }
        let only = set.first();
        let difference = (checked.diff.as_str(), checked.lines);
        question::message(
            &only.change,
            only.undoes,
            difference,
            (set.note(), warnings),
        )
    }
}

/// Asks the person behind a caller; what is asked and answered is put on record.
pub(crate) struct Asking<'a> {
    pub(crate) context: &'a WriteContext,
    pub(crate) caller: &'a Caller,
}

impl Asking<'_> {
    /// A yes that the caller brought, if its call answers a question that was handed out.
    ///
    /// # Errors
    /// The answer was not a yes, or belongs to no question; on record.
    pub(crate) async fn brought(&self, record: &mut EntryBuilder) -> Gated<Brought> {
        let Asker::Answered {
            question,
            reply,
            asked,
        } = &self.caller.asker
        else {
            return Ok(Brought::Nothing);
        };
        let spent = self.context.take_question(self.caller, question, asked);
        let Some(spent) = spent.await.map_err(Refusal::by(Gate::Record))? else {
            let reply = match reply {
                PersonReply::TimedOut => PersonReply::TimedOut,
                _ => PersonReply::NotOurs,
            };
            return Err(self.denied(record, reply, None).await);
        };
        let set = spent.into_set();
        record.about(&set);
        let by = self.context.approver(self.caller);
        let answered = self.answered(record, &by, set, *reply);
        answered.await.map(Brought::Yes)
    }

    /// A standing approval that covers the set, or a person's yes within the time that the policy
    /// gives.
    ///
    /// # Errors
    /// The answer was not a yes, or nobody can be asked; on record.
    pub(crate) async fn approval(
        &self,
        policy: &Policy,
        record: &EntryBuilder,
        asked: ToAsk,
    ) -> Gated<Approved> {
        let by = self.context.approver(self.caller);
        match self.context.house.approvals.take(&by, &asked.set).await {
            Some(approved) => Ok(approved),
            None => self.ask(policy, record, &by, asked).await,
        }
    }

    async fn ask(
        &self,
        policy: &Policy,
        record: &EntryBuilder,
        by: &Approver,
        asked: ToAsk,
    ) -> Gated<Approved> {
        let context = self.context;
        let limit = policy.thinking().unwrap_or(THINKING);
        let question = Question {
            message: match context.audit.site() {
                Some(site) => format!("On the site {site}: {}", asked.message()),
                None => asked.message(),
            },
            scopes: ApprovalScope::offered(by, &asked.set),
        };
        match &self.caller.asker {
            Asker::Within(person) => {
                let mut unanswered = AbandonedQuestion {
                    audit: &context.audit,
                    tasks: &context.house.tasks,
                    record: Some(record),
                };
                let reply = tokio::time::timeout(limit, person.ask(question)).await;
                unanswered.record = None;
                let reply = reply.unwrap_or(PersonReply::TimedOut);
                self.answered(record, by, asked.set, reply).await
            }
            Asker::Between { handout, asked: call } => {
                let entry = record.approval("asked", None);
                context.audit.record(entry).await?;
                let kept = context.keep_question(self.caller, (asked.set, call.clone()), limit);
                let name = kept.await.map_err(Refusal::by(Gate::Record))?;
                match handout.give(HandedOut { question, name, limit }).await {}
            }
            // A brought answer was already handled in `brought`.
            Asker::Answered { .. } => Err(refusal(PersonReply::NotOurs)),
            Asker::Nobody => Err(refused(
                policy.refuse(
                    Code::ApprovalDenied,
                    "A person must say yes to this write, and this client cannot ask anybody.",
                )
                .hint("Tell the user: use a client that supports MCP elicitation, or have the operator set WIKI_CONFIRM_FALLBACK=preview, or take confirm = person out of this client's grant.")
                .detail("reason", "cannot_ask"),
            )),
        }
    }

    /// Records a person's answer, and makes an approval from a yes.
    async fn answered(
        &self,
        record: &EntryBuilder,
        by: &Approver,
        set: ChangeSet,
        reply: PersonReply,
    ) -> Gated<Approved> {
        let scope = match reply {
            PersonReply::Yes(scope) if ApprovalScope::offered(by, &set).contains(&scope) => scope,
            PersonReply::Yes(_) => {
                return Err(self
                    .denied(record, PersonReply::Failed, Some(set.id()))
                    .await);
            }
            reply => return Err(self.denied(record, reply, Some(set.id())).await),
        };
        // An approval that could not be recorded counts neither now nor for later writes.
        let entry = record.approval(reply.as_str(), Some(set.id()));
        self.context.audit.record(entry).await?;
        let approvals = &self.context.house.approvals;
        let given = approvals.give(by, set, scope, record.call());
        given.await.ok_or_else(|| refusal(PersonReply::Failed))
    }

    /// The refusal for an answer that was not a yes; on record.
    async fn denied(
        &self,
        record: &EntryBuilder,
        reply: PersonReply,
        asked: Option<CallId>,
    ) -> Refusal {
        let entry = record.approval(reply.as_str(), asked);
        match self.context.audit.record(entry).await {
            Ok(()) => refusal(reply),
            Err(error) => error.into(),
        }
    }
}

/// Records a question whose call ended before the answer.
struct AbandonedQuestion<'a> {
    audit: &'a Arc<AuditLog>,
    tasks: &'a TaskTracker,
    record: Option<&'a EntryBuilder>,
}

impl Drop for AbandonedQuestion<'_> {
    fn drop(&mut self) {
        // Without a runtime the program is ending.
        let (Some(record), Ok(runtime)) = (self.record, Handle::try_current()) else {
            return;
        };
        let entry = record.approval("cancelled", None);
        let audit = Arc::clone(self.audit);
        let recording =
            async move { record_or_log(&audit, entry, "a question without an answer").await };
        self.tasks.spawn_on(recording, &runtime);
    }
}

fn refusal(reply: PersonReply) -> Refusal {
    refused(Failure::new(Code::ApprovalDenied, reply.sentence()).detail("reason", reply.as_str()))
}

fn refused(failure: Failure) -> Refusal {
    Refusal::at(Gate::Confirm, failure)
}

#[cfg(test)]
mod tests;
