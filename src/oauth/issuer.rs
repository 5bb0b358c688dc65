//! Keeps what an issuer says about itself and its keys, and fetches it again in time: at most once
//! a minute, whoever asks, and without a lock held meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::discovery::{IssuerDocument, IssuerHttp};
use super::jwt::SignedJwt;
use super::keys::KeySet;
use super::{OauthSettings, TokenFault};
use crate::wiki::Network;

/// The times of an issuer's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuerTimes {
    /// The least time between two fetches.
    pub apart: Duration,
    /// The same as long as nothing is known of the issuer.
    pub unknown_apart: Duration,
    /// The age from which keys are fetched again while they still count.
    pub fresh: Duration,
    /// The age from which a token waits for that.
    pub stale: Duration,
    /// The age up to which keys count while the issuer is away.
    pub kept: Duration,
    /// The time limit of a request.
    pub timeout: Duration,
}

impl Default for IssuerTimes {
    fn default() -> Self {
        Self {
            apart: Duration::from_mins(1),
            unknown_apart: Duration::from_secs(5),
            fresh: Duration::from_mins(5),
            stale: Duration::from_hours(1),
            kept: Duration::from_hours(12),
            timeout: Duration::from_secs(5),
        }
    }
}

/// An issuer, with its keys as they were last fetched.
#[derive(Debug)]
pub struct Issuer {
    name: String,
    pub(super) http: IssuerHttp,
    times: IssuerTimes,
    state: Mutex<IssuerState>,
    /// Changes whenever a fetch has ended.
    ended: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct IssuerState {
    known: Option<Known>,
    /// Time of the last fetch, whatever came of it.
    tried: Option<Instant>,
    is_fetching: bool,
    /// The reason why the last fetch failed.
    fault: Option<String>,
}

/// The issuer's document and keys.
#[derive(Debug, Clone)]
struct Known {
    document: Arc<IssuerDocument>,
    keys: Arc<KeySet>,
    since: Instant,
}

impl Issuer {
    /// The issuer of these settings; nothing is fetched yet.
    ///
    /// # Errors
    /// One sentence about its address, or this system's certificate authorities.
    pub fn new(
        settings: &OauthSettings,
        network: &Network,
        times: IssuerTimes,
    ) -> Result<Arc<Self>, String> {
        let url = OauthSettings::issuer_url(&settings.issuer)?;
        Ok(Arc::new(Self {
            name: settings.issuer.clone(),
            http: IssuerHttp::new(&url, network, times.timeout)?,
            times,
            state: Mutex::default(),
            ended: watch::Sender::new(()),
        }))
    }

    /// Takes over what is known from another, if it is the same issuer, reached in another way.
    pub fn adopt(&self, other: &Self) {
        if self.name == other.name {
            let other = other.state.lock();
            let (known, tried) = (other.known.clone(), other.tried);
            drop(other);
            let mut own = self.state.lock();
            (own.known, own.tried) = (known, tried);
        }
    }

    /// The reason why it is away, if it is; asks it first, if that is due.
    pub async fn look(self: &Arc<Self>) -> Option<String> {
        let is_old = |known: &Known| known.since.elapsed() >= self.times.fresh;
        let (is_due, has_failed) = {
            let state = self.state.lock();
            (
                state.known.as_ref().is_none_or(is_old),
                state.fault.is_some(),
            )
        };
        if is_due || has_failed {
            self.refresh().await;
        }
        self.fault()
    }

    /// The reason why the last fetch failed, if it did.
    pub fn fault(&self) -> Option<String> {
        self.state.lock().fault.clone()
    }

    /// The issuer's addresses.
    ///
    /// # Errors
    /// [`TokenFault::IssuerAway`].
    pub async fn document(self: &Arc<Self>) -> Result<Arc<IssuerDocument>, TokenFault> {
        self.known().await.map(|known| known.document)
    }

    /// Checks the signature of a token. For a key that is not known, the keys are fetched again first,
    /// if that is due.
    pub(super) async fn check(self: &Arc<Self>, jwt: &SignedJwt<'_>) -> Result<(), TokenFault> {
        let known = self.known().await?;
        match known.keys.check(jwt) {
            Err(TokenFault::UnknownKey) if self.refresh().await => {
                self.known().await?.keys.check(jwt)
            }
            checked => checked,
        }
    }

    /// The document and keys as they are known now; waits for a fetch only if it is too old or there is nothing yet.
    async fn known(self: &Arc<Self>) -> Result<Known, TokenFault> {
        let age = |known: &Known| known.since.elapsed();
        let now = || self.state.lock().known.clone();
        let known = match now() {
            Some(known) if age(&known) < self.times.fresh => return Ok(known),
            Some(known) if age(&known) < self.times.stale => {
                drop(self.begin());
                return Ok(known);
            }
            _ => {
                self.refresh().await;
                now()
            }
        };
        let known = known.filter(|known| age(known) < self.times.kept);
        known.ok_or(TokenFault::IssuerAway)
    }

    /// Waits for a fetch, which begins if it is due; `false` if none was under way or due.
    async fn refresh(self: &Arc<Self>) -> bool {
        let Some(mut ended) = self.begin() else {
            return false;
        };
        // It has time limits of its own; this one is for a runtime that is being shut down.
        let most = self.times.timeout.saturating_mul(4);
        matches!(
            tokio::time::timeout(most, ended.changed()).await,
            Ok(Ok(()))
        )
    }

    /// The end of the fetch that is under way, or that is due and begins now, in a task of its own:
    /// whoever asks may hang up.
    fn begin(self: &Arc<Self>) -> Option<watch::Receiver<()>> {
        let mut state = self.state.lock();
        let ended = self.ended.subscribe();
        if state.is_fetching {
            return Some(ended);
        }
        let apart = match &state.known {
            Some(_) => self.times.apart,
            None => self.times.unknown_apart.min(self.times.apart),
        };
        let is_early = |tried: Instant| tried.elapsed() < apart;
        if state.tried.is_some_and(is_early) {
            return None;
        }
        state.is_fetching = true;
        state.tried = Some(Instant::now());
        drop(state);
        let own = Arc::clone(self);
        tokio::spawn(async move {
            let fetched = own.http.discover(&own.name).await;
            own.take(fetched);
        });
        Some(ended)
    }

    fn take(&self, fetched: Result<(IssuerDocument, KeySet), String>) {
        let mut state = self.state.lock();
        let fault = match fetched {
            Ok((document, keys)) => {
                state.known = Some(Known {
                    document: Arc::new(document),
                    keys: Arc::new(keys),
                    since: Instant::now(),
                });
                None
            }
            Err(fault) => Some(fault),
        };
        if state.fault != fault {
            if let Some(fault) = &fault {
                tracing::error!(issuer = %self.name, "the issuer is away: {fault}");
            } else {
                tracing::info!(issuer = %self.name, "the issuer answers again");
            }
        }
        state.fault = fault;
        state.is_fetching = false;
        drop(state);
        self.ended.send_replace(());
    }
}
