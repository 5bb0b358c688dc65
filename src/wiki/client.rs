//! The client of one wiki: reads with retry, and what all operations share.

use std::sync::Arc;
use std::time::Duration;

use graphql_client::{GraphQLQuery, QueryBody};
use serde::Serialize;
use serde::de::DeserializeOwned;
use time::OffsetDateTime;
use url::Url;

use super::rights::key_state::{KeyState, KeyStatus};
use super::transport::classify::{RawAnswer, read_batch, read_pair, read_query};
use super::transport::retry::{self, RetryLimits};
use super::transport::{TimeLimits, Transport};
use super::{ApiKey, Network, Traffic, WikiError, WikiResult, aside};
use crate::page::{Locale, PagePath, ReadScope};

/// The address of a wiki and the settings for connecting to it.
#[derive(Debug, Clone)]
pub struct WikiSettings {
    /// The name under which its records lie.
    pub name: String,
    /// The address, up to where pages begin.
    pub base_url: Url,
    /// The path of its API, below the address.
    pub graphql_path: String,
    /// The key at the start; [`Wiki::key`] is the one in use.
    pub key: ApiKey,
    /// The network in between; boxed, since it is large and these settings are moved.
    pub network: Box<Network>,
    /// The locale used by default.
    pub default_locale: Locale,
    /// The editor of new pages.
    pub default_editor: String,
    /// Time limits of single requests.
    pub time: TimeLimits,
    /// Bounds of retried reads.
    pub retry: RetryLimits,
    /// The pages of it that may be read.
    pub reads: ReadScope,
}

/// The address of the wiki's API.
fn endpoint(settings: &WikiSettings) -> Result<Url, String> {
    let segments = settings.graphql_path.trim_matches('/').split('/');
    below(&settings.base_url, segments)
        .ok_or_else(|| "the address of the wiki cannot be a base".to_owned())
}

/// The answers of two queries; that of each may be an error of its own.
pub(super) type Pair<A, B> = (
    WikiResult<<A as GraphQLQuery>::ResponseData>,
    WikiResult<<B as GraphQLQuery>::ResponseData>,
);

/// A wiki: a value, never a global; tools get it from their context.
#[derive(Clone)]
pub struct Wiki {
    pub(super) settings: Arc<WikiSettings>,
    pub(super) transport: Transport,
    /// True if a page is named by its path alone, not by a title or the end of a path.
    pub(super) is_by_path: bool,
}

impl Wiki {
    /// Makes the client; nothing is sent yet. `run` begins the id of every request.
    ///
    /// # Errors
    /// One sentence about the setting that cannot be used.
    pub fn new(settings: WikiSettings, run: &str) -> Result<Self, String> {
        Self::made(settings, run, false)
    }

    /// The same for a command that reports problems with the key itself, instead of the log.
    ///
    /// # Errors
    /// One sentence about the setting that cannot be used.
    pub fn quiet(settings: WikiSettings, run: &str) -> Result<Self, String> {
        Self::made(settings, run, true)
    }

    /// The same wiki with a caller's own key, about which nothing is known yet.
    ///
    /// # Errors
    /// One sentence about the key.
    pub fn with_key(&self, key: ApiKey) -> Result<Self, String> {
        let settings = WikiSettings {
            key,
            ..WikiSettings::clone(&self.settings)
        };
        let keyed = KeyState::new(settings.key.clone(), true, 0)?;
        Ok(Self {
            transport: self.transport.with_key(keyed),
            settings: Arc::new(settings),
            is_by_path: self.is_by_path,
        })
    }

    /// The same wiki with other settings of how it is spoken to; requests under way keep theirs.
    /// The traffic is counted with theirs, and where the key is the same, so is what is known of it.
    ///
    /// # Errors
    /// One sentence about the setting that cannot be used.
    pub fn renewed(&self, settings: WikiSettings) -> Result<Self, String> {
        let endpoint = endpoint(&settings)?;
        let (old, key) = (self.keyed(), settings.key.clone());
        let keyed = if old.key.digest() == key.digest() {
            None
        } else {
            Some(KeyState::new(key, old.is_quiet, old.generation + 1)?)
        };
        Ok(Self {
            transport: self.transport.renewed(endpoint, keyed, &settings.network)?,
            settings: Arc::new(settings),
            is_by_path: self.is_by_path,
        })
    }

    fn made(settings: WikiSettings, run: &str, is_quiet: bool) -> Result<Self, String> {
        let endpoint = endpoint(&settings)?;
        let transport = Transport::new(
            endpoint,
            KeyState::new(settings.key.clone(), is_quiet, 0)?,
            &settings.network,
            run.to_owned(),
        )?;
        Ok(Self {
            settings: Arc::new(settings),
            transport,
            is_by_path: false,
        })
    }

    /// The same wiki with the key that is in use now, whatever key comes after it.
    #[must_use]
    pub fn pinned(&self) -> Self {
        Self {
            transport: self.transport.pinned(),
            ..self.clone()
        }
    }

    /// The same wiki for a caller who names pages by their paths alone: a title is anybody's to give.
    #[must_use]
    pub fn by_path(&self) -> Self {
        Self {
            is_by_path: true,
            ..self.clone()
        }
    }

    /// Uses another key from now on, about which nothing is known yet; requests under way and
    /// pinned clients keep theirs.
    ///
    /// # Errors
    /// One sentence about the key.
    pub fn take_key(&self, key: ApiKey) -> Result<(), String> {
        let old = self.keyed();
        let new = KeyState::new(key, old.is_quiet, old.generation + 1)?;
        self.transport.take(new);
        Ok(())
    }

    /// The key in use.
    pub fn key(&self) -> ApiKey {
        self.keyed().key.clone()
    }

    /// Number of keys in use before this one.
    pub fn generation(&self) -> u64 {
        self.keyed().generation
    }

    pub(super) fn keyed(&self) -> Arc<KeyState> {
        self.transport.keyed()
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &WikiSettings {
        &self.settings
    }

    /// The traffic to the wiki.
    pub fn traffic(&self) -> &Traffic {
        &self.transport.traffic
    }

    /// The time by the wiki's clock, taken from its answers.
    pub fn now(&self) -> OffsetDateTime {
        self.traffic().now()
    }

    /// Checks that the wiki answers this key: it was heard of within `lately`, or is asked now.
    ///
    /// # Errors
    /// What is wrong with the key, or why there is no answer.
    pub async fn answers(&self, lately: Duration, limit: Duration) -> WikiResult<()> {
        let was_heard = self
            .traffic()
            .silence()
            .is_some_and(|since| since <= lately);
        let is_good = self.keyed().fresh_standing() == Some(KeyStatus::Good);
        if was_heard && is_good {
            return Ok(());
        }
        let standing = self.ask_standing(limit).await?;
        standing
            .and_then(|standing| self.fault_of(standing))
            .map_or(Ok(()), Err)
    }

    /// The address at which a person sees a page.
    pub fn page_url(&self, locale: &Locale, path: &PagePath) -> String {
        page_url(&self.settings.base_url, locale, path)
    }

    /// Asks one query, with retry.
    pub(super) async fn query<Q: GraphQLQuery>(
        &self,
        variables: Q::Variables,
    ) -> WikiResult<Q::ResponseData>
    where
        Q::ResponseData: DeserializeOwned,
    {
        self.read_by_post(&Q::build_query(variables), read_query)
            .await
    }

    /// Asks the same query with several sets of variables, in one request (W8).
    pub(super) async fn batch<Q: GraphQLQuery>(
        &self,
        variables: Vec<Q::Variables>,
    ) -> WikiResult<Vec<WikiResult<Q::ResponseData>>>
    where
        Q::ResponseData: DeserializeOwned,
    {
        let bodies: Vec<QueryBody<Q::Variables>> =
            variables.into_iter().map(Q::build_query).collect();
        if bodies.is_empty() {
            return Ok(Vec::new());
        }
        let read = |answer: &RawAnswer| read_batch(answer, bodies.len());
        let mut answers = self.read_by_post(&bodies, read).await?;
        for answer in &mut answers {
            // It holds for the key, not for one operation of them.
            if matches!(answer, Err(WikiError::Unauthorized)) {
                self.keyed().learn(answer);
                *answer = Err(self.explain(WikiError::Unauthorized));
            }
        }
        Ok(answers)
    }

    /// Asks two queries of different kinds, in one request (W8).
    pub(super) async fn pair<A: GraphQLQuery, B: GraphQLQuery>(
        &self,
        first: A::Variables,
        second: B::Variables,
    ) -> WikiResult<Pair<A, B>>
    where
        A::ResponseData: DeserializeOwned,
        B::ResponseData: DeserializeOwned,
    {
        let both = (A::build_query(first), B::build_query(second));
        self.read_by_post(&both, read_pair).await
    }

    /// Gets `/d/{locale}/{path}`, the source of a page, with retry.
    pub(super) async fn source(&self, locale: &Locale, path: &PagePath) -> WikiResult<String> {
        let address = self.address_of("d", locale, path)?;
        self.read_by_get(&address, |answer| match answer.status {
            200 => Ok(String::from_utf8_lossy(&answer.body).into_owned()),
            404 => Err(WikiError::NotFound),
            401 | 403 => Err(WikiError::forbidden("read:source")),
            _ => Err(answer.as_error()),
        })
        .await
    }

    /// The address of a page in one of the wiki's own views.
    pub(super) fn address_of(
        &self,
        view: &str,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<Url> {
        if path.climbs() {
            // An address drops such segments, and would name another page.
            return Err(WikiError::NotFound);
        }
        let segments = [view, locale.as_str()]
            .into_iter()
            .chain(path.as_str().split('/'));
        below(&self.settings.base_url, segments).ok_or(WikiError::NotFound)
    }

    /// Posts a query, with retry, and understands the answer.
    pub(super) async fn read_by_post<T>(
        &self,
        query: &impl Serialize,
        understand: impl Fn(&RawAnswer) -> WikiResult<T>,
    ) -> WikiResult<T> {
        let body = encode(query)?;
        self.read(|left| self.transport.post(body.clone(), left), understand)
            .await
    }

    /// Gets what is at an address, with retry, and understands the answer.
    pub(super) async fn read_by_get<T>(
        &self,
        address: &Url,
        understand: impl Fn(&RawAnswer) -> WikiResult<T>,
    ) -> WikiResult<T> {
        self.read(|left| self.transport.get(address.clone(), left), understand)
            .await
    }

    async fn read<T, F>(
        &self,
        send: impl Fn(Duration) -> F,
        understand: impl Fn(&RawAnswer) -> WikiResult<T>,
    ) -> WikiResult<T>
    where
        F: Future<Output = WikiResult<RawAnswer>>,
    {
        let keyed = self.keyed();
        let limits = self.settings.retry;
        let mut was_tried = false;
        let tries = retry::read(limits, |left| {
            if std::mem::replace(&mut was_tried, true) {
                self.traffic().retries.add();
            }
            let answer = send(left.min(self.settings.time.read));
            async {
                let answer = answer.await?;
                aside(answer.body.len(), || understand(&answer))
            }
        });
        // Waiting for a place counts as well: a read has one total.
        let answer = tokio::time::timeout(limits.total, tries)
            .await
            .unwrap_or(Err(WikiError::Timeout {
                after: limits.total,
            }));
        keyed.learn(&answer);
        answer.map_err(|error| self.explain(error))
    }

    /// Tells a key that has expired, and is now a guest, from one without the right (W3, W4).
    pub(super) fn explain(&self, error: WikiError) -> WikiError {
        match (&error, self.expired()) {
            (WikiError::Forbidden { .. } | WikiError::Unauthorized, Some(expired)) => expired,
            _ => error,
        }
    }

    /// The error of a key that has expired, if it has (W4).
    pub fn expired(&self) -> Option<WikiError> {
        self.keyed()
            .key
            .expired_at()
            .map(|at| WikiError::KeyExpired { at })
    }
}

impl std::fmt::Debug for Wiki {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wiki")
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}

pub(super) fn encode(body: &impl Serialize) -> WikiResult<Vec<u8>> {
    serde_json::to_vec(body).map_err(|_| WikiError::malformed("the request"))
}

/// The address at which a person sees a page of the wiki at `wiki`.
pub fn page_url(wiki: &Url, locale: &Locale, path: &PagePath) -> String {
    let segments = std::iter::once(locale.as_str()).chain(path.as_str().split('/'));
    below(wiki, segments).map_or_else(String::new, String::from)
}

pub(super) fn below<'a>(base: &Url, segments: impl Iterator<Item = &'a str>) -> Option<Url> {
    let mut address = base.clone();
    address
        .path_segments_mut()
        .ok()?
        .pop_if_empty()
        .extend(segments);
    Some(address)
}
