//! Applies a proposal.
//!
//! It goes the way of every write. Neither its file nor its states are trusted. The file must say
//! what the record of its making says. The states must be those that the file names, ask for
//! nothing that a call could not ask for, and fit the page as it is.

use crate::audit::{Proposal, ProposalId, ProposedChange};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, SetChange};

use super::bulk::still_so;
use super::{ChangeSource, ComparedSet, Later, Stopped, WriteCall, again, checked, mismatch};
use crate::write::audit_entry::EntryBuilder;
use crate::write::context::WriteContext;
use crate::write::stages::send::broke_off;

mod digest;
mod needs;
pub(in crate::write) mod outdated;
pub(in crate::write) mod set;
pub(super) mod values;

pub(in crate::write) use needs::Needs;
use outdated::{Outdated, held_against, is_free, read_now};

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
    #[must_use]
    pub const fn all_of(id: ProposalId) -> Self {
        Self {
            id,
            merge: false,
            leave_out: Vec::new(),
            expects: None,
        }
    }

    /// The change of the page as it is now.
    async fn change(
        &self,
        desk: &WriteContext,
        (one, kept): (ProposedChange, Change),
    ) -> Result<SetChange, Stopped> {
        let read = read_now(desk, &kept).await;
        let change = match Box::pin(held_against(desk, one.undoes, kept, read)).await {
            Ok(change) => change,
            Err(Outdated {
                merged: Some(merged),
                ..
            }) if self.merge => *merged,
            Err(outdated) => return Err(outdated.into_failure().into()),
        };
        is_free(desk, &change).await?;
        let undoes = one.undoes;
        Ok(SetChange {
            undoes,
            ..SetChange::from(change)
        })
    }

    /// Checks that the applied changes are those that a person was shown.
    async fn is_as_shown(
        &self,
        desk: &WriteContext,
        proposal: &Proposal,
        kept: &set::ProposalChanges,
    ) -> Result<(), Failure> {
        let Some(expected) = &self.expects else {
            return Ok(());
        };
        let looked = Box::pin(set::look(desk, kept)).await;
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
        shown.omitted().map_or(&[][..], |shown| &shown.asked) == own
    }
}

impl ChangeSource for Apply {
    fn tell<'a>(&'a self, desk: &'a WriteContext, docket: &'a mut EntryBuilder) -> Later<'a, ()> {
        docket.proposal(self.id);
        Box::pin(async {
            if let Ok(proposal) = desk.audit.proposal(self.id).await {
                docket.decides_on(&proposal);
            }
        })
    }

    fn page_of_turn<'a>(&'a self, desk: &'a WriteContext) -> Later<'a, Option<i64>> {
        // An unreadable proposal is refused when it is held.
        Box::pin(async {
            let proposal = desk.audit.proposal(self.id).await.ok()?;
            proposal.page.filter(|_| !proposal.is_list)
        })
    }

    fn proposal(&self) -> Option<ProposalId> {
        Some(self.id)
    }

    fn made<'a>(&'a self, call: WriteCall<'a>) -> Later<'a, Result<ComparedSet, Stopped>> {
        Box::pin(async move {
            let desk = call.desk;
            desk.recovered().await;
            let held = desk.proposals.hold_open(self.id).await?;
            let proposal = held.proposal().clone();
            drop(held);
            let kept = set::kept(desk, &proposal).await?;
            Box::pin(self.is_as_shown(desk, &proposal, &kept)).await?;
            let set = if proposal.is_list {
                let how = (self.merge, &*self.leave_out);
                Box::pin(set::made(call, &proposal, kept, how)).await?
            } else {
                // One change alone cannot be left out.
                set::omission(desk, &kept, &self.leave_out).await?;
                let change = kept.into_iter().next().ok_or_else(broke_off)?;
                ChangeSet::single(call.id, Box::pin(self.change(desk, change)).await?)
            };
            let set = set.of_proposal(Some(self.id));
            Ok(checked(set.noted(proposal.note)))
        })
    }

    fn shown_again<'a>(
        &'a self,
        call: WriteCall<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<ComparedSet, Stopped>> {
        let is_own = shown.proposal() == Some(self.id) && self.leaves_out_as(&shown);
        if shown.is_list() {
            return Box::pin(async move {
                if is_own {
                    still_so(call, shown).await
                } else {
                    Err(mismatch().into())
                }
            });
        }
        Box::pin(again(call, shown, is_own, async |_| Ok(())))
    }
}
