//! A change that was shown and not sent is kept as a proposal, for a person to decide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::{AuditError, GRACE, ProposalId, ProposalState};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{Gate, Refusal, SessionId};
use crate::page::{Locale, PagePath, PageState};
use crate::share::that_goes;

use super::docket::{Docket, now, unavailable};
use super::writer::Writer;

/// How many proposals are remembered, so that a later one of the session can replace them; then
/// those are forgotten of the owner that has the most.
const MOST: usize = 10_000;
/// The part of what the audit directory may take that one owner's proposals may have: the fourth.
const PARTS: u64 = 4;
/// What they may have however little that is, in bytes.
const LEAST: u64 = 8 * 1024 * 1024;
/// What a proposal takes beside the texts of its states, about: records, its file, other fields.
const BESIDE: usize = 4 * 1024;

/// What the sessions of this run proposed last for each page.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    /// Makes words of sessions that tell nothing of their names.
    words: RandomState,
    last: Mutex<HashMap<(SessionId, Subject), ProposalId>>,
    /// What takes room in the audit directory.
    taking: Mutex<Vec<Taking>>,
}

/// A proposal that takes room.
#[derive(Debug)]
struct Taking {
    owner: String,
    id: ProposalId,
    bytes: u64,
    since: Instant,
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

    /// Takes room for a proposal, unless its owner would have more than this much.
    fn take(&self, owner: &str, id: ProposalId, bytes: u64, most: u64) -> bool {
        let mut taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taking.iter().filter(|it| it.owner == owner);
        let has_room = own.fold(bytes, |sum, it| sum.saturating_add(it.bytes)) <= most;
        if has_room {
            taking.push(Taking {
                owner: owner.to_owned(),
                id,
                bytes,
                since: Instant::now(),
            });
        }
        has_room
    }

    /// The proposals whose states a purge no longer spares: they take room only while they are
    /// open.
    fn spared_no_more(&self) -> Vec<ProposalId> {
        let taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let old = taking.iter().filter(|it| it.since.elapsed() > GRACE);
        old.map(|it| it.id).collect()
    }

    fn forget(&self, gone: &HashSet<ProposalId>) {
        let mut taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        taking.retain(|it| !gone.contains(&it.id));
    }
}

/// How many bytes a proposal takes at most, about.
fn bytes(change: &Change) -> u64 {
    let text = |page: &PageState| page.content.len() + page.script_css.len() + page.script_js.len();
    let states = change.before().into_iter().chain(change.after());
    let bytes = states.map(text).sum::<usize>() + BESIDE;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn no_room() -> Failure {
    Failure::new(
        Code::TooLarge,
        "The proposals of this client take their whole share of the audit directory; nothing was kept.",
    )
    .hint("Have the operator decide on proposals, or raise WIKI_AUDIT_KEEP_MB; what was decided gives its room back after an hour.")
}

impl Writer {
    /// The word for a session in proposals.
    #[must_use]
    pub fn session_word(&self, session: &SessionId) -> String {
        format!("{:016x}", self.proposed.words.hash_one(session))
    }

    /// Keeps a change as a proposal: its states, the records of it, then itself. Gives the open
    /// proposal that it takes the place of, too.
    pub(super) async fn propose(
        &self,
        docket: &mut Docket,
        session: &SessionId,
        change: &Change,
    ) -> Result<(ProposalId, Option<ProposalId>), Refusal> {
        let at_record = |failure| Refusal::at(Gate::Record, failure);
        let id = ProposalId::new().map_err(|error| at_record(unavailable(&error)))?;
        let has_room = self.take_room(session, id, bytes(change)).await;
        if !has_room.map_err(|error| at_record(unavailable(&error)))? {
            return Err(at_record(no_room()));
        }
        let made = self.make_proposal(docket, session, change, id).await;
        made.map_err(|error| at_record(unavailable(&error)))?;
        let old = self.proposed.replace(session, Subject::of(change), id);
        let Some(old) = old else {
            return Ok((id, None));
        };
        let is_replaced = self.replace(docket, old, id).await.unwrap_or_else(|error| {
            tracing::warn!(%error, proposal = %old, "a proposal could not be replaced");
            false
        });
        Ok((id, is_replaced.then_some(old)))
    }

    /// Takes room for a proposal in the share of its owner, whatever key it came with: says
    /// whether there is any.
    async fn take_room(
        &self,
        session: &SessionId,
        id: ProposalId,
        bytes: u64,
    ) -> Result<bool, AuditError> {
        let proposed = &self.root().proposed;
        let most = (self.keep.bytes / PARTS).max(LEAST);
        if proposed.take(session.owner(), id, bytes, most) {
            return Ok(true);
        }
        // Some may have been decided meanwhile, by another process too.
        let old = proposed.spared_no_more();
        let open = self.audit.still_open(old.clone()).await?;
        proposed.forget(&old.into_iter().filter(|id| !open.contains(id)).collect());
        Ok(proposed.take(session.owner(), id, bytes, most))
    }

    async fn make_proposal(
        &self,
        docket: &mut Docket,
        session: &SessionId,
        change: &Change,
        id: ProposalId,
    ) -> Result<(), AuditError> {
        self.keep_states(change, docket).await?;
        docket.proposal(id);
        self.audit.record(docket.preview(false)).await?;
        self.audit.record(docket.decided("made", None)).await?;
        let proposal = docket.as_proposal(id, self.session_word(session), change);
        self.audit.keep_proposal(proposal).await
    }

    async fn replace(
        &self,
        docket: &Docket,
        old: ProposalId,
        by: ProposalId,
    ) -> Result<bool, AuditError> {
        // Somebody who is just deciding it is not waited for.
        let held = match self.audit.hold_proposal(old, Duration::ZERO).await {
            Ok(held) if held.proposal().state == ProposalState::Open => held,
            Ok(_) | Err(AuditError::NoProposal | AuditError::Busy) => return Ok(false),
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
        .await?;
        Ok(true)
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

    #[test]
    fn each_owner_has_a_share_of_its_own() {
        let proposed = Proposed::default();
        let take = |owner, bytes| {
            let id = ProposalId::new().unwrap();
            proposed.take(owner, id, bytes, 10).then_some(id)
        };
        let first = take("a", 6).unwrap();
        assert!(take("a", 5).is_none() && take("b", 10).is_some() && take("b", 1).is_none());
        // What was just kept cannot go yet, decided or not.
        assert_eq!(proposed.spared_no_more(), []);
        proposed.forget(&[first].into());
        assert!(take("a", 10).is_some());
    }
}
