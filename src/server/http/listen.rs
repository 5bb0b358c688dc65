//! A server over HTTP: its start and its end.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use parking_lot::RwLock;
use rmcp::handler::server::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::super::clients::registry::ClientRegistry;
use super::super::clients::tokens_file::TokensFile;
use super::super::delegates::ends::watch;
use super::super::{Handler, Sites};
use super::concurrency::Places;
use super::connections::Connections;
use super::limits::HttpLimits;
use super::mcp::Mcp;
use super::page_host;
use super::router::router;
use super::state::{HttpState, issuer};
use crate::config::ServeSettings;
use crate::oauth::{IssuerTimes, OauthSettings};

/// A server over HTTP that has not begun.
pub struct HttpServer {
    listener: TcpListener,
    state: Arc<HttpState>,
    places: Arc<Places>,
    router: Router,
    /// Ends sessions and open streams.
    streams: CancellationToken,
}

/// Takes over settings of HTTP while their server runs.
pub struct HttpReload(Arc<HttpState>);

impl HttpReload {
    /// Checks that a server would start with these settings where this one listens.
    ///
    /// # Errors
    /// One sentence about what would stop the start.
    pub(in crate::server) fn check(&self, settings: &ServeSettings) -> Result<(), String> {
        issuer(settings, self.0.limits.issuer)?;
        refused_start(settings, self.0.listening).map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// Takes settings over.
    pub(in crate::server) fn take(&self, settings: ServeSettings) {
        self.0.take_settings(settings);
        for site in self.0.sites.all().iter() {
            site.follow_clients();
        }
        page_host::announce_url(&self.0);
    }

    /// True if these settings of people's sign-in, which are not in force yet, let fewer people in than
    /// now, or let them do less.
    pub(in crate::server) fn is_narrowed_by(&self, new: Option<&OauthSettings>) -> bool {
        let now = self.0.settings();
        let now = now.oauth.as_deref();
        now.is_some_and(|now| new.is_none_or(|new| !new.grants_all_of(now)))
    }

    /// The settings that let fewer callers in than now, and take a restart.
    pub(in crate::server) fn closed_by(&self, new: &ServeSettings) -> Vec<&'static str> {
        let now = self.0.settings();
        let others = new.tokens_file.is_some() && new.tokens_file != now.tokens_file;
        let own_keys = new.has_caller_keys && !now.has_caller_keys;
        let closed = [
            ("serve_tokens_file", others),
            ("serve_caller_keys", own_keys),
        ];
        let closed = closed.into_iter().filter(|(_, is_closed)| *is_closed);
        closed.map(|(name, _)| name).collect()
    }
}

/// The reason a server must not start with these settings at this address, if it must not.
pub fn refused_start(settings: &ServeSettings, address: SocketAddr) -> Option<&'static str> {
    if settings.tokens_file.is_some() {
        None
    } else if settings.oauth.is_some() {
        Some(
            "people who sign in stand beside the named clients: set WIKI_SERVE_TOKENS_FILE; the file may be missing or empty",
        )
    } else if !address.ip().to_canonical().is_loopback() {
        Some(
            "an address that is not loopback needs named clients: set WIKI_SERVE_TOKENS_FILE, and make one with `wikijs-gate token new`",
        )
    } else if !settings.trusted_proxies.is_empty() {
        Some(
            "a proxy brings callers from elsewhere, so they need names: set WIKI_SERVE_TOKENS_FILE, and make one with `wikijs-gate token new`",
        )
    } else {
        None
    }
}

/// Checks all that a server checks before it listens at an address: the settings, and the file of
/// named clients.
///
/// # Errors
/// One sentence about what would stop the start.
pub fn check_start(settings: &ServeSettings, address: SocketAddr) -> Result<(), String> {
    issuer(settings, IssuerTimes::default())?;
    let file = settings.tokens_file.clone().map(TokensFile::for_operator);
    let clients = file.map(|file| file.read()).transpose();
    let clients = clients.map_err(|error| error.to_string())?;
    check_clients(settings, address, clients.map(|all| all.len()))
}

/// Checks that a server with so many named clients may start.
fn check_clients(
    settings: &ServeSettings,
    address: SocketAddr,
    clients: Option<usize>,
) -> Result<(), String> {
    if let Some(why) = refused_start(settings, address) {
        return Err(why.to_owned());
    }
    let is_empty = clients == Some(0) && settings.oauth.is_none();
    if is_empty && !address.ip().to_canonical().is_loopback() {
        return Err(
            "WIKI_SERVE_TOKENS_FILE names no client yet; make one with `wikijs-gate token new`"
                .to_owned(),
        );
    }
    Ok(())
}

impl HttpServer {
    /// A server of sites at a listener; nothing is accepted yet.
    ///
    /// # Errors
    /// One sentence about what stops the start.
    pub fn new(
        sites: Arc<Sites>,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        let answers = Arc::clone(&sites);
        let handler = move || Handler::of_visits(Arc::clone(&answers));
        Self::answering(sites, handler, settings, limits, listener)
    }

    /// The same, with another handler than our own.
    ///
    /// # Errors
    /// One sentence about what stops the start.
    pub fn answering<H: ServerHandler>(
        sites: Arc<Sites>,
        handler: impl Fn() -> H + Clone + Send + Sync + 'static,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        // All sites keep their state in one place.
        let site = sites.all().first().map(|site| site.app());
        let site = site.ok_or_else(|| "there is no site to serve".to_owned())?;
        let clients = settings.tokens_file.clone().map(|path| {
            let (file, home) = (TokensFile::new(path), site.desk.audit().home());
            ClientRegistry::open(file, home, settings.person_limit, limits.fresh)
        });
        let clients = clients.transpose().map_err(|error| error.to_string())?;
        check_clients(
            &settings,
            address,
            clients.as_ref().map(ClientRegistry::count),
        )?;
        let issuer = issuer(&settings, limits.issuer)?;
        let nobody = clients.as_ref().filter(|clients| clients.count() == 0);
        if let Some(clients) = nobody.filter(|_| issuer.is_none()) {
            tracing::warn!(
                clients = clients.count(),
                "nobody may call yet: WIKI_SERVE_TOKENS_FILE names no client"
            );
        }
        if let Some(clients) = &clients {
            clients.tell_ends();
        }
        let streams = CancellationToken::new();
        let state = Arc::new(HttpState {
            sites,
            settings: RwLock::new(Arc::new(settings)),
            limits,
            clients: clients.map(Arc::new),
            issuer: RwLock::new(issuer),
            listening: address,
        });
        let mcp = Mcp::new(&state, handler, &streams);
        let places = Arc::clone(&mcp.places);
        let router = router(&state, mcp).map_err(|error| error.to_string())?;
        page_host::announce_url(&state);
        Ok(Self {
            listener,
            state,
            places,
            router,
            streams,
        })
    }

    /// Takes over other settings of this server while it runs.
    pub fn settings_taker(&self) -> HttpReload {
        HttpReload(Arc::clone(&self.state))
    }

    /// The settings and clients in force, in words.
    #[cfg(test)]
    pub(in crate::server) fn in_force(&self) -> String {
        let clients = self.state.clients.as_ref();
        let clients = clients.map(|clients| clients.in_force());
        format!("serve: {:?}\nclients: {clients:?}", self.state.settings())
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.state.listening
    }

    /// Serves until `stop` is cancelled. Then no new call is accepted; those under way may finish,
    /// writes are settled and recorded, and the audit log is closed.
    pub async fn run(self, stop: CancellationToken) {
        let Self {
            listener,
            state,
            places,
            router,
            streams,
        } = self;
        let (sites, limits) = (Arc::clone(&state.sites), state.limits);
        sites.begin_recovery();
        if let Some((issuer, _)) = state.oauth() {
            // So that the first person need not wait, and an issuer that is away is told of at once.
            tokio::spawn(async move { issuer.look().await });
        }
        let watching = state.clients.as_ref().map(|clients| {
            let (clients, sites) = (Arc::clone(clients), Arc::clone(&sites));
            clients.are_bounded_by(&sites);
            let told = Arc::clone(&state);
            let address = move || page_host::address_for_delegates(&told);
            tokio::spawn(watch(clients, sites, address, stop.clone()))
        });
        let in_force = Arc::clone(&state);
        let tls = Box::new(move || in_force.settings().tls.clone());
        let connections = Connections::new(&limits, tls);
        let is_proxy = |peer| state.is_proxy(peer);
        connections
            .accept(&listener, &router, &is_proxy, &stop)
            .await;
        drop(listener);
        // Whoever has all places lets nobody in.
        let all = places.calls.all.acquire_many(limits.calls);
        let finished = tokio::time::timeout(limits.last_calls, all).await;
        if finished.is_err() {
            tracing::warn!("calls under way were cut off; their writes are settled all the same");
        }
        streams.cancel();
        if let Some(watching) = watching {
            // What it puts on record comes before the record is closed.
            drop(watching.await);
        }
        sites.finish().await;
        connections.end().await;
    }
}
