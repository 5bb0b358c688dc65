//! Decides by which name browsers reach the review page, and whether by TLS.
//!
//! Browsers keep cookies by name and not by port: any other server on `localhost` could read the
//! cookie of a page there, or replace it. Where the page is reached on loopback alone, it therefore
//! has a name of its own below `localhost`, made anew at each start.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;

use super::address::is_forwarded_by_tls;
use super::guard::Guard;
use super::refusal::HttpRefusal;
use crate::config::ServeSettings;
use crate::hex;
use crate::review::ReviewOrigin;

/// Decides about requests for the review page.
#[derive(Clone)]
pub(super) struct PageHost {
    guard: Arc<Guard>,
    /// The page's own name on loopback.
    own: Arc<str>,
}

impl PageHost {
    /// A page behind this guard, with a new name of its own.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(guard: Arc<Guard>) -> Result<Self, getrandom::Error> {
        let mut bits = [0u8; 8];
        getrandom::fill(&mut bits)?;
        let own = format!("{}.localhost", hex::encode(&bits)).into();
        Ok(Self { guard, own })
    }

    /// True if browsers reach the page on loopback alone.
    fn is_on_loopback_alone(&self, settings: &ServeSettings) -> bool {
        self.guard.is_on_loopback()
            && settings.trusted_proxies.is_empty()
            && self.guard.review_url().is_none()
    }

    /// True if this request came by TLS, as far as that can be known.
    fn is_by_tls(
        &self,
        peer: Option<IpAddr>,
        headers: &HeaderMap,
        settings: &ServeSettings,
    ) -> bool {
        let is_public = || {
            let url = self.guard.review_url();
            url.is_some_and(|url| url.starts_with("https:"))
        };
        // Off loopback, only a proxy that speaks TLS stands between a browser and this server.
        !self.guard.is_on_loopback()
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
) -> Response<Body> {
    let settings = page.guard.settings();
    let peer = request.extensions().get::<SocketAddr>().map(SocketAddr::ip);
    let host = host_of(request.headers());
    let is_on_loopback_alone = page.is_on_loopback_alone(&settings);
    let is_own = host
        .as_ref()
        .is_some_and(|host| is_on_loopback_alone && host.host().eq_ignore_ascii_case(&page.own));
    if !is_own {
        if let Err(refusal) = page.guard.check_host(&request) {
            return refusal.into_response();
        }
        if let Some(host) = host.filter(|host| is_on_loopback_alone && is_loopback_name(host)) {
            return led_to(&page.own, &host, &request);
        }
    }
    let is_secure = page.is_by_tls(peer, request.headers(), &settings);
    let place = ReviewOrigin {
        host: None,
        is_secure,
    };
    request.extensions_mut().insert(place);
    next.run(request).await
}

fn host_of(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return None;
    };
    host.to_str().ok()?.parse().ok()
}

/// True if a name means this machine, whoever says it.
fn is_loopback_name(host: &Authority) -> bool {
    let name = host.host().trim_matches(['[', ']']);
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Leads a browser to the same address under the page's own name, at the port that it came to,
/// which a tunnel may have changed.
fn led_to(own: &str, host: &Authority, request: &Request) -> Response<Body> {
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
    let mut response = Response::new(Body::empty());
    let Ok(location) = HeaderValue::try_from(format!("http://{own}{port}{path}")) else {
        return HttpRefusal::new(StatusCode::BAD_REQUEST, "this is no address").into_response();
    };
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The address may hold the secret of a sign-in link.
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    response
}

#[cfg(test)]
mod tests {
    use super::is_loopback_name;

    #[test]
    fn names_of_this_machine_are_known() {
        for (name, expected) in [
            ("localhost:8765", true),
            ("LOCALHOST", true),
            ("127.0.0.1:8765", true),
            ("[::1]:8765", true),
            ("x.localhost:8765", false),
            ("wiki.example.com", false),
            ("10.0.0.1", false),
        ] {
            let host = name.parse().expect(name);
            assert_eq!(is_loopback_name(&host), expected, "{name}");
        }
    }
}
