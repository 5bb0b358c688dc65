//! Ends proposals: a person rejects one, its client withdraws it, a write applies it.

use std::time::Duration;

use crate::audit::{
    Actor, AuditError, CallId, CallSelector, HeldProposal, Outcome, Proposal, ProposalId,
    ProposalOnRecord, ProposalState, Record,
};
use crate::change::Warning;
use crate::error::{Code, Failure, Result};
use crate::page::{Date, escaped};
use crate::words::separated;
use crate::write::audit_entry::EntryBuilder;
use crate::write::undo::history_set::AttemptedChanges;
use crate::write::{Caller, Proposals};

/// The most characters of a client's name in a proposal that it withdrew.
const MAX_NAME: usize = 60;

impl Proposals {
    /// Rejects a proposal; on record.
    ///
    /// # Errors
    /// `PROPOSAL_OUTDATED` if it was decided before, or if some of it is made and the person does not keep
    /// that, `INVALID_INPUT` if there is none.
    pub async fn reject(
        &self,
        caller: &Caller,
        id: ProposalId,
        reason: &str,
        keeps_made: bool,
    ) -> Result<Proposal> {
        let held = self.hold_open(id).await?;
        if !keeps_made && let Some(made) = self.begun_by(held.proposal()).await?.first() {
            return Err(half_made(*made));
        }
        let (call, key) = (CallId::new()?, self.past.key());
        let record = EntryBuilder::of_proposal(call, caller, key, held.proposal());
        let state = ProposalState::Rejected {
            decided: Date::now(),
            reason: reason.to_owned(),
        };
        self.end(held, &record, reason, state).await
    }

    /// Takes back a proposal of the caller's own; on record.
    ///
    /// # Errors
    /// `PROPOSAL_OUTDATED` if it was decided before, `INVALID_INPUT` if the caller has none of this id.
    pub async fn withdraw(
        &self,
        caller: &Caller,
        id: ProposalId,
        is_own: impl Fn(&Proposal) -> bool,
    ) -> Result<Proposal> {
        if !is_own(&self.one(id).await?) {
            return Err(AuditError::NoProposal.into());
        }
        let (held, attempts) = self.hold(id, self.queueing).await?;
        self.untouched(attempts).await?;
        let call = CallId::current_or_new()?;
        let mut record = EntryBuilder::open(call, caller, self.past.key());
        record.decides_on(held.proposal());
        let actor = caller.actor.as_ref().map(Actor::as_str);
        let withdrawn_by = match actor.unwrap_or(caller.client.shown()) {
            "" => "an unnamed client".to_owned(),
            name => escaped(name, MAX_NAME),
        };
        let why = format!("by {withdrawn_by}");
        let state = ProposalState::Withdrawn {
            decided: Date::now(),
            withdrawn_by,
        };
        self.end(held, &record, &why, state).await
    }

    /// Checks that no write of a proposal may have reached the wiki: an open attempt, one of unknown
    /// outcome, or a set that was applied in part and can be gone on with.
    async fn untouched(&self, attempts: Vec<CallId>) -> Result<()> {
        for call in attempts {
            let story = self.past.story(&CallSelector::from(call), None).await?;
            if story.outcome != Some(Outcome::NotApplied) {
                let message = "A person has decided to apply this proposal, and some of it may be written; it was not withdrawn.";
                return Err(Failure::new(Code::ProposalOutdated, message)
                    .detail("appliedBy", serde_json::json!(call))
                    .hint("Read the page to see what became of it."));
            }
        }
        Ok(())
    }

    /// Ends a proposal without a write: its record, then its file.
    async fn end(
        &self,
        held: HeldProposal,
        record: &EntryBuilder,
        why: &str,
        state: ProposalState,
    ) -> Result<Proposal> {
        let proposal = held.proposal().clone();
        let entry = record.decided(state.as_str(), Some(why));
        self.past.audit.record(entry).await?;
        held.set(state.clone()).await?;
        Ok(Proposal { state, ..proposal })
    }

    /// Holds a proposal that is undecided, by its file and by the log.
    pub(crate) async fn hold_open(&self, id: ProposalId) -> Result<HeldProposal> {
        Ok(self.hold(id, self.queueing).await?.0)
    }

    /// The same, without waiting for somebody who is deciding it.
    pub(crate) async fn hold_open_now(&self, id: ProposalId) -> Result<HeldProposal> {
        Ok(self.hold(id, Duration::ZERO).await?.0)
    }

    /// The proposal, and the calls that attempted to apply it.
    async fn hold(&self, id: ProposalId, wait: Duration) -> Result<(HeldProposal, Vec<CallId>)> {
        let held = self.past.audit.proposals.hold(id, wait).await?;
        let proposal = held.proposal();
        if !self.past.admits_proposal(proposal).await? {
            return Err(AuditError::NoProposal.into());
        }
        if proposal.state != ProposalState::Open {
            return Err(decided(&proposal.state));
        }
        let on_record = self.past.audit.proposals.on_record(id).await?;
        let is_made = |made: &Record| proposal.differs_from(made, &on_record.others).is_empty();
        if !on_record.made.as_ref().is_some_and(is_made) {
            return Err(Failure::new(
                Code::AuditUnavailable,
                "The proposal is not the one whose making is on record; nothing was sent.",
            )
            .hint("The proposal's file was changed, or the record of its making is gone; `wikijs-gate audit verify` says more."));
        }
        // The log may show a decision that was cut short before it reached the file.
        let applied_by = if proposal.is_list {
            on_record.applied_whole
        } else {
            self.applied_by(&on_record.attempts).await?
        };
        if let Some(applied_by) = applied_by {
            let state = ProposalState::Applied {
                decided: Date::now(),
                applied_by,
                left_out: on_record.left_out,
            };
            held.set(state.clone()).await?;
            return Err(decided(&state));
        }
        if let Some(state) = on_record.decided {
            held.set(state.clone()).await?;
            return Err(decided(&state));
        }
        Ok((held, on_record.attempts))
    }

    /// The first of these calls that was applied.
    async fn applied_by(&self, calls: &[CallId]) -> Result<Option<CallId>> {
        for call in calls {
            let story = self.past.story(&CallSelector::from(*call), None).await?;
            if story.outcome == Some(Outcome::Applied) {
                return Ok(Some(*call));
            }
        }
        Ok(None)
    }

    /// The calls that made changes of a set and did not finish it, since their runs were killed or a change
    /// failed: the newest first, without those that were taken back whole.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub async fn begun_by(&self, proposal: &Proposal) -> Result<Vec<CallId>> {
        match &proposal.state {
            ProposalState::Applied { .. } => {}
            ProposalState::Open | ProposalState::Rejected { .. } if proposal.is_begun => {}
            _ => return Ok(Vec::new()),
        }
        let on_record = self.past.audit.proposals.on_record(proposal.id).await?;
        self.begun_among(&on_record.sets, proposal).await
    }

    /// Those of the sets of a proposal's attempts, the oldest first, of which the same is true.
    async fn begun_among(&self, sets: &[CallId], proposal: &Proposal) -> Result<Vec<CallId>> {
        let applied_by = match &proposal.state {
            ProposalState::Applied { applied_by, .. } => Some(*applied_by),
            _ => None,
        };
        let mut begun = Vec::new();
        for set in sets.iter().rev().filter(|set| Some(**set) != applied_by) {
            let calls = self.past.calls_of_set(*set, None).await?;
            if AttemptedChanges::of(calls).is_anything_left() {
                begun.push(*set);
            }
        }
        Ok(begun)
    }

    /// The warning that calls made some of a proposal and did not finish it, by its records.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub(crate) async fn made_earlier(
        &self,
        proposal: &Proposal,
        on_record: &ProposalOnRecord,
    ) -> Result<Option<Warning>> {
        let begun_by = self.begun_among(&on_record.sets, proposal).await?;
        Ok(Self::warned_of_earlier(proposal, &begun_by))
    }

    /// Says of a set of an agent's that these calls made some of it.
    pub fn warned_of_earlier(proposal: &Proposal, begun_by: &[CallId]) -> Option<Warning> {
        if begun_by.is_empty() {
            return None;
        }
        let earlier = separated(begun_by, ", ");
        let message = match &proposal.state {
            ProposalState::Applied { applied_by, .. } => format!(
                "{earlier} made some of it earlier, and undoing {applied_by} keeps that; undo each call, the last first."
            ),
            ProposalState::Open => format!(
                "{earlier} made some of it, or may have, and did not finish; a person applies the rest, or takes that back."
            ),
            _ => format!("{earlier} made some of it, or may have, and that stays."),
        };
        Some(Warning::new("made_before", message))
    }

    /// Records that a proposal was applied. The write has happened: a failure here is made up for
    /// when somebody asks for the proposal again.
    pub(crate) async fn applied(&self, held: HeldProposal, record: &EntryBuilder) {
        let omitted = record.omitted.as_ref();
        let state = ProposalState::Applied {
            decided: Date::now(),
            applied_by: record.call(),
            left_out: omitted.map_or_else(Vec::new, |omitted| omitted.numbers().to_vec()),
        };
        let why = omitted.map(ToString::to_string);
        let keep = async {
            let entry = record.decided("applied", why.as_deref());
            self.past.audit.record(entry).await?;
            held.set(state).await
        };
        if let Err(error) = keep.await {
            tracing::error!(%error, call = %record.call(), "that a proposal was applied could not be kept");
        }
    }
}

/// The failure for a set of which some changes are on the wiki: rejected, it would count as not made.
fn half_made(by: CallId) -> Failure {
    let message = format!(
        "The call {by} made some of this set, or may have, and did not finish; it was not rejected."
    );
    Failure::new(Code::ProposalOutdated, message)
        .detail("madeBy", by.to_string())
        .hint("Apply the rest of the set, take that call back first (`wikijs-gate undo`), or reject the rest alone (`proposals reject --keep-made`).")
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
        ProposalState::Withdrawn { withdrawn_by, .. } => {
            failure.detail("withdrawnBy", withdrawn_by.as_str())
        }
        ProposalState::Open | ProposalState::Rejected { .. } => failure,
    }
}
