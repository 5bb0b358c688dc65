//! Signed-in browsers: a cookie each, known by its digest alone.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::hmac;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::auth::SignInId;
use super::markup::News;
use crate::audit::ProposalId;

/// The time after which an unused session ends.
const IDLE: Duration = Duration::from_hours(12);
/// The longest lifetime of a session.
const LONGEST: Duration = Duration::from_hours(7 * 24);
/// The most sessions at once; the one that was used longest ago gives way.
const MOST_SESSIONS: usize = 200;
/// The most parts of differences that a session is remembered to have seen.
const MOST_SEEN: usize = 20_000;

/// A part of a difference as it was shown: of which set, by which digest, and its number.
pub(super) type SeenPart = (ProposalId, String, usize);

/// A signed-in browser.
#[derive(Debug)]
struct Session {
    signed_in: SignedIn,
    seen: HashSet<SeenPart>,
    news: Option<News>,
    opened: Instant,
    used: Instant,
}

/// The part of a session that a request may know.
#[derive(Debug, Clone)]
pub(super) struct SignedIn {
    /// The sign-in that opened it.
    pub reviewer: SignInId,
    /// The token in every form of the session.
    pub form_token: String,
    /// True if differences are shown in two columns.
    pub is_side_by_side: bool,
    /// The site that it looks at.
    pub site: Option<String>,
    cookie: [u8; 32],
    /// The key of tokens for single decisions; no page holds it.
    secret: String,
}

impl SignedIn {
    /// True if a form carries this session's token.
    pub(super) fn is_own_form(&self, token: &str) -> bool {
        bool::from(self.form_token.as_bytes().ct_eq(token.as_bytes()))
    }

    /// The token of a form that makes one decision, bound to the session and to these words. Only
    /// the page with that form holds it.
    pub(super) fn token_for(&self, words: &[impl AsRef<str>]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.secret.as_bytes());
        let mut token = hmac::Context::with_key(&key);
        for word in words.iter().map(AsRef::as_ref) {
            // Lengths tell where one word ends and the next begins.
            token.update(&word.len().to_be_bytes());
            token.update(word.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(token.sign())
    }

    /// Tells whether a form carries the token for these words.
    pub(super) fn is_token_for(&self, words: &[impl AsRef<str>], token: &str) -> bool {
        let own = self.token_for(words);
        bool::from(own.as_bytes().ct_eq(token.as_bytes()))
    }
}

/// All signed-in browsers of one page; they end with the process, but for those of people for whom an
/// issuer vouches, which begin anew.
#[derive(Debug, Default)]
pub(super) struct BrowserSessions(Mutex<Vec<Session>>);

impl BrowserSessions {
    /// Opens a session; gives the cookie's value.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn open(&self, reviewer: &SignInId) -> Result<String, getrandom::Error> {
        let cookie = random()?;
        self.open_as(&cookie, reviewer)?;
        Ok(cookie)
    }

    /// Opens a session whose cookie has this value.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn open_as(
        &self,
        cookie: &str,
        reviewer: &SignInId,
    ) -> Result<SignedIn, getrandom::Error> {
        let (form_token, secret) = (random()?, random()?);
        let signed_in = SignedIn {
            cookie: digest(cookie),
            reviewer: reviewer.clone(),
            form_token,
            secret,
            is_side_by_side: false,
            site: None,
        };
        let now = Instant::now();
        let mut all = self.0.lock();
        let is_it = |one: &&Session| one.signed_in.cookie == signed_in.cookie;
        if let Some(known) = all.iter().find(is_it) {
            // Two of its requests came at once.
            return Ok(known.signed_in.clone());
        }
        if all.len() >= MOST_SESSIONS {
            // The one at the front was used longest ago.
            all.remove(0);
        }
        all.push(Session {
            signed_in: signed_in.clone(),
            seen: HashSet::new(),
            news: None,
            opened: now,
            used: now,
        });
        Ok(signed_in)
    }

    /// The session of a cookie.
    pub(super) fn find(&self, cookie: &str) -> Option<SignedIn> {
        self.with(&digest(cookie), |session| session.signed_in.clone())
    }

    /// Remembers what the session was shown.
    pub(super) fn saw(&self, of: &SignedIn, parts: impl IntoIterator<Item = SeenPart>) {
        self.with(&of.cookie, |session| {
            for part in parts {
                if session.seen.len() >= MOST_SEEN {
                    // Forgetting is safe: what is forgotten has to be looked at again.
                    session.seen.clear();
                }
                session.seen.insert(part);
            }
        });
    }

    /// The parts of a set that the session was shown.
    pub(super) fn seen(&self, of: &SignedIn, id: ProposalId, digest: &str) -> HashSet<usize> {
        let own = |session: &mut Session| {
            let of_set = session.seen.iter();
            let of_set = of_set.filter(|(set, shown, _)| *set == id && shown == digest);
            of_set.map(|(_, _, part)| *part).collect()
        };
        self.with(&of.cookie, own).unwrap_or_default()
    }

    /// Shows differences in one column or two from now on.
    pub(super) fn show_side_by_side(&self, of: &SignedIn, is_side_by_side: bool) {
        self.with(&of.cookie, |session| {
            session.signed_in.is_side_by_side = is_side_by_side;
        });
    }

    /// Looks at another site from now on.
    pub(super) fn look_at(&self, of: &SignedIn, site: &str) {
        self.with(&of.cookie, |session| {
            session.signed_in.site = Some(site.to_owned());
        });
    }

    /// Keeps what became of a decision for the next page.
    pub(super) fn tell(&self, of: &SignedIn, news: News) {
        self.with(&of.cookie, |session| session.news = Some(news));
    }

    /// Takes the news of the last decision, once.
    pub(super) fn take_news(&self, of: &SignedIn) -> Option<News> {
        self.with(&of.cookie, |session| session.news.take())?
    }

    /// Ends a session.
    pub(super) fn close(&self, of: &SignedIn) {
        self.0
            .lock()
            .retain(|session| session.signed_in.cookie != of.cookie);
    }

    fn with<T>(&self, cookie: &[u8; 32], act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.with_at(Instant::now(), cookie, act)
    }

    fn with_at<T>(
        &self,
        now: Instant,
        cookie: &[u8; 32],
        act: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let mut all = self.0.lock();
        all.retain(|session| {
            now.duration_since(session.used) < IDLE && now.duration_since(session.opened) < LONGEST
        });
        let at = all.iter().position(|one| one.signed_in.cookie == *cookie)?;
        let mut session = all.remove(at);
        session.used = now;
        let told = act(&mut session);
        all.push(session);
        Some(told)
    }
}

/// 256 random bits as text.
pub(super) fn random() -> Result<String, getrandom::Error> {
    let mut bits = [0_u8; 32];
    getrandom::fill(&mut bits)?;
    Ok(URL_SAFE_NO_PAD.encode(bits))
}

/// A word that tells one text from another.
pub(super) fn short_digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.get(..12).unwrap_or_default())
}

fn digest(cookie: &str) -> [u8; 32] {
    Sha256::digest(cookie.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::auth::SignInBy;
    use super::{BrowserSessions, IDLE, LONGEST, MOST_SESSIONS, SignInId, digest};
    use crate::audit::ProposalId;

    fn sign_in_id(person: &str) -> SignInId {
        let person = person.to_owned();
        let by = SignInBy::Link(1);
        SignInId { person, by }
    }

    #[test]
    fn a_session_in_use_ends_after_seven_days() {
        let sessions = BrowserSessions::default();
        let cookie = digest(&sessions.open(&sign_in_id("a")).unwrap());
        let opened = Instant::now();
        let step = IDLE.checked_sub(Duration::from_mins(1)).unwrap();
        let mut used = opened;
        let last = opened + LONGEST.checked_sub(Duration::from_mins(1)).unwrap();
        while used + step < last {
            used += step;
            assert!(sessions.with_at(used, &cookie, |_| ()).is_some());
        }
        assert!(sessions.with_at(last, &cookie, |_| ()).is_some());
        let over = opened + LONGEST + Duration::from_mins(1);
        assert!(sessions.with_at(over, &cookie, |_| ()).is_none());
    }

    #[test]
    fn a_session_ends_twelve_hours_after_its_last_use() {
        let sessions = BrowserSessions::default();
        let cookie = digest(&sessions.open(&sign_in_id("a")).unwrap());
        let almost = IDLE.checked_sub(Duration::from_mins(1)).unwrap();
        let used = Instant::now() + almost;
        assert!(sessions.with_at(used, &cookie, |_| ()).is_some());
        let used = used + almost;
        assert!(sessions.with_at(used, &cookie, |_| ()).is_some());
        let late = used + IDLE;
        assert!(sessions.with_at(late, &cookie, |_| ()).is_none());
        assert!(sessions.with_at(used, &cookie, |_| ()).is_none());
    }

    #[test]
    fn a_cookie_opens_its_own_session_until_that_is_closed() {
        let sessions = BrowserSessions::default();
        let (one, other) = (
            sessions.open(&sign_in_id("a")).unwrap(),
            sessions.open(&sign_in_id("b")).unwrap(),
        );
        let of_one = sessions.find(&one).unwrap();
        assert_eq!(of_one.reviewer, sign_in_id("a"));
        assert!(of_one.is_own_form(&of_one.form_token.clone()));
        let of_other = sessions.find(&other).unwrap();
        assert!(!of_one.is_own_form(&of_other.form_token));
        assert!(!of_one.is_own_form(""));
        sessions.close(&of_one);
        assert!(sessions.find(&one).is_none());
        assert!(sessions.find(&other).is_some());
        assert!(sessions.find("made up").is_none());
    }

    #[test]
    fn a_token_for_one_decision_is_of_its_session_and_its_words() {
        let sessions = BrowserSessions::default();
        let (one, other) = (
            sessions.open(&sign_in_id("a")).unwrap(),
            sessions.open(&sign_in_id("a")).unwrap(),
        );
        let (one, other) = (sessions.find(&one).unwrap(), sessions.find(&other).unwrap());
        let token = one.token_for(&["delete", "ab", "c"]);
        assert!(one.is_token_for(&["delete", "ab", "c"], &token));
        assert!(!one.is_token_for(&["delete", "a", "bc"], &token));
        assert!(!one.is_token_for(&["undo", "ab", "c"], &token));
        assert!(!one.is_token_for(&["delete", "ab", "c"], ""));
        assert!(!other.is_token_for(&["delete", "ab", "c"], &token));
        assert_ne!(token, one.form_token);
    }

    #[test]
    fn what_was_seen_counts_for_the_set_as_it_was_shown() {
        let sessions = BrowserSessions::default();
        let cookie = sessions.open(&sign_in_id("a")).unwrap();
        let own = sessions.find(&cookie).unwrap();
        let id = ProposalId::new().unwrap();
        sessions.saw(&own, [(id, "x".to_owned(), 0), (id, "x".to_owned(), 2)]);
        assert_eq!(sessions.seen(&own, id, "x"), [0, 2].into());
        assert!(sessions.seen(&own, id, "y").is_empty());
        assert!(
            sessions
                .seen(&own, ProposalId::new().unwrap(), "x")
                .is_empty()
        );
    }

    #[test]
    fn the_session_used_longest_ago_gives_way() {
        let sessions = BrowserSessions::default();
        let (first, second) = (
            sessions.open(&sign_in_id("a")).unwrap(),
            sessions.open(&sign_in_id("b")).unwrap(),
        );
        assert!(sessions.find(&first).is_some());
        for _ in 2..=MOST_SESSIONS {
            sessions.open(&sign_in_id("c")).unwrap();
        }
        assert!(sessions.find(&second).is_none());
        assert!(sessions.find(&first).is_some());
    }
}
