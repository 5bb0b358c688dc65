//! Applies a proposal.
//!
//! It goes the way of every write. Neither its file nor its states are trusted. The file must say
//! what the record of its making says. The states must be those that the file names, ask for
//! nothing that a call could not ask for, and fit the page as it is.

use crate::audit::{Proposal, ProposalId, ProposedChange};
use crate::gates::{ChangeSet, SetChange};

use super::bulk::still_so;
use super::{Call, Later, Read, Source, Stopped, again, checked, mismatch};
use crate::write::desk::Desk;
use crate::write::docket::Docket;
use crate::write::stages::send::broke_off;

pub(in crate::write) mod outdated;
pub(in crate::write) mod set;
pub(super) mod values;

use outdated::{Outdated, held_against, is_free};

/// Which proposal to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply {
    /// The proposal.
    pub id: ProposalId,
    /// Whether to merge it with changes made since, if they do not overlap.
    pub merge: bool,
}

impl Apply {
    /// The change of the page as it is now.
    async fn change(
        &self,
        desk: &Desk,
        proposal: &Proposal,
        one: &ProposedChange,
    ) -> Result<SetChange, Stopped> {
        let kept = desk.proposals.change_of(one, proposal.key).await?;
        values::check(&kept, one.undoes)?;
        let change = match held_against(desk, one.undoes, kept).await {
            Ok(change) => change,
            Err(Outdated {
                merged: Some(merged),
                ..
            }) if self.merge => *merged,
            Err(outdated) => return Err(outdated.told().into()),
        };
        is_free(desk, &change).await?;
        let undoes = one.undoes;
        Ok(SetChange {
            undoes,
            ..SetChange::from(change)
        })
    }
}

impl Source for Apply {
    fn tell<'a>(&'a self, desk: &'a Desk, docket: &'a mut Docket) -> Later<'a, ()> {
        docket.proposal(self.id);
        Box::pin(async {
            if let Ok(proposal) = desk.audit.proposal(self.id).await {
                docket.decides_on(&proposal);
            }
        })
    }

    fn page_of_turn<'a>(&'a self, desk: &'a Desk) -> Later<'a, Option<i64>> {
        // An unreadable proposal is refused when it is held.
        Box::pin(async {
            let proposal = desk.audit.proposal(self.id).await.ok()?;
            proposal.page.filter(|_| !proposal.is_list)
        })
    }

    fn proposal(&self) -> Option<ProposalId> {
        Some(self.id)
    }

    fn made<'a>(&'a self, call: Call<'a>) -> Later<'a, Result<Read, Stopped>> {
        Box::pin(async move {
            let desk = call.desk;
            desk.recovered().await;
            let held = desk.proposals.hold_open(self.id).await?;
            let proposal = held.proposal().clone();
            drop(held);
            let set = if proposal.is_list {
                set::made(call, &proposal, self.merge).await?
            } else {
                let change = proposal.changes().next().ok_or_else(broke_off)?;
                ChangeSet::of(call.id, self.change(desk, &proposal, &change).await?)
            };
            let set = set.of_proposal(Some(self.id));
            Ok(checked(set.noted(proposal.note)))
        })
    }

    fn shown_again<'a>(
        &'a self,
        call: Call<'a>,
        shown: ChangeSet,
    ) -> Later<'a, Result<Read, Stopped>> {
        let is_own = shown.proposal() == Some(self.id);
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
