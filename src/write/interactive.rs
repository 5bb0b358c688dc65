//! A write with a person's own yes: previewed, looked at, confirmed.

use crate::audit::{CallId, ProposalId};
use crate::error::{Code, Failure};

use super::answer::{Applied, Preview, SetAnswer, SetOutcome, SetPreview, WriteAnswer};
use super::caller::Caller;
use super::source::WriteRequest;
use super::stages::propose::WAITS;
use super::writer::Writer;

/// The preview that a person sees before they say yes.
#[derive(Debug)]
pub enum PreviewToConfirm {
    /// One change.
    One(Box<Preview>),
    /// A set of many.
    Set(Box<SetPreview>),
}

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
    /// It is left to people, as this proposal.
    Proposed(ProposalId),
    /// It is an undo that was proposed before: it waits as this proposal.
    Waits(ProposalId),
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
        says_yes: impl FnOnce(&PreviewToConfirm) -> bool,
    ) -> Result<Option<AppliedWrite>, Failure> {
        match self.write_or_propose(caller, plan, says_yes).await? {
            InteractiveOutcome::Done(done) => Ok(Some(done)),
            InteractiveOutcome::Declined => Ok(None),
            InteractiveOutcome::Proposed(_)
            | InteractiveOutcome::Waits(_)
            | InteractiveOutcome::Unchanged => Err(Failure::new(
                Code::InternalError,
                "The write ended as a preview.",
            )),
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
        says_yes: impl FnOnce(&PreviewToConfirm) -> bool,
    ) -> Result<InteractiveOutcome, Failure> {
        let write =
            async |confirm| match Box::pin(self.write(caller.clone(), plan.clone(), confirm)).await
            {
                Ok(answer) => Ok(answer),
                Err(failure) => Err(self.desk().wiki.explained(failure).await),
            };
        let shown = match PreviewToConfirm::or_done(write(None).await?) {
            Ok(shown) => shown,
            Err(done) => return Ok(InteractiveOutcome::Done(done)),
        };
        let Some(token) = shown.token() else {
            return Ok(shown.left());
        };
        if !says_yes(&shown) {
            return Ok(InteractiveOutcome::Declined);
        }
        Ok(match PreviewToConfirm::or_done(write(Some(token)).await?) {
            // A rule may leave it to people only now.
            Ok(shown) => shown.left(),
            Err(done) => InteractiveOutcome::Done(done),
        })
    }
}

impl PreviewToConfirm {
    /// The preview in an answer; an error if the answer is of a write that is done.
    fn or_done(answer: WriteAnswer) -> Result<Self, AppliedWrite> {
        match answer {
            WriteAnswer::Preview(preview) => Ok(Self::One(preview)),
            WriteAnswer::SetPreview(preview) => Ok(Self::Set(preview)),
            WriteAnswer::Applied(applied) => Err(AppliedWrite::One(applied)),
            WriteAnswer::Set(set) => Err(AppliedWrite::Set(set)),
        }
    }

    /// The token that confirms it.
    fn token(&self) -> Option<String> {
        let confirm = match self {
            Self::One(preview) => &preview.confirm,
            Self::Set(preview) => &preview.confirm,
        };
        confirm.as_ref().map(|confirm| confirm.token.clone())
    }

    /// The outcome without a token.
    fn left(&self) -> InteractiveOutcome {
        let (proposal, notes) = match self {
            Self::One(preview) => (preview.proposal, &preview.notes),
            Self::Set(preview) => (preview.proposal, &preview.notes),
        };
        match proposal {
            None => InteractiveOutcome::Unchanged,
            Some(id) if notes.warnings.iter().any(|one| one.code == WAITS) => {
                InteractiveOutcome::Waits(id)
            }
            Some(id) => InteractiveOutcome::Proposed(id),
        }
    }
}

impl AppliedWrite {
    /// The call that takes it back by its id; none where nothing was done.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::One(applied) => (!applied.is_unchanged).then_some(applied.call),
            Self::Set(set) => (set.outcome == SetOutcome::Applied).then_some(set.call),
        }
    }
}
