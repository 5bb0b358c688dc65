//! Keeps what outlives a call: reads, previews, questions and approvals. They are behind one trait,
//! so that a database can hold them one day.

mod in_process;
mod own_writes;
mod reads;

use std::fmt;
use std::sync::Arc;

use crate::audit::CallId;
use crate::change::Change;
use crate::error::Failure;
use crate::gates::{
    ApprovalScope, Approved, Approver, Asked, ChangeSet, Policy, Previewed, SessionId, SpentToken,
    TurnOf,
};
use crate::page::{Date, PageReading};

pub(super) use in_process::InProcess;
pub use reads::ReadExtent;
pub(super) use reads::{Concerns, PageRead};

/// The store between calls, each entry for its session.
pub(super) trait SessionStore: fmt::Debug + Send + Sync {
    /// The same reads and writes of sessions, without previews, questions and approvals: for the
    /// same server under other gates.
    fn under(&self, policy: &Policy) -> Arc<dyn SessionStore>;

    /// Notes that a session saw a page.
    fn note_read(&self, session: &SessionId, page: PageReading, sight: ReadExtent);

    /// Notes that a session wrote a page. `is_whole`: it wrote the whole text itself; otherwise it
    /// goes on knowing what it knew of the newest state that it saw.
    fn note_written(&self, session: &SessionId, id: i64, at: &Date, is_whole: bool);

    /// The page as this session last saw it.
    fn last_read(&self, session: &SessionId, page: i64) -> Option<PageRead>;

    /// Keeps a set under a new token, which confirms it.
    fn preview(&self, session: &SessionId, set: ChangeSet) -> Result<Previewed, Failure>;

    /// Keeps the call for which a token was given.
    fn keep_asked(&self, session: &SessionId, token: &str, asked: Asked);

    /// The call for which a token was given.
    fn asked(&self, session: &SessionId, token: &str) -> Result<Option<Asked>, Failure>;

    /// The set that was shown to the session under this id.
    fn shown(&self, session: &SessionId, id: CallId) -> Option<ChangeSet>;

    /// The turn that a token's set needs.
    fn turn_of(&self, session: &SessionId, token: &str) -> Result<TurnOf, Failure>;

    /// The set that a token stands for.
    fn previewed(&self, session: &SessionId, token: &str) -> Result<ChangeSet, Failure>;

    /// Uses up a token. Of two concurrent calls with one token, one gets the proof.
    fn spend(&self, session: &SessionId, token: &str) -> Result<SpentToken, Failure>;

    /// The call of this session that used up a token, if that was recently.
    fn used_by(&self, session: &SessionId, token: &str) -> Option<CallId>;

    /// Notes a write of a session.
    fn note_write(&self, session: &SessionId, call: CallId);

    /// The last writes of a session, the newest first.
    fn own_writes(&self, session: &SessionId) -> Vec<CallId>;

    /// Keeps a set about which a person is asked between two calls; returns the question's name.
    fn question(&self, session: &SessionId, set: ChangeSet) -> Result<String, Failure>;

    /// Takes out the set of a question; `None` if no such question waits.
    fn answered(&self, session: &SessionId, question: &str) -> Option<ChangeSet>;

    /// Records that a person said yes to a set in a call. `None` if this scope is not allowed for
    /// the set.
    fn approve(
        &self,
        who: Approver,
        set: ChangeSet,
        scope: ApprovalScope,
        call: CallId,
    ) -> Option<Approved>;

    /// Uses up one write of a standing approval, if one covers the set.
    fn approval(&self, who: &Approver, set: &ChangeSet) -> Option<Approved>;
}

/// A session that will know a page as its own write left it.
#[derive(Debug, Clone)]
pub(super) struct Knowing {
    pub(super) session: SessionId,
    /// True if it gave the content in full.
    pub(super) wrote_whole: bool,
}

impl dyn SessionStore {
    /// After its own write a session knows the parts of the page that it knew before, or all of it
    /// if it wrote the content in full. Otherwise it could overwrite a text that it never saw.
    pub(super) fn knowing(
        &self,
        session: &SessionId,
        change: &Change,
        wrote_whole: bool,
    ) -> Option<Knowing> {
        let knew = change.before().is_some_and(|page| {
            let seen = page.id.and_then(|id| self.last_read(session, id));
            let at = page.updated_at.as_ref();
            seen.is_some_and(|seen| at.is_some_and(|at| seen.knows_of(at)))
        });
        (wrote_whole || knew).then(|| Knowing {
            session: session.clone(),
            wrote_whole,
        })
    }
}
