//! What outlives a call: reads, previews, questions and approvals, behind one trait, since they
//! will lie in a database one day.

mod in_process;
mod own_writes;
mod reads;

use std::fmt;

use crate::audit::CallId;
use crate::error::Failure;
use crate::gates::{
    Approved, Approver, Asked, ChangeSet, Previewed, Scope, SessionId, Spent, TurnOf,
};
use crate::page::{Date, PageReading};

pub(super) use in_process::InProcess;
pub use reads::Sight;
pub(super) use reads::{Concerns, Seen};

/// What is remembered between calls, each for its session.
pub(super) trait Memory: fmt::Debug + Send + Sync {
    /// A session saw a page.
    fn note_read(&self, session: &SessionId, page: PageReading, sight: Sight);

    /// A session wrote a page, of which it knew the newest state that it saw or wrote all of the
    /// text itself.
    fn note_written(&self, session: &SessionId, id: i64, at: &Date, is_whole: bool);

    /// The page as this session last saw it.
    fn last_read(&self, session: &SessionId, page: i64) -> Option<Seen>;

    /// Keeps a set under a new token, which confirms it.
    fn preview(&self, session: &SessionId, set: ChangeSet) -> Result<Previewed, Failure>;

    /// Keeps beside a token what was asked for to get it.
    fn keep_asked(&self, session: &SessionId, token: &str, asked: Asked);

    /// What was asked for to get a token.
    fn asked(&self, session: &SessionId, token: &str) -> Result<Option<Asked>, Failure>;

    /// The set that was shown to the session under this id.
    fn shown(&self, session: &SessionId, id: CallId) -> Option<ChangeSet>;

    /// What the set that a token stands for takes a turn of.
    fn turn_of(&self, session: &SessionId, token: &str) -> Result<TurnOf, Failure>;

    /// What a token stands for.
    fn previewed(&self, session: &SessionId, token: &str) -> Result<ChangeSet, Failure>;

    /// Uses up a token. Of two calls at once with one token, one gets the proof.
    fn spend(&self, session: &SessionId, token: &str) -> Result<Spent, Failure>;

    /// The call of this session that used a token up, if it was one of the last.
    fn used_by(&self, session: &SessionId, token: &str) -> Option<CallId>;

    /// A session wrote.
    fn note_write(&self, session: &SessionId, call: CallId);

    /// The last writes of a session, the newest first.
    fn own_writes(&self, session: &SessionId) -> Vec<CallId>;

    /// Keeps a set about which a person is asked between two calls; gives the question's name.
    fn question(&self, session: &SessionId, set: ChangeSet) -> Result<String, Failure>;

    /// Takes out what a question was about; nothing if no such question waits.
    fn answered(&self, session: &SessionId, question: &str) -> Option<ChangeSet>;

    /// A person said yes to a set, under a call. `None` if this scope is not allowed for the set.
    fn approve(
        &self,
        who: Approver,
        set: ChangeSet,
        scope: Scope,
        call: CallId,
    ) -> Option<Approved>;

    /// Uses one write of an approval that stands, if one covers the set.
    fn approval(&self, who: &Approver, set: &ChangeSet) -> Option<Approved>;
}

/// A session that will know a page as its own write leaves it.
#[derive(Debug, Clone)]
pub(super) struct Knowing {
    pub(super) session: SessionId,
    /// Whether it said all of the content.
    pub(super) wrote_whole: bool,
}

impl dyn Memory {
    /// After its own write a session knows of the page what it knew of it before, or all if it
    /// wrote the content itself. Otherwise it could overwrite a text that it never saw.
    pub(super) fn knowing(
        &self,
        session: &SessionId,
        set: &ChangeSet,
        wrote_whole: bool,
    ) -> Option<Knowing> {
        let knew = set.first().change.before().is_some_and(|page| {
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
