//! Keeps what outlives a call, in the memory of this process: reads, previews, questions and own writes of
//! sessions.

mod reads;
mod shared_reads;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::audit::CallId;
use crate::gates::{Previews, SessionId};
use crate::share::evict_index;
use crate::store::Store;

pub use reads::ReadExtent;
pub(super) use reads::{Concerns, Knowing, PageRead};
pub(super) use shared_reads::SharedReads;

/// What is remembered of sessions: bounded, and lost when the process ends.
#[derive(Debug)]
pub(super) struct SessionMemory {
    pub(super) reads: Arc<SharedReads>,
    pub(super) previews: Previews,
    /// Sets about which a person is asked between two calls; a token is the question's name.
    pub(super) questions: Previews,
    pub(super) own_writes: Arc<OwnWrites>,
    /// The applied sets after which pages and index were looked at anew.
    pub(super) applied: Arc<AppliedSets>,
}

impl SessionMemory {
    /// Nothing yet, but what sessions read at other servers of this store.
    pub(super) fn new(store: &Arc<dyn Store>) -> Self {
        Self::with(Arc::new(SharedReads::new(store)))
    }

    fn with(reads: Arc<SharedReads>) -> Self {
        Self {
            reads,
            previews: Previews::new(Previews::LIFE),
            questions: Previews::new(Previews::LIFE),
            own_writes: Arc::default(),
            applied: Arc::default(),
        }
    }

    /// The same reads and writes of sessions, without previews and questions: for the same server
    /// under other gates.
    pub(super) fn under_other_gates(&self) -> Self {
        Self {
            own_writes: Arc::clone(&self.own_writes),
            applied: Arc::clone(&self.applied),
            ..Self::with(Arc::clone(&self.reads))
        }
    }
}

/// The number of applied sets that are remembered.
const MOST_APPLIED: usize = 1_000;

/// The sets of which a caller was told that they are applied, the oldest first. A client may ask about one
/// again and again.
#[derive(Debug, Default)]
pub(crate) struct AppliedSets(Mutex<VecDeque<CallId>>);

impl AppliedSets {
    /// True for the first who is told of a set.
    pub(crate) fn is_first(&self, set: CallId) -> bool {
        let mut told = self.0.lock();
        if told.contains(&set) {
            return false;
        }
        if told.len() >= MOST_APPLIED {
            told.pop_front();
        }
        told.push_back(set);
        true
    }
}

/// The number of a session's last writes that are remembered.
const MOST_OF_ONE: usize = 20;
/// The number of sessions that are remembered. Beyond it the oldest session of the heaviest owner
/// is forgotten; its `last` then means the newest write on record.
const MOST_SESSIONS: usize = 1_000;

/// The last writes of each session, the newest first: `last` in an undo means the newest of them.
/// Several servers may write to one audit directory, and several sessions to one server; the newest
/// write on record may be another's, so a session that wrote itself means its own. The sessions are in the order of their first
/// write.
#[derive(Debug, Default)]
pub(crate) struct OwnWrites(Mutex<VecDeque<(SessionId, VecDeque<CallId>)>>);

impl OwnWrites {
    /// A session wrote, or a set of its begins.
    pub(crate) fn note(&self, session: &SessionId, call: CallId) {
        if !session.lasts() {
            return;
        }
        let mut writes = self.0.lock();
        let known = writes.iter().position(|(of, _)| of == session);
        if known.is_none() && writes.len() >= MOST_SESSIONS {
            let held = writes.iter().map(|(of, _)| (of.owner(), 1));
            let Some(gone) = evict_index(held, (session.owner(), 1)) else {
                return;
            };
            writes.remove(gone);
        }
        let known = known.and_then(|at| writes.get_mut(at));
        match known {
            Some((_, own)) => {
                own.retain(|one| *one != call);
                own.push_front(call);
                own.truncate(MOST_OF_ONE);
            }
            None => writes.push_back((session.clone(), VecDeque::from([call]))),
        }
    }

    pub(crate) fn of(&self, session: &SessionId) -> Vec<CallId> {
        let writes = self.0.lock();
        let own = writes.iter().find(|(of, _)| of == session);
        own.into_iter()
            .flat_map(|(_, calls)| calls)
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_OF_ONE, MOST_SESSIONS, OwnWrites};
    use crate::audit::CallId;
    use crate::gates::SessionId;

    #[test]
    fn each_session_has_its_own_last_writes_in_a_bounded_room() {
        let writes = OwnWrites::default();
        let [one, other] = ["one", "other"].map(SessionId::new);
        let calls: Vec<CallId> = (0..=MOST_OF_ONE).map(|_| CallId::new().unwrap()).collect();
        for call in &calls {
            writes.note(&one, *call);
        }
        let own = writes.of(&one);
        assert_eq!((own.len(), own.first()), (MOST_OF_ONE, calls.last()));
        assert!(writes.of(&other).is_empty());
        writes.note(&SessionId::fleeting("fleeting"), calls[0]);
        assert!(writes.of(&SessionId::fleeting("fleeting")).is_empty());
        // An owner with many sessions evicts only its own.
        for session in 0..2 * MOST_SESSIONS {
            let much = SessionId::new(session.to_string()).owned_by("much");
            writes.note(&much, calls[0]);
        }
        assert_eq!(writes.0.lock().len(), MOST_SESSIONS);
        assert_eq!(writes.of(&one).len(), MOST_OF_ONE);
    }
}
