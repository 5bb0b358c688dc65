//! A key, and what is known of its rights from the wiki: nothing for a new key.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex as Lock;
use reqwest::header::HeaderValue;
use tokio::sync::Mutex;

use super::super::links::tags::TagTitles;
use super::super::pages::shared_list::Flights;
use super::super::{AllPages, ApiKey, SeenPage, SiteLocales, WikiError, WikiResult};
use crate::words::words;

/// Time for which a good standing is believed: a wiki may silently turn all keys into a guest's.
const GOOD: Duration = Duration::from_mins(10);
/// Time for which any other standing is believed: an administrator may be mending it.
const BAD: Duration = Duration::from_mins(1);
/// Time for which nothing is asked again after a question that was not answered.
const UNANSWERED: Duration = Duration::from_secs(10);

/// A key, and what is known of its rights from the wiki.
pub(in crate::wiki) struct KeyState {
    pub(in crate::wiki) key: ApiKey,
    /// The header that carries the key.
    pub(in crate::wiki) authorization: HeaderValue,
    /// The log leaves it out: a caller brought the key and is responsible for it, or a command
    /// reports it itself.
    pub(in crate::wiki) is_quiet: bool,
    /// Number of keys that this wiki had before.
    pub(in crate::wiki) generation: u64,
    /// This key was last refused the layer `single`, and read a page whole by the next.
    pub(in crate::wiki) is_writer: AtomicBool,
    /// All pages, as they were listed last.
    pub(in crate::wiki) pages: Mutex<Option<Arc<AllPages>>>,
    /// Held by whoever asks for the whole of it.
    pub(in crate::wiki) listing: Mutex<()>,
    /// The other whole lists that are asked for.
    pub(in crate::wiki) flights: Flights,
    /// Held by whoever looks at the list of pages, so that all who want to know take one look.
    pub(in crate::wiki) looking: Mutex<()>,
    /// The titles of tags, as they were listed last.
    pub(in crate::wiki) tag_titles: Mutex<Option<TagTitles>>,
    /// The locales of the site, and when they were asked for.
    pub(in crate::wiki) locales: Mutex<Option<(Instant, SiteLocales)>>,
    /// Held while the wiki is asked about the key's standing.
    pub(in crate::wiki) asking: Mutex<()>,
    known: Lock<KeyStatusCache>,
    /// Pages that one list had and the next did not.
    pub(in crate::wiki) gone: Lock<VecDeque<SeenPage>>,
    /// Pages that were read apart from the list of all pages.
    pub(in crate::wiki) pages_read: Lock<VecDeque<SeenPage>>,
}

words! {
    /// The standing of a key with the wiki.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum KeyStatus: as_str, ALL {
        /// It knows the key.
        Good = "good",
        /// It does not, and treats it as a guest's.
        Guest = "guest",
        /// The key's time is over.
        Expired = "expired",
        /// The key was revoked.
        Revoked = "revoked",
        /// API access is switched off for every key.
        ApiDisabled = "api_disabled",
    }
}

/// The cached standing of a key.
#[derive(Default)]
struct KeyStatusCache {
    standing: Option<KeyStatus>,
    /// The time at which the wiki said so.
    asked: Option<Instant>,
    /// The time of a question that it has not answered since.
    unanswered: Option<Instant>,
    /// The standing that was last logged.
    logged: Option<KeyStatus>,
}

impl KeyState {
    /// A key of which nothing is known yet.
    ///
    /// # Errors
    /// One sentence about the key.
    pub(in crate::wiki) fn new(
        key: ApiKey,
        is_quiet: bool,
        generation: u64,
    ) -> Result<Self, String> {
        let mut authorization = HeaderValue::from_str(&key.authorization())
            .map_err(|_| "the key has characters that no HTTP header can carry".to_owned())?;
        authorization.set_sensitive(true);
        Ok(Self {
            key,
            authorization,
            is_quiet,
            generation,
            is_writer: AtomicBool::new(false),
            pages: Mutex::new(None),
            listing: Mutex::new(()),
            flights: Flights::default(),
            looking: Mutex::new(()),
            tag_titles: Mutex::new(None),
            locales: Mutex::new(None),
            asking: Mutex::new(()),
            known: Lock::default(),
            gone: Lock::default(),
            pages_read: Lock::default(),
        })
    }

    /// The last known standing, however old.
    pub(in crate::wiki) fn standing(&self) -> Option<KeyStatus> {
        self.known.lock().standing
    }

    /// The standing, if it needs not be asked again.
    pub(in crate::wiki) fn fresh_standing(&self) -> Option<KeyStatus> {
        let known = self.known.lock();
        let standing = known.standing?;
        let life = if standing == KeyStatus::Good {
            GOOD
        } else {
            BAD
        };
        let is_fresh = known.asked.is_some_and(|asked| asked.elapsed() < life);
        // A key that was good is asked about again when its time is over.
        let has_ended = standing == KeyStatus::Good && self.key.has_expired();
        (is_fresh && !has_ended).then_some(standing)
    }

    /// True if the wiki was asked a moment ago, and did not answer.
    pub(in crate::wiki) fn is_unanswered(&self) -> bool {
        let lately = |asked: Instant| asked.elapsed() < UNANSWERED;
        self.known.lock().unanswered.is_some_and(lately)
    }

    /// The wiki was asked, and answered so, or not in time.
    pub(in crate::wiki) fn asked(&self, standing: Option<KeyStatus>) {
        let mut known = self.known.lock();
        match standing {
            Some(standing) => self.set(&mut known, standing),
            None => known.unanswered = Some(Instant::now()),
        }
    }

    /// Learns from any answer what it reveals about the key.
    pub(in crate::wiki) fn learn<T>(&self, answer: &WikiResult<T>) {
        let standing = match answer {
            Ok(_) => {
                let mut known = self.known.lock();
                // Both refuse every request, so one of them is over.
                if let Some(KeyStatus::Revoked | KeyStatus::ApiDisabled) = known.standing {
                    known.standing = None;
                }
                return;
            }
            Err(WikiError::KeyRevoked) => KeyStatus::Revoked,
            Err(WikiError::ApiDisabled) => KeyStatus::ApiDisabled,
            Err(WikiError::Unauthorized) => KeyStatus::Expired,
            Err(_) => return,
        };
        self.set(&mut self.known.lock(), standing);
    }

    fn set(&self, known: &mut KeyStatusCache, standing: KeyStatus) {
        known.standing = Some(standing);
        known.asked = Some(Instant::now());
        known.unanswered = None;
        let before = known.logged.replace(standing);
        if before == Some(standing) || (before.is_none() && standing == KeyStatus::Good) {
            return;
        }
        match self.fault(standing) {
            _ if self.is_quiet => {}
            None => tracing::info!("the wiki takes the key again"),
            Some(fault) => tracing::error!("{fault}"),
        }
    }

    /// The error of a key with this standing; none if it is good.
    pub(in crate::wiki) fn fault(&self, standing: KeyStatus) -> Option<WikiError> {
        Some(match standing {
            KeyStatus::Good => return None,
            KeyStatus::Guest => WikiError::Guest,
            KeyStatus::Expired => self
                .key
                .expired_at()
                .map_or(WikiError::Unauthorized, |at| WikiError::KeyExpired { at }),
            KeyStatus::Revoked => WikiError::KeyRevoked,
            KeyStatus::ApiDisabled => WikiError::ApiDisabled,
        })
    }
}
