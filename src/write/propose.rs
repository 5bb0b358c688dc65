//! A change that was shown and not sent is kept as a proposal, for a person to decide.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::audit::{AuditError, ProposalId, ProposalState};
use crate::change::Change;
use crate::gates::{Gate, Refusal, SessionId};
use crate::page::{Locale, PagePath};

use super::docket::{Docket, now, unavailable};
use super::writer::Writer;

/// How many proposals are remembered, so that a later one of the session can replace them.
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
    fn replace(&self, session: &SessionId, change: &Change, id: ProposalId) -> Option<ProposalId> {
        if !session.lasts() {
            return None;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= MOST {
            last.clear();
        }
        last.insert((session.clone(), Subject::of(change)), id)
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
        if let Some(old) = self.proposed.replace(session, change, id)
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
