//! The memory of one process: bounded, and lost when it ends.

use std::sync::Arc;
use std::time::Duration;

use crate::audit::CallId;
use crate::error::Failure;
use crate::gates::{
    ApprovalScope, Approvals, Approved, Approver, Asked, ChangeSet, Policy, Previewed, Previews,
    SessionId, SpentToken, TurnOf, WritePolicy,
};
use crate::page::{Date, PageReading};

use super::SessionStore;
use super::own_writes::OwnWrites;
use super::reads::{PageRead, ReadExtent, Reads};

/// Time for which a question is kept if only a client's own limits demanded it. Longer than the
/// longest time that a person can be given.
const LONGEST_QUESTION: Duration = Duration::from_secs(601);

/// The session store of one process.
#[derive(Debug)]
pub(in crate::write) struct InProcess {
    reads: Arc<Reads>,
    previews: Previews,
    /// Sets about which a person is asked between two calls.
    questions: Previews,
    approvals: Approvals,
    own_writes: Arc<OwnWrites>,
}

impl InProcess {
    /// Nothing yet.
    pub(in crate::write) fn new(policy: &Policy) -> Self {
        Self::with(policy, Arc::default(), Arc::default())
    }

    fn with(policy: &Policy, reads: Arc<Reads>, own_writes: Arc<OwnWrites>) -> Self {
        // A question is kept longer than an answer may take.
        let questions = match policy.writes {
            WritePolicy::Person { limit, .. } => limit + Duration::from_secs(1),
            WritePolicy::Preview => LONGEST_QUESTION,
            WritePolicy::Off
            | WritePolicy::DryRun
            | WritePolicy::Review { .. }
            | WritePolicy::Token(_) => Duration::ZERO,
        };
        Self {
            reads,
            previews: Previews::new(Previews::LIFE),
            questions: Previews::new(questions),
            approvals: Approvals::default(),
            own_writes,
        }
    }
}

impl SessionStore for InProcess {
    fn under(&self, policy: &Policy) -> Arc<dyn SessionStore> {
        let (reads, writes) = (Arc::clone(&self.reads), Arc::clone(&self.own_writes));
        Arc::new(Self::with(policy, reads, writes))
    }

    fn note_read(&self, session: &SessionId, page: PageReading, sight: ReadExtent) {
        self.reads.note(session, page, sight);
    }

    fn note_written(&self, session: &SessionId, id: i64, at: &Date, is_whole: bool) {
        self.reads.note_written(session, id, at, is_whole);
    }

    fn last_read(&self, session: &SessionId, page: i64) -> Option<PageRead> {
        self.reads.last(session, page)
    }

    fn preview(&self, session: &SessionId, set: ChangeSet) -> Result<Previewed, Failure> {
        self.previews.offer(session, set)
    }

    fn keep_asked(&self, session: &SessionId, token: &str, asked: Asked) {
        self.previews.keep_asked(session, token, asked);
    }

    fn asked(&self, session: &SessionId, token: &str) -> Result<Option<Asked>, Failure> {
        self.previews.asked(session, token)
    }

    fn turn_of(&self, session: &SessionId, token: &str) -> Result<TurnOf, Failure> {
        self.previews.turn_of(session, token)
    }

    fn previewed(&self, session: &SessionId, token: &str) -> Result<ChangeSet, Failure> {
        self.previews.look(session, token)
    }

    fn shown(&self, session: &SessionId, id: CallId) -> Option<ChangeSet> {
        self.previews.shown(session, id)
    }

    fn spend(&self, session: &SessionId, token: &str) -> Result<SpentToken, Failure> {
        self.previews.spend(session, token)
    }

    fn used_by(&self, session: &SessionId, token: &str) -> Option<CallId> {
        self.previews.used_by(session, token)
    }

    fn note_write(&self, session: &SessionId, call: CallId) {
        self.own_writes.note(session, call);
    }

    fn own_writes(&self, session: &SessionId) -> Vec<CallId> {
        self.own_writes.of(session)
    }

    fn question(&self, session: &SessionId, set: ChangeSet) -> Result<String, Failure> {
        self.questions.offer(session, set).map(|kept| kept.token)
    }

    fn answered(&self, session: &SessionId, question: &str) -> Option<ChangeSet> {
        let spent = self.questions.spend(session, question).ok()?;
        Some(spent.into_set())
    }

    fn approve(
        &self,
        who: Approver,
        set: ChangeSet,
        scope: ApprovalScope,
        call: CallId,
    ) -> Option<Approved> {
        self.approvals.give(who, set, scope, call)
    }

    fn approval(&self, who: &Approver, set: &ChangeSet) -> Option<Approved> {
        self.approvals.take(who, set)
    }
}
