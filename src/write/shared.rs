//! Holds the state that the writers of one server share, whatever their keys.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::audit::{AuditLog, CallId, Keep};
use crate::gates::{Approvals, Gate, Policy, SessionId};
use crate::memory::{MemoryMode, MemoryStore};
use crate::meter::Counter;
use crate::wiki::Wiki;

use super::memories::GonePages;
use super::proposals::ProposalQuota;
use super::upkeep::purge::Purges;
use super::upkeep::recover::Recovery;
use crate::write::{SetAnswer, SetOutcome, Timeouts};

/// State shared by the writers of one server. With the server's own key it settles the open
/// attempts of earlier runs; it also has the log purged, and waits at the end for all writes.
#[derive(Debug)]
pub(super) struct WriterShared {
    pub(super) audit: Arc<AuditLog>,
    pub(super) patience: Timeouts,
    pub(super) refusals: Refusals,
    pub(super) recovery: Recovery,
    /// Writes under way, and what else must not be cut short.
    pub(super) tasks: TaskTracker,
    /// The sets that are being sent, and the last ones that were.
    pub(super) sets: RecentSets,
    /// The room that proposals take.
    pub(super) room: Arc<ProposalQuota>,
    /// The places of calls that wait for people.
    pub(super) waiting: Semaphore,
    pub(super) purges: Purges,
    pub(super) approvals: Approvals,
    pub(super) memories: MemoryStore,
    pub(super) memory_mode: RwLock<MemoryMode>,
    pub(super) gone: GonePages,
    /// The retention settings, which may change while a server runs.
    keep: Arc<RwLock<Keep>>,
}

/// The most calls that wait for people at once; further ones answer at once that nobody has decided.
const MOST_WAITING: usize = 64;

/// Time that the end of the server waits for a purge.
const PURGE_AT_THE_END: Duration = Duration::from_secs(5);

impl WriterShared {
    pub(super) fn new(
        wiki: &Arc<Wiki>,
        audit: &Arc<AuditLog>,
        policy: &Policy,
        patience: Timeouts,
        keep: Keep,
    ) -> Self {
        let keep = Arc::new(RwLock::new(keep));
        Self {
            audit: Arc::clone(audit),
            patience,
            refusals: Refusals::default(),
            // A write is settled even if nobody may read its page any more.
            recovery: Recovery::new(
                Arc::new(wiki.unbounded()),
                Arc::clone(audit),
                patience,
                Arc::clone(&keep),
            ),
            tasks: TaskTracker::new(),
            sets: RecentSets::default(),
            room: Arc::new(ProposalQuota::new(Arc::clone(&keep))),
            waiting: Semaphore::new(MOST_WAITING),
            purges: Purges::new(Arc::clone(audit), policy, Arc::clone(&keep)),
            approvals: Approvals::of(audit),
            memories: MemoryStore::of(audit),
            memory_mode: RwLock::default(),
            gone: GonePages::default(),
            keep,
        }
    }

    /// The retention settings and the memory mode, in words.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn kept(&self) -> String {
        format!("{:?} {:?}", self.keep, self.memory_mode)
    }

    /// Sets the retention from now on.
    pub(super) fn keep(&self, keep: Keep) {
        *self.keep.write() = keep;
    }

    /// Waits for writes under way, then closes the log.
    pub(super) async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.purges.end(PURGE_AT_THE_END).await;
        if let Err(error) = self.audit.close().await {
            tracing::error!(%error, "the audit log could not be closed");
        }
    }
}

/// The number of writes that each gate refused in this run.
#[derive(Debug)]
pub struct Refusals(Vec<(Gate, Counter)>);

impl Default for Refusals {
    fn default() -> Self {
        Self(Gate::ALL.map(|gate| (gate, Counter::default())).into())
    }
}

impl Refusals {
    pub(crate) fn count(&self, at: Gate) {
        for (_, counter) in self.0.iter().filter(|(gate, _)| *gate == at) {
            counter.add();
        }
    }

    /// Each gate with its count.
    pub fn by_gate(&self) -> impl Iterator<Item = (Gate, u64)> {
        self.0.iter().map(|(gate, counter)| (*gate, counter.get()))
    }
}

/// The progress of a set, which callers may see while it is sent.
pub(crate) type SharedSetAnswer = Arc<Mutex<SetAnswer>>;

/// The most finished sets that are remembered; a set that is being sent is never forgotten.
const MOST: usize = 64;

/// The sets that are being sent, and the last ones that were.
#[derive(Debug, Default)]
pub(crate) struct RecentSets(Mutex<VecDeque<(SessionId, SharedSetAnswer)>>);

impl RecentSets {
    /// Notes that a set begins; if there are too many, the oldest finished one is forgotten.
    pub(crate) fn begin(&self, session: &SessionId, set: &SharedSetAnswer) {
        let mut sets = self.0.lock();
        if sets.len() >= MOST
            && let Some(place) = sets.iter().position(|(_, set)| is_done(set))
        {
            sets.remove(place);
        }
        sets.push_back((session.clone(), Arc::clone(set)));
    }

    /// The progress of a set of a session, or of another session of the same owner.
    pub(crate) fn find(&self, session: &SessionId, id: CallId) -> Option<SetAnswer> {
        let sets = self.0.lock();
        let own = sets.iter().filter(|(of, _)| of.owner() == session.owner());
        let told = |set: &SharedSetAnswer| set.lock().clone();
        own.map(|(_, set)| told(set)).find(|set| set.call == id)
    }
}

fn is_done(set: &SharedSetAnswer) -> bool {
    let set = set.lock();
    set.outcome != SetOutcome::Applying
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::{MOST, RecentSets};
    use crate::audit::CallId;
    use crate::gates::SessionId;
    use crate::write::answer::{Notes, SetAnswer, SetOutcome};

    fn set(outcome: SetOutcome) -> SetAnswer {
        SetAnswer {
            call: CallId::new().unwrap(),
            outcome,
            members: Vec::new(),
            left_out: Vec::new(),
            links_left: Vec::new(),
            notes: Notes::default(),
        }
    }

    #[test]
    fn what_is_done_is_forgotten_first_and_what_is_being_sent_never() {
        let sets = RecentSets::default();
        let begin = |outcome| {
            let set = set(outcome);
            let call = set.call;
            sets.begin(&SessionId::new("own"), &Arc::new(Mutex::new(set)));
            call
        };
        let sending = begin(SetOutcome::Applying);
        let done = begin(SetOutcome::Applied);
        for _ in 0..MOST {
            begin(SetOutcome::Applied);
        }
        let own = |id| sets.find(&SessionId::new("own"), id).map(|set| set.call);
        assert_eq!(own(sending), Some(sending));
        assert_eq!(own(done), None);
        // Nobody sees another owner's set.
        assert_eq!(sets.find(&SessionId::new("other"), sending), None);
    }
}
