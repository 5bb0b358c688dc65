//! Decides by which name and address browsers reach the review page, and whether by TLS.
//!
//! Browsers keep cookies by name and not by port: any other server on `localhost` could read the
//! cookie of a page there, or replace it. Where the page is reached on loopback alone, it therefore
//! has a name of its own below `localhost`, made anew at each start.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::super::site::Site;
use super::address::{is_forwarded_by_tls, origin_of};
use super::origin;
use super::rate::Rates;
use super::refusal::HttpRefusal;
use super::state::HttpState;
use crate::config::ServeSettings;
use crate::hex;
use crate::review::{AT_ISSUER, ReviewOrigin};

/// The most sign-ins at the issuer that begin in a minute from one network.
const BEGUN_OF_ONE: u32 = 30;

/// Decides about requests for the review page.
#[derive(Clone)]
pub(super) struct PageHost {
    state: Arc<HttpState>,
    /// The page's own name on loopback.
    own: Arc<str>,
    /// The sign-ins that begin.
    begun: Arc<Rates>,
}

impl PageHost {
    /// The page of this server, with a new name of its own.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(state: Arc<HttpState>) -> Result<Self, getrandom::Error> {
        let mut bits = [0u8; 8];
        getrandom::fill(&mut bits)?;
        let own = format!("{}.localhost", hex::encode(&bits)).into();
        let begun = Arc::default();
        Ok(Self { state, own, begun })
    }

    /// Lets one more sign-in at the issuer begin from a network, unless too many do.
    fn may_begin(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let settings = self.state.settings();
        let from = peer.map(|peer| origin_of(peer, headers, &settings.trusted_proxies));
        let from = from.map_or_else(String::new, |from| network_of(from).to_string());
        let taken = self.begun.take(Instant::now(), &from, BEGUN_OF_ONE);
        taken.map_err(|wait| HttpRefusal::too_many(wait, "too many sign-ins begin; wait a moment"))
    }

    /// True if browsers reach the page on loopback alone.
    fn is_on_loopback_alone(&self, settings: &ServeSettings) -> bool {
        self.state.is_on_loopback()
            && settings.trusted_proxies.is_empty()
            // A certificate is for the name that the browser used.
            && settings.tls.is_none()
            && set_url(&self.state).is_none()
    }

    /// The address of the page for this request, whose host was checked. It is the one that the issuer
    /// knows: on loopback alone that of `localhost`, from which a browser is led to the page's own.
    fn url(&self, headers: &HeaderMap, is_own: bool, is_secure: bool) -> Option<String> {
        if let Some(url) = set_url(&self.state) {
            return Some(url);
        }
        let host = origin::host_of(headers).ok()?;
        if is_own {
            let port = host.port_u16()?;
            return Some(format!("http://localhost:{port}/review"));
        }
        let scheme = if is_secure { "https" } else { "http" };
        Some(format!("{scheme}://{host}/review"))
    }

    /// True if this request came by TLS, as far as that can be known.
    fn is_by_tls(
        &self,
        peer: Option<IpAddr>,
        headers: &HeaderMap,
        settings: &ServeSettings,
    ) -> bool {
        let is_public = || {
            let url = set_url(&self.state);
            url.is_some_and(|url| url.starts_with("https:"))
        };
        // Off loopback, only a proxy that speaks TLS stands between a browser and a server without
        // TLS of its own.
        !self.state.is_on_loopback()
            || settings.tls.is_some()
            || is_public()
            || is_forwarded_by_tls(peer, headers, &settings.trusted_proxies)
    }
}

/// Lets requests for the page through that were sent to a name of it, with the place that it has
/// for them; leads browsers on loopback to its own name.
pub(super) async fn check(
    State(page): State<PageHost>,
    mut request: Request,
    next: Next,
) -> Response {
    let settings = page.state.settings();
    let peer = request.extensions().get::<SocketAddr>().map(SocketAddr::ip);
    let host = origin::host_of(request.headers()).ok();
    let is_on_loopback_alone = page.is_on_loopback_alone(&settings);
    let is_own = host
        .as_ref()
        .is_some_and(|host| is_on_loopback_alone && host.host().eq_ignore_ascii_case(&page.own));
    if !is_own {
        if let Err(refusal) = origin::check_host(&page.state, &request) {
            return refusal.into_response();
        }
        if let Some(host) =
            host.filter(|host| is_on_loopback_alone && origin::is_loopback_name(host))
        {
            return led_to(&page.own, &host, &request);
        }
    }
    if begins_sign_in(&request)
        && let Err(refusal) = page.may_begin(peer, request.headers())
    {
        return refusal.into_response();
    }
    let is_secure = page.is_by_tls(peer, request.headers(), &settings);
    let place = ReviewOrigin {
        host: None,
        is_secure,
        url: page.url(request.headers(), is_own, is_secure),
    };
    request.extensions_mut().insert(place);
    next.run(request).await
}

/// True if a request may begin a sign-in at the issuer. What a browser fetches for another page does not:
/// it is refused later, and counts for nobody.
fn begins_sign_in(request: &Request) -> bool {
    let wanted = request.headers().get("sec-fetch-dest");
    request.uri().path() == AT_ISSUER
        && matches!(*request.method(), Method::GET | Method::HEAD)
        && wanted.is_none_or(|wanted| wanted.as_bytes() == b"document")
}

/// The network of one caller: an address of IPv4, and the /64 of one of IPv6, all of which one machine may have.
fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(own) => Ipv6Addr::from_bits(own.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

/// Leads a browser to the same address under the page's own name, at the port that it came to,
/// which a tunnel may have changed.
fn led_to(own: &str, host: &Authority, request: &Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return HttpRefusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "the review page has a name of its own; open /review first",
        )
        .into_response();
    }
    let port = host
        .port_u16()
        .map_or_else(String::new, |port| format!(":{port}"));
    let path = request
        .uri()
        .path_and_query()
        .map_or("/review", |path| path.as_str());
    let Ok(location) = HeaderValue::try_from(format!("http://{own}{port}{path}")) else {
        return HttpRefusal::bad_request("this is no address").into_response();
    };
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // The address may hold the secret of a sign-in link.
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
    ];
    (StatusCode::TEMPORARY_REDIRECT, headers).into_response()
}

/// The address that the operator set, if they did.
fn set_url(state: &HttpState) -> Option<String> {
    let all = state.sites.all();
    let named = |site: &Arc<Site>| site.app().desk.policy().review.named().map(str::to_owned);
    all.iter().find_map(named)
}

/// Tells all sites where their review page is reached, if this server has it.
pub(super) fn announce_url(state: &HttpState) {
    if state.clients.is_none() {
        return;
    }
    let address = announced_address(state) + "/review";
    for site in state.sites.all().iter() {
        site.app().desk.policy().review.serve_at(&address);
    }
}

/// The address at which others reach this server, as far as the settings say, without a path.
fn announced_address(state: &HttpState) -> String {
    let settings = state.settings();
    let by_name = settings.allowed_hosts.first();
    by_name.map_or_else(|| own_address(state), |host| format!("https://{host}"))
}

/// The address that the store tells to other processes, so that they send delegates there; `None` if it
/// is not told.
pub(super) fn address_for_delegates(state: &HttpState) -> Option<String> {
    let settings = state.settings();
    let is_remote = state.clients.as_ref()?.delegates.store().is_remote();
    let is_named = !settings.allowed_hosts.is_empty();
    // Who needs a key of their own has no delegates.
    let is_told =
        !settings.has_caller_keys && (is_named || is_ours_for_all(state.listening.ip(), is_remote));
    is_told.then(|| announced_address(state))
}

/// True if an address where this server listens is this server's for all who see it in a store. On another
/// machine of a remote store, an address on loopback is somebody else's.
fn is_ours_for_all(listening: IpAddr, is_remote: bool) -> bool {
    let at = listening.to_canonical();
    !is_remote || !(at.is_loopback() || at.is_unspecified())
}

/// The address for the sender of a request: by the name that they used, if the operator listed it.
pub(super) fn url_for(
    state: &HttpState,
    peer: SocketAddr,
    headers: &HeaderMap,
) -> Option<Arc<str>> {
    state.clients.as_ref()?;
    let settings = state.settings();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let listed = host.filter(|host| origin::is_listed(host, &settings.allowed_hosts));
    let Some(host) = listed else {
        return Some((own_address(state) + "/review").into());
    };
    let is_by_tls = is_forwarded_by_tls(Some(peer.ip()), headers, &settings.trusted_proxies);
    let scheme = if is_by_tls {
        "https"
    } else {
        settings.scheme()
    };
    Some(format!("{scheme}://{}/review", host.to_lowercase()).into())
}

/// The address where this server listens, without a path.
pub(super) fn own_address(state: &HttpState) -> String {
    let mut at = state.listening;
    // What listens everywhere is reached from this machine at least.
    if at.ip().is_unspecified() {
        at.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    format!("{}://{at}", state.settings().scheme())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::body::Body;
    use axum::http::Request;

    use super::{AT_ISSUER, begins_sign_in, is_ours_for_all, network_of};

    fn address(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    #[test]
    fn an_address_on_loopback_is_told_to_nobody_on_another_machine() {
        for (listening, is_told) in [
            ("127.0.0.1", false),
            ("127.8.0.1", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("0.0.0.0", false),
            ("::", false),
            ("192.0.2.7", true),
            ("2001:db8::7", true),
        ] {
            assert!(is_ours_for_all(address(listening), false), "{listening}");
            let told = is_ours_for_all(address(listening), true);
            assert_eq!(told, is_told, "{listening}");
        }
    }

    #[test]
    fn the_addresses_of_one_network_count_as_one_caller() {
        let of = |text: &str| network_of(address(text));
        assert_eq!(of("2001:db8:1:2::7"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::7"), of("2001:db8:1:3::7"));
        assert_eq!(of("192.0.2.7"), address("192.0.2.7"));
    }

    #[test]
    fn what_a_page_of_others_has_a_browser_fetch_begins_no_sign_in() {
        let begins = |method: &str, path: &str, wanted: Option<&str>| {
            let mut request = Request::builder().method(method).uri(path);
            if let Some(wanted) = wanted {
                request = request.header("sec-fetch-dest", wanted);
            }
            begins_sign_in(&request.body(Body::empty()).expect("a request"))
        };
        assert!(begins("GET", AT_ISSUER, None));
        assert!(begins("HEAD", AT_ISSUER, None));
        assert!(begins("GET", AT_ISSUER, Some("document")));
        for wanted in ["image", "iframe", "empty", ""] {
            assert!(!begins("GET", AT_ISSUER, Some(wanted)), "{wanted}");
        }
        assert!(!begins("POST", AT_ISSUER, None));
        assert!(!begins("GET", "/review", None));
    }
}
