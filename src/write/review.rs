//! A proposal is looked at.

use serde_json::{Map, Value};

use crate::audit::{Proposal, ProposalId, ProposalState};
use crate::change::Change;
use crate::error::{Code, Failure};

use super::desk::Desk;
use super::proposals::told;
use super::source::proposal::outdated::{Outdated, held_against};
use super::source::whole_page;

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

impl Desk {
    /// A proposal with what it changes, and whether it still fits the page.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is no such proposal, `AUDIT_UNAVAILABLE` if what was kept of it
    /// cannot be read.
    pub async fn review(&self, id: ProposalId) -> Result<Review, Failure> {
        // A decision that was cut short is found out here.
        let (proposal, hindrance) = match self.proposals.hold_open_now(id).await {
            // It is as the log says: that need not be looked up again.
            Ok(held) => (held.proposal().clone(), None),
            Err(failure) => {
                let found = self.audit.proposal(id).await;
                (found.map_err(|error| told(&error))?, Some(failure))
            }
        };
        let is_open = proposal.state == ProposalState::Open;
        let (change, unseen) = match self.proposals.change_of(&proposal).await {
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
                Some(id) => whole_page::to_write(&self.wiki, id, change.lost())
                    .await
                    .is_ok(),
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
            let fits = held_against(self, &review.proposal, change).await;
            review.hindrance = fits.err().map(Outdated::told);
        }
        Ok(review)
    }
}
