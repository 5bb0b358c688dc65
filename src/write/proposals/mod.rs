//! Changes that were shown and not sent, kept as proposals for a person to decide.

mod quota;
mod standing;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use time::OffsetDateTime;

use crate::audit::{
    Actor, AuditError, CallId, CallSelector, HeldProposal, KeyDigest, LinkLeftOpen, MAX_LINKS_LEFT,
    Outcome, Proposal, ProposalId, ProposalState, ProposedChange, Record,
};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Gate, LinkLeft, Refusal, SessionId, SetChange};
use crate::page::{Locale, PagePath, escaped};
use crate::share::evict_index;

use super::audit_entry::{EntryBuilder, now};
use super::caller::Caller;
use super::undo::history::WriteHistory;
use quota::bytes;

pub(super) use quota::ProposalQuota;
pub(crate) use standing::MAX_LISTED;
pub use standing::{ListedProposal, ListedState};

/// The most bytes that the states of a proposed set take.
const MOST_OF_SET: u64 = 32 * 1024 * 1024;

/// The most characters of a client's name in a proposal that it withdrew.
const MAX_NAME: usize = 60;

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
    pub(super) fn new(past: WriteHistory, queueing: Duration, room: Arc<ProposalQuota>) -> Self {
        Self {
            past,
            queueing,
            last: Last::default(),
            room,
        }
    }

    /// All proposals of the wiki whose pages may be read, oldest first.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`; the wiki's error, if there are bounds on reading.
    pub async fn all(&self) -> Result<Vec<Proposal>, Failure> {
        let all = self.past.audit.proposals.all().await?;
        if self.past.wiki.scope().is_open() {
            return Ok(all);
        }
        let mut told = Vec::new();
        for proposal in all {
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
    pub async fn one(&self, id: ProposalId) -> Result<Proposal, Failure> {
        let found = self.past.audit.proposals.get(id).await?;
        if self.past.admits_proposal(&found).await? {
            return Ok(found);
        }
        Err(AuditError::NoProposal.into())
    }

    /// The time at which an open proposal expires.
    #[must_use]
    pub fn expires(&self, proposal: &Proposal) -> Option<OffsetDateTime> {
        let kept = time::Duration::days(self.room.keep().proposal_days.into());
        let made = proposal.created.instant();
        made.filter(|_| proposal.state == ProposalState::Open)?
            .checked_add(kept)
    }

    /// The word for a session in proposals.
    #[must_use]
    pub fn session_word(&self, session: &SessionId) -> String {
        format!("{:016x}", self.last.words.hash_one(session))
    }

    /// Rejects a proposal; on record.
    ///
    /// # Errors
    /// `PROPOSAL_OUTDATED` if it was decided before, `INVALID_INPUT` if there is none.
    pub async fn reject(
        &self,
        caller: &Caller,
        id: ProposalId,
        reason: &str,
    ) -> Result<Proposal, Failure> {
        let held = self.hold_open(id).await?;
        let (call, key) = (CallId::new()?, self.past.key());
        let record = EntryBuilder::of_proposal(call, caller, key, held.proposal());
        let state = ProposalState::Rejected {
            decided: now(),
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
    ) -> Result<Proposal, Failure> {
        if !is_own(&self.one(id).await?) {
            return Err(AuditError::NoProposal.into());
        }
        let held = self.hold_open(id).await?;
        self.untouched(id).await?;
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
            decided: now(),
            withdrawn_by,
        };
        self.end(held, &record, &why, state).await
    }

    /// Checks that no write of a proposal may have reached the wiki: an open attempt, one of unknown
    /// outcome, or a set that was applied in part and can be gone on with.
    async fn untouched(&self, id: ProposalId) -> Result<(), Failure> {
        let on_record = self.past.audit.proposals.on_record(id).await?;
        for call in on_record.attempts {
            let story = self.past.story(&CallSelector::from(call), None).await?;
            if story.outcome() != Some(Outcome::NotApplied) {
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
    ) -> Result<Proposal, Failure> {
        let proposal = held.proposal().clone();
        let entry = record.decided(state.as_str(), Some(why));
        self.past.audit.record(entry).await?;
        held.set(state.clone()).await?;
        Ok(Proposal { state, ..proposal })
    }

    /// Holds a proposal that is undecided, by its file and by the log.
    pub(super) async fn hold_open(&self, id: ProposalId) -> Result<HeldProposal, Failure> {
        self.hold(id, self.queueing).await
    }

    /// The same, without waiting for somebody who is deciding it.
    pub(super) async fn hold_open_now(&self, id: ProposalId) -> Result<HeldProposal, Failure> {
        self.hold(id, Duration::ZERO).await
    }

    async fn hold(&self, id: ProposalId, wait: Duration) -> Result<HeldProposal, Failure> {
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
            self.applied_by(on_record.attempts).await?
        };
        if let Some(applied_by) = applied_by {
            let state = ProposalState::Applied {
                decided: now(),
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
        Ok(held)
    }

    /// The first of these calls that was applied.
    async fn applied_by(&self, calls: Vec<CallId>) -> Result<Option<CallId>, Failure> {
        for call in calls {
            let story = self.past.story(&CallSelector::from(call), None).await?;
            if story.outcome() == Some(Outcome::Applied) {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// Records that a proposal was applied. The write has happened: a failure here is made up for
    /// when somebody asks for the proposal again.
    pub(super) async fn applied(&self, held: HeldProposal, record: &EntryBuilder) {
        let omitted = record.omitted();
        let state = ProposalState::Applied {
            decided: now(),
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

    /// Keeps a change as a proposal: its states, its records, then its file. Also returns the open
    /// proposal that it replaces.
    pub(super) async fn keep(
        &self,
        record: &mut EntryBuilder,
        one: &SetChange,
    ) -> Result<(ProposalId, Option<ProposalId>), Refusal> {
        let change = &one.change;
        let id = self.take_room(record.session(), bytes(change)).await?;
        self.make(record, one, id).await?;
        let subject = ProposalSubject::of(change);
        let old = subject.and_then(|subject| self.last.replace(record.session(), subject, id));
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
        let id = self.last.of(session, ProposalSubject::Page(page))?;
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
    ) -> Result<Option<ProposalId>, Failure> {
        let changes: Vec<&SetChange> = set.iter().filter(|one| !one.change.is_empty()).collect();
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
        one: &SetChange,
        id: ProposalId,
    ) -> Result<(), AuditError> {
        let change = &one.change;
        record.keep_states(&self.past.audit, change).await?;
        record.proposal(id);
        self.past.audit.record(record.preview(false)).await?;
        self.past.audit.record(record.decided("made", None)).await?;
        let session = self.session_word(record.session());
        let proposal = record.as_proposal(id, session, change, None);
        let said = record.said(std::iter::once(one));
        let proposal = Proposal { said, ..proposal };
        self.past.audit.proposals.keep(proposal).await
    }

    /// Keeps a set as a proposal, each change like a proposal of its own; changes that do nothing
    /// are left out.
    pub(super) async fn keep_set(
        &self,
        record: &mut EntryBuilder,
        set: &ChangeSet,
    ) -> Result<ProposalId, Refusal> {
        let all = || set.iter().filter(|one| !one.change.is_empty());
        let room = all().fold(0, |sum: u64, one| sum.saturating_add(bytes(&one.change)));
        if room > MOST_OF_SET {
            return Err(Refusal::at(Gate::Record, too_large(room)));
        }
        let id = self.take_room(record.session(), room).await?;
        self.make_set(record, set, id).await?;
        Ok(id)
    }

    async fn make_set(
        &self,
        record: &mut EntryBuilder,
        set: &ChangeSet,
        id: ProposalId,
    ) -> Result<(), AuditError> {
        let audit = &self.past.audit;
        let mut changes = set.iter().filter(|one| !one.change.is_empty());
        record.proposal(id);
        let first = changes.next().ok_or(AuditError::BadProposal)?;
        let mut own = record.of_proposed(first);
        own.keep_states(audit, &first.change).await?;
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
        // The last of the records: without it, nothing was proposed.
        audit.record(own.decided("made", None)).await?;
        let session = self.session_word(record.session());
        let proposal = own.as_proposal(id, session, &first.change, Some(others));
        let left = set.mending().map_or(&[][..], |mending| &mending.left);
        let changes = set.iter().filter(|one| !one.change.is_empty());
        let proposal = Proposal {
            said: record.said(changes),
            links_left: left.iter().take(MAX_LINKS_LEFT).map(left_open).collect(),
            links_left_not_kept: left.len().saturating_sub(MAX_LINKS_LEFT),
            ..proposal
        };
        audit.proposals.keep(proposal).await
    }

    /// The id of a new proposal of this size.
    async fn take_room(&self, session: &SessionId, bytes: u64) -> Result<ProposalId, Refusal> {
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
    ) -> Result<bool, AuditError> {
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
        let decided = now();
        held.set(ProposalState::Replaced {
            decided,
            replaced_by: by,
        })
        .await?;
        Ok(true)
    }

    /// The kept changes of a proposal, if our key may see them.
    pub(super) async fn changes_of(
        &self,
        proposal: &Proposal,
    ) -> Result<Vec<(ProposedChange, Change)>, Failure> {
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
    ) -> Result<Change, Failure> {
        let [before, after] = self.past.kept([one.before, one.after], key).await?;
        let change = Change::of_states(before, after);
        let change = change.ok_or(AuditError::BadProposal)?;
        Ok(change
            .with_loss_of(one.lost.clone())
            .by_way_of(one.aside.clone())
            .rendered_anew(one.renders_anew))
    }
}

fn left_open(left: &LinkLeft) -> LinkLeftOpen {
    LinkLeftOpen {
        page: left.id,
        locale: left.place.0.clone(),
        path: left.place.1.clone(),
        line: left.link.as_ref().map(|(_, line)| *line),
        why: left.why.to_owned(),
    }
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

fn too_large(bytes: u64) -> Failure {
    Failure::new(
        Code::TooLarge,
        "The pages of this set are too large to be proposed together; nothing was kept.",
    )
    .hint("Name fewer pages in one call.")
    .detail("bytes", bytes)
    .detail("most", MOST_OF_SET)
}

fn no_room() -> Failure {
    Failure::new(
        Code::TooLarge,
        "The proposals of this client take their whole share of the audit directory; nothing was kept.",
    )
    .hint("Have the operator decide on proposals, or raise WIKI_AUDIT_KEEP_MB; what was decided gives its room back after an hour.")
}

/// The number of proposals that are remembered, so that a later one can replace them; beyond it,
/// those of the heaviest owner are forgotten.
const MOST: usize = 10_000;

/// The last proposals of this run's sessions for each page.
#[derive(Debug, Default)]
struct Last {
    /// Makes words for sessions that do not reveal their names.
    words: RandomState,
    last: Mutex<HashMap<(SessionId, ProposalSubject), ProposalId>>,
}

/// Two proposals of a session with the same subject replace each other.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ProposalSubject {
    Page(i64),
    Place(Locale, PagePath),
    /// A comment or asset, by its page's id and its own.
    Thing(Option<i64>, i64),
}

impl ProposalSubject {
    /// `None` for what is added to a page: each is another.
    fn of(change: &Change) -> Option<Self> {
        let page = change.target();
        Some(match (change.thing(), page.id) {
            (Some(thing), id) => Self::Thing(id, thing.id()?),
            (None, Some(id)) => Self::Page(id),
            (None, None) => Self::Place(page.locale.clone(), page.path.clone()),
        })
    }
}

impl Last {
    /// The session's last proposal for this subject.
    fn of(&self, session: &SessionId, subject: ProposalSubject) -> Option<ProposalId> {
        let last = self.last.lock();
        last.get(&(session.clone(), subject)).copied()
    }

    /// Notes a proposal; returns the one that it replaces.
    fn replace(
        &self,
        session: &SessionId,
        subject: ProposalSubject,
        id: ProposalId,
    ) -> Option<ProposalId> {
        if !session.lasts() {
            return None;
        }
        let mut last = self.last.lock();
        if last.len() >= MOST {
            let owners = last.keys().map(|(session, _)| (session.owner(), 1));
            let held: Vec<_> = owners.collect();
            let place = evict_index(&held, (session.owner(), 1));
            let most = place.and_then(|place| held.get(place));
            let most = most.map(|(owner, _)| (*owner).to_owned());
            last.retain(|(session, _), _| Some(session.owner()) != most.as_deref());
        }
        last.insert((session.clone(), subject), id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Last, MOST, ProposalSubject};
    use crate::audit::ProposalId;
    use crate::gates::SessionId;

    #[test]
    fn who_proposes_much_makes_nothing_forgotten_that_others_proposed() {
        let proposed = Last::default();
        let few = SessionId::new("a/1").owned_by("a");
        let much = SessionId::new("b/1").owned_by("b");
        let id = ProposalId::new().unwrap();
        proposed.replace(&few, ProposalSubject::Page(0), id);
        for page in 0..i64::try_from(MOST).unwrap() {
            proposed.replace(&much, ProposalSubject::Page(page), id);
        }
        assert_eq!(
            proposed.replace(&few, ProposalSubject::Page(0), id),
            Some(id)
        );
        assert_eq!(proposed.replace(&much, ProposalSubject::Page(0), id), None);
    }
}
