//! The previews that wait to be confirmed: in memory, bounded, each for one session; and where several servers
//! have one database, there too.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{ChangeSet, SessionId, TurnOf};
use crate::audit::CallId;
use crate::error::Result;

mod asked;
mod shared;
mod token;

pub use asked::Asked;
use quota::{gone_for, no_room};
pub use shared::{PreviewStore, SessionPreviews};
use token::uncounted;

/// A preview as it was given: its token, and until when it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Previewed {
    /// The token: 128 random bits in hex.
    pub token: String,
    /// Until when it counts, in RFC 3339.
    pub expires_at: String,
}

/// Proof that the token of a preview was used up for this very set.
#[derive(Debug)]
#[must_use]
pub struct SpentToken {
    pub(super) set: ChangeSet,
}

impl SpentToken {
    /// The set that its token stood for.
    pub fn into_set(self) -> ChangeSet {
        self.set
    }
}

#[derive(Debug)]
struct PreviewEntry {
    session: SessionId,
    set: ChangeSet,
    asked: Option<Asked>,
    bytes: usize,
    expires: Instant,
    /// True if other servers find it too.
    is_shared: bool,
}

impl PreviewEntry {
    /// A preview that another server gave.
    fn shared(session: SessionId, set: ChangeSet, asked: Asked, left: Duration) -> Self {
        Self {
            bytes: set.bytes() + asked.bytes(),
            session,
            set,
            asked: Some(asked),
            expires: Instant::now() + left,
            is_shared: true,
        }
    }

    fn counts_for(&self, session: &SessionId) -> bool {
        self.session == *session && self.expires > Instant::now()
    }
}

/// The previews that wait to be confirmed.
///
/// Only `write/memory/` makes them, whose tokens then count (`tests/it/house/promises.rs`).
#[derive(Debug)]
pub struct Previews {
    life: Duration,
    kept: Mutex<HashMap<String, PreviewEntry>>,
    /// The tokens used up last, each with its session and call.
    used: Mutex<VecDeque<(String, SessionId, CallId)>>,
}

impl Previews {
    /// The lifetime of a preview.
    pub const LIFE: Duration = Duration::from_mins(10);

    /// No previews yet; each will count for `life`.
    pub fn new(life: Duration) -> Self {
        Self {
            life,
            kept: Mutex::new(HashMap::new()),
            used: Mutex::default(),
        }
    }

    /// Keeps a change under a new token. If there is no room, previews of the heaviest owner are
    /// evicted, oldest first.
    ///
    /// # Errors
    /// `TOO_LARGE` if only previews of lighter owners could be evicted; `INTERNAL_ERROR` if the
    /// system gives no randomness.
    pub fn offer(&self, session: &SessionId, set: ChangeSet) -> Result<Previewed> {
        self.offer_for(self.life, session, set)
    }

    /// The same for another time than usual.
    ///
    /// # Errors
    /// As for [`Self::offer`].
    pub fn offer_for(
        &self,
        life: Duration,
        session: &SessionId,
        set: ChangeSet,
    ) -> Result<Previewed> {
        let token = token::new()?;
        let expires = Instant::now() + life;
        let expires_at = OffsetDateTime::now_utc()
            .saturating_add(life.try_into().unwrap_or_default())
            .replace_nanosecond(0)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok())
            .unwrap_or_default();
        let preview = PreviewEntry {
            session: session.clone(),
            bytes: set.bytes(),
            set,
            asked: None,
            expires,
            is_shared: false,
        };
        self.insert(token.clone(), preview)?;
        Ok(Previewed { token, expires_at })
    }

    fn insert(&self, token: String, preview: PreviewEntry) -> Result<()> {
        let mut kept = self.kept.lock();
        let now = Instant::now();
        kept.retain(|_, preview| preview.expires > now);
        for token in gone_for(&kept, &preview.session, preview.bytes).ok_or_else(no_room)? {
            kept.remove(&token);
        }
        kept.insert(token, preview);
        Ok(())
    }

    /// Keeps the call for which a token was given. Its size counts from the next preview on.
    pub fn keep_asked(&self, session: &SessionId, token: &str, asked: Asked) {
        let mut kept = self.kept.lock();
        let preview = kept.get_mut(token);
        if let Some(preview) = preview.filter(|preview| preview.counts_for(session)) {
            preview.bytes += asked.bytes();
            preview.asked = Some(asked);
        }
    }

    /// The call for which a token was given; `None` if the token stands for something else.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub fn asked(&self, session: &SessionId, token: &str) -> Result<Option<Asked>> {
        let kept = self.kept.lock();
        counting(&kept, session, token).map(|preview| preview.asked.clone())
    }

    /// The set that a token confirms, if it counts for this session.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH` for text that does not have the form of a token; otherwise
    /// `CONFIRM_EXPIRED`, whatever the reason, so that a stranger learns nothing of other sessions.
    pub fn look(&self, session: &SessionId, token: &str) -> Result<ChangeSet> {
        let kept = self.kept.lock();
        counting(&kept, session, token).map(|preview| preview.set.clone())
    }

    /// The set that was shown to the session under this id, or to another session of its owner.
    pub(super) fn shown(&self, session: &SessionId, id: CallId) -> Option<ChangeSet> {
        let previews = self.kept.lock();
        let mut own = previews.values();
        let own = own.find(|preview| preview.set.id() == id && preview.counts_for(session));
        own.map(|preview| preview.set.clone())
    }

    /// The turn that a token's set needs.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub fn turn_of(&self, session: &SessionId, token: &str) -> Result<TurnOf> {
        let kept = self.kept.lock();
        counting(&kept, session, token).map(|preview| preview.set.turn())
    }

    /// Uses up a token of this server alone.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub(super) fn take(&self, session: &SessionId, token: &str) -> Result<SpentToken> {
        let mut kept = self.kept.lock();
        counting(&kept, session, token)?;
        let preview = kept.remove(token).ok_or_else(|| uncounted(token))?;
        drop(kept);
        if let Some(call) = CallId::current() {
            self.note_used(session, token, call);
        }
        Ok(SpentToken { set: preview.set })
    }

    fn note_used(&self, session: &SessionId, token: &str, call: CallId) {
        let mut used = self.used.lock();
        used.push_front((token.to_owned(), session.clone(), call));
        used.truncate(quota::MAX_PREVIEWS);
    }

    /// The call of this session that used up a token, here or at another server, if that was recently.
    pub fn used_by(&self, session: &SessionId, token: &str) -> Option<CallId> {
        let used = self.used.lock();
        let is_it = |(spent, by, _): &&(String, SessionId, CallId)| spent == token && by == session;
        used.iter().find(is_it).map(|(_, _, call)| *call)
    }
}

/// The preview of a token, if it counts for a session.
fn counting<'a>(
    kept: &'a HashMap<String, PreviewEntry>,
    session: &SessionId,
    token: &str,
) -> Result<&'a PreviewEntry> {
    let preview = kept.get(token);
    let preview = preview.filter(|preview| preview.counts_for(session));
    preview.ok_or_else(|| uncounted(token))
}

mod quota;
#[cfg(test)]
mod tests;
