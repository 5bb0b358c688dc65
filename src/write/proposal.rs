//! A proposal is reviewed, applied or rejected.
//!
//! Applied, it goes the way of every write. Neither its file nor the states are trusted: the file
//! must say what the record of its making says, the states must be those that it names, say
//! nothing that a call could not say, and fit the page as it is.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use crate::audit::{
    AuditError, CallId, CallSelector, HeldProposal, Outcome, Proposal, ProposalId, ProposalState,
    Record,
};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::Proposed;

use super::docket::{Docket, now, unavailable};
use super::outdated::Outdated;
use super::plan::{Apply, Caller};
use super::proposed_values::check;
use super::writer::Writer;

/// A proposal as a person or an agent looks at it.
#[derive(Debug)]
pub struct Review {
    /// The proposal.
    pub proposal: Proposal,
    /// Where a person sees its page.
    pub url: String,
    /// Each changed field with its values before and after, the content left out.
    pub changes: Map<String, Value>,
    /// The difference of the content.
    pub diff: String,
    /// Why it could not be applied as things are; none for one that is decided.
    pub hindrance: Option<Failure>,
    /// Whether this key may read of the page what the proposal shows.
    pub is_readable: bool,
    /// Why nothing of what was kept is shown, where it is not for this key.
    pub unseen: Option<Failure>,
}

impl Writer {
    /// Where the records and the proposals of its wiki lie.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.audit.dir()
    }

    /// All proposals of the wiki, oldest first.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub async fn proposals(&self) -> Result<Vec<Proposal>, Failure> {
        self.audit
            .proposals()
            .await
            .map_err(|error| unavailable(&error))
    }

    /// A proposal with what it changes, and whether it still fits the page.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is no such proposal, `AUDIT_UNAVAILABLE` if what was kept of it
    /// cannot be read.
    pub async fn review(&self, id: ProposalId) -> Result<Review, Failure> {
        // A decision that was cut short is found out here.
        let (proposal, hindrance) = match self.hold_open(id, Duration::ZERO).await {
            // It is as the log says: that need not be looked up again.
            Ok(held) => (held.proposal().clone(), None),
            Err(failure) => {
                let found = self.audit.proposal(id).await;
                (found.map_err(|error| told(&error))?, Some(failure))
            }
        };
        let is_open = proposal.state == ProposalState::Open;
        let (change, unseen) = match self.kept_change(&proposal).await {
            Ok(change) => (Some(change), None),
            // What it is about is told, and not what it says.
            Err(failure) if failure.code != Code::AuditUnavailable => (None, Some(failure)),
            // What was decided is told also when what it was made of is purged.
            Err(_) if !is_open => (None, None),
            Err(failure) => return Err(failure),
        };
        let is_readable = match &change {
            None => false,
            Some(change) => match change.before().and_then(|page| page.id) {
                Some(id) => self.page_to_write(id, change.lost()).await.is_ok(),
                None => true,
            },
        };
        let mut review = Review {
            changes: change.as_ref().map(Change::values).unwrap_or_default(),
            diff: change
                .as_ref()
                .map(Change::content_diff)
                .unwrap_or_default()
                .0,
            url: self.wiki.page_url(&proposal.locale, &proposal.path),
            hindrance: hindrance.filter(|_| is_open),
            is_readable,
            unseen,
            proposal,
        };
        if let Some(change) = change.filter(|_| is_open && review.hindrance.is_none()) {
            let fits = self.held_against(&review.proposal, change).await;
            review.hindrance = fits.err().map(Outdated::told);
        }
        Ok(review)
    }

    /// When an open proposal goes unless somebody decides on it before.
    #[must_use]
    pub fn expires(&self, proposal: &Proposal) -> Option<OffsetDateTime> {
        let kept = time::Duration::days(self.keep.proposal_days.into());
        let made = proposal.created.instant();
        made.filter(|_| proposal.state == ProposalState::Open)?
            .checked_add(kept)
    }

    /// Rejects a proposal; on record.
    ///
    /// # Errors
    /// `PROPOSAL_OUTDATED` if it was decided before, `INVALID_INPUT` if there is none.
    pub async fn reject(
        &self,
        caller: &Caller,
        id: ProposalId,
        reason: &str,
    ) -> Result<Proposal, Failure> {
        let at_log = |error| unavailable(&error);
        let held = self.hold_open(id, self.patience.queueing).await?;
        let proposal = held.proposal().clone();
        let call = CallId::new().map_err(at_log)?;
        let docket = Docket::of_proposal(call, caller, self.key(), &proposal);
        self.audit
            .record(docket.decided("rejected", Some(reason)))
            .await
            .map_err(at_log)?;
        let state = ProposalState::Rejected {
            decided: now(),
            reason: reason.to_owned(),
        };
        held.set(state.clone()).await.map_err(at_log)?;
        Ok(Proposal { state, ..proposal })
    }

    /// Makes the change of a proposal, of the page as it is now.
    pub(super) async fn change_of_proposal(&self, apply: Apply) -> Result<Proposed, Failure> {
        self.recovered().await;
        let held = self.hold_open(apply.id, self.patience.queueing).await?;
        let proposal = held.proposal().clone();
        drop(held);
        let kept = self.kept_change(&proposal).await?;
        check(&kept, &proposal)?;
        let change = match self.held_against(&proposal, kept).await {
            Ok(change) => change,
            Err(Outdated {
                merged: Some(merged),
                ..
            }) if apply.merge => *merged,
            Err(outdated) => return Err(outdated.told()),
        };
        Ok(Proposed {
            change,
            undoes: proposal.undoes,
            proposal: Some(proposal.id),
        })
    }

    /// Holds a proposal about which nobody has decided, by its file and by the log.
    pub(super) async fn hold_open(
        &self,
        id: ProposalId,
        wait: Duration,
    ) -> Result<HeldProposal, Failure> {
        let at_log = |error| unavailable(&error);
        let held = self
            .audit
            .hold_proposal(id, wait)
            .await
            .map_err(|error| told(&error))?;
        let proposal = held.proposal();
        if proposal.state != ProposalState::Open {
            return Err(decided(&proposal.state));
        }
        let on_record = self.audit.proposal_on_record(id).await.map_err(at_log)?;
        let is_made = |made: &Record| proposal.differs_from(made).is_empty();
        if !on_record.made.as_ref().is_some_and(is_made) {
            return Err(Failure::new(
                Code::AuditUnavailable,
                "The proposal is not the one whose making is on record; nothing was sent.",
            )
            .hint("The proposal's file was changed, or the record of its making is gone; `wikijs-mcp audit verify` says more."));
        }
        // The log knows of decisions that were cut short before the file did.
        for call in on_record.attempts {
            let story = self.story(&CallSelector::from(call), None).await?;
            if story.outcome() == Some(Outcome::Applied) {
                let state = ProposalState::Applied {
                    decided: now(),
                    applied_by: call,
                };
                held.set(state.clone()).await.map_err(at_log)?;
                return Err(decided(&state));
            }
        }
        if let Some(decided) = on_record.decided {
            return Err(Failure::new(
                Code::ProposalOutdated,
                format!("The proposal was {decided}."),
            ));
        }
        Ok(held)
    }

    /// Says of a proposal that it was applied, on record. The write has happened: what fails
    /// here is made good when somebody asks for the proposal again.
    pub(super) async fn applied_proposal(&self, held: HeldProposal, docket: &Docket) {
        let state = ProposalState::Applied {
            decided: now(),
            applied_by: docket.call(),
        };
        let recorded = self.audit.record(docket.decided("applied", None)).await;
        let done = match recorded {
            Ok(()) => held.set(state).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            tracing::error!(%error, call = %docket.call(), "that a proposal was applied could not be kept");
        }
    }

    async fn kept_change(&self, proposal: &Proposal) -> Result<Change, Failure> {
        let names = [proposal.before, proposal.after];
        let change = match self.kept(names, proposal.key).await? {
            [Some(before), Some(after)] => Change::between(before, after),
            [None, Some(after)] => Change::recreate(after),
            [Some(before), None] => Change::delete(before),
            [None, None] => return Err(unavailable(&AuditError::BadProposal)),
        };
        Ok(change.with_loss_of(proposal.lost.clone()))
    }
}

/// Why a proposal cannot be found or held.
fn told(error: &AuditError) -> Failure {
    match error {
        AuditError::NoProposal => Failure::new(Code::InvalidInput, "There is no such proposal.")
            .detail("fields", json!([{ "path": "id" }])),
        error => unavailable(error),
    }
}

fn decided(state: &ProposalState) -> Failure {
    let failure = Failure::new(
        Code::ProposalOutdated,
        format!("The proposal was {} already.", state.as_str()),
    )
    .detail("state", state.as_str());
    match state {
        ProposalState::Applied { applied_by, .. } => {
            failure.detail("appliedBy", applied_by.to_string())
        }
        ProposalState::Replaced { replaced_by, .. } => {
            failure.detail("replacedBy", replaced_by.to_string())
        }
        ProposalState::Open | ProposalState::Rejected { .. } => failure,
    }
}
