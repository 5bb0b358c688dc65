//! Applies a proposal.
//!
//! It goes the way of every write. Neither its file nor its states are trusted. The file must say
//! what the record of its making says. The states must be those that the file names, ask for
//! nothing that a call could not ask for, and fit the page as it is.

use std::collections::HashSet;

use crate::audit::{Proposal, ProposalId};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, SetChange, TurnOf};
use crate::wiki::Wiki;

use super::{Agreed, ChangeSource, Made, Under, WriteCall, checked};
use crate::write::{EntryBuilder, KeptChange, WriteHistory, broke_off};

mod needs;
pub(crate) mod outdated;
pub(crate) mod set;
pub(super) mod values;

pub(crate) use needs::Needs;
use outdated::{into_failure, read_now};

/// A request to apply a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apply {
    /// The proposal.
    pub id: ProposalId,
    /// True if it is merged with changes made since, if they do not overlap.
    pub merge: bool,
    /// The changes of a set that are left out, by their numbers from 0; what depends on them is
    /// left out with them.
    pub leave_out: Vec<usize>,
    /// The digest of what a person was shown ([`Review::digest`](crate::write::Review::digest)):
    /// nothing else is applied.
    pub expects: Option<String>,
}

impl Apply {
    /// All of a proposal.
    pub const fn all_of(id: ProposalId) -> Self {
        Self {
            id,
            merge: false,
            leave_out: Vec::new(),
            expects: None,
        }
    }

    /// Checks that the applied changes are those that a person was shown.
    async fn is_as_shown(
        &self,
        past: &WriteHistory,
        proposal: &Proposal,
        kept: &[KeptChange],
    ) -> Result<()> {
        let Some(expected) = &self.expects else {
            return Ok(());
        };
        let looked = Box::pin(set::look(past, kept)).await;
        if set::digest_of(proposal, kept, &looked) == *expected {
            return Ok(());
        }
        let fault = looked.into_iter().find_map(|one| one.fault);
        let details = fault.map(|fault| fault.details).unwrap_or_default();
        let failure = Failure::new(
            Code::ProposalOutdated,
            "It is not what was shown any more; nothing was sent.",
        );
        Err(Failure { details, ..failure }.hint("Look at the proposal again, then decide."))
    }

    /// True if the shown set leaves out the same changes.
    fn leaves_out_as(&self, shown: &ChangeSet) -> bool {
        let mut own = self.leave_out.clone();
        own.sort_unstable();
        own.dedup();
        let omitted = shown.batch().omitted.as_ref();
        omitted.map_or(&[][..], |omitted| &omitted.asked) == own
    }
}

impl ChangeSource for Apply {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.proposal(self.id);
    }

    async fn turn(&self, call: WriteCall<'_>) -> TurnOf {
        // An unreadable proposal is refused when it is held; a set's changes take turns of their
        // own.
        match call.past.audit.proposals.get(self.id).await {
            Ok(proposal) if !proposal.is_list => {
                let first = &proposal.first;
                let moves = first.fields.iter().any(|field| field.is_place());
                TurnOf::new(first.page, moves || first.operation.rebuilds_tree())
            }
            _ => TurnOf::default(),
        }
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let proposal = match call.under {
            Under::Held(held) => held.proposal().clone(),
            _ => call.proposals.hold_open(self.id).await?.proposal().clone(),
        };
        let kept = set::kept(call.proposals, &proposal).await?;
        Box::pin(self.is_as_shown(call.past, &proposal, &kept)).await?;
        let set = if proposal.is_list {
            let how = (self.merge, &*self.leave_out);
            Box::pin(set::made(call, &proposal, kept, how)).await?
        } else {
            // One change alone cannot be left out.
            set::omission(call.wiki(), &kept, &self.leave_out).await?;
            let (one, kept) = kept.into_iter().next().ok_or_else(broke_off)?;
            let read = read_now(call.wiki(), &kept).await;
            let freed = HashSet::new();
            let fits = set::fitting(call.past, &one, (kept, read), self.merge, &freed);
            let change = Box::pin(fits).await.map_err(into_failure)?;
            ChangeSet::single(call.id, SetChange::from(change).undoing(one.undoes))
        };
        let set = set.of_proposal(Some(self.id));
        Ok(checked(set.noted(proposal.note)))
    }

    async fn agrees(&self, _: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        Ok(shown.proposal() == Some(self.id) && self.leaves_out_as(shown))
    }
}
