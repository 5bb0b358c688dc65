//! HTTP to the wiki: one request, one answer, bounds on both. The only room with a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, redirect};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use tokio::sync::SemaphorePermit;
use url::{Host, Url};

use super::error::{WikiError, WikiResult};
use super::rights::key_state::KeyState;
use crate::audit::CallId;
use crate::render_budget;
use crate::trace::{self, SpanEnd, SpanKind};
use classify::RawAnswer;
use network::{Network, Proxy};
use reach::TlsFault;
use traffic::Traffic;

pub(super) mod batch;
pub mod classify;
pub(super) mod envelope;
pub mod fetch;
mod look;
pub(super) mod network;
pub(super) mod offload;
pub(super) mod reach;
pub(super) mod retry;
pub(super) mod traffic;

pub(super) use look::{ALERT, ProbeFailure, ProbeResponse};

/// The most bytes of an answer that are read.
pub const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// The most bytes of a request that Wiki.js takes (W19).
pub const MAX_REQUEST_BYTES: usize = 5 * 1024 * 1024;
/// Shorter than the five seconds after which Node closes an idle connection, so that a
/// write is not lost in one that the wiki is just closing.
const IDLE: Duration = Duration::from_secs(4);

/// The header that names each request in logs of gateways.
const REQUEST_ID: &str = "x-request-id";

/// A request's time limits.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// For one try of a read.
    pub read: Duration,
    /// For a write, from sending it on.
    pub write: Duration,
}

/// The way to the wiki, with a key; a clone shares both.
#[derive(Clone)]
pub(super) struct Transport {
    way: Arc<SharedTransport>,
    /// The key as it is now.
    keyed: Arc<RwLock<Arc<KeyState>>>,
}

/// The way to the wiki, whatever the key.
pub(super) struct SharedTransport {
    #[expect(
        clippy::disallowed_types,
        reason = "this is the room that speaks HTTP to the wiki"
    )]
    client: reqwest::Client,
    endpoint: Url,
    pub(super) run: String,
    count: Arc<AtomicU64>,
    pub(super) traffic: Arc<Traffic>,
}

/// Installs the cryptography for TLS, which HTTP clients in this process take up; again does nothing.
pub fn provide_tls() {
    // If a program that embeds this one has installed another, that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The HTTP client for a server behind this network: it follows no redirect and sends nothing twice.
#[expect(
    clippy::disallowed_types,
    reason = "this is the room that speaks HTTP to the wiki"
)]
pub fn http_client(endpoint: &Url, network: &Network) -> Result<reqwest::Client, &'static str> {
    provide_tls();
    let mut builder = reqwest::Client::builder()
        .default_headers(network.headers.clone())
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_idle_timeout(IDLE)
        // It would read the environment itself; that is done by `config`.
        .no_proxy()
        .gzip(true)
        .user_agent(concat!("wikijs-gate/", env!("CARGO_PKG_VERSION")));
    let is_tls = endpoint.scheme() == "https" || network.proxy.as_ref().is_some_and(Proxy::is_tls);
    builder = if is_tls {
        builder.tls_certs_merge(network.authorities.clone())
    } else {
        // Plain HTTP needs no roots; without this, an image without any refuses to start.
        builder.tls_certs_only([])
    };
    if let Some(certificate) = &network.certificate {
        builder = builder.identity(certificate.identity.clone());
    }
    if let Some(proxy) = &network.proxy {
        tracing::info!(%proxy, to = endpoint.host_str(), "requests go through a proxy");
        let proxy = proxy
            .to_client()
            .ok_or("the proxy's address cannot be used")?;
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|_| match network.authorities.len() {
        0 => "this system has no certificate authorities that could vouch for a server; install its trust store (ca-certificates), or name a file of them in WIKI_CA_FILE",
        _ => "WIKI_CA_FILE holds a certificate that cannot be used as an authority's",
    })
}

impl Transport {
    /// Opens no connection yet; an unusable address, key or network is reported here.
    pub(super) fn new(
        endpoint: Url,
        keyed: KeyState,
        network: &Network,
        run: String,
    ) -> Result<Self, String> {
        let way = SharedTransport {
            client: http_client(&endpoint, network)?,
            endpoint,
            run,
            count: Arc::default(),
            traffic: Arc::default(),
        };
        Ok(Self {
            way: Arc::new(way),
            keyed: Arc::new(RwLock::new(Arc::new(keyed))),
        })
    }

    /// Another way to the wiki, whose requests are counted with those of this one; without a new
    /// key it shares the key.
    pub(super) fn renewed(
        &self,
        endpoint: Url,
        keyed: Option<KeyState>,
        network: &Network,
    ) -> Result<Self, String> {
        let way = SharedTransport {
            client: http_client(&endpoint, network)?,
            endpoint,
            run: self.run.clone(),
            count: Arc::clone(&self.count),
            traffic: Arc::clone(&self.traffic),
        };
        let other = keyed.map_or_else(|| self.clone(), |keyed| self.with_key(keyed));
        Ok(Self {
            way: Arc::new(way),
            ..other
        })
    }

    /// The same transport with another key.
    pub(super) fn with_key(&self, keyed: KeyState) -> Self {
        self.with_shared_key(Arc::new(keyed))
    }

    /// The same transport, pinned to the current key.
    pub(super) fn pinned(&self) -> Self {
        self.with_shared_key(self.keyed())
    }

    fn with_shared_key(&self, keyed: Arc<KeyState>) -> Self {
        Self {
            way: Arc::clone(&self.way),
            keyed: Arc::new(RwLock::new(keyed)),
        }
    }

    /// The key as it is now.
    pub(super) fn keyed(&self) -> Arc<KeyState> {
        Arc::clone(&self.keyed.read())
    }

    /// Uses another key from now on; requests under way keep theirs.
    pub(super) fn take(&self, keyed: KeyState) {
        *self.keyed.write() = Arc::new(keyed);
    }

    /// A request to the API.
    fn request(&self, body: Vec<u8>) -> RequestBuilder {
        self.client
            .post(self.endpoint.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, self.keyed().authorization.clone())
            .body(body)
    }

    /// Sends one GraphQL request, once.
    pub(super) async fn post(&self, body: Vec<u8>, limit: Duration) -> WikiResult<RawAnswer> {
        if body.len() > MAX_REQUEST_BYTES {
            return Err(WikiError::RequestTooLarge);
        }
        self.send(self.request(body), limit).await
    }

    /// Gets one address of the wiki, once.
    pub(super) async fn get(&self, address: Url, limit: Duration) -> WikiResult<RawAnswer> {
        let authorization = self.keyed().authorization.clone();
        let request = self.client.get(address);
        self.send(request.header(AUTHORIZATION, authorization), limit)
            .await
    }

    /// Posts a form to one address of the wiki, once.
    pub(super) async fn post_form(
        &self,
        address: Url,
        kind: &str,
        body: Vec<u8>,
        limit: Duration,
    ) -> WikiResult<RawAnswer> {
        let authorization = self.keyed().authorization.clone();
        let request = self.client.post(address).header(CONTENT_TYPE, kind);
        let request = request.header(AUTHORIZATION, authorization).body(body);
        self.send(request, limit).await
    }

    async fn send(&self, request: RequestBuilder, limit: Duration) -> WikiResult<RawAnswer> {
        let call = CallId::current();
        let _of_call = call.as_ref().map(|_| self.traffic.of_calls.enter());
        let own = || {
            format!(
                "{}-{}",
                self.run,
                self.count.fetch_add(1, Ordering::Relaxed)
            )
        };
        let id = call.map_or_else(own, |call| call.to_string());
        // If no slot is free in time, nothing was sent.
        let place = self.place(limit).await.ok_or(WikiError::NotConnected)?;
        // The limit counts from here: waiting for a place is not the wiki's time.
        let (_under_way, began) = (self.traffic.in_flight.enter(), Instant::now());
        let too_late = WikiError::Timeout { after: limit };
        let answer = trace::span(
            || "wiki request".into(),
            SpanKind::Client,
            async {
                let sent = traced(request.header(REQUEST_ID, &id)).send();
                let sent = tokio::time::timeout(limit, sent).await;
                let response = sent.map_err(|_| too_late.clone())?.map_err(fault)?;
                // What answers in the wiki's place may have another clock.
                if let Some(date) = look::date(response.headers())
                    && response.status().is_success()
                {
                    self.traffic.dated(date);
                }
                let left = limit.saturating_sub(began.elapsed());
                let read = self.read_to_end(response, Some(place), left).await;
                read.unwrap_or(Err(too_late))
            },
            |answer| span_end(&id, answer),
        )
        .await;
        self.traffic.latency.took(began.elapsed());
        match &answer {
            Ok(answer) if answer.status < 500 => self.traffic.heard(),
            Ok(_) => {}
            Err(_) => self.traffic.missed(),
        }
        match &answer {
            Ok(answer) => tracing::debug!(
                request = id,
                status = answer.status,
                bytes = answer.body.len(),
                "answered"
            ),
            Err(error) => tracing::debug!(request = id, %error, "not answered"),
        }
        answer
    }
}

impl SharedTransport {
    /// A place among the requests under way.
    async fn place(&self, limit: Duration) -> Option<SemaphorePermit<'_>> {
        let place = tokio::time::timeout(limit, self.traffic.places.acquire());
        place.await.ok()?.ok()
    }

    /// Reads an answer; `None` if its end does not come in time. Who compares pages takes room for
    /// what is large ([`render_budget`]), and neither holds a place nor uses up time while it waits
    /// for room.
    async fn read_to_end(
        &self,
        mut response: Response,
        mut place: Option<SemaphorePermit<'_>>,
        left: Duration,
    ) -> Option<WikiResult<RawAnswer>> {
        let mut answer = RawAnswer::begun(&response);
        let mut until = Instant::now() + left;
        let whole = response.content_length();
        let whole = whole.and_then(|whole| usize::try_from(whole).ok());
        let counted = render_budget::counted();
        let read = loop {
            let chunk = tokio::time::timeout_at(until.into(), response.chunk());
            let chunk = match chunk.await.ok()? {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break Ok(()),
                Err(error) => break Err(fault(error)),
            };
            if answer.body.len() + chunk.len() > MAX_ANSWER_BYTES {
                break Err(WikiError::AnswerTooLarge {
                    limit: MAX_ANSWER_BYTES,
                });
            }
            answer.body.extend_from_slice(&chunk);
            if render_budget::lacks_room(answer.body.len()) {
                let asked = Instant::now();
                drop(place.take());
                if let Err(no_room) = render_budget::grow(answer.body.len(), whole).await {
                    break Err(WikiError::NoRoom(no_room));
                }
                place = Some(self.place(left).await?);
                until += asked.elapsed();
            }
        };
        render_budget::grown(counted, answer.body.len());
        Some(read.map(|()| answer))
    }
}

impl RawAnswer {
    /// An answer of which the head has come.
    fn begun(response: &Response) -> Self {
        let headers = response.headers();
        let retry_after = headers.get(RETRY_AFTER);
        let kind = headers.get(CONTENT_TYPE);
        Self {
            status: response.status().as_u16(),
            retry_after: retry_after.and_then(|value| wait(value.to_str().ok()?.trim())),
            is_html: kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")),
            body: Vec::new(),
        }
    }
}

impl std::ops::Deref for Transport {
    type Target = SharedTransport;

    fn deref(&self) -> &SharedTransport {
        &self.way
    }
}

/// A request with its place in a trace, where spans are made.
fn traced(request: RequestBuilder) -> RequestBuilder {
    let Some(place) = trace::outgoing() else {
        return request;
    };
    let request = request.header("traceparent", place.to_string());
    match place.state() {
        Some(state) => request.header("tracestate", state),
        None => request,
    }
}

/// The end of a request's span.
fn span_end(id: &str, answer: &WikiResult<RawAnswer>) -> SpanEnd {
    let status = answer.as_ref().ok().map(|answer| answer.status);
    let mut attributes = vec![("wikijs_gate.request", id.into())];
    attributes.extend(status.map(|status| ("http.response.status_code", status.into())));
    SpanEnd {
        attributes,
        is_error: status.is_none_or(|status| status >= 500),
    }
}

/// Reads `Retry-After`: seconds, or a date.
fn wait(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    (until - OffsetDateTime::now_utc()).try_into().ok()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is a function for map_err"
)]
fn fault(error: reqwest::Error) -> WikiError {
    let causes = look::causes(&error);
    let tls = TlsFault::from_causes(&causes);
    // Only the TLS library's own words say that the certificate is at fault.
    if causes.contains("invalid peer certificate") {
        let why = tls.distrust();
        WikiError::Untrusted { why }
    } else if tls == TlsFault::Ended {
        let was_sent = !error.is_connect();
        WikiError::TlsEnded { was_sent }
    } else if error.is_connect() {
        WikiError::NotConnected
    } else {
        WikiError::Cut
    }
}

/// True if an address stays on this machine.
pub fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// True if secrets and keys may travel by this address: by TLS, or on this machine.
pub fn is_safe(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => is_loopback(url),
        _ => false,
    }
}

/// True if an address is safe, and names a server and a place there alone: no user, password, query or fragment.
pub fn is_safe_place(url: &Url) -> bool {
    is_safe(url) && is_plain_place(url)
}

/// True if an address of HTTP names a server and a place there alone.
pub fn is_plain_place(url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_http && !has_user && url.query().is_none() && url.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::wait;

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert!(
            wait("Fri, 31 Dec 2100 23:59:59 GMT")
                .is_some_and(|wait| wait > Duration::from_hours(1))
        );
        // A date that has passed asks for no wait.
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(wait("soon"), None);
    }
}
