//! The layer `concurrency`: places for calls and streams under way, a number for all and a share for
//! each named client.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::quota::FairShares;
use super::caller::HttpCaller;
use super::limits::HttpLimits;
use super::refusal::HttpRefusal;
use crate::site::SiteName;

/// A place for one call or stream, given back when it is dropped.
pub(super) type ConcurrencyPermit = (
    OwnedSemaphorePermit,
    Option<OwnedSemaphorePermit>,
    Option<OwnedSemaphorePermit>,
);

/// Places for calls under way, and for the streams of sessions.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) calls: ConcurrencyLimits,
    pub(super) streams: ConcurrencyLimits,
}

/// The layer `concurrency`: takes a place for a request, for a call before its body is read.
pub(super) fn concurrency(places: &Places, mut request: Request) -> Result<Request, HttpRefusal> {
    let limits = if request.method() == Method::POST {
        &places.calls
    } else {
        &places.streams
    };
    let place = Arc::new(limits.take(HttpCaller::get(&request)?)?);
    request.extensions_mut().insert(place);
    Ok(request)
}

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
    /// The messages if no place, and no place of a client's share, is left.
    taken: [&'static str; 2],
}

impl Places {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        let calls = [
            "too many calls are under way, or the server is ending",
            "this client has its whole share of the calls under way; try again when one of them has ended",
        ];
        let streams = [
            "too many streams are open",
            "this client has its whole share of the streams; close one, or try again later",
        ];
        let most = usize::try_from(limits.calls).unwrap_or(usize::MAX);
        Self {
            calls: ConcurrencyLimits::new(limits, most, calls),
            // Each stream is a connection.
            streams: ConcurrencyLimits::new(limits, limits.connections, streams),
        }
    }
}

impl ConcurrencyLimits {
    fn new(limits: &HttpLimits, most: usize, taken: [&'static str; 2]) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            shares: FairShares::new(limits.share_of(most)),
            sites: FairShares::new((most / 2).max(1)),
            taken,
        }
    }

    /// Takes one more place.
    pub(super) fn take(&self, caller: &HttpCaller) -> Result<ConcurrencyPermit, HttpRefusal> {
        let [taken, share_taken] = self.taken;
        let own = take(caller.counted(), &self.shares, share_taken)?;
        // Only one of several sites has a name.
        let site = caller.site.name().map(SiteName::as_str);
        let of_site = take(
            site,
            &self.sites,
            "this site has its whole share; try again later",
        )?;
        let place = Arc::clone(&self.all)
            .try_acquire_owned()
            .map_err(|_| HttpRefusal::busy(taken))?;
        Ok((place, own, of_site))
    }
}

/// Takes a place out of somebody's share.
fn take(
    owner: Option<&str>,
    shares: &FairShares,
    taken: &'static str,
) -> Result<Option<OwnedSemaphorePermit>, HttpRefusal> {
    let place = owner.map(|owner| shares.share(owner).try_acquire_owned());
    place.transpose().map_err(|_| HttpRefusal::busy(taken))
}
