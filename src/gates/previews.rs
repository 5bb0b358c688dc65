//! The previews that wait to be confirmed: in memory, bounded, each for one session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::audit::{CallId, ProposalId};
use crate::change::Change;
use crate::error::{Code, Failure};

/// The most previews that are kept.
const MAX_PREVIEWS: usize = 100;
/// The most bytes of pages that they may hold together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Whom a preview belongs to: a stdio process, or a session of HTTP bound to its client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId {
    name: Arc<str>,
    lasts: bool,
}

impl SessionId {
    /// The session of one connection.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            lasts: true,
        }
    }

    /// The callers of one name that have no session: previews are theirs, but nothing that
    /// they read and no approval is remembered.
    #[must_use]
    pub fn fleeting(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            lasts: false,
        }
    }

    /// Whether it is a session, of which something may be remembered.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        self.lasts
    }
}

/// A preview as it was given: its token, and until when it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Previewed {
    /// The token: 128 random bits in hex.
    pub token: String,
    /// Until when it counts, in RFC 3339.
    pub expires_at: String,
}

/// Proof that the token of a preview was used up for this very change.
#[derive(Debug)]
#[must_use]
pub struct Spent {
    pub(super) proposed: Proposed,
}

impl Spent {
    /// What it was the token of.
    #[must_use]
    pub fn into_proposed(self) -> Proposed {
        self.proposed
    }
}

/// What a preview is of.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// The change.
    pub change: Change,
    /// The call that it takes back, if it is an undo.
    pub undoes: Option<CallId>,
    /// The proposal that it applies, if it is one.
    pub proposal: Option<ProposalId>,
}

#[derive(Debug)]
struct Kept {
    session: SessionId,
    proposed: Proposed,
    bytes: usize,
    expires: Instant,
}

impl Kept {
    fn counts_for(&self, session: &SessionId) -> bool {
        self.session == *session && self.expires > Instant::now()
    }
}

/// The previews that wait to be confirmed.
#[derive(Debug)]
pub struct Previews {
    life: Duration,
    kept: Mutex<HashMap<String, Kept>>,
}

impl Previews {
    /// How long a preview counts.
    pub const LIFE: Duration = Duration::from_mins(10);

    /// No previews yet; each will count for `life`.
    #[must_use]
    pub fn new(life: Duration) -> Self {
        Self {
            life,
            kept: Mutex::new(HashMap::new()),
        }
    }

    /// Keeps a change under a new token.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if the system has no randomness to give.
    pub fn offer(&self, session: &SessionId, proposed: Proposed) -> Result<Previewed, Failure> {
        let mut bits = [0u8; 16];
        getrandom::fill(&mut bits)
            .map_err(|_| Failure::new(Code::InternalError, "The system gave no random numbers."))?;
        let token = format!("{:032x}", u128::from_be_bytes(bits));
        let expires = Instant::now() + self.life;
        let expires_at = (OffsetDateTime::now_utc() + self.life)
            .replace_nanosecond(0)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok())
            .unwrap_or_default();
        let mut kept = self.lock();
        let now = Instant::now();
        kept.retain(|_, preview| preview.expires > now);
        let bytes = proposed.change.bytes();
        let held = |kept: &HashMap<String, Kept>| {
            kept.values().map(|preview| preview.bytes).sum::<usize>()
        };
        while kept.len() >= MAX_PREVIEWS || (!kept.is_empty() && held(&kept) + bytes > MAX_BYTES) {
            let oldest = kept.iter().min_by_key(|(_, preview)| preview.expires);
            let Some(oldest) = oldest.map(|(token, _)| token.clone()) else {
                break;
            };
            kept.remove(&oldest);
        }
        let session = session.clone();
        kept.insert(
            token.clone(),
            Kept {
                session,
                proposed,
                bytes,
                expires,
            },
        );
        Ok(Previewed { token, expires_at })
    }

    /// What a token stands for, if it counts for this session.
    ///
    /// # Errors
    /// `CONFIRM_EXPIRED`, whatever the reason: a stranger learns nothing of other sessions.
    pub fn look(&self, session: &SessionId, token: &str) -> Result<Proposed, Failure> {
        self.lock()
            .get(token)
            .filter(|preview| preview.counts_for(session))
            .map(|preview| preview.proposed.clone())
            .ok_or_else(expired)
    }

    /// Uses up a token. Of two calls at once with one token, one gets the proof.
    ///
    /// # Errors
    /// `CONFIRM_EXPIRED`.
    pub fn spend(&self, session: &SessionId, token: &str) -> Result<Spent, Failure> {
        let mut kept = self.lock();
        if !kept
            .get(token)
            .is_some_and(|preview| preview.counts_for(session))
        {
            return Err(expired());
        }
        let preview = kept.remove(token).ok_or_else(expired)?;
        Ok(Spent {
            proposed: preview.proposed,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        // A panic elsewhere cannot leave a map of whole entries half-made.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn expired() -> Failure {
    Failure::new(
        Code::ConfirmExpired,
        "The confirm token is unknown, older than ten minutes or already used.",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAX_PREVIEWS, Previews, Proposed, SessionId};
    use crate::change::Change;
    use crate::page::PageState;

    fn change() -> Proposed {
        let page = r#"{"id":1,"locale":"en","path":"a","title":"A","description":"","content":"x",
            "editor":"markdown","tags":[],"isPublished":true,"isPrivate":false,"publishStartDate":"",
            "publishEndDate":"","scriptCss":"","scriptJs":""}"#;
        let change = Change::delete(serde_json::from_str::<PageState>(page).expect("a page"));
        Proposed {
            change,
            undoes: None,
            proposal: None,
        }
    }

    #[test]
    fn a_token_counts_once_and_for_its_session_alone() {
        let previews = Previews::new(Previews::LIFE);
        let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
        let token = previews.offer(&ours, change()).expect("a token").token;
        assert!(previews.spend(&theirs, &token).is_err());
        assert!(previews.spend(&ours, &token).is_ok());
        assert!(previews.spend(&ours, &token).is_err());
    }

    #[test]
    fn an_old_token_does_not_count() {
        let previews = Previews::new(Duration::ZERO);
        let session = SessionId::new("a");
        let token = previews.offer(&session, change()).expect("a token").token;
        assert!(previews.look(&session, &token).is_err());
    }

    #[test]
    fn no_more_than_the_limit_are_kept_and_the_oldest_goes() {
        let previews = Previews::new(Previews::LIFE);
        let session = SessionId::new("a");
        let tokens: Vec<String> = (0..=MAX_PREVIEWS)
            .map(|_| previews.offer(&session, change()).expect("a token").token)
            .collect();
        let alive = tokens
            .iter()
            .filter(|token| previews.look(&session, token).is_ok())
            .count();
        assert_eq!(alive, MAX_PREVIEWS);
        assert!(previews.look(&session, &tokens[0]).is_err());
    }
}
