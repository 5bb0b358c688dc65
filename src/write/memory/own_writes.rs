//! What a session wrote last: what `last` means in an undo.
//!
//! Several servers may write to one audit directory, and several sessions to one server. The newest
//! write on record may be another's, so a session that wrote itself means its own.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::audit::CallId;
use crate::gates::SessionId;

/// How many of a session's last writes are remembered.
const MOST_OF_ONE: usize = 20;
/// Of how many sessions; then all are forgotten, and `last` means the newest on record.
const MOST_SESSIONS: usize = 1_000;

/// The last writes of each session, the newest first.
#[derive(Debug, Default)]
pub(in crate::write) struct OwnWrites(Mutex<HashMap<SessionId, VecDeque<CallId>>>);

impl OwnWrites {
    /// A session wrote.
    pub(in crate::write) fn note(&self, session: &SessionId, call: CallId) {
        if !session.lasts() {
            return;
        }
        let mut writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writes.len() >= MOST_SESSIONS && !writes.contains_key(session) {
            writes.clear();
        }
        let own = writes.entry(session.clone()).or_default();
        own.push_front(call);
        own.truncate(MOST_OF_ONE);
    }

    pub(in crate::write) fn of(&self, session: &SessionId) -> Vec<CallId> {
        let writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writes.get(session).into_iter().flatten().copied().collect()
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
        for session in 0..MOST_SESSIONS {
            writes.note(&SessionId::new(session.to_string()), calls[0]);
        }
        assert!(writes.0.lock().unwrap().len() <= MOST_SESSIONS);
    }
}
