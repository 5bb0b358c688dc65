//! Holds what the stages of a write work with, and what tools and commands may know of writes.
//! Nothing here can send.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::audit::{
    AuditLog, AuditResult, CallHistoryError, CallId, CallOutcome, CallSelector, Client, DraftOwner,
    Keep, LineHash, Outcome, ProposalId, Record,
};
use crate::change::Change;
use crate::error::{Code, Failure, Result};
use crate::gates::{
    self, Approver, Asked, ChangeSet, ClientLimits, Gate, Policy, PolicyLevel, PreviewStore,
    Refusal, SessionId, SessionPreviews, SpentToken, StandingApproval, WritePolicy,
};
use crate::index::ContentIndex;
use crate::page::{Locale, PagePath, PageReading};
use crate::wiki::{Since, Wiki};

use super::memory::{Knowing, ReadExtent, SessionMemory};
use super::shared::{Refusals, WriterShared};
use super::source::{Under, WriteCall};
use crate::write::{
    Caller, EntryBuilder, Proposals, SetAnswer, SetOutcome, Timeouts, WriteHistory, record_or_log,
};

/// The context of a write: one wiki as one key reads it, the record, and the state that outlives a
/// call.
#[derive(Debug)]
pub struct WriteContext {
    pub(super) wiki: Arc<Wiki>,
    /// The index of the pages' sources, as far as this key may read them.
    pub(super) index: Arc<ContentIndex>,
    pub(super) audit: Arc<AuditLog>,
    pub(super) policy: Policy,
    pub(super) memory: Arc<SessionMemory>,
    pub(super) past: WriteHistory,
    pub(super) proposals: Proposals,
    pub(super) patience: Timeouts,
    /// State shared by all keys of one server.
    pub(super) house: Arc<WriterShared>,
}

impl WriteContext {
    /// The context of a server's own key, whose index this is.
    pub fn new(
        index: Arc<ContentIndex>,
        audit: &Arc<AuditLog>,
        policy: Policy,
        patience: Timeouts,
        keep: Keep,
    ) -> Self {
        let house = WriterShared::new(&index.wiki, audit, &policy, patience, keep);
        let memory = Arc::new(SessionMemory::new(audit.store()));
        Self::with(index, Arc::new(house), policy, memory)
    }

    /// The same context under changed settings. What sessions read stays known; previews end
    /// where the gates changed, and approvals do not count there. Calls under way keep the old context.
    pub(super) fn renewed(
        &self,
        index: Arc<ContentIndex>,
        policy: Policy,
        gates_changed: bool,
    ) -> Self {
        let memory = if gates_changed {
            Arc::new(self.memory.under_other_gates())
        } else {
            Arc::clone(&self.memory)
        };
        Self::with(index, Arc::clone(&self.house), policy, memory)
    }

    /// A context with another key, or for a reviewer: the same log, but its own previews and remembered
    /// reads.
    pub(super) fn for_reader(&self, index: Arc<ContentIndex>, policy: Policy) -> Self {
        let memory = Arc::new(SessionMemory::new(self.audit.store()));
        Self::with(index, Arc::clone(&self.house), policy, memory)
    }

    fn with(
        index: Arc<ContentIndex>,
        house: Arc<WriterShared>,
        policy: Policy,
        memory: Arc<SessionMemory>,
    ) -> Self {
        let (wiki, audit) = (Arc::clone(&index.wiki), Arc::clone(&house.audit));
        let past = WriteHistory::new(Arc::clone(&wiki), Arc::clone(&audit));
        let patience = house.patience;
        Self {
            proposals: Proposals::new(
                past.clone(),
                patience.queueing,
                Arc::clone(&house.room),
                Arc::clone(&memory.shared),
            ),
            memory,
            wiki,
            index,
            audit,
            policy,
            past,
            patience,
            house,
        }
    }

    /// The retention settings and the memory mode, in words.
    #[cfg(any(test, feature = "testing"))]
    pub fn kept(&self) -> String {
        self.house.kept()
    }

    /// Sets the retention of the audit log from now on.
    pub fn keep(&self, keep: Keep) {
        self.house.keep(keep);
    }

    /// The record of every attempt.
    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// The recorded writes, as far as this key may know them.
    pub const fn past(&self) -> &WriteHistory {
        &self.past
    }

    /// The proposals of the wiki.
    pub const fn proposals(&self) -> &Proposals {
        &self.proposals
    }

    /// The directory of the wiki's records and proposals.
    pub fn log_dir(&self) -> PathBuf {
        self.audit.runs.dir()
    }

    /// The refusals of this run.
    pub fn refusals(&self) -> &Refusals {
        &self.house.refusals
    }

    /// True if a write could be sent under this policy.
    pub const fn may_write(&self) -> bool {
        self.policy.may_write()
    }

    /// Begins to settle the open attempts of earlier runs, in the background, if this server may
    /// send writes. Otherwise a server that may send writes settles them.
    pub fn begin_recovery(&self) {
        if self.may_write() {
            let house = Arc::clone(&self.house);
            tokio::spawn(async move { house.recovery.done().await });
        }
    }

    /// Waits until the open attempts of earlier runs are settled as far as possible. Runs once;
    /// takes at most 1.5 times as long as settling one write.
    pub async fn recovered(&self) {
        self.house.recovery.done().await;
    }

    /// Waits for what servers that ended left open since; `true` if any ended.
    pub(super) async fn recovered_since(&self) -> AuditResult<bool> {
        self.house.recovery.ended_meanwhile().await
    }

    /// Number of attempts of killed servers whose outcome could not be found out.
    pub fn recovered_unknown(&self) -> u64 {
        self.house.recovery.unknown.get()
    }

    /// The policy of the settings, for no caller in particular.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The policy for a caller with these limits that can or cannot ask a person.
    pub fn narrowed_policy(&self, narrowing: Option<&ClientLimits>, can_ask: bool) -> Policy {
        let policy = match narrowing {
            Some(narrowing) => self.policy.narrowed_by(narrowing),
            None => self.policy.clone(),
        };
        policy.for_caller(can_ask)
    }

    /// The policy for a caller.
    pub(super) fn policy_for(&self, caller: &Caller) -> Policy {
        let (narrowing, can_ask) = (caller.narrowing.as_deref(), caller.asker.can_ask());
        let policy = self.narrowed_policy(narrowing, can_ask);
        if caller.proposes {
            policy.proposing()
        } else {
            policy
        }
    }

    /// True if the operator's static token confirms the writes of this caller.
    pub fn takes_static_token(&self, caller: &Caller) -> bool {
        matches!(self.policy_for(caller).writes, WritePolicy::Token(_))
    }

    /// The reason why this caller may write no page at a place; `None` if one may be written.
    pub fn fault_at(&self, caller: &Caller, locale: &Locale, path: &PagePath) -> Option<Code> {
        let policy = self.policy_for(caller);
        let closed = gates::enabled(&policy, &caller.session, None).err();
        let closed = closed.map(|refusal| refusal.failure);
        let closed = closed.filter(|failure| failure.code != Code::ConfirmRequired);
        let fault = closed.or_else(|| policy.fault_at(locale, path));
        fault.map(|failure| failure.code)
    }

    /// The person behind a caller, under the gates that stand before any rule about a change.
    pub(super) fn approver(&self, caller: &Caller) -> Approver {
        Approver::new(&caller.session, &caller.client, self.gates_of(caller))
    }

    /// The digest of those gates.
    fn gates_of(&self, caller: &Caller) -> LineHash {
        let policy = self.narrowed_policy(caller.narrowing.as_deref(), true);
        policy.digest(self.audit.site(), self.past.key())
    }

    /// The approvals that would cover writes of this caller now.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn standing_approvals(&self, caller: &Caller) -> AuditResult<Vec<StandingApproval>> {
        let approvals = &self.house.approvals;
        approvals.valid_for(&self.approver(caller)).await
    }

    /// What a session will know of a page once this change of it is made: all of it if it wrote the content in
    /// full, or else the parts that it knew before. Otherwise it could overwrite a text that it never saw.
    pub(super) async fn knowing(
        &self,
        session: &SessionId,
        change: &Change,
        wrote_whole: bool,
    ) -> Option<Knowing> {
        let knowing = Knowing {
            session: session.clone(),
            wrote_whole,
        };
        if wrote_whole {
            return Some(knowing);
        }
        let reads = &self.memory.reads;
        let page = change.before()?;
        let (id, at) = page.id.zip(page.updated_at.as_ref())?;
        let seen = reads.last(session, id).await?;
        if !seen.knows_of(at) {
            // `updatedAt` moves without a write, too, when a page that it links to comes or goes: a page that
            // nobody wrote since is still known.
            let since = self.wiki.written_since(id, seen.newest(), 1).await;
            let Ok(Since::Nothing) = since else {
                return None;
            };
            reads.note_written(&knowing, id, at).await;
        }
        Some(knowing)
    }

    /// What a source makes the changes of a call from.
    pub(super) fn call<'a>(
        &'a self,
        policy: &'a Policy,
        record: &'a EntryBuilder,
        under: Under<'a>,
    ) -> WriteCall<'a> {
        WriteCall {
            past: &self.past,
            proposals: &self.proposals,
            index: &self.index,
            memory: &self.memory,
            policy,
            session: record.session(),
            id: record.call(),
            under,
        }
    }

    /// Notes that a write has ended: later searches see it.
    pub(super) async fn write_ended(&self) {
        self.wiki.forget_pages().await;
        self.index.outdated();
        self.house.gone.forget();
        self.house.purges.start_if_due();
    }

    /// The client that must have made a call that this caller names; `None` if anybody may have: where no
    /// token names the caller, and for what people applied of its own proposals, by the call's whole id.
    pub async fn owner_of_call(&self, caller: &Caller, call: &CallSelector) -> Option<Client> {
        let own = Some(&caller.client).filter(|client| client.is_known())?;
        let applied_for = async {
            let id = call.named()?;
            let proposal = match self.past.story(call, None).await {
                Ok(story) if !story.is_made_by(Some(own)) => story.latest(proposal_of)?,
                // A set has no record of its own before its end.
                Err(failure) if failure.code == Code::NothingToUndo => {
                    let calls = self.audit.calls.of_set(id).await.ok()?;
                    calls.first()?.latest(proposal_of)?
                }
                _ => return None,
            };
            let proposal = self.audit.proposals.get(proposal).await.ok()?;
            own.is_same_owner(&proposal.client).then_some(())
        };
        let is_own = applied_for.await.is_none();
        is_own.then(|| own.clone())
    }

    /// The state of a set of many changes that this caller sent: from memory, otherwise from the
    /// record, which lacks changes that were never attempted. `None` if one of its pages may not be
    /// read any more.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`; what the wiki says, where not everything may be read.
    pub async fn change_set(&self, caller: &Caller, id: CallId) -> Result<Option<SetAnswer>> {
        let set = match self.house.sets.find(&caller.session, id) {
            Some(set) if set.outcome == SetOutcome::Applying => Some(set),
            found => {
                let owner = self.owner_of_call(caller, &id.into()).await;
                if let Some(mut set) = found {
                    let undone = self.past.undone_since(id, owner.as_ref()).await?;
                    set.notes.warnings.extend(undone);
                    Some(set)
                } else {
                    let set = self.past.change_set(id, owner.as_ref()).await?;
                    set.map(|(set, _)| set)
                }
            }
        };
        let Some(set) = set else {
            return Ok(None);
        };
        for member in &set.members {
            let target = &member.target;
            let (locale, path) = (
                Locale::as_stored(&target.locale),
                PagePath::as_stored(&target.path),
            );
            if !self.wiki.admits_record(target.id, &locale, &path).await? {
                return Ok(None);
            }
        }
        Ok(Some(set))
    }

    /// The owner of a caller's drafts.
    pub fn draft_owner(&self, caller: &Caller) -> DraftOwner {
        let client = &caller.client;
        DraftOwner {
            counted_with: caller.session.owner().to_owned(),
            // A delegate counts with its maker, and has drafts of its own.
            called: match client.parent {
                Some(_) => client.id.map(|id| id.to_string()),
                None => client.subject.is_none().then(|| client.name.clone()),
            },
            key: self.past.key(),
        }
    }

    /// Notes that a session saw a page: its later changes of the content are compared with this
    /// state.
    pub async fn note_read(&self, session: &SessionId, page: PageReading, sight: ReadExtent) {
        self.memory.reads.note(session, page, sight).await;
    }

    /// Keeps the call for which a preview's token was given, for other servers of this store too.
    pub async fn keep_asked(&self, caller: &Caller, token: &str, asked: Asked) {
        self.previews(caller).keep_asked(token, asked).await;
    }

    /// Fetches the preview of a token, if another server of this store gave it.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`.
    pub async fn fetch_preview(&self, caller: &Caller, token: &str) -> Result<()> {
        self.previews(caller).fetch(token).await
    }

    /// The previews of a caller.
    pub(super) fn previews<'a>(&'a self, caller: &'a Caller) -> SessionPreviews<'a> {
        SessionPreviews {
            session: &caller.session,
            here: &self.memory.previews,
            place: PreviewStore::new(self.audit.store(), || self.gates_of(caller)),
        }
    }

    /// The questions to the person behind a caller.
    fn questions<'a>(&'a self, caller: &'a Caller) -> SessionPreviews<'a> {
        let previews = self.previews(caller);
        SessionPreviews {
            here: &self.memory.questions,
            place: previews.place.map(PreviewStore::of_questions),
            ..previews
        }
    }

    /// Keeps a set about which a person is asked for so long, with the call that asked; gives the question's name.
    pub(super) async fn keep_question(
        &self,
        caller: &Caller,
        (set, asked): (ChangeSet, Asked),
        limit: Duration,
    ) -> Result<String> {
        let questions = self.questions(caller);
        let offered = questions.here.offer_for(limit, &caller.session, set)?;
        questions.keep_asked(&offered.token, asked).await;
        Ok(offered.token)
    }

    /// Uses up the question of a name, at whichever server it was asked; `None` if there is none for this call.
    pub(super) async fn take_question(
        &self,
        caller: &Caller,
        name: &str,
        asked: &Asked,
    ) -> Result<Option<SpentToken>> {
        let questions = self.questions(caller);
        questions.fetch(name).await?;
        let kept = questions.here.asked(&caller.session, name);
        let is_own = |kept: Option<Asked>| kept.is_some_and(|kept| kept.is_same(asked));
        if !kept.is_ok_and(is_own) {
            return Ok(None);
        }
        match questions.spend(name).await {
            Err(failure) if failure.code == Code::AuditUnavailable => Err(failure),
            spent => Ok(spent.ok()),
        }
    }

    /// The call for which this token was given; `None` if previews' tokens do not confirm here, or
    /// if the preview was of something else.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH` or `CONFIRM_EXPIRED`, if the token counts for nothing.
    pub fn asked(&self, caller: &Caller, token: &str) -> Result<Option<Asked>> {
        if !matches!(self.policy_for(caller).writes, WritePolicy::Preview) {
            return Ok(None);
        }
        self.memory.previews.asked(&caller.session, token)
    }

    /// Checks that a token could confirm a write of this caller at the level that there is now. Where a
    /// person is asked, that of a question may be meant.
    ///
    /// # Errors
    /// `CONFIRM_EXPIRED` at a level at which reviewers decide, or that sends nothing; on record.
    pub async fn takes_token(&self, caller: &Caller, token: &str) -> Result<()> {
        let level = self.policy_for(caller).writes.level();
        if !matches!(level, PolicyLevel::DryRun | PolicyLevel::Review) {
            return Ok(());
        }
        let message =
            format!("The level of writes is {level} now, at which no token confirms anything.");
        let failure = Failure::new(Code::ConfirmExpired, message)
            .hint("Nothing was sent. Call again with all arguments, without confirm.");
        Err(self.refuse_input(caller, Some(token), failure).await)
    }

    /// Records that the arguments of a write were invalid; adds the call's id to the failure.
    pub async fn refuse_input(
        &self,
        caller: &Caller,
        token: Option<&str>,
        mut failure: Failure,
    ) -> Failure {
        if let Some(token) = token {
            failure = self.of_used(caller, token, failure).await;
        }
        let Ok(call) = CallId::current_or_new() else {
            return failure;
        };
        let refusal = Refusal::at(Gate::Input, failure);
        let record = EntryBuilder::open(call, caller, self.past.key());
        self.record_refusal(&record, &refusal).await;
        refusal.failure.detail("callId", call.to_string())
    }

    /// The failure for a token that does not count any more: for a used one with the call that used
    /// it up, and that call's outcome.
    pub(super) async fn of_used(&self, caller: &Caller, token: &str, failure: Failure) -> Failure {
        if failure.code != Code::ConfirmExpired {
            return failure;
        }
        // Another server notes it a moment after it has used the token up.
        let _ = self.fetch_preview(caller, token).await;
        let Some(call) = self.memory.previews.used_by(&caller.session, token) else {
            return failure;
        };
        let Some((mut outcome, mut is_set, proposal)) = self.became_of_call(call).await else {
            // Nothing is sent before its attempt is on record.
            return unrecorded(call);
        };
        // Its server may have ended before it did.
        if outcome.is_none()
            && self.recovered_since().await == Ok(true)
            && let Some(settled) = self.became_of_call(call).await
        {
            (outcome, is_set, _) = settled;
        }
        if let Some(proposal) = proposal {
            return Failure::new(
                Code::ConfirmExpired,
                format!("This token was already used by the call {call}, which made the proposal {proposal}."),
            )
            .hint(format!("Nothing was sent now. To hear what became of it, call again with confirm {proposal}."))
            .detail("usedBy", call.to_string())
            .detail("proposal", proposal);
        }
        let told = outcome.map_or("under way", Outcome::as_str);
        let message = match outcome {
            Some(_) => format!("This token was already used by the call {call}: {told}."),
            None => format!("The call {call}, which is under way, confirms this token already."),
        };
        Failure::new(Code::ConfirmExpired, message)
            .hint(after_used(outcome, is_set))
            .detail("usedBy", call.to_string())
            .detail("outcome", told)
    }

    /// The outcome of a call so far, whether it is a set, and the proposal that it made; `None` if nothing
    /// of it is on record.
    async fn became_of_call(
        &self,
        call: CallId,
    ) -> Option<(Option<Outcome>, bool, Option<String>)> {
        let Ok(changes) = self.audit.calls.of_set(call).await else {
            return Some((Some(Outcome::Unknown), false, None));
        };
        let is_set = !changes.is_empty();
        let (outcome, proposal) = match self.audit.calls.story(&call.into()).await {
            Ok(story) if story.ending == CallOutcome::Refused => (Some(Outcome::NotApplied), None),
            Ok(story) => (story.outcome, story.proposal_made().map(str::to_owned)),
            // The call of a set has no line of its own before the end of the set.
            Err(CallHistoryError::NotFound) if is_set => (None, None),
            Err(CallHistoryError::NotFound) => return None,
            Err(_) => (Some(Outcome::Unknown), None),
        };
        Some((outcome, is_set, proposal))
    }

    /// Records a refusal. If that fails it is still a refusal: nothing was sent.
    pub(super) async fn record_refusal(&self, record: &EntryBuilder, refusal: &Refusal) {
        self.house.refusals.count(refusal.gate);
        record_or_log(&self.audit, record.refusal(refusal), "a refusal").await;
    }
}

fn proposal_of(record: &Record) -> Option<ProposalId> {
    record.proposal.as_deref()?.parse().ok()
}

/// The failure where the call that used up a token left nothing on record so far.
fn unrecorded(call: CallId) -> Failure {
    let message = format!(
        "The call {call} used this token, and nothing of it is on record: nothing was sent so far."
    );
    Failure::new(Code::ConfirmExpired, message)
        .hint("Nothing was sent now. If that call is still under way, call again with this confirm to hear the outcome. If it has ended, it sent nothing: call again with all arguments, without confirm, for a new preview and its token.")
        .detail("usedBy", call.to_string())
}

/// Advice where another call used up a token, with this outcome.
const fn after_used(outcome: Option<Outcome>, is_set: bool) -> &'static str {
    match outcome {
        None => {
            "Nothing was sent now. Call again with this confirm in some seconds to hear the outcome; do not repeat the write. If it stays under way, read the page first."
        }
        Some(Outcome::Applied | Outcome::Unchanged) => {
            "Nothing was sent now: the write is done, do not repeat it. To change more, call with all arguments, without confirm."
        }
        Some(Outcome::NotApplied) => {
            "Nothing was sent now. Call again with all arguments, without confirm, for a new preview and its token."
        }
        Some(Outcome::PartlyApplied) if is_set => {
            "Nothing was sent now. Call again with all arguments, without confirm, for a preview of what is left of the set: what is done is left out. Or have the set taken back by details.usedBy."
        }
        Some(Outcome::PartlyApplied | Outcome::Unknown) => {
            "Nothing was sent now. Do not repeat the write: read the page first to see what became of it."
        }
    }
}
