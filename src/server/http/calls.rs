//! Places for calls under way: so many for all, and a share of them for each named client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::KnownClient;
use super::limits::HttpLimits;
use super::refusal::Refusal;

/// A place for one call, given back when it is dropped.
pub(super) type Place = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

/// Places for calls under way.
#[derive(Debug)]
pub(super) struct Calls {
    /// Whoever takes all of them ends the server.
    pub(super) all: Arc<Semaphore>,
    share: usize,
    /// What is left of its share to each client that has a call under way.
    shares: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Calls {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        let most = usize::try_from(limits.calls).unwrap_or(usize::MAX);
        Self {
            all: Arc::new(Semaphore::new(most)),
            share: limits.share_of(most),
            shares: Mutex::default(),
        }
    }

    /// A place for one more call, whose body need not have come yet.
    pub(super) fn begin(&self, client: Option<&KnownClient>) -> Result<Place, Refusal> {
        let own = client.map(|client| self.of_share(client)).transpose()?;
        let place = Arc::clone(&self.all)
            .try_acquire_owned()
            .map_err(|_| Refusal::busy("too many calls are under way, or the server is ending"))?;
        Ok((place, own))
    }

    fn of_share(&self, client: &KnownClient) -> Result<OwnedSemaphorePermit, Refusal> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        // Each place that is taken holds on to its share.
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        let share = shares
            .entry(client.identity.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(self.share)));
        Arc::clone(share).try_acquire_owned().map_err(|_| {
            Refusal::busy("this client has its whole share of the calls under way; try again when one of them has ended")
        })
    }
}
