//! `Host` and `Origin`: no page of another site may call this server through a browser, not even
//! one whose name resolves to it (DNS rebinding).

use std::net::IpAddr;

use axum::body::Body;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};

use super::refusal::HttpRefusal;

/// The headers of the protocol that a browser may send.
const SENT: &str = "authorization, content-type, last-event-id, mcp-method, mcp-name, \
    mcp-protocol-version, mcp-session-id, x-wiki-api-token";
/// Our headers that it may read.
const READ: &str = "mcp-session-id, retry-after, www-authenticate";

/// Checks that the request was sent to a name of this server: a loopback name, its listening
/// address, or a listed name, with the listed port if there is one.
pub(super) fn check_host<B>(
    request: &Request<B>,
    listening: IpAddr,
    listed: &[String],
) -> Result<(), HttpRefusal> {
    const WRONG: HttpRefusal = HttpRefusal::new(
        StatusCode::FORBIDDEN,
        "Host is not one of this server's names; see WIKI_SERVE_ALLOWED_HOSTS",
    );
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(HttpRefusal::new(
            StatusCode::BAD_REQUEST,
            "a request needs one Host header",
        ));
    };
    let host: Authority = host
        .to_str()
        .ok()
        .and_then(|host| host.parse().ok())
        .ok_or(WRONG)?;
    let is_ours = |host: &Authority| {
        let name = host.host().trim_matches(['[', ']']).to_lowercase();
        let address = name.parse::<IpAddr>().ok();
        name == "localhost"
            || address.is_some_and(|address| address.is_loopback() || address == listening)
            || holds(listed, host)
    };
    // An absolute address in the request line counts like the header.
    let target = request.uri().authority();
    if host.as_str().contains('@') || !is_ours(&host) || !target.is_none_or(is_ours) {
        return Err(WRONG);
    }
    Ok(())
}

/// True if a `Host` is a listed name, with the listed port if there is one.
pub(super) fn is_listed(host: &str, listed: &[String]) -> bool {
    let host = host.parse::<Authority>();
    host.is_ok_and(|host| !host.as_str().contains('@') && holds(listed, &host))
}

fn holds(listed: &[String], host: &Authority) -> bool {
    let name = host.host().trim_matches(['[', ']']);
    listed.iter().any(|listed| {
        listed.trim_matches(['[', ']']).eq_ignore_ascii_case(name)
            || listed.eq_ignore_ascii_case(host.as_str())
    })
}

/// The origin of a browser's page, if there is one; it must be listed.
pub(super) fn check_origin(
    headers: &HeaderMap,
    listed: &[String],
) -> Result<Option<HeaderValue>, HttpRefusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else {
        return Ok(None);
    };
    let is_listed = listed.iter().any(|listed| origin == listed.as_str());
    if is_listed && origins.next().is_none() {
        return Ok(Some(origin.clone()));
    }
    Err(HttpRefusal::new(
        StatusCode::FORBIDDEN,
        "Origin is not listed; see WIKI_SERVE_ALLOWED_ORIGINS",
    ))
}

/// The answer to a browser's preflight request.
pub(super) fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Lets a page of a listed origin read the answer.
pub(super) fn let_read(response: &mut Response<Body>, origin: Option<HeaderValue>) {
    let Some(origin) = origin else { return };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(READ),
    );
}
