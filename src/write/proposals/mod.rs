//! Changes that were shown and not sent, kept as proposals for a person to decide.

mod ending;
mod last;
mod quota;
mod standing;

use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;

use crate::audit::{
    AuditError, AuditResult, CallId, KeyDigest, LinkLeftOpen, MAX_LINKS_LEFT, Proposal, ProposalId,
    ProposalState, ProposedChange,
};
use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, Gate, Gated, LinkLeft, Refusal, SessionId, SetChange};
use crate::page::Date;

use super::audit_entry::EntryBuilder;
use super::memory::SessionStore;
use super::undo::history::WriteHistory;
use last::{Last, ProposalSubject};
use quota::{bytes, no_room};

pub(super) use quota::ProposalQuota;
pub use standing::{ListedProposal, ListedState, MAX_LISTED};

/// A change of a proposal, as its document tells it and as it was kept.
pub(crate) type KeptChange = (ProposedChange, Change);

/// The most bytes that the states of a proposed set take.
const MOST_OF_SET: u64 = 32 * 1024 * 1024;

/// The proposals of a wiki, for one key.
#[derive(Debug)]
pub struct Proposals {
    pub(super) past: WriteHistory,
    /// Time to wait for a proposal that somebody else is deciding.
    queueing: Duration,
    last: Last,
    room: Arc<ProposalQuota>,
}

impl Proposals {
    pub(super) fn new(
        past: WriteHistory,
        queueing: Duration,
        room: Arc<ProposalQuota>,
        sessions: Arc<SessionStore>,
    ) -> Self {
        Self {
            past,
            queueing,
            last: Last::new(sessions),
            room,
        }
    }

    /// All proposals of the wiki whose pages may be read, oldest first.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`; the wiki's error, if there are bounds on reading.
    pub async fn all(&self) -> Result<Vec<Proposal>> {
        let mut told = Vec::new();
        for proposal in self.past.audit.proposals.all().await? {
            if self.past.admits_proposal(&proposal).await? {
                told.push(proposal);
            }
        }
        Ok(told)
    }

    /// One of them.
    ///
    /// # Errors
    /// `INVALID_INPUT` if there is none, or if its pages may not be read; what the wiki says.
    pub async fn one(&self, id: ProposalId) -> Result<Proposal> {
        let found = self.past.audit.proposals.get(id).await?;
        if self.past.admits_proposal(&found).await? {
            return Ok(found);
        }
        Err(AuditError::NoProposal.into())
    }

    /// The time at which an open proposal expires.
    pub fn expires(&self, proposal: &Proposal) -> Option<OffsetDateTime> {
        let kept = time::Duration::days(self.room.keep().proposal_days.into());
        let made = proposal.created.instant();
        made.filter(|_| proposal.state == ProposalState::Open)?
            .checked_add(kept)
    }

    /// The time from its making for which a proposal is kept at least.
    pub fn ttl(&self, proposal: &Proposal) -> Duration {
        let days = u64::from(self.room.keep().proposal_days);
        let made = proposal.created.instant();
        let decided = proposal.state.decided().and_then(Date::instant);
        let since = decided.zip(made).map(|(decided, made)| decided - made);
        let since = since.and_then(|since| Duration::try_from(since).ok());
        Duration::from_secs(days * 86_400).saturating_add(since.unwrap_or_default())
    }

    /// The word for a session in proposals.
    pub fn session_word(&self, session: &SessionId) -> String {
        format!("{:016x}", self.last.words.hash_one(session))
    }

    /// Keeps a set as a proposal: the states of its changes, its records, then its file; changes that
    /// do nothing are left out. Also returns the open proposal that a single change replaces.
    pub(super) async fn keep(
        &self,
        record: &mut EntryBuilder,
        set: &ChangeSet,
    ) -> Gated<(ProposalId, Option<ProposalId>)> {
        let room = effective(set).fold(0, |sum: u64, one| sum.saturating_add(bytes(&one.change)));
        if set.is_list() && room > MOST_OF_SET {
            return Err(Refusal::at(Gate::Record, too_large(room)));
        }
        let id = self.take_room(record.session(), room).await?;
        self.make(record, set, id).await?;
        let subject = ProposalSubject::of(&set.first().change).filter(|_| !set.is_list());
        let old = match subject {
            Some(subject) => self.last.replace(record.session(), subject, id).await,
            None => None,
        };
        let Some(old) = old else {
            return Ok((id, None));
        };
        let is_replaced = self.replace(record, old, id).await.unwrap_or_else(|error| {
            tracing::warn!(%error, proposal = %old, "a proposal could not be replaced");
            false
        });
        Ok((id, is_replaced.then_some(old)))
    }

    /// The session's last proposed change of a page, if it is undecided.
    pub(super) async fn open_change(&self, session: &SessionId, page: i64) -> Option<Change> {
        let id = self.last.of(session, ProposalSubject::Page(page)).await?;
        let proposal = self.past.audit.proposals.get(id).await.ok()?;
        let one = proposal.changes().next()?;
        if !proposal.is_open() || proposal.is_list || one.undoes.is_some() {
            return None;
        }
        self.change_of(one, proposal.key).await.ok()
    }

    /// The open proposal of the same undo: of the same writes, from the same pages to the same. Also
    /// `None` for what is no undo.
    pub(super) async fn waiting_undo(
        &self,
        record: &EntryBuilder,
        set: &ChangeSet,
    ) -> Result<Option<ProposalId>> {
        let changes: Vec<&SetChange> = effective(set).collect();
        let undone: Option<Vec<CallId>> = changes.iter().map(|one| one.undoes).collect();
        let Some(undone) = undone else {
            return Ok(None);
        };
        let is_candidate = |open: &Proposal| {
            let calls: Option<Vec<CallId>> = open.changes().map(|one| one.undoes).collect();
            open.is_open() && calls.as_ref() == Some(&undone)
        };
        let all = self.all().await?;
        let candidates: Vec<Proposal> = all.into_iter().filter(is_candidate).collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        let mut kept = Vec::new();
        for one in changes {
            let mut record = record.of_proposed(one);
            record.keep_states(&self.past.audit, &one.change).await?;
            let proposed = record.as_proposed(&one.change);
            kept.push((proposed.before, proposed.after));
        }
        let is_same = |open: &&Proposal| {
            let states = open.changes().map(|one| (one.before, one.after));
            states.eq(kept.iter().copied())
        };
        Ok(candidates.iter().find(is_same).map(|open| open.id))
    }

    async fn make(
        &self,
        record: &mut EntryBuilder,
        set: &ChangeSet,
        id: ProposalId,
    ) -> AuditResult<()> {
        let audit = &self.past.audit;
        let mut changes = effective(set);
        let first = changes.next().ok_or(AuditError::BadProposal)?;
        let mut own = if set.is_list() {
            record.of_proposed(first)
        } else {
            record.clone()
        };
        own.keep_states(audit, &first.change).await?;
        own.proposal(id);
        if set.is_list() {
            record.proposal(id);
        } else {
            record.clone_from(&own);
        }
        audit.record(record.preview(false)).await?;
        let mut others = Vec::new();
        for one in changes {
            let mut record = record.of_proposed(one);
            record.keep_states(audit, &one.change).await?;
            audit.record(record.proposed()).await?;
            others.push(ProposedChange {
                links_mended: set.only_mends(one),
                ..record.as_proposed(&one.change)
            });
        }
        let session = self.session_word(record.session());
        let others = set.is_list().then_some(others);
        let proposal = own.as_proposal(id, session, &first.change, others);
        let mending = set.batch().mending.as_ref();
        let left = mending.map_or(&[][..], |mending| &mending.left);
        let proposal = Proposal {
            said: record.said(effective(set)),
            links_left: left.iter().take(MAX_LINKS_LEFT).map(left_open).collect(),
            links_left_not_kept: left.len().saturating_sub(MAX_LINKS_LEFT),
            ..proposal
        };
        audit.proposals.keep(proposal).await?;
        // The last of the records: without it, nothing was proposed.
        audit.record(own.decided("made", None)).await
    }

    /// The id of a new proposal of this size.
    async fn take_room(&self, session: &SessionId, bytes: u64) -> Gated<ProposalId> {
        let id = ProposalId::new()?;
        if self.room.take(&self.past.audit, session, id, bytes).await? {
            Ok(id)
        } else {
            Err(Refusal::at(Gate::Record, no_room()))
        }
    }

    async fn replace(
        &self,
        record: &EntryBuilder,
        old: ProposalId,
        by: ProposalId,
    ) -> AuditResult<bool> {
        // Not waiting for somebody who is just deciding it.
        let held = match self.past.audit.proposals.hold(old, Duration::ZERO).await {
            Ok(held) if held.proposal().state == ProposalState::Open => held,
            Ok(_) | Err(AuditError::NoProposal | AuditError::Busy) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut entry = record.decided("replaced", None);
        entry.proposal = Some(old.to_string());
        entry.reason = Some(format!("by {by}"));
        self.past.audit.record(entry).await?;
        let decided = Date::now();
        held.set(ProposalState::Replaced {
            decided,
            replaced_by: by,
        })
        .await?;
        Ok(true)
    }

    /// The kept changes of a proposal, if our key may see them.
    pub(super) async fn changes_of(&self, proposal: &Proposal) -> Result<Vec<KeptChange>> {
        let states = |one: &ProposedChange| [one.before, one.after].into_iter().flatten();
        let names = proposal.changes().flat_map(states).collect();
        self.past.hold(names).await?;
        let mut changes = Vec::new();
        for one in proposal.changes() {
            let change = self.change_of(one, proposal.key).await?;
            changes.push((one.clone(), change));
        }
        Ok(changes)
    }

    /// A kept change of a proposal that was made with this key, if our key may see it.
    pub(super) async fn change_of(
        &self,
        one: &ProposedChange,
        key: Option<KeyDigest>,
    ) -> Result<Change> {
        let [before, after] = self.past.kept([one.before, one.after], key).await?;
        let change = Change::of_states(before, after);
        let change = change.ok_or(AuditError::BadProposal)?;
        Ok(change
            .with_loss_of(one.lost.clone())
            .by_way_of(one.aside.clone())
            .rendered_anew(one.renders_anew))
    }
}

/// The changes of a set that do something.
fn effective(set: &ChangeSet) -> impl Iterator<Item = &SetChange> {
    set.iter().filter(|one| !one.change.is_empty())
}

fn left_open(left: &LinkLeft) -> LinkLeftOpen {
    LinkLeftOpen {
        page: left.id,
        locale: left.place.0.clone(),
        path: left.place.1.clone(),
        line: left.link.as_ref().map(|(_, line)| *line),
        why: left.why.clone().into_owned(),
    }
}

fn too_large(bytes: u64) -> Failure {
    Failure::new(
        Code::TooLarge,
        "The pages of this set are too large to be proposed together; nothing was kept.",
    )
    .hint("Name fewer pages in one call.")
    .detail("bytes", bytes)
    .detail("most", MOST_OF_SET)
}
