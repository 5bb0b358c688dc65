//! What a session wrote last: what `last` means in an undo, and what became of a used token.
//!
//! Several servers may write to one audit directory, and several sessions to one server. The newest
//! write on record may be another's, so a session that wrote itself means its own.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::audit::{CallId, CallStory, Outcome};
use crate::error::{Code, Failure};
use crate::gates::SessionId;

use super::plan::Undo;
use super::writer::Writer;

/// How many of a session's last writes are remembered.
const MOST_OF_ONE: usize = 20;
/// Of how many sessions; then all are forgotten, and `last` means the newest on record.
const MOST_SESSIONS: usize = 1_000;

/// The last writes of each session, the newest first.
#[derive(Debug, Default)]
pub(super) struct OwnWrites(Mutex<HashMap<SessionId, VecDeque<CallId>>>);

impl OwnWrites {
    /// A session wrote.
    pub(super) fn note(&self, session: &SessionId, call: CallId) {
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

    fn of(&self, session: &SessionId) -> Vec<CallId> {
        let writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writes.get(session).into_iter().flatten().copied().collect()
    }
}

impl Writer {
    /// What is said of a token that does not count any more: which call used it up, and what came
    /// of that.
    pub(super) async fn of_used(
        &self,
        session: &SessionId,
        token: &str,
        failure: Failure,
    ) -> Failure {
        let used_by = self.previews.used_by(session, token);
        let Some(call) = used_by.filter(|_| failure.code == Code::ConfirmExpired) else {
            return failure;
        };
        let outcome = match self.story(&call.into(), None).await {
            Ok(story) => story.outcome(),
            Err(_) => Some(Outcome::Unknown),
        };
        let told = outcome.map_or("under way", Outcome::as_str);
        let hint = match outcome {
            Some(Outcome::Applied | Outcome::Unchanged) => {
                "Nothing was sent now: the write is done, do not repeat it. To change more, call with all arguments, without confirm."
            }
            Some(Outcome::NotApplied) => {
                "Nothing was sent now. Call again with all arguments, without confirm, for a new preview and its token."
            }
            Some(Outcome::PartlyApplied | Outcome::Unknown) | None => {
                "Nothing was sent now. Do not repeat the write: read the page first to see what became of it."
            }
        };
        Failure::new(
            Code::ConfirmExpired,
            format!("This token was already used by the call {call}: {told}."),
        )
        .hint(hint)
        .detail("usedBy", call.to_string())
        .detail("outcome", told)
    }

    /// The session's last applied write that was not taken back.
    pub(super) async fn own_last(&self, undo: &Undo) -> Option<CallStory> {
        let session = undo.session.as_ref()?;
        for call in self.own_writes.of(session) {
            let story = self.story(&call.into(), undo.owner.as_ref()).await;
            let is_meant = |story: &CallStory| {
                story.outcome() == Some(Outcome::Applied) && story.undone_by.is_none()
            };
            if let Some(story) = story.ok().filter(is_meant) {
                return Some(story);
            }
        }
        None
    }

    /// What has to be said of an undo of the last write which is not this session's.
    pub(super) fn others_last(&self, undo: Option<Undo>, call: Option<CallId>) -> Option<String> {
        let (session, call) = (undo?.session?, call?);
        (!self.own_writes.of(&session).contains(&call)).then(|| {
            format!(
                "not_of_this_session: this session has no applied write to take back; {call} is the newest on record, maybe of another session or server."
            )
        })
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
