//! A person's yes between a change and its sending.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::error::{Code, Failure};
use crate::gates::{
    Approved, Approver, Asked, ConfirmMode, Gate, Narrowing, Policy, Proposed, Refusal, Scope,
};
use crate::page::LineCounts;

use super::answer::Answer;
use super::asker::{Asker, HandedOut, Reply};
use super::conflict::Stopped;
use super::docket::{Docket, unavailable};
use super::plan::{Caller, Plan};
use super::question::{self, Question};
use super::writer::{Passed, Writer};

/// What is behind a write when it comes to the gates.
pub(super) enum Behind {
    Nothing,
    /// A token, whatever it counts for.
    Token(String),
    /// A person's yes.
    Person(Approved),
}

/// A change that waits for a person's yes.
#[derive(Debug)]
pub(super) struct ToAsk {
    pub(super) proposed: Proposed,
    pub(super) diff: String,
    pub(super) lines: LineCounts,
}

impl Writer {
    /// The policy as it holds for a client that may do so much less, and can ask a person or
    /// cannot.
    #[must_use]
    pub fn narrowed_policy(&self, narrowing: Option<&Narrowing>, can_ask: bool) -> Policy {
        let narrowed = narrowing.map(|narrowing| self.policy.narrowed_by(narrowing));
        let policy = narrowed.as_ref().unwrap_or(&self.policy);
        policy.for_client(can_ask).into_owned()
    }

    /// Takes a plan through the gates; where a person's yes is due, twice: up to the question
    /// without holding anything up, and with the yes from the beginning.
    pub(super) async fn decide(
        self: &Arc<Self>,
        docket: &mut Docket,
        caller: &Caller,
        plan: Plan,
        confirm: Option<String>,
    ) -> Result<Passed, Refusal> {
        let policy = self.policy_for(caller);
        let session = &caller.session;
        let limit = match policy.confirm {
            ConfirmMode::Person { limit, .. } => limit,
            ConfirmMode::Token(_) | ConfirmMode::Preview | ConfirmMode::Operator => {
                let behind = confirm.map_or(Behind::Nothing, Behind::Token);
                return Box::pin(self.pass(&policy, docket, session, plan, behind)).await;
            }
        };
        let behind = match &caller.asker {
            Asker::Answered { question, reply } if asks(&policy) => {
                let spent = self.questions.spend(session, question);
                let Ok(spent) = spent else {
                    let reply = match reply {
                        Reply::TimedOut => Reply::TimedOut,
                        _ => Reply::NotOurs,
                    };
                    return Err(self.denied(docket, reply).await);
                };
                let (proposed, reply) = (spent.into_proposed(), *reply);
                docket.about(&proposed.change);
                docket.undoes(proposed.undoes);
                let approved = self.answered(docket, caller, proposed, reply).await?;
                Behind::Person(approved)
            }
            _ => Behind::Nothing,
        };
        let mut passed =
            Box::pin(self.pass(&policy, docket, session, plan.clone(), behind)).await?;
        if let Passed::Asked(asked) = passed {
            let approved = match self.approvals.take(&approver(caller), &asked.proposed) {
                Some(approved) => approved,
                None => self.ask(docket, caller, *asked, limit).await?,
            };
            let behind = Behind::Person(approved);
            passed = Box::pin(self.pass(&policy, docket, session, plan, behind)).await?;
        }
        if confirm.is_some() {
            passed.warn(
                "confirm_ignored: writes are confirmed by a person here; confirm counts for nothing.",
            );
        }
        Ok(passed)
    }

    /// The policy as it holds for a caller.
    fn policy_for(&self, caller: &Caller) -> Policy {
        self.narrowed_policy(caller.narrowing.as_deref(), caller.asker.can_ask())
    }

    /// Keeps beside the token of a preview what its caller asked for.
    pub fn keep_asked(&self, caller: &Caller, token: &str, asked: Asked) {
        self.previews.keep_asked(&caller.session, token, asked);
    }

    /// What a caller asked for who got this token; nothing where no preview's token confirms, or
    /// where the preview was not of what was asked for.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH` or `CONFIRM_EXPIRED`, if the token counts for nothing.
    pub fn asked(&self, caller: &Caller, token: &str) -> Result<Option<Asked>, Failure> {
        let policy = self.policy_for(caller);
        let is_of_previews = matches!(policy.confirm, ConfirmMode::Preview | ConfirmMode::Operator);
        if !is_of_previews || !policy.is_enabled || !policy.lets_out(true) {
            return Ok(None);
        }
        self.previews.asked(&caller.session, token)
    }

    /// Asks a person, who may take as long as the limit.
    async fn ask(
        self: &Arc<Self>,
        docket: &Docket,
        caller: &Caller,
        asked: ToAsk,
        limit: Duration,
    ) -> Result<Approved, Refusal> {
        let ToAsk {
            proposed,
            diff,
            lines,
        } = asked;
        let question = Question {
            message: question::message(&proposed.change, proposed.undoes, (&diff, lines)),
            scopes: Scope::offered(&caller.session, &proposed.change),
        };
        match &caller.asker {
            Asker::Within(person) => {
                let mut unanswered = Unanswered {
                    writer: self,
                    docket: Some(docket),
                };
                let reply = tokio::time::timeout(limit, person.ask(question)).await;
                unanswered.docket = None;
                let reply = reply.unwrap_or(Reply::TimedOut);
                self.answered(docket, caller, proposed, reply).await
            }
            Asker::Between(handout) => {
                let at_record = |failure| Refusal::at(Gate::Record, failure);
                self.audit
                    .record(docket.approval("asked", false))
                    .await
                    .map_err(|error| at_record(unavailable(&error)))?;
                let kept = self.questions.offer(&caller.session, proposed);
                let name = kept.map_err(at_record)?.token;
                match handout.give(HandedOut { question, name, limit }).await {}
            }
            // A yes that was brought was looked at before.
            Asker::Answered { .. } => Err(refusal(Reply::NotOurs)),
            Asker::Nobody => Err(refused(
                Failure::new(
                    Code::ApprovalDenied,
                    "A person must say yes to this write, and this client cannot ask anybody.",
                )
                .hint("Tell the user: use a client that supports MCP elicitation, or have the operator set WIKI_CONFIRM_FALLBACK=preview.")
                .detail("reason", "cannot_ask"),
            )),
        }
    }

    /// Puts on record what a person answered, and makes an approval of a yes.
    async fn answered(
        &self,
        docket: &Docket,
        caller: &Caller,
        proposed: Proposed,
        reply: Reply,
    ) -> Result<Approved, Refusal> {
        let scope = match reply {
            Reply::Yes(scope)
                if Scope::offered(&caller.session, &proposed.change).contains(&scope) =>
            {
                scope
            }
            Reply::Yes(_) => return Err(self.denied(docket, Reply::Failed).await),
            reply => return Err(self.denied(docket, reply).await),
        };
        // A yes that could not be put on record stands for nothing, nor for later writes.
        self.audit
            .record(docket.approval(reply.as_str(), true))
            .await
            .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
        self.approvals
            .give(approver(caller), proposed, scope, docket.call())
            .ok_or_else(|| refusal(Reply::Failed))
    }

    /// It was no yes; on record.
    async fn denied(&self, docket: &Docket, reply: Reply) -> Refusal {
        self.audit
            .record(docket.approval(reply.as_str(), false))
            .await
            .map_or_else(
                |error| Refusal::at(Gate::Record, unavailable(&error)),
                |()| refusal(reply),
            )
    }
}

impl Passed {
    fn warn(&mut self, warning: &str) {
        let (Self::Answer(answer) | Self::Sent(Ok(answer))) = self else {
            return;
        };
        match answer {
            Answer::Preview(preview) => &mut preview.notes,
            Answer::Applied(applied) => &mut applied.notes,
        }
        .warnings
        .push(warning.to_owned());
    }
}

/// A question whose call ended before the answer: that goes on record too.
struct Unanswered<'a> {
    writer: &'a Arc<Writer>,
    docket: Option<&'a Docket>,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        // Without a runtime the program is at its end.
        let (Some(docket), Ok(runtime)) = (self.docket, Handle::try_current()) else {
            return;
        };
        let entry = docket.approval("cancelled", false);
        let writer = Arc::clone(self.writer);
        let record = async move {
            if let Err(error) = writer.audit.record(entry).await {
                tracing::error!(%error, "a question without an answer could not be put on record");
            }
        };
        self.writer.root().tasks.spawn_on(record, &runtime);
    }
}

/// What to do next where the page is not as it was shown to the person.
pub(super) fn ask_anew(stopped: Stopped) -> Stopped {
    if stopped.failure.code != Code::EditConflict {
        return stopped;
    }
    Stopped {
        failure: stopped.failure.hint(
            "Look at details.changes, then call again; the person is asked about the page as it is.",
        ),
        ..stopped
    }
}

/// Whether a person is asked at all.
const fn asks(policy: &Policy) -> bool {
    policy.is_enabled && policy.lets_out(true)
}

fn approver(caller: &Caller) -> Approver {
    Approver::new(&caller.session, &caller.client)
}

fn refusal(reply: Reply) -> Refusal {
    refused(Failure::new(Code::ApprovalDenied, reply.sentence()).detail("reason", reply.as_str()))
}

fn refused(failure: Failure) -> Refusal {
    Refusal::at(Gate::Confirm, failure)
}
