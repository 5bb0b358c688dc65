//! The previews that wait to be confirmed: in memory, bounded, each for one session.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::audit::{CallId, ProposalId};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::share::that_goes;

/// The most previews that are kept.
const MAX_PREVIEWS: usize = 100;
/// The most bytes of pages that they may hold together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How many characters a token has: 128 bits in hex.
const TOKEN_CHARS: usize = 32;

/// Whom a preview belongs to: a stdio process, or a session of HTTP bound to its client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId {
    name: Arc<str>,
    owner: Arc<str>,
    lasts: bool,
    /// Whether its owner is one client, not all that have no name.
    is_named: bool,
}

impl SessionId {
    /// The session of one connection, its own owner.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self {
            owner: Arc::clone(&name),
            name,
            lasts: true,
            is_named: false,
        }
    }

    /// The callers of one name that have no session: previews are theirs, but nothing that
    /// they read and no approval is remembered.
    #[must_use]
    pub fn fleeting(name: impl Into<Arc<str>>) -> Self {
        Self {
            lasts: false,
            ..Self::new(name)
        }
    }

    /// The same, counted together with all else of this owner where owners share room.
    #[must_use]
    pub fn owned_by(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            owner: owner.into(),
            ..self
        }
    }

    /// The same of one client: what it does in one session counts for it in all.
    #[must_use]
    pub fn of_client(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            is_named: true,
            ..self.owned_by(owner)
        }
    }

    /// Whom it is counted with where owners share room.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Who guesses, where the static token is guessed: a client that has a name in all its
    /// sessions, or this session.
    pub(super) const fn guesser(&self) -> &Arc<str> {
        if self.is_named {
            &self.owner
        } else {
            &self.name
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

impl Proposed {
    /// The page that it changes; none for a create.
    #[must_use]
    pub fn page(&self) -> Option<i64> {
        self.change.before().and_then(|page| page.id)
    }
}

/// What somebody asked for who got a preview: the tool, and its arguments.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, as they were given.
    pub arguments: Arc<Map<String, Value>>,
}

impl Asked {
    /// A call of a tool.
    #[must_use]
    pub fn new(tool: &'static str, arguments: Map<String, Value>) -> Self {
        Self {
            tool,
            arguments: Arc::new(arguments),
        }
    }

    /// Whether it said all of the content that the page shall have.
    #[must_use]
    pub fn says_whole_content(&self) -> bool {
        self.arguments.contains_key("content")
    }

    fn bytes(&self) -> usize {
        let members = self.arguments.iter();
        members
            .map(|(name, value)| name.len() + weight(value))
            .sum()
    }
}

/// About how much room a value takes.
fn weight(value: &Value) -> usize {
    let own = size_of::<Value>();
    own + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + weight(value))
            .sum(),
    }
}

#[derive(Debug)]
struct Kept {
    session: SessionId,
    proposed: Proposed,
    asked: Option<Asked>,
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
    /// The tokens used up last, each with the session and the call that did.
    used: Mutex<VecDeque<(String, SessionId, CallId)>>,
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
            used: Mutex::default(),
        }
    }

    /// Keeps a change under a new token. Where there is no room, those of the owner that holds
    /// the most go, the oldest first.
    ///
    /// # Errors
    /// `TOO_LARGE` if only those who hold less could give way; `INTERNAL_ERROR` if the system
    /// has no randomness to give.
    pub fn offer(&self, session: &SessionId, proposed: Proposed) -> Result<Previewed, Failure> {
        let mut bits = [0u8; 16];
        getrandom::fill(&mut bits)
            .map_err(|_| Failure::new(Code::InternalError, "The system gave no random numbers."))?;
        let token = format!("{:032x}", u128::from_be_bytes(bits));
        let expires = Instant::now() + self.life;
        let expires_at = OffsetDateTime::now_utc()
            .saturating_add(self.life.try_into().unwrap_or_default())
            .replace_nanosecond(0)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok())
            .unwrap_or_default();
        let mut kept = self.lock();
        let now = Instant::now();
        kept.retain(|_, preview| preview.expires > now);
        let bytes = proposed.change.bytes();
        for token in gone_for(&kept, session, bytes).ok_or_else(no_room)? {
            kept.remove(&token);
        }
        let session = session.clone();
        kept.insert(
            token.clone(),
            Kept {
                session,
                proposed,
                asked: None,
                bytes,
                expires,
            },
        );
        Ok(Previewed { token, expires_at })
    }

    /// Keeps beside a token what was asked for to get it. Its room counts from the next preview
    /// on.
    pub fn keep_asked(&self, session: &SessionId, token: &str, asked: Asked) {
        let mut kept = self.lock();
        let preview = kept.get_mut(token);
        if let Some(preview) = preview.filter(|preview| preview.counts_for(session)) {
            preview.bytes += asked.bytes();
            preview.asked = Some(asked);
        }
    }

    /// What was asked for to get a token; nothing where that is not what it stands for.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub fn asked(&self, session: &SessionId, token: &str) -> Result<Option<Asked>, Failure> {
        let kept = self.lock();
        let preview = kept.get(token);
        let preview = preview.filter(|preview| preview.counts_for(session));
        preview
            .map(|preview| preview.asked.clone())
            .ok_or_else(|| uncounted(token))
    }

    /// What a token stands for, if it counts for this session.
    ///
    /// # Errors
    /// `CONFIRM_MISMATCH` for what has not the form of a token; else `CONFIRM_EXPIRED`, whatever
    /// the reason: a stranger learns nothing of other sessions.
    pub fn look(&self, session: &SessionId, token: &str) -> Result<Proposed, Failure> {
        self.of(session, token, Clone::clone)
    }

    /// The page that a token's change is of; none for a create.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub fn page_of(&self, session: &SessionId, token: &str) -> Result<Option<i64>, Failure> {
        self.of(session, token, Proposed::page)
    }

    fn of<T>(
        &self,
        session: &SessionId,
        token: &str,
        take: impl FnOnce(&Proposed) -> T,
    ) -> Result<T, Failure> {
        self.lock()
            .get(token)
            .filter(|preview| preview.counts_for(session))
            .map(|preview| take(&preview.proposed))
            .ok_or_else(|| uncounted(token))
    }

    /// Uses up a token. Of two calls at once with one token, one gets the proof.
    ///
    /// # Errors
    /// As for [`Self::look`].
    pub fn spend(&self, session: &SessionId, token: &str) -> Result<Spent, Failure> {
        let mut kept = self.lock();
        if !kept
            .get(token)
            .is_some_and(|preview| preview.counts_for(session))
        {
            return Err(uncounted(token));
        }
        let preview = kept.remove(token).ok_or_else(|| uncounted(token))?;
        drop(kept);
        if let Some(call) = CallId::current() {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.push_front((token.to_owned(), session.clone(), call));
            used.truncate(MAX_PREVIEWS);
        }
        Ok(Spent {
            proposed: preview.proposed,
        })
    }

    /// The call of this session that used a token up, if it was one of the last.
    #[must_use]
    pub fn used_by(&self, session: &SessionId, token: &str) -> Option<CallId> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(spent, by, _): &&(String, SessionId, CallId)| spent == token && by == session;
        used.iter().find(is_it).map(|(_, _, call)| *call)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        // A panic elsewhere cannot leave a map of whole entries half-made.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tokens that must go for one more preview of a session; none if that is too large to be
/// kept beside those of others.
fn gone_for(
    kept: &HashMap<String, Kept>,
    session: &SessionId,
    bytes: usize,
) -> Option<Vec<String>> {
    let mut held: Vec<_> = kept.iter().collect();
    held.sort_by_key(|(_, preview)| preview.expires);
    let mut gone = Vec::new();
    loop {
        let is_crowded = held.len() >= MAX_PREVIEWS;
        let all: usize = held.iter().map(|(_, preview)| preview.bytes).sum();
        if !is_crowded && (held.is_empty() || all + bytes <= MAX_BYTES) {
            return Some(gone);
        }
        let weight = |bytes| if is_crowded { 1 } else { bytes };
        let weights: Vec<_> = held
            .iter()
            .map(|(_, preview)| (preview.session.owner(), weight(preview.bytes)))
            .collect();
        let place = that_goes(&weights, (session.owner(), weight(bytes)))?;
        gone.push(held.remove(place).0.clone());
    }
}

fn no_room() -> Failure {
    Failure::new(
        Code::TooLarge,
        "The preview is too large to be kept beside those of other clients.",
    )
    .hint("Call again in ten minutes, or split the change.")
}

/// Why a token does not count.
fn uncounted(token: &str) -> Failure {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if token.len() != TOKEN_CHARS || !token.bytes().all(is_hex) {
        return Failure::new(
            Code::ConfirmMismatch,
            "The argument confirm is no token of a preview: those have 32 characters, 0 to 9 and a to f.",
        )
        .hint("Call again without confirm; pass the value of confirm in that preview, to the letter.");
    }
    Failure::new(
        Code::ConfirmExpired,
        "The confirm token is unknown, older than ten minutes or already used.",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAX_BYTES, MAX_PREVIEWS, Previews, Proposed, SessionId};
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

    #[test]
    fn what_has_not_the_form_of_a_token_is_no_expired_one() {
        let previews = Previews::new(Previews::LIFE);
        let session = SessionId::new("a");
        let code = |token: &str| previews.look(&session, token).unwrap_err().code;
        let token = previews.offer(&session, change()).expect("a token").token;
        for bad in [
            "",
            "yes",
            "true",
            token.get(1..).unwrap_or_default(),
            &token.to_uppercase().replace(char::is_numeric, "A"),
        ] {
            assert_eq!(code(bad), crate::error::Code::ConfirmMismatch, "{bad}");
        }
        assert_eq!(code(&"0".repeat(32)), crate::error::Code::ConfirmExpired);
    }

    fn heavy(bytes: usize) -> Proposed {
        let mut page = change().change.before().expect("a page").clone();
        page.content = "x".repeat(bytes);
        Proposed {
            change: Change::delete(page),
            ..change()
        }
    }

    #[test]
    fn whoever_holds_the_most_gives_way_whatever_sessions_it_opens() {
        let previews = Previews::new(Previews::LIFE);
        let few = SessionId::new("a/1").owned_by("a");
        let sessions = ["b/1", "b/2"].map(|name| SessionId::new(name).owned_by("b"));
        let kept = previews.offer(&few, change()).expect("a token").token;
        let first = previews.offer(&sessions[0], change()).expect("a token");
        for number in 0..2 * MAX_PREVIEWS {
            let session = &sessions[number % 2];
            previews.offer(session, change()).expect("a token");
        }
        assert_eq!(previews.page_of(&few, &kept), Ok(Some(1)));
        assert!(previews.page_of(&sessions[0], &first.token).is_err());
        // Whoever has little gets its room of whoever has much.
        let late = SessionId::new("c");
        let token = previews.offer(&late, change()).expect("a token").token;
        assert!(previews.look(&late, &token).is_ok());
        assert!(previews.look(&few, &kept).is_ok());
    }

    #[test]
    fn large_previews_do_not_push_out_those_of_who_holds_less() {
        let previews = Previews::new(Previews::LIFE);
        let (few, much) = (SessionId::new("a"), SessionId::new("b"));
        let kept = previews.offer(&few, change()).expect("a token").token;
        let large = || previews.offer(&much, heavy(MAX_BYTES / 4));
        let tokens: Vec<String> = (0..5).map(|_| large().expect("a token").token).collect();
        let alive = tokens.iter().map(|one| previews.look(&much, one).is_ok());
        let alive: Vec<bool> = alive.collect();
        assert_eq!(alive, [false, false, true, true, true]);
        assert!(previews.look(&few, &kept).is_ok());
        // What could only be kept in place of smaller ones is not, and costs its owner nothing.
        let late = SessionId::new("c");
        let small = previews.offer(&late, change()).expect("a token").token;
        let refused = previews.offer(&late, heavy(MAX_BYTES));
        assert_eq!(refused.unwrap_err().code, crate::error::Code::TooLarge);
        assert!(previews.look(&late, &small).is_ok());
        assert!(previews.look(&much, &tokens[4]).is_ok());
    }
}
