//! Tells clients where to get tokens: the metadata of a protected resource (RFC 9728), and the
//! challenge on a refusal that a token would mend.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use url::Url;

use super::address::is_forwarded_by_tls;
use super::origin;
use super::page_host::own_address;
use super::refusal::{Challenge, HttpRefusal, respond};
use super::state::HttpState;
use crate::oauth::OauthSettings;
use crate::site::SiteName;

/// The place of the metadata; that of a resource has the resource's path below it.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Answers with the metadata of the resource whose path stands below its own. It says nothing
/// about which sites there are, and any page of a browser may read it.
pub(super) async fn metadata(
    State(state): State<Arc<HttpState>>,
    site: Option<Path<String>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response {
    let found = (|| {
        origin::check_host(&state, &request)?;
        let nothing = HttpRefusal::not_found("nobody signs in to this server");
        let oauth = state.settings().oauth.clone().ok_or(nothing)?;
        let path = match site.as_ref().map(|Path(site)| site.parse::<SiteName>()) {
            None => "/mcp".to_owned(),
            Some(Ok(site)) => format!("/mcp/{site}"),
            Some(Err(_)) => return Err(HttpRefusal::not_found("this is no site's name")),
        };
        if request.method() == Method::OPTIONS {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let metadata = json!({
            "resource": format!("{}{path}", base(&state, &oauth, peer, request.headers())),
            "authorization_servers": [oauth.issuer],
            "scopes_supported": scopes(&oauth),
            "bearer_methods_supported": ["header"],
            "resource_name": "wikijs-gate",
        });
        let kind = "application/json";
        Ok(respond(StatusCode::OK, kind, metadata.to_string()))
    })();
    let mut response = found.unwrap_or_else(HttpRefusal::into_response);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "mcp-protocol-version"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The layer `challenge`: says with a refusal which token would be taken, and where to get it.
pub(super) async fn challenge(
    State(state): State<Arc<HttpState>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let Some(oauth) = state.settings().oauth.clone() else {
        return next.run(request).await;
    };
    let metadata = base(&state, &oauth, peer, request.headers()) + METADATA + request.uri().path();
    let mut response = next.run(request).await;
    let refusal = response.extensions().get::<HttpRefusal>();
    let value = refusal.and_then(|refusal| {
        let error = match refusal.challenge {
            Challenge::None => return None,
            Challenge::NoToken => String::new(),
            Challenge::InvalidToken => described("invalid_token", refusal.message),
            Challenge::Scope { .. } => described("insufficient_scope", refusal.message),
        };
        let scopes = match refusal.challenge {
            // Whoever may only read need not ask for more.
            Challenge::Scope { write: false } => vec![&*oauth.scopes.read],
            _ => scopes(&oauth),
        };
        let scopes = match scopes.join(" ") {
            scopes if scopes.is_empty() => scopes,
            scopes => format!(", scope=\"{scopes}\""),
        };
        let value = format!("Bearer {error}resource_metadata=\"{metadata}\"{scopes}");
        value.parse::<HeaderValue>().ok()
    });
    if let Some(value) = value {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// An error of RFC 6750, with as much of a message as its description may hold.
fn described(error: &str, message: &str) -> String {
    let is_plain = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
    let message: String = message.chars().filter(is_plain).collect();
    format!("error=\"{error}\", error_description=\"{message}\", ")
}

/// The scopes that are asked for.
fn scopes(oauth: &OauthSettings) -> Vec<&str> {
    let both = [&*oauth.scopes.read, &*oauth.scopes.write];
    both.into_iter().filter(|scope| !scope.is_empty()).collect()
}

/// The address of this server for the sender of a request, without a path. Of the request, only a
/// name that the operator listed counts, or one of this machine.
fn base(state: &HttpState, oauth: &OauthSettings, peer: SocketAddr, headers: &HeaderMap) -> String {
    let Ok(host) = origin::host_of(headers) else {
        return own_address(state);
    };
    // Where an audience is an address of this name, it is how callers come, whatever stands between.
    let of_host = |audience: &String| {
        let url = Url::parse(audience).ok()?;
        let is_it = matches!(url.scheme(), "http" | "https")
            && url
                .host_str()
                .is_some_and(|own| own.eq_ignore_ascii_case(host.host()));
        is_it.then(|| url.origin().ascii_serialization())
    };
    let settings = state.settings();
    if origin::is_listed(host.as_str(), &settings.allowed_hosts) {
        let is_by_tls = !state.is_on_loopback()
            || settings.tls.is_some()
            || is_forwarded_by_tls(Some(peer.ip()), headers, &settings.trusted_proxies);
        let scheme = if is_by_tls { "https" } else { "http" };
        let declared = oauth.audiences.iter().find_map(of_host);
        return declared.unwrap_or_else(|| format!("{scheme}://{}", host.as_str().to_lowercase()));
    }
    // A tunnel may have changed the port.
    if state.is_on_loopback() && origin::is_loopback_name(&host) && !host.as_str().contains('@') {
        let scheme = settings.scheme();
        return format!("{scheme}://{}", host.as_str().to_lowercase());
    }
    own_address(state)
}
