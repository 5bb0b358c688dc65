//! Keeps what outlives a call: reads, previews, questions and own writes of sessions, in the memory of this
//! process, and what other servers of a database go on with in its store.

mod reads;
mod session_store;
mod shared_reads;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::audit::CallId;
use crate::gates::{Previews, SessionId};
use crate::memory::Timestamp;
use crate::share::evict_index;
use crate::store::Store;

pub use reads::ReadExtent;
pub(super) use reads::{Concerns, Knowing, PageRead};
use session_store::KeptOfSession;
pub(super) use session_store::SessionStore;
pub(super) use shared_reads::SharedReads;

/// The memory of sessions, bounded.
#[derive(Debug)]
pub(super) struct SessionMemory {
    pub(super) reads: Arc<SharedReads>,
    pub(super) previews: Previews,
    /// Sets about which a person is asked between two calls; a token is the question's name.
    pub(super) questions: Previews,
    pub(super) own_writes: Arc<OwnWrites>,
    /// The documents of sessions, for the servers that share the store.
    pub(super) shared: Arc<SessionStore>,
    /// The applied sets after which pages and index were looked at anew.
    pub(super) applied: Arc<AppliedSets>,
}

impl SessionMemory {
    /// Nothing yet, but what sessions read at other servers of this store.
    pub(super) fn new(store: &Arc<dyn Store>) -> Self {
        let shared = Arc::new(SessionStore::new(store));
        Self {
            reads: Arc::new(SharedReads::new(Arc::clone(&shared))),
            previews: Previews::new(Previews::LIFE),
            questions: Previews::new(Previews::LIFE),
            own_writes: Arc::new(OwnWrites::new(Arc::clone(&shared))),
            shared,
            applied: Arc::default(),
        }
    }

    /// The same reads and writes of sessions, without previews and questions: for the same server
    /// under other gates.
    pub(super) fn under_other_gates(&self) -> Self {
        Self {
            reads: Arc::clone(&self.reads),
            previews: Previews::new(Previews::LIFE),
            questions: Previews::new(Previews::LIFE),
            own_writes: Arc::clone(&self.own_writes),
            shared: Arc::clone(&self.shared),
            applied: Arc::clone(&self.applied),
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

/// The name of a session's document of its last writes.
const WRITES: &str = "writes";

/// The last writes of each session, the newest first, those under way and those that failed too: `last` in
/// an undo means the newest that took effect.
/// Several servers may write to one store, and several sessions to one server; the newest
/// write on record may be another's, so a session that wrote itself means its own. The sessions are in the order of their first
/// write.
#[derive(Debug)]
pub(crate) struct OwnWrites {
    here: Mutex<VecDeque<(SessionId, KnownWrites)>>,
    /// One write is noted after the other.
    turn: tokio::sync::Mutex<()>,
    shared: Arc<SessionStore>,
}

/// A write of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct OwnWrite {
    call: CallId,
    /// The time at which it began.
    at: Timestamp,
}

/// A session's last writes as this server knows them.
#[derive(Debug, Clone, Default)]
struct KnownWrites {
    writes: VecDeque<OwnWrite>,
    /// True if the store did not take the newest.
    is_ahead: bool,
}

impl OwnWrites {
    fn new(shared: Arc<SessionStore>) -> Self {
        Self {
            here: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            shared,
        }
    }

    /// A write of a session begins.
    pub(crate) async fn note(&self, session: &SessionId, call: CallId) {
        if !session.lasts() {
            return;
        }
        let _turn = self.turn.lock().await;
        let (kept, mut writes) = self.joined(session).await;
        let at = Timestamp::now();
        writes.retain(|one| one.call != call);
        writes.push_front(OwnWrite { call, at });
        writes.truncate(MOST_OF_ONE);
        let document = (session, WRITES);
        let is_ahead = !self.shared.keep(document, &writes, kept.as_ref()).await;
        self.put(session, KnownWrites { writes, is_ahead });
    }

    /// The last writes of a session, at whatever server.
    pub(crate) async fn of(&self, session: &SessionId) -> VecDeque<CallId> {
        let (_, writes) = self.joined(session).await;
        writes.into_iter().map(|one| one.call).collect()
    }

    /// The writes of a session that the store has, with those of this server that it did not take.
    async fn joined(
        &self,
        session: &SessionId,
    ) -> (
        Option<KeptOfSession<VecDeque<OwnWrite>>>,
        VecDeque<OwnWrite>,
    ) {
        let kept = self
            .shared
            .kept::<VecDeque<OwnWrite>>(session, WRITES)
            .await;
        let known = self.known(session);
        let writes = match kept.as_ref().and_then(|kept| kept.says.as_ref()) {
            Some(kept) if known.is_ahead => {
                let others = known.writes.iter().filter(|one| !kept.contains(one));
                let mut all: Vec<OwnWrite> = others.chain(kept).copied().collect();
                all.sort_by_key(|one| std::cmp::Reverse(one.at));
                all.into()
            }
            Some(kept) => kept.clone(),
            None => known.writes,
        };
        (kept, writes)
    }

    fn put(&self, session: &SessionId, own: KnownWrites) {
        let mut writes = self.here.lock();
        let known = writes.iter().position(|(of, _)| of == session);
        if known.is_none() && writes.len() >= MOST_SESSIONS {
            let held = writes.iter().map(|(of, _)| (of.owner(), 1));
            let Some(gone) = evict_index(held, (session.owner(), 1)) else {
                return;
            };
            writes.remove(gone);
        }
        match known.and_then(|at| writes.get_mut(at)) {
            Some((_, writes)) => *writes = own,
            None => writes.push_back((session.clone(), own)),
        }
    }

    fn known(&self, session: &SessionId) -> KnownWrites {
        let writes = self.here.lock();
        let own = writes.iter().find(|(of, _)| of == session);
        own.map(|(_, known)| known.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_OF_ONE, MOST_SESSIONS, OwnWrite, WRITES};
    use crate::audit::CallId;
    use crate::gates::{Policy, SessionId};
    use crate::write::testing::Office;

    #[tokio::test]
    async fn a_session_s_last_writes_are_known_at_every_server_of_a_database() {
        let office = Office::new(Policy::default());
        office.shares_store();
        let [one, two] = [(); 2].map(|()| office.beside(Policy::default()));
        let session = SessionId::new("a");
        let calls: [CallId; 2] = [(); 2].map(|()| CallId::new().unwrap());
        for (office, call) in [&one, &two].into_iter().zip(calls) {
            office.desk.memory.own_writes.note(&session, call).await;
        }
        let own = one.desk.memory.own_writes.of(&session).await;
        assert_eq!(own, [calls[1], calls[0]]);
        let other = SessionId::new("b");
        assert!(one.desk.memory.own_writes.of(&other).await.is_empty());
    }

    #[tokio::test]
    async fn a_write_that_the_store_did_not_take_is_newer_than_those_that_it_has() {
        let office = Office::new(Policy::default());
        office.shares_store();
        let [one, two] = [(); 2].map(|()| office.beside(Policy::default()));
        let [one, two] = [&one, &two].map(|office| &office.desk.memory.own_writes);
        let session = SessionId::new("a");
        let [old, not_taken, other, newest] = [(); 4].map(|()| CallId::new().unwrap());
        one.note(&session, old).await;
        let mut ahead = one.known(&session);
        let first = ahead.writes[0].at;
        let at = first.after(first);
        let call = not_taken;
        ahead.writes.push_front(OwnWrite { call, at });
        ahead.is_ahead = true;
        one.put(&session, ahead);
        assert_eq!(one.of(&session).await, [not_taken, old]);
        two.note(&session, other).await;
        let mut later = two.joined(&session).await.1;
        later[0].at = at.after(at);
        let kept = two.shared.kept::<Vec<OwnWrite>>(&session, WRITES).await;
        assert!(
            two.shared
                .keep((&session, WRITES), &later, kept.as_ref())
                .await
        );
        assert_eq!(one.of(&session).await, [other, not_taken, old]);
        one.note(&session, newest).await;
        let all = [newest, other, not_taken, old];
        assert_eq!(one.of(&session).await, all);
        assert_eq!(two.of(&session).await, all);
    }

    #[tokio::test]
    async fn each_session_has_its_own_last_writes_in_a_bounded_room() {
        let office = Office::new(Policy::default());
        let writes = &office.desk.memory.own_writes;
        let [one, other] = ["one", "other"].map(SessionId::new);
        let calls: Vec<CallId> = (0..=MOST_OF_ONE).map(|_| CallId::new().unwrap()).collect();
        for call in &calls {
            writes.note(&one, *call).await;
        }
        let own = writes.of(&one).await;
        assert_eq!((own.len(), own.front()), (MOST_OF_ONE, calls.last()));
        assert!(writes.known(&other).writes.is_empty());
        writes
            .note(&SessionId::fleeting("fleeting"), calls[0])
            .await;
        let fleeting = writes.known(&SessionId::fleeting("fleeting"));
        assert!(fleeting.writes.is_empty());
        // An owner with many sessions evicts only its own.
        for session in 0..2 * MOST_SESSIONS {
            let much = SessionId::new(session.to_string()).owned_by("much");
            writes.note(&much, calls[0]).await;
        }
        assert_eq!(writes.here.lock().len(), MOST_SESSIONS);
        assert_eq!(writes.known(&one).writes.len(), MOST_OF_ONE);
    }
}
