//! A write with a person's own yes: previewed, looked at, confirmed.

use crate::audit::{CallId, ProposalId};
use crate::error::{Code, Failure, Result};
use crate::gates::LeftOut;

use crate::write::{
    Applied, Apply, Brought, Caller, Preview, SetAnswer, SetOutcome, WAITS, WriteAnswer,
    WriteRequest, Writer,
};

/// The result of a write that was sent.
#[derive(Debug)]
pub enum AppliedWrite {
    /// One change, or nothing.
    One(Box<Applied>),
    /// A set of many.
    Set(Box<SetAnswer>),
}

/// The outcome of a write that was previewed first.
#[derive(Debug)]
pub enum InteractiveOutcome {
    /// It was sent, or there was nothing to do.
    Done(AppliedWrite),
    /// The preview was not agreed to.
    Declined,
    /// It is left to people, as this proposal, without these pages.
    Proposed(ProposalId, Vec<LeftOut>),
    /// It is an undo that was proposed before: it waits as this proposal, without these pages.
    Waits(ProposalId, Vec<LeftOut>),
    /// Nothing would change, so nothing was sent or kept.
    Unchanged,
}

impl Writer {
    /// Previews a write and sends it if `says_yes` to the preview; nothing if it does not. A write
    /// that has nothing to do asks nobody.
    ///
    /// # Errors
    /// Whatever stopped it.
    pub async fn confirmed(
        &self,
        caller: &Caller,
        plan: WriteRequest,
        says_yes: impl FnOnce(&Preview) -> bool,
    ) -> Result<Option<AppliedWrite>> {
        match self.write_or_propose(caller, plan, says_yes).await? {
            InteractiveOutcome::Done(done) => Ok(Some(done)),
            InteractiveOutcome::Declined => Ok(None),
            InteractiveOutcome::Proposed(..)
            | InteractiveOutcome::Waits(..)
            | InteractiveOutcome::Unchanged => Err(ended_as_preview()),
        }
    }

    /// The same for a caller whose write may be left to people, by the level or by a rule. Then
    /// nobody is asked.
    ///
    /// # Errors
    /// Whatever stopped it.
    pub async fn write_or_propose(
        &self,
        caller: &Caller,
        plan: WriteRequest,
        says_yes: impl FnOnce(&Preview) -> bool,
    ) -> Result<InteractiveOutcome> {
        let shown = match self.by_person(caller, &plan, Brought::Nothing).await? {
            Ok(done) => return Ok(InteractiveOutcome::Done(done)),
            Err(shown) => shown,
        };
        let Some(confirm) = &shown.confirm else {
            return Ok(shown.left());
        };
        let token = confirm.token.clone();
        if !says_yes(&shown) {
            return Ok(InteractiveOutcome::Declined);
        }
        let brought = Brought::Token(token);
        Ok(match self.by_person(caller, &plan, brought).await? {
            Ok(done) => InteractiveOutcome::Done(done),
            // A rule may leave it to people only now.
            Err(shown) => shown.left(),
        })
    }

    /// Applies a proposal by the decision of a reviewer, who was shown what it carries the digest
    /// of.
    ///
    /// # Errors
    /// What stopped it, with `details.callId`; on record.
    pub async fn decided(&self, caller: &Caller, apply: Apply) -> Result<AppliedWrite> {
        let shown = apply.expects.is_some();
        let yes = self.desk().policy.reviewers_yes(apply.id).filter(|_| shown);
        let brought = yes.map_or(Brought::Nothing, Brought::Decision);
        let request = WriteRequest::Proposal(apply);
        let done = self.by_person(caller, &request, brought).await?;
        done.map_err(|_| ended_as_preview())
    }

    /// Runs a request for a person, who is told what the state of the key explains.
    async fn by_person(
        &self,
        caller: &Caller,
        request: &WriteRequest,
        brought: Brought,
    ) -> Result<Result<AppliedWrite, Box<Preview>>> {
        match Box::pin(self.run(caller, request, brought)).await {
            Ok(answer) => Ok(answer.into_applied()),
            Err(failure) => Err(self.desk().wiki.explained(failure).await),
        }
    }
}

/// The failure of a write that shall be sent and was shown.
fn ended_as_preview() -> Failure {
    Failure::new(Code::InternalError, "The write ended as a preview.")
}

impl WriteAnswer {
    /// The result of a write that was sent, or the preview of one that was not.
    fn into_applied(self) -> Result<AppliedWrite, Box<Preview>> {
        match self {
            Self::Applied(applied) => Ok(AppliedWrite::One(applied)),
            Self::Set(set) => Ok(AppliedWrite::Set(set)),
            Self::Preview(preview) => Err(preview),
        }
    }
}

impl Preview {
    /// The outcome without a token.
    fn left(self) -> InteractiveOutcome {
        let waits = self.notes.warnings.iter().any(|one| one.code == WAITS);
        match self.proposal {
            None => InteractiveOutcome::Unchanged,
            Some(id) if waits => InteractiveOutcome::Waits(id, self.left_out),
            Some(id) => InteractiveOutcome::Proposed(id, self.left_out),
        }
    }
}

impl AppliedWrite {
    /// The call that takes it back by its id; none where nothing was done.
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::One(applied) => (!applied.is_unchanged()).then_some(applied.call),
            Self::Set(set) => (set.outcome == SetOutcome::Applied).then_some(set.call),
        }
    }
}
