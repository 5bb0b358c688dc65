//! A change that was shown and not sent is kept as a proposal, for a person to decide.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::audit::{AuditError, ProposalId, ProposalState};
use crate::change::Change;
use crate::gates::{Gate, Refusal, SessionId};
use crate::page::{Locale, PagePath};
use crate::share::that_goes;

use super::docket::{Docket, now, unavailable};
use super::writer::Writer;

/// How many proposals are remembered, so that a later one of the session can replace them; then
/// those are forgotten of the owner that has the most.
const MOST: usize = 10_000;

/// What the sessions of this run proposed last for each page.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    /// Makes words of sessions that tell nothing of their names.
    words: RandomState,
    last: Mutex<HashMap<(SessionId, Subject), ProposalId>>,
}

/// What a later proposal of the same session replaces the earlier of.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Subject {
    Page(i64),
    Place(Locale, PagePath),
}

impl Subject {
    fn of(change: &Change) -> Self {
        let page = change.target();
        match page.id {
            Some(id) => Self::Page(id),
            None => Self::Place(page.locale.clone(), page.path.clone()),
        }
    }
}

impl Proposed {
    /// The proposal that a new one takes the place of.
    fn replace(&self, session: &SessionId, subject: Subject, id: ProposalId) -> Option<ProposalId> {
        if !session.lasts() {
            return None;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= MOST {
            let owners = last.keys().map(|(session, _)| (session.owner(), 1));
            let held: Vec<_> = owners.collect();
            let place = that_goes(&held, (session.owner(), 1));
            let most = place.and_then(|place| held.get(place));
            let most = most.map(|(owner, _)| (*owner).to_owned());
            last.retain(|(session, _), _| Some(session.owner()) != most.as_deref());
        }
        last.insert((session.clone(), subject), id)
    }
}

impl Writer {
    /// The word for a session in proposals.
    #[must_use]
    pub fn session_word(&self, session: &SessionId) -> String {
        format!("{:016x}", self.proposed.words.hash_one(session))
    }

    /// Keeps a change as a proposal: its states, the records of it, then itself.
    pub(super) async fn propose(
        &self,
        docket: &mut Docket,
        session: &SessionId,
        change: &Change,
    ) -> Result<ProposalId, Refusal> {
        let made = self.make_proposal(docket, session, change).await;
        let id = made.map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
        if let Some(old) = self.proposed.replace(session, Subject::of(change), id)
            && let Err(error) = self.replace(docket, old, id).await
        {
            tracing::warn!(%error, proposal = %old, "a proposal could not be replaced");
        }
        Ok(id)
    }

    async fn make_proposal(
        &self,
        docket: &mut Docket,
        session: &SessionId,
        change: &Change,
    ) -> Result<ProposalId, AuditError> {
        let id = ProposalId::new()?;
        self.keep_states(change, docket).await?;
        docket.proposal(id);
        self.audit.record(docket.preview(false)).await?;
        self.audit.record(docket.decided("made", None)).await?;
        let proposal = docket.as_proposal(id, self.session_word(session), change);
        self.audit.keep_proposal(proposal).await?;
        Ok(id)
    }

    async fn replace(
        &self,
        docket: &Docket,
        old: ProposalId,
        by: ProposalId,
    ) -> Result<(), AuditError> {
        // Somebody who is just deciding it is not waited for.
        let held = match self.audit.hold_proposal(old, Duration::ZERO).await {
            Ok(held) if held.proposal().state == ProposalState::Open => held,
            Ok(_) | Err(AuditError::NoProposal | AuditError::Busy) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut entry = docket.decided("replaced", None);
        entry.proposal = Some(old.to_string());
        entry.reason = Some(format!("by {by}"));
        self.audit.record(entry).await?;
        let decided = now();
        held.set(ProposalState::Replaced {
            decided,
            replaced_by: by,
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Proposed, Subject};
    use crate::audit::ProposalId;
    use crate::gates::SessionId;

    #[test]
    fn who_proposes_much_makes_nothing_forgotten_that_others_proposed() {
        let proposed = Proposed::default();
        let few = SessionId::new("a/1").owned_by("a");
        let much = SessionId::new("b/1").owned_by("b");
        let id = ProposalId::new().unwrap();
        proposed.replace(&few, Subject::Page(0), id);
        for page in 0..i64::try_from(MOST).unwrap() {
            proposed.replace(&much, Subject::Page(page), id);
        }
        assert_eq!(proposed.replace(&few, Subject::Page(0), id), Some(id));
        assert_eq!(proposed.replace(&much, Subject::Page(0), id), None);
    }
}
