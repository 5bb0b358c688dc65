//! Places for calls and streams under way: a number for all, and a share for each named client.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::clients::client_record::ClientRecord;
use super::super::fair_share::FairShares;
use super::limits::HttpLimits;
use super::refusal::HttpRefusal;
use crate::site::SiteName;

/// A place for one call or stream, given back when it is dropped.
pub(super) type ConcurrencyPermit = (
    OwnedSemaphorePermit,
    Option<OwnedSemaphorePermit>,
    Option<OwnedSemaphorePermit>,
);

/// Places for calls or streams.
#[derive(Debug)]
pub(super) struct ConcurrencyLimits {
    /// The end of the server takes all of them.
    pub(super) all: Arc<Semaphore>,
    /// The share of each named client.
    shares: FairShares,
    /// The share of each of several sites, so that one that does not answer leaves places to the
    /// others.
    sites: FairShares,
    taken: LimitMessages,
}

/// The messages if no place is left.
#[derive(Debug)]
struct LimitMessages {
    all: &'static str,
    share: &'static str,
}

impl ConcurrencyLimits {
    /// For calls under way.
    pub(super) fn for_calls(limits: &HttpLimits) -> Self {
        let most = usize::try_from(limits.calls).unwrap_or(usize::MAX);
        Self::new(
            limits,
            most,
            LimitMessages {
                all: "too many calls are under way, or the server is ending",
                share: "this client has its whole share of the calls under way; try again when one of them has ended",
            },
        )
    }

    /// For streams of sessions: each is a connection.
    pub(super) fn for_streams(limits: &HttpLimits) -> Self {
        Self::new(
            limits,
            limits.connections,
            LimitMessages {
                all: "too many streams are open",
                share: "this client has its whole share of the streams; close one, or try again later",
            },
        )
    }

    fn new(limits: &HttpLimits, most: usize, taken: LimitMessages) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            shares: FairShares::new(limits.share_of(most)),
            sites: FairShares::new((most / 2).max(1)),
            taken,
        }
    }

    /// Takes one more place; for a call, before its body is read.
    /// `site` is the name of one of several.
    pub(super) fn take(
        &self,
        client: Option<&ClientRecord>,
        site: Option<&SiteName>,
    ) -> Result<ConcurrencyPermit, HttpRefusal> {
        let own = client.map(|client| self.of_share(client)).transpose()?;
        let of_site = |site: &SiteName| {
            let place = self.sites.of(site.as_str()).try_acquire_owned();
            place.map_err(|_| HttpRefusal::busy("this site has its whole share; try again later"))
        };
        let of_site = site.map(of_site).transpose()?;
        let place = Arc::clone(&self.all)
            .try_acquire_owned()
            .map_err(|_| HttpRefusal::busy(self.taken.all))?;
        Ok((place, own, of_site))
    }

    fn of_share(&self, client: &ClientRecord) -> Result<OwnedSemaphorePermit, HttpRefusal> {
        let place = self
            .shares
            .of(&client.counted().identity)
            .try_acquire_owned();
        place.map_err(|_| HttpRefusal::busy(self.taken.share))
    }
}
