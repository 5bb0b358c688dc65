//! Guards the protocol: checks who calls, from where, how often, and with how much.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::super::app::App;
use super::super::clients::client_record::{ClientRecord, Unwelcome};
use super::super::clients::registry::ClientRegistry;
use super::super::clients::secret::LINK_PREFIX;
use super::super::delegates::delegations::Delegations;
use super::super::mcp::caller::{CallGuard, CallerContext, ClientIdentity, Maker};
use super::super::quota::MessageQuota;
use super::super::site::{Site, Sites};
use super::address::{is_forwarded_by_tls, origin_of};
use super::apps::Apps;
use super::body::{RoomOf, read, too_large};
use super::concurrency::{ConcurrencyLimits, ConcurrencyPermit};
use super::limits::HttpLimits;
use super::origin;
use super::outgoing::{holding, until, while_so};
use super::rate::Rates;
use super::refusal::HttpRefusal;
use super::sessions::{ActiveRequestGuard, McpSessions, RequestId, SESSION, SessionOwner};
use crate::audit::{ClientId, Role};
use crate::config::ServeSettings;
use crate::gates::SessionId;
use crate::write::Family;

/// The method of a request that lasts as long as it listens for changes.
const LISTEN: &str = "subscriptions/listen";
/// The header that carries the caller's own key of the wiki.
const CALLER_KEY: &str = "x-wiki-api-token";
/// The owner of what is remembered for callers without a name; no client can have this name.
const UNNAMED: &str = "unnamed callers";

/// The most sites whose callers' apps are kept after the sites were removed.
const MOST_APPS: usize = 100;

/// The protocol behind the guard, whoever answers it.
type Mcp = Box<dyn Fn(Request<Body>) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// Checks requests and passes them to the protocol.
pub(super) struct Guard {
    pub(super) sites: Arc<Sites>,
    settings: RwLock<Arc<ServeSettings>>,
    pub(super) limits: HttpLimits,
    /// The named clients; `None` if callers need no name.
    pub(super) clients: Option<Arc<ClientRegistry>>,
    /// Places for calls under way.
    pub(super) calls: ConcurrencyLimits,
    /// Room for large bodies.
    room: MessageQuota,
    /// Places for the streams of sessions.
    streams: ConcurrencyLimits,
    listening: SocketAddr,
    /// The apps of callers, by site.
    apps: Mutex<HashMap<u64, Arc<Apps>>>,
    rates: Rates,
    sessions: Arc<McpSessions>,
    with_sessions: Mcp,
    without_sessions: Mcp,
}

/// The caller of a request.
struct HttpCaller {
    client: Option<Arc<ClientRecord>>,
    address: IpAddr,
    site: Arc<Site>,
    app: Arc<App>,
    /// The owner of its sessions and previews: the client, with its own key if it brings one.
    owner: String,
    /// The same for the record; `None` if the caller has neither.
    subject: Option<String>,
    /// Its delegates, and its own limits as a delegate.
    family: Option<Arc<dyn Family>>,
    /// URL at which it reaches the review page, if this server has it.
    review: Option<Arc<str>>,
}

/// The parts of a body that the guard needs.
#[derive(Deserialize)]
struct Peek {
    method: Option<String>,
    id: Option<RequestId>,
}

/// Permits that a call holds until it has ended, even if its client hangs up, since a session
/// continues it.
#[derive(Debug)]
struct CallPermits {
    _place: Arc<ConcurrencyPermit>,
    _request: Option<ActiveRequestGuard>,
}

impl CallGuard for CallPermits {}

impl Guard {
    pub(super) fn new<H: ServerHandler>(
        sites: Arc<Sites>,
        handler: impl Fn() -> H + Clone + Send + Sync + 'static,
        settings: ServeSettings,
        limits: HttpLimits,
        clients: Option<Arc<ClientRegistry>>,
        listening: SocketAddr,
        stop: &CancellationToken,
    ) -> Self {
        let sessions = Arc::new(McpSessions::new(&limits));
        // Host, Origin and size are checked here, before a body is read.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(limits.body)
            .with_json_response(true)
            .with_cancellation_token(stop.clone());
        let mcp = |has_sessions| -> Mcp {
            let handler = handler.clone();
            let service = StreamableHttpService::new(
                move || Ok(handler()),
                Arc::clone(&sessions.open),
                config.clone().with_legacy_session_mode(has_sessions),
            );
            Box::new(move |request| {
                let service = service.clone();
                async move { service.handle(request).await.map(Body::new) }.boxed()
            })
        };
        Self {
            with_sessions: mcp(true),
            without_sessions: mcp(false),
            apps: Mutex::default(),
            calls: ConcurrencyLimits::for_calls(&limits),
            room: limits.room(),
            streams: ConcurrencyLimits::for_streams(&limits),
            sites,
            settings: RwLock::new(Arc::new(settings)),
            limits,
            clients,
            listening,
            rates: Rates::default(),
            sessions,
        }
    }

    /// The settings in force.
    pub(super) fn settings(&self) -> Arc<ServeSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over other settings.
    pub(super) fn take_settings(&self, settings: ServeSettings) {
        if let Some(clients) = &self.clients {
            clients.take_person_limit(settings.person_limit);
        }
        let mut now = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *now = Arc::new(settings);
        drop(now);
        self.tell_review_page();
    }

    /// Tells all sites where their review page is reached, if this server has it.
    pub(super) fn tell_review_page(&self) {
        if self.clients.is_none() {
            return;
        }
        let settings = self.settings();
        let by_name = settings.allowed_hosts.first();
        let by_name = by_name.map(|host| format!("https://{host}/review"));
        let address = by_name.unwrap_or_else(|| self.own_review_address());
        for site in self.sites.all().iter() {
            site.app().serve_review_at(&address);
        }
    }

    /// The address of the review page where this server listens.
    fn own_review_address(&self) -> String {
        let mut at = self.listening;
        // What listens everywhere is reached from this machine at least.
        if at.ip().is_unspecified() {
            at.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{at}/review")
    }

    /// The address of the review page for whoever sent a request: by the name that they used, if the
    /// operator listed it.
    fn review_address_for(&self, peer: SocketAddr, headers: &HeaderMap) -> Option<Arc<str>> {
        self.clients.as_ref()?;
        let settings = self.settings();
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let listed = host.filter(|host| origin::is_listed(host, &settings.allowed_hosts));
        let is_by_tls = is_forwarded_by_tls(Some(peer.ip()), headers, &settings.trusted_proxies);
        Some(match listed {
            Some(host) => {
                let scheme = if is_by_tls { "https" } else { "http" };
                format!("{scheme}://{}/review", host.to_lowercase()).into()
            }
            None => self.own_review_address().into(),
        })
    }

    /// Answers a request to `/mcp`, or to `/mcp/{site}`.
    pub(super) async fn mcp(
        &self,
        peer: SocketAddr,
        site: Option<&str>,
        request: Request<Body>,
    ) -> Response<Body> {
        let (origin, answer) = match self.check_source(&request) {
            Err(refusal) => (None, Err(refusal)),
            Ok(Some(origin)) if request.method() == Method::OPTIONS => {
                (Some(origin), Ok(origin::preflight()))
            }
            Ok(origin) => (origin, self.admit(peer, site, request).await),
        };
        let mut response = answer.unwrap_or_else(|refusal| {
            if let Some(first) = self.sites.all().first() {
                first.app().metrics.turned_away(refusal.status.as_u16());
            }
            tracing::debug!(status = refusal.status.as_u16(), %peer, "a request was refused");
            refusal.into_response()
        });
        origin::let_read(&mut response, origin);
        response
    }

    /// Checks that the request was sent to this server and, if by a browser, from a listed site.
    pub(super) fn check_source<B>(
        &self,
        request: &Request<B>,
    ) -> Result<Option<HeaderValue>, HttpRefusal> {
        self.check_host(request)?;
        origin::check_origin(request.headers(), &self.settings().allowed_origins)
    }

    /// Checks that the request was sent to a name of this server.
    pub(super) fn check_host<B>(&self, request: &Request<B>) -> Result<(), HttpRefusal> {
        origin::check_host(request, self.listening.ip(), &self.settings().allowed_hosts)
    }

    /// True if only this machine reaches it.
    pub(super) const fn is_on_loopback(&self) -> bool {
        self.listening.ip().is_loopback()
    }

    /// True if a trusted proxy connects from this address.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        let settings = self.settings();
        settings
            .trusted_proxies
            .iter()
            .any(|range| range.holds(peer))
    }

    /// The address of the review page that the operator named, if they did.
    pub(super) fn review_url(&self) -> Option<String> {
        let all = self.sites.all();
        let named = |site: &Arc<Site>| site.app().desk.policy().review.named().map(str::to_owned);
        all.iter().find_map(named)
    }

    /// The named client whose token the request carries; `None` if no names are needed.
    pub(super) async fn client(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Arc<ClientRecord>>, HttpRefusal> {
        let Some(clients) = &self.clients else {
            return Ok(None);
        };
        let refused = |message| Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, message));
        let token = bearer(headers);
        if token.starts_with(LINK_PREFIX) {
            return refused(
                "this is the secret of a sign-in link, which opens the review page in a browser and nothing here",
            );
        }
        match clients.of(&token).await {
            Ok(client) => Ok(Some(client)),
            Err(Unwelcome::Ended) => refused(
                "this client's token has ended; its operator makes another with `wikijs-gate token rotate`",
            ),
            Err(Unwelcome::DelegateEnded) => refused(
                "this delegate has ended, or its maker may not call any more; only its maker makes another",
            ),
            Err(Unwelcome::Unknown) => refused(
                "a client's token is needed, as Authorization: Bearer wjs_…; this one is missing or unknown",
            ),
        }
    }

    async fn admit(
        &self,
        peer: SocketAddr,
        site: Option<&str>,
        request: Request<Body>,
    ) -> Result<Response<Body>, HttpRefusal> {
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > self.limits.body) {
            return Err(too_large());
        }
        let caller = self.caller(peer, site, request.headers()).await?;
        self.take_rate(&caller)?;
        let session = request.headers().get(SESSION);
        let session = session.map(|id| id.to_str().unwrap_or_default().to_owned());
        if session
            .as_ref()
            .is_some_and(|id| !self.sessions.is_of(id, &caller.owner))
        {
            return Err(HttpRefusal::new(
                StatusCode::NOT_FOUND,
                "there is no such session; initialize again",
            ));
        }
        let end = caller.client.as_ref().and_then(|client| client.expires);
        let delegate = delegate_of(&caller);
        let take =
            |limits: &ConcurrencyLimits| limits.take(caller.client.as_deref(), caller.site.name());
        if request.method() != Method::POST {
            let place = take(&self.streams)?;
            let request = announced(request, caller, session, None);
            let response = self.while_it_lasts(delegate, (self.with_sessions)(request).await);
            return Ok(until(end, holding(place, response)));
        }
        let place = Arc::new(take(&self.calls)?);
        let (head, body) = request.into_parts();
        let most = self.limits.body;
        let room = RoomOf {
            room: &self.room,
            owner: caller
                .client
                .as_ref()
                .map(|client| &*client.counted().identity),
        };
        let reading = read(body, most, room);
        let (body, payload) = tokio::time::timeout(self.limits.request, reading)
            .await
            .map_err(|_| {
                HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the body took too long")
            })??;
        let (method, id) = match serde_json::from_slice(&body) {
            Ok(Peek { method, id }) => (method, id),
            Err(_) => (None, None),
        };
        let is_first = session.is_none() && method.as_deref() == Some("initialize");
        // A request that listens may last for days: it is a stream, and no call under way.
        let is_stream = method.as_deref() == Some(LISTEN);
        let delegate = delegate.filter(|_| is_stream);
        let place = if is_stream {
            Arc::new(take(&self.streams)?)
        } else {
            place
        };
        let mut request = Request::from_parts(head, Body::from(body));
        if let Some(payload) = payload {
            request.extensions_mut().insert(payload);
        }
        let (response, place) = if is_first {
            let owner = SessionOwner {
                name: caller.owner.clone(),
                client: caller
                    .client
                    .as_ref()
                    .map(|client| client.counted().identity.clone()),
            };
            let sessions = Arc::clone(&self.sessions);
            let opening = (self.with_sessions)(announced(request, caller, session, None));
            // In a task of its own, so that a client that hangs up does not interrupt it.
            let opening =
                tokio::spawn(async move { (sessions.open_one(owner, opening).await, place) });
            let (opened, place) = opening.await.map_err(|_| {
                HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the call broke off")
            })?;
            (opened?, place)
        } else {
            let mcp = if session.is_some() {
                &self.with_sessions
            } else {
                &self.without_sessions
            };
            let call = CallPermits {
                _place: Arc::clone(&place),
                _request: match (&session, method.and(id)) {
                    (Some(session), Some(id)) => Some(self.sessions.begin(session.clone(), id)?),
                    _ => None,
                },
            };
            let request = announced(request, caller, session, Some(Arc::new(call)));
            (mcp(request).await, place)
        };
        // The call is under way until its answer has gone out, too.
        let response = holding(place, self.while_it_lasts(delegate, response));
        Ok(until(end.filter(|_| is_stream), response))
    }

    /// A stream of a delegate ends with it, whoever ends it.
    fn while_it_lasts(
        &self,
        delegate: Option<ClientId>,
        response: Response<Body>,
    ) -> Response<Body> {
        match (&self.clients, delegate) {
            (Some(clients), Some(id)) => {
                let clients = Arc::clone(clients);
                while_so(move || clients.has_delegate(id), response)
            }
            _ => response,
        }
    }

    /// Counts a request against the rate of its caller.
    fn take_rate(&self, caller: &HttpCaller) -> Result<(), HttpRefusal> {
        let rate = caller.client.as_ref().and_then(|client| client.rate);
        let rate = rate.unwrap_or(u32::MAX).min(self.settings().rate);
        let of_rate = match &caller.client {
            Some(client) => client.counted().identity.clone(),
            None => caller.address.to_string(),
        };
        self.rates.take(&of_rate, rate).map_err(|wait| HttpRefusal {
            status: StatusCode::TOO_MANY_REQUESTS,
            message: "too many requests; slow down",
            wait: Some(wait),
        })
    }

    /// The site of a path that this client may see: another is as if it were not there.
    pub(super) fn site_of(
        &self,
        name: Option<&str>,
        client: Option<&ClientRecord>,
    ) -> Result<Arc<Site>, HttpRefusal> {
        let admits = |site: &Arc<Site>| client.is_none_or(|client| client.sees(site, &self.sites));
        let there_is_none = HttpRefusal::new(
            StatusCode::NOT_FOUND,
            if name.is_some() {
                "there is no such site for this caller"
            } else {
                "which site is not clear; call /mcp/NAME with the name of a site"
            },
        );
        let site = self.sites.of(name).filter(admits);
        if let (None, None) = (&site, name) {
            // Whoever has one site alone need not name it.
            let all = self.sites.all();
            let mut own = all.iter().filter(|site| admits(site));
            if let (Some(one), None) = (own.next(), own.next()) {
                return Ok(Arc::clone(one));
            }
        }
        site.ok_or(there_is_none)
    }

    /// The apps of a site's callers, with the app that is in force.
    fn apps_of(&self, site: &Site) -> (Arc<Apps>, Arc<App>) {
        let app = site.app();
        let mut apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
        if apps.len() > MOST_APPS {
            // Of sites that were removed.
            let all = self.sites.all();
            apps.retain(|number, _| all.iter().any(|site| site.number() == *number));
        }
        let of_site = apps
            .entry(site.number())
            .or_insert_with(|| Arc::new(Apps::new(Arc::clone(&app), self.limits.keys)));
        let of_site = Arc::clone(of_site);
        drop(apps);
        let app = of_site.follow(app);
        (of_site, app)
    }

    async fn caller(
        &self,
        peer: SocketAddr,
        site: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<HttpCaller, HttpRefusal> {
        let settings = self.settings();
        let client = self.client(headers).await?;
        if client
            .as_ref()
            .is_some_and(|client| client.role != Role::Agent)
        {
            return Err(HttpRefusal::new(
                StatusCode::FORBIDDEN,
                "this token is for /metrics alone; tools are called with the token of an agent",
            ));
        }
        let site = self.site_of(site, client.as_deref())?;
        let (apps, app) = self.apps_of(&site);
        let name = client.as_ref().map_or(UNNAMED, |client| &client.identity);
        let named = client.as_ref().map(|client| client.subject());
        let (app, owner, subject) = match (settings.has_caller_keys, headers.get(CALLER_KEY)) {
            (false, None) => (app, name.to_owned(), named),
            (true, Some(key)) => {
                let known = key.to_str().ok().and_then(|key| apps.of(name, key));
                let (app, key) = known.ok_or(HttpRefusal::new(
                    StatusCode::BAD_REQUEST,
                    "X-Wiki-Api-Token holds no key",
                ))?;
                let digest = format!("key:{}", key.get(..12).unwrap_or(&key));
                let subject = named.map_or(digest.clone(), |named| format!("{named}/{digest}"));
                (app, format!("{name}/{key}"), Some(subject))
            }
            (true, None) => {
                return Err(HttpRefusal::new(
                    StatusCode::UNAUTHORIZED,
                    "this server needs each caller's own key of the wiki, in X-Wiki-Api-Token",
                ));
            }
            (false, Some(_)) => {
                return Err(HttpRefusal::new(
                    StatusCode::BAD_REQUEST,
                    "this server takes no keys of callers; leave X-Wiki-Api-Token out",
                ));
            }
        };
        let app = match &client {
            None => app,
            Some(client) => {
                let reads = &client.rights.narrowing.reads;
                let counted = &client.counted().identity;
                apps.within(counted, app, reads).map_err(|fault| {
                    tracing::error!("what answers a client could not be made: {fault}");
                    HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the call broke off")
                })?
            }
        };
        // A delegate of a caller with a key of its own would need that key. One that was made before
        // callers needed keys is held to its bounds.
        let family = match (&self.clients, &client) {
            (Some(clients), Some(client)) if client.bond.is_some() || !settings.has_caller_keys => {
                let kin = Delegations::new(clients, client, &site, &bearer(headers));
                let kin: Arc<dyn Family> = Arc::new(kin);
                Some(kin)
            }
            _ => None,
        };
        // A session is one site's alone, and not another's that comes later under its name.
        let owner = format!("{}:{owner}", site.number());
        Ok(HttpCaller {
            address: origin_of(peer.ip(), headers, &settings.trusted_proxies),
            client,
            site,
            app,
            owner,
            subject,
            family,
            review: self.review_address_for(peer, headers),
        })
    }
}

/// The id of a caller that is a delegate.
fn delegate_of(caller: &HttpCaller) -> Option<ClientId> {
    let client = caller.client.as_ref()?;
    client.bond.as_ref().map(|_| client.id)
}

/// The token that a request carries; empty if there is none.
fn bearer(headers: &HeaderMap) -> String {
    let token = |value: &HeaderValue| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| token.trim().to_owned())
    };
    let token = headers.get(header::AUTHORIZATION).and_then(token);
    token.unwrap_or_default()
}

/// The request with its caller's visit and without its secrets.
fn announced(
    mut request: Request<Body>,
    caller: HttpCaller,
    session: Option<String>,
    held: Option<Arc<dyn CallGuard>>,
) -> Request<Body> {
    for name in [header::AUTHORIZATION.as_str(), CALLER_KEY] {
        request.headers_mut().remove(name);
    }
    let session = match session {
        Some(id) => SessionId::new(format!("{}/{id}", caller.owner)),
        None => SessionId::fleeting(caller.owner),
    };
    // Independent of the key, since each key has its own previews anyway.
    let session = match &caller.client {
        Some(client) => session.of_client(client.counted().identity.as_str()),
        None => session.owned_by(UNNAMED),
    };
    let visit = CallerContext {
        session,
        app: caller.app,
        client: caller.client.as_ref().map(|client| ClientIdentity {
            id: client.id,
            name: client.name.clone(),
            role: client.role,
            ends: client.expires,
            maker: client.bond.as_ref().map(|bond| Maker {
                id: bond.maker.id,
                name: bond.maker.name.clone(),
                task: Arc::clone(&bond.task),
            }),
        }),
        subject: caller.subject,
        address: Some(caller.address.to_string()),
        family: caller.family,
        review: caller.review,
        rights: caller.client.map(|client| client.rights.clone()),
        _held: held,
    };
    request.extensions_mut().insert(Arc::new(visit));
    request.extensions_mut().insert(caller.site);
    request
}
