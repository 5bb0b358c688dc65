//! The layers `host` and `origin`: no page of another site may call this server through a browser,
//! not even one whose name resolves to it (DNS rebinding).

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::refusal::HttpRefusal;
use super::state::HttpState;

/// The headers of the protocol that a browser may send.
const SENT: &str = "authorization, content-type, last-event-id, mcp-method, mcp-name, \
    mcp-protocol-version, mcp-session-id, x-wiki-api-token";
/// Our headers that it may read.
const READ: &str = "mcp-session-id, retry-after, www-authenticate";

const WRONG_HOST: HttpRefusal =
    HttpRefusal::forbidden("Host is not one of this server's names; see WIKI_SERVE_ALLOWED_HOSTS");

/// The layer `host`: lets requests through that were sent to a name of this server.
pub(super) fn host(state: &HttpState, request: Request) -> Result<Request, HttpRefusal> {
    check_host(state, &request).map(|()| request)
}

/// The layer `origin`: lets listed pages of browsers through and read the answer, whatever it is, and
/// answers their preflight requests; requests of no browser pass.
pub(super) async fn origin(
    State(state): State<Arc<HttpState>>,
    request: Request,
    next: Next,
) -> Result<Response, HttpRefusal> {
    let Some(origin) = check_origin(&state, request.headers())? else {
        return Ok(next.run(request).await);
    };
    let mut response = if request.method() == Method::OPTIONS {
        preflight()
    } else {
        next.run(request).await
    };
    let_read(&mut response, origin);
    Ok(response)
}

/// Checks `Host` and `Origin`, for routes without these layers.
pub(super) fn check_source(state: &HttpState, request: &Request) -> Result<(), HttpRefusal> {
    check_host(state, request)?;
    check_origin(state, request.headers()).map(drop)
}

/// Checks that the request was sent to a name of this server: a loopback name, its listening
/// address, or a listed name, with the listed port if there is one.
pub(super) fn check_host(state: &HttpState, request: &Request) -> Result<(), HttpRefusal> {
    let host = host_of(request.headers())?;
    let (listening, settings) = (state.listening.ip(), state.settings());
    let is_ours = |host: &Authority| {
        is_loopback_name(host)
            || name(host).parse() == Ok(listening)
            || holds(&settings.allowed_hosts, host)
    };
    // An absolute address in the request line counts like the header.
    let target = request.uri().authority();
    if host.as_str().contains('@') || !is_ours(&host) || !target.is_none_or(is_ours) {
        return Err(WRONG_HOST);
    }
    Ok(())
}

/// The one `Host` of a request.
pub(super) fn host_of(headers: &HeaderMap) -> Result<Authority, HttpRefusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(HttpRefusal::bad_request("a request needs one Host header"));
    };
    let host = host.to_str().ok().and_then(|host| host.parse().ok());
    host.ok_or(WRONG_HOST)
}

/// True if a name means this machine, whoever says it.
pub(super) fn is_loopback_name(host: &Authority) -> bool {
    let address = name(host).parse::<IpAddr>();
    name(host).eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

/// True if a `Host` is a listed name, with the listed port if there is one.
pub(super) fn is_listed(host: &str, listed: &[String]) -> bool {
    let host = host.parse::<Authority>();
    host.is_ok_and(|host| !host.as_str().contains('@') && holds(listed, &host))
}

fn name(host: &Authority) -> &str {
    host.host().trim_matches(['[', ']'])
}

fn holds(listed: &[String], host: &Authority) -> bool {
    let name = name(host);
    listed.iter().any(|listed| {
        listed.trim_matches(['[', ']']).eq_ignore_ascii_case(name)
            || listed.eq_ignore_ascii_case(host.as_str())
    })
}

/// The origin of a browser's page, if there is one; it must be listed.
pub(super) fn check_origin(
    state: &HttpState,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, HttpRefusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else {
        return Ok(None);
    };
    let settings = state.settings();
    let mut listed = settings.allowed_origins.iter();
    let is_listed = listed.any(|listed| origin == listed.as_str());
    if is_listed && origins.next().is_none() {
        return Ok(Some(origin.clone()));
    }
    Err(HttpRefusal::forbidden(
        "Origin is not listed; see WIKI_SERVE_ALLOWED_ORIGINS",
    ))
}

/// The answer to a browser's preflight request.
fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets a page of a listed origin read the answer.
fn let_read(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(READ),
    );
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
