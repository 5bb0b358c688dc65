//! Subscriptions: notifies clients when a page changes.
//!
//! Up to protocol 2025-11-25 a session subscribes to one address after another. From 2026-07-28 on
//! a request names all of them, and lasts as long as it is listened. A page is one subscription,
//! however its address is spelled; notifications use the first address.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio::task::JoinSet;

use super::super::site::Site;
use super::caller::CallerContext;
use super::resources;
use super::uri;
use crate::error::{Code, Failure};
use crate::watch::{CannotWatch, Watcher};

/// Timeout for a client to take one notification.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most requests of one connection that listen at the same time.
const MOST_LISTENING: usize = 8;
/// The most addresses that one request listens for.
const MOST_ADDRESSES: usize = 100;
/// Changes up to this long before a request began to listen are reported to it, since the wiki's
/// clock is known only to a second.
const OVERLAP: time::Duration = time::Duration::seconds(2);

/// The subscriptions of one connection's client; they end with the connection.
#[derive(Debug, Clone)]
pub(in crate::server) struct Subscriptions {
    open: Arc<Mutex<Option<SessionSubscription>>>,
    listening: Arc<Semaphore>,
}

/// The watcher of a session, and the task that passes its changes on.
#[derive(Debug)]
struct SessionSubscription {
    watcher: Arc<Watcher>,
    /// Aborted when it is dropped.
    _passing_on: JoinSet<()>,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            open: Arc::default(),
            listening: Arc::new(Semaphore::new(MOST_LISTENING)),
        }
    }
}

impl Subscriptions {
    /// Subscribes a session to a page.
    pub(in crate::server) async fn subscribe(
        &self,
        visit: &CallerContext,
        peer: &Peer<RoleServer>,
        uri: &str,
    ) -> Result<(), ErrorData> {
        if !visit.session.lasts() {
            let why = "without a session there is nobody to notify; initialize first";
            return Err(ErrorData::invalid_request(why, None));
        }
        let mut open = self.open.lock().await;
        let watcher = match &*open {
            Some(open) => Arc::clone(&open.watcher),
            None => Arc::new(watcher(visit)),
        };
        add(visit, &watcher, uri, None).await?;
        if open.is_none() {
            let mut passing_on = JoinSet::new();
            let told = (peer.clone(), visit.lasting());
            passing_on.spawn(pass_on(Arc::clone(&watcher), told));
            *open = Some(SessionSubscription {
                watcher,
                _passing_on: passing_on,
            });
        }
        Ok(())
    }

    /// Ends the subscription of a session to a page, if there is one.
    pub(in crate::server) async fn unsubscribe(&self, uri: &str) {
        let mut open = self.open.lock().await;
        if let Some(own) = &*open {
            if let Some(place) = uri::parse(uri) {
                own.watcher.remove(&place);
            }
            if own.watcher.is_empty() {
                *open = None;
            }
        }
    }

    /// Reports changed pages, and changed tools of a site, until the request is cancelled.
    pub(in crate::server) async fn listen(
        &self,
        visit: &CallerContext,
        site: Option<&Site>,
        context: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let Ok(_place) = self.listening.try_acquire() else {
            let why = format!("at most {MOST_LISTENING} requests of one connection may listen");
            return Err(ErrorData::invalid_request(why, None));
        };
        // The client may have changed a page since the acknowledgement.
        let since = visit.app.wiki.now().saturating_sub(OVERLAP);
        let watcher = watcher(visit);
        let accepted = context.accepted().resource_subscriptions.iter().flatten();
        for uri in accepted {
            add(visit, &watcher, uri, Some(since)).await?;
        }
        let tell = async {
            loop {
                let uri = watcher.next().await;
                if !may_still_read(visit, &uri).await {
                    continue;
                }
                let told = context.sink().notify_resource_updated(&*uri);
                // A client that accepts nothing now learns of the next change.
                let _ = tokio::time::timeout(PATIENCE, told).await;
            }
        };
        let wants_tools = context.accepted().tools_list_changed == Some(true);
        let changed = site.filter(|_| wants_tools).map(|site| site.listen(visit));
        // Nobody notifies one that is not wanted.
        let changed = changed.unwrap_or_default();
        tokio::select! {
            () = tell => {}
            () = tell_of_tools(&changed, context) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

/// Reports changed tools whenever it is notified; never returns.
pub(super) async fn tell_of_tools(changed: &Notify, context: &SubscriptionContext) {
    loop {
        changed.notified().await;
        let told = context.sink().notify_tool_list_changed();
        // A client that accepts nothing now learns of the next change.
        let _ = tokio::time::timeout(PATIENCE, told).await;
    }
}

/// The part of a request that is accepted: pages, by their addresses, and its tools.
pub(in crate::server) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let pages = uris.filter(|uri| uri::parse(uri).is_some());
    let mut accepted = SubscriptionFilter::builder()
        .resource_subscriptions(pages.take(MOST_ADDRESSES))
        .build();
    accepted.tools_list_changed = requested.tools_list_changed;
    accepted
}

fn watcher(visit: &CallerContext) -> Watcher {
    Watcher::new(Arc::clone(&visit.app.watch), visit.session.owner())
}

async fn add(
    visit: &CallerContext,
    watcher: &Watcher,
    uri: &str,
    since: Option<time::OffsetDateTime>,
) -> Result<(), ErrorData> {
    visit.may_read_resources()?;
    let added = match uri::parse(uri) {
        Some(place) => watcher.add(uri, place, since).await,
        None => Err(CannotWatch::NoPage),
    };
    let failure = match added {
        Ok(()) => return Ok(()),
        Err(CannotWatch::NoPage) => Failure::new(
            Code::PageNotFound,
            "This is the address of no page that can be read.",
        ),
        Err(CannotWatch::Full) => {
            let why = "no more pages can be subscribed to; unsubscribe from others first";
            return Err(ErrorData::invalid_request(why, None));
        }
        Err(CannotWatch::Wiki(error)) => error.into(),
    };
    Err(resources::refused(visit, failure).await)
}

/// True unless a caller lost the right to read a page since it subscribed. A page that is gone is told of
/// to whoever is bounded as before.
async fn may_still_read(visit: &CallerContext, uri: &str) -> bool {
    let (Some(now), Some(place)) = (visit.now(), uri::parse(uri)) else {
        return false;
    };
    now.may_read_resources().is_ok()
        && (now.app.wiki.scope() == visit.app.wiki.scope() || now.app.watch.sees(&place).await)
}

async fn pass_on(watcher: Arc<Watcher>, (peer, visit): (Peer<RoleServer>, CallerContext)) {
    loop {
        let uri = watcher.next().await;
        if !may_still_read(&visit, &uri).await {
            continue;
        }
        let changed = ResourceUpdatedNotificationParam::new(&*uri);
        let told = peer.notify_resource_updated(changed);
        // A client that accepts nothing now learns of the next change.
        let _ = tokio::time::timeout(PATIENCE, told).await;
    }
}
