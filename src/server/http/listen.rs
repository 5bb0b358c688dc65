//! A server over HTTP: its start, its routes, its end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Response;
use axum::routing::{any, get};
use axum::{Extension, Router, middleware};
use rmcp::handler::server::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::super::app::App;
use super::super::clients::registry::ClientRegistry;
use super::super::clients::tokens_file::TokensFile;
use super::super::delegates::ends::watch;
use super::super::mcp::handler::Handler;
use super::super::metrics;
use super::super::site::Sites;
use super::connections::Connections;
use super::guard::Guard;
use super::health::{self, Readiness};
use super::limits::HttpLimits;
use super::page_host::{self, PageHost};
use super::refusal::{HttpRefusal, respond};
use super::reviewers::Reviewers;
use crate::audit::Role;
use crate::config::ServeSettings;
use crate::review::{self, ReviewOrigin, Reviews};

/// A server over HTTP that has not begun.
pub struct HttpServer {
    sites: Arc<Sites>,
    listener: TcpListener,
    address: SocketAddr,
    limits: HttpLimits,
    shared: Arc<RouterState>,
    /// The review page, where there are named clients.
    page: Option<Router>,
    /// Ends sessions and open streams.
    streams: CancellationToken,
}

struct RouterState {
    guard: Arc<Guard>,
    readiness: Readiness,
}

/// Takes over settings of HTTP while their server runs.
pub struct HttpReload {
    shared: Arc<RouterState>,
    address: SocketAddr,
}

impl HttpReload {
    /// Checks that a server would start with these settings where this one listens.
    ///
    /// # Errors
    /// One sentence about what would stop the start.
    pub(in crate::server) fn check(&self, settings: &ServeSettings) -> Result<(), String> {
        refused_start(settings, self.address).map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// Takes settings over.
    pub(in crate::server) fn take(&self, settings: ServeSettings) {
        self.shared.guard.take_settings(settings);
    }

    /// The settings that let fewer callers in than now, and take a restart.
    pub(in crate::server) fn closed_by(&self, new: &ServeSettings) -> Vec<&'static str> {
        let now = self.shared.guard.settings();
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
#[must_use]
pub fn refused_start(settings: &ServeSettings, address: SocketAddr) -> Option<&'static str> {
    if settings.tokens_file.is_some() {
        None
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
    let file = TokensFile::for_operator;
    clients_at_start(settings, address, file, Duration::ZERO).map(drop)
}

/// The named clients of a server that may start.
fn clients_at_start(
    settings: &ServeSettings,
    address: SocketAddr,
    file: fn(PathBuf) -> TokensFile,
    fresh: Duration,
) -> Result<Option<ClientRegistry>, String> {
    if let Some(why) = refused_start(settings, address) {
        return Err(why.to_owned());
    }
    let clients = settings
        .tokens_file
        .clone()
        .map(|path| ClientRegistry::open(file(path), settings.person_limit, fresh));
    let clients = clients.transpose().map_err(|error| error.to_string())?;
    let is_empty = clients.as_ref().is_some_and(|clients| clients.count() == 0);
    if is_empty && !address.ip().to_canonical().is_loopback() {
        return Err(
            "WIKI_SERVE_TOKENS_FILE names no client yet; make one with `wikijs-gate token new`"
                .to_owned(),
        );
    }
    Ok(clients)
}

impl HttpServer {
    /// A server at a listener; nothing is accepted yet.
    ///
    /// # Errors
    /// One sentence about what stops the start.
    pub fn new(
        app: Arc<App>,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        Self::of_sites(Sites::only(app), settings, limits, listener)
    }

    /// A server of several sites at a listener.
    ///
    /// # Errors
    /// One sentence about what stops the start.
    pub fn of_sites(
        sites: Arc<Sites>,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        let answers = Arc::clone(&sites);
        let handler = move || Handler::of_visits(Arc::clone(&answers));
        Self::made(sites, handler, settings, limits, listener)
    }

    /// The same, with another handler than the app's own.
    ///
    /// # Errors
    /// One sentence about what stops the start.
    pub fn answering<H: ServerHandler>(
        app: Arc<App>,
        handler: impl Fn() -> H + Clone + Send + Sync + 'static,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        Self::made(Sites::only(app), handler, settings, limits, listener)
    }

    fn made<H: ServerHandler>(
        sites: Arc<Sites>,
        handler: impl Fn() -> H + Clone + Send + Sync + 'static,
        settings: ServeSettings,
        limits: HttpLimits,
        listener: TcpListener,
    ) -> Result<Self, String> {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let clients = clients_at_start(&settings, address, TokensFile::new, limits.fresh)?;
        if let Some(clients) = clients.as_ref().filter(|clients| clients.count() == 0) {
            tracing::warn!(
                clients = clients.count(),
                "nobody may call yet: WIKI_SERVE_TOKENS_FILE names no client"
            );
        }
        if let Some(clients) = &clients {
            clients.tell_ends();
        }
        let streams = CancellationToken::new();
        let guard = Guard::new(
            Arc::clone(&sites),
            handler,
            settings,
            limits,
            clients.map(Arc::new),
            address,
            &streams,
        );
        let shared = RouterState {
            guard: Arc::new(guard),
            readiness: Readiness::default(),
        };
        let page = review_page(&shared).map_err(|error| error.to_string())?;
        shared.guard.tell_review_page();
        Ok(Self {
            page,
            sites,
            listener,
            address,
            limits,
            shared: Arc::new(shared),
            streams,
        })
    }

    /// Takes over other settings of this server while it runs.
    #[must_use]
    pub fn settings_taker(&self) -> HttpReload {
        HttpReload {
            shared: Arc::clone(&self.shared),
            address: self.address,
        }
    }

    /// The settings and clients in force, in words.
    #[cfg(test)]
    pub(in crate::server) fn in_force(&self) -> String {
        let guard = &self.shared.guard;
        let clients = guard.clients.as_ref().map(|clients| clients.in_force());
        format!("serve: {:?}\nclients: {clients:?}", guard.settings())
    }

    /// The address at which it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled. Then no new call is accepted; those under way may finish,
    /// writes are settled and recorded, and the audit log is closed.
    pub async fn run(self, stop: CancellationToken) {
        let Self {
            sites,
            listener,
            limits,
            shared,
            page,
            streams,
            ..
        } = self;
        sites.begin_recovery();
        let watching = shared.guard.clients.as_ref().map(|clients| {
            let (clients, sites) = (Arc::clone(clients), Arc::clone(&sites));
            tokio::spawn(watch(clients, sites, stop.clone()))
        });
        let calls = Arc::clone(&shared.guard.calls.all);
        let guard = Arc::clone(&shared.guard);
        let router = router(shared, page);
        let connections = Connections::new(&limits);
        let is_proxy = |peer| guard.is_proxy(peer);
        connections
            .accept(&listener, &router, &is_proxy, &stop)
            .await;
        drop(listener);
        // Whoever has all places lets nobody in.
        let finished =
            tokio::time::timeout(limits.last_calls, calls.acquire_many(limits.calls)).await;
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

fn router(shared: Arc<RouterState>, page: Option<Router>) -> Router {
    let routes = Router::new()
        .route("/", any(nothing_here))
        .route("/mcp", any(mcp))
        .route("/mcp/{site}", any(mcp_of_site))
        .route("/healthz", get(async || health::alive()))
        .route("/readyz", get(readyz))
        .route("/metrics", get(tell_metrics));
    routes.with_state(shared).merge(page.unwrap_or_default())
}

/// The review page, where there are named clients.
fn review_page(shared: &RouterState) -> Result<Option<Router>, getrandom::Error> {
    let Some(clients) = &shared.guard.clients else {
        return Ok(None);
    };
    let sites = Arc::clone(&shared.guard.sites);
    let doors = Reviewers::new(sites, Arc::clone(clients));
    let reviews = Reviews::new(Arc::new(doors), ReviewOrigin::default());
    let host = PageHost::new(Arc::clone(&shared.guard))?;
    let check = middleware::from_fn_with_state(host, page_host::check);
    Ok(Some(review::router(Arc::new(reviews)).layer(check)))
}

async fn mcp(
    State(shared): State<Arc<RouterState>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response<Body> {
    shared.guard.mcp(peer, None, request).await
}

async fn mcp_of_site(
    State(shared): State<Arc<RouterState>>,
    Path(site): Path<String>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response<Body> {
    shared.guard.mcp(peer, Some(&site), request).await
}

/// The answer at `/`, for a caller who probes the server or forgot the path.
async fn nothing_here() -> Response<Body> {
    respond(
        axum::http::StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "there is nothing here; MCP is at /mcp\n".to_owned(),
    )
}

async fn readyz(State(shared): State<Arc<RouterState>>, request: Request) -> Response<Body> {
    let is_by_name = shared.guard.check_source(&request).is_ok();
    shared.readiness.answer(&shared.guard, is_by_name).await
}

async fn tell_metrics(State(shared): State<Arc<RouterState>>, request: Request) -> Response<Body> {
    let guard = &shared.guard;
    let client = match guard.check_source(&request) {
        Ok(_) => guard.client(request.headers()).await,
        Err(refusal) => Err(refusal),
    };
    let admitted = client.and_then(|client| match client {
        Some(client) if client.role == Role::Metrics => Ok(Some(client)),
        Some(client) if client.bond.is_some() => Err(HttpRefusal::new(
            axum::http::StatusCode::FORBIDDEN,
            "a delegate has tools and nothing else",
        )),
        Some(client) if !client.rights.narrowing.reads.is_open() => Err(HttpRefusal::new(
            axum::http::StatusCode::FORBIDDEN,
            "the metrics count pages that this client may not read",
        )),
        client => Ok(client),
    });
    match admitted {
        Ok(client) => {
            let mut sites = guard.sites.all().to_vec();
            // An agent learns nothing of sites that it does not see.
            if let Some(agent) = client.filter(|client| client.role == Role::Agent) {
                sites.retain(|site| agent.sees(site, &guard.sites));
            }
            respond(
                axum::http::StatusCode::OK,
                "text/plain; version=0.0.4; charset=utf-8",
                metrics::tell(&sites),
            )
        }
        Err(refusal) => refusal.into_response(),
    }
}
