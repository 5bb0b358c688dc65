//! Sets that were left to people: waiting for a decision, and what became of them.

use std::time::Duration;

use tokio::time::Instant;

use crate::audit::{
    AuditError, CallHistory, CallId, CallSelector, Outcome, Proposal, ProposalId, ProposalOnRecord,
    ProposalState,
};
use crate::change::Warning;
use crate::error::{Code, Failure, Result};
use crate::gates::SessionId;
use crate::notice::Invitation;
use crate::notify::ReviewAddress;
use crate::page::Date;

use crate::write::memory::Knowing;
use crate::write::{Caller, SetAnswer, WriteContext};

/// The most pages of an applied set that are looked at again for the session that asked for it.
const MOST_KNOWN_AGAIN: usize = 20;

/// A set that was left to people.
#[derive(Debug)]
pub struct PendingSet {
    /// The set.
    pub proposal: Proposal,
    /// The place where a person decides on it: the address of its page, or a command.
    pub review: String,
    /// Its state.
    pub became: Became,
}

/// The state of a set that was left to people.
#[derive(Debug)]
pub enum Became {
    /// Nobody has decided yet. A call of a person may have tried to apply it, or may have made some of it.
    Waiting(Option<Warning>),
    /// A person is applying it: so many of its changes are made.
    Applying {
        /// Number of changes made.
        made: usize,
    },
    /// A person applied it, perhaps without some of its changes.
    Applied(Box<SetAnswer>),
    /// A person said no.
    Rejected {
        /// The time of the decision.
        decided: Date,
        /// The reason, in the person's words.
        reason: String,
        /// What was made of it before, and stays.
        made: Option<Warning>,
    },
    /// A later set of the same session took its place.
    Replaced(ProposalId),
    /// Its client took it back, at this time.
    Withdrawn(Date),
}

impl WriteContext {
    /// Time that this caller's writes wait for a person's decision; `None` if they answer at once.
    pub fn waiting(&self, caller: &Caller) -> Option<Duration> {
        self.policy_for(caller).waiting()
    }

    /// The state of a set, after waiting at most this long for a decision.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is no such set any more; `AUDIT_UNAVAILABLE`.
    pub async fn became_of(
        &self,
        caller: &Caller,
        id: ProposalId,
        limit: Option<Duration>,
    ) -> Result<PendingSet> {
        let mut proposal = self.proposals.one(id).await?;
        if let Some(limit) = limit
            && let Ok(_place) = self.house.waiting.try_acquire()
        {
            if proposal.is_open()
                && let Some(page) = self.review_for(caller).page_of(id)
            {
                let id = id.to_string();
                Invitation { id, page }.give();
            }
            let until = Instant::now() + limit;
            while proposal.is_open() && Instant::now() < until {
                let next = Instant::now() + self.patience.pause;
                tokio::time::sleep_until(next.min(until)).await;
                match self.proposals.one(id).await {
                    Ok(found) => proposal = found,
                    Err(failure) if failure.code == Code::InvalidInput => return Err(failure),
                    // The wiki does not say now what may be read.
                    Err(_) => {}
                }
            }
        }
        let became = self.became(&caller.session, &proposal).await?;
        Ok(PendingSet {
            review: self.review_for(caller).for_set(id),
            proposal,
            became,
        })
    }

    /// The state of a set of the caller's own, for a client that asks often: as long as nobody has
    /// begun to decide on it, its document alone is read. `None` if the caller has none of this id.
    ///
    /// # Errors
    /// What the record or the wiki says.
    pub async fn polled(
        &self,
        caller: &Caller,
        id: ProposalId,
        is_own: impl Fn(&Proposal) -> bool,
    ) -> Result<Option<PendingSet>> {
        let document = match self.audit.proposals.document(id).await {
            Ok(document) if is_own(&document) => document,
            Ok(_) | Err(AuditError::NoProposal) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if document.is_open() && !document.is_begun {
            return Ok(Some(PendingSet {
                review: self.review_for(caller).for_set(id),
                proposal: document,
                became: Became::Waiting(None),
            }));
        }
        match self.became_of(caller, id, None).await {
            Ok(left) => Ok(Some(left).filter(|left| is_own(&left.proposal))),
            // It is gone, or its pages may not be read any more.
            Err(failure) if failure.code == Code::InvalidInput => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The review page as a caller reaches it.
    pub(super) fn review_for(&self, caller: &Caller) -> ReviewAddress {
        self.policy.review.seen_from(caller.review.as_ref())
    }

    /// The state of a set on which nobody has decided.
    async fn open(&self, proposal: &Proposal, on_record: &ProposalOnRecord) -> Result<Became> {
        let Some(call) = on_record.attempts.last().copied() else {
            return Ok(Became::Waiting(None));
        };
        if self.audit.proposals.is_held(proposal.id).await? {
            let made = on_record.applied.len();
            return Ok(Became::Applying { made });
        }
        if let Some(begun) = self.proposals.made_earlier(proposal, on_record).await? {
            return Ok(Became::Waiting(Some(begun)));
        }
        let story = self.past.story(&CallSelector::from(call), None).await;
        let outcome = story.ok().and_then(|story| story.outcome);
        Ok(Became::Waiting(outcome.map(|outcome| tried(call, outcome))))
    }

    async fn became(&self, session: &SessionId, proposal: &Proposal) -> Result<Became> {
        let on_record = self.audit.proposals.on_record(proposal.id).await?;
        // A file that says no where the record does not was changed by somebody else.
        let ended = on_record.decided.as_ref().map(ProposalState::as_str);
        let is_on_record = |word| ended == Some(word);
        match &proposal.state {
            ProposalState::Open => self.open(proposal, &on_record).await,
            ProposalState::Applied { applied_by, .. } => {
                let set = self.past.change_set(*applied_by, None).await?;
                let (mut applied, calls) = set.ok_or_else(not_told)?;
                let earlier = self.proposals.made_earlier(proposal, &on_record).await?;
                applied.notes.warnings.extend(earlier);
                if self.memory.applied.is_first(*applied_by) {
                    self.know_again(session, proposal, &calls).await;
                    // Pages and index of before the decision are outdated.
                    self.wiki.forget_pages().await;
                    self.index.outdated();
                }
                Ok(Became::Applied(Box::new(applied)))
            }
            ProposalState::Rejected { decided, reason } if is_on_record("rejected") => {
                Ok(Became::Rejected {
                    decided: decided.clone(),
                    reason: reason.clone(),
                    made: self.proposals.made_earlier(proposal, &on_record).await?,
                })
            }
            ProposalState::Replaced { replaced_by, .. } if is_on_record("replaced") => {
                Ok(Became::Replaced(*replaced_by))
            }
            ProposalState::Withdrawn { decided, .. } if is_on_record("withdrawn") => {
                Ok(Became::Withdrawn(decided.clone()))
            }
            ProposalState::Rejected { .. }
            | ProposalState::Replaced { .. }
            | ProposalState::Withdrawn { .. } => Err(Failure::new(
                Code::AuditUnavailable,
                "The set's file tells a decision that is not on record.",
            )
            .hint("Tell the user: the proposal's file was changed; `wikijs-gate audit verify` says more.")),
        }
    }

    /// A session that knew the pages from which a set was made knows them as a person's decision
    /// left them, as after its own write; not those that differ by now from what was applied.
    async fn know_again(&self, session: &SessionId, proposal: &Proposal, calls: &[CallHistory]) {
        let knowing = Knowing::in_part(session);
        let mut known = 0;
        for change in proposal.changes() {
            let (Some(id), Some(read)) = (change.page, &change.updated_at) else {
                continue;
            };
            if known == MOST_KNOWN_AGAIN {
                break;
            }
            let seen = self.memory.reads.last(session, id).await;
            if seen.is_none_or(|seen| !seen.knows_of(read)) {
                continue;
            }
            known += 1;
            let before = change.before;
            let is_it = |call: &&CallHistory| call.id == Some(id) && call.before == before;
            let Some(call) = calls.iter().find(is_it) else {
                continue;
            };
            let applied = self.past.kept([call.after], call.key).await;
            // Without both states the next write is compared with what the session read itself.
            if let (Ok([Some(applied)]), Ok(now)) = (applied, self.wiki.page_by_id(id).await)
                && now.content.as_ref() == Some(&applied.content)
                && let Some(at) = &now.updated_at
            {
                self.memory.reads.note_written(&knowing, id, at).await;
            }
        }
    }
}

/// The warning that a call did not decide a set of one change.
fn tried(call: CallId, outcome: Outcome) -> Warning {
    let outcome = outcome.as_str();
    let message = format!("a person tried to apply it with the call {call}: {outcome}.");
    Warning::new("tried", message)
}

/// The failure if it is not told what an applied set did.
fn not_told() -> Failure {
    Failure::new(
        Code::InvalidInput,
        "The set was applied; what it did is not on record any more, or is of pages that may not be read.",
    )
}
