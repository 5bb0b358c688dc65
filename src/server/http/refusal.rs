//! Refusals of requests before they reach the protocol, and the layer that counts them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::state::HttpState;

/// A refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HttpRefusal {
    pub(super) status: StatusCode,
    pub(super) message: &'static str,
    /// The code of the protocol's error.
    pub(super) code: i32,
    pub(super) wait: Option<Duration>,
    pub(super) challenge: Challenge,
}

/// The kind of token that would mend a refusal, for `WWW-Authenticate` where people sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenge {
    /// None would.
    None,
    /// No token came.
    NoToken,
    /// Another token is needed.
    InvalidToken,
    /// A token with more scopes is needed; `write` if with the one for writes, too.
    Scope {
        /// True for the scope of writes.
        write: bool,
    },
}

impl HttpRefusal {
    /// The server failed.
    pub(super) const BROKE_OFF: Self =
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the call broke off");

    pub(super) const fn new(status: StatusCode, message: &'static str) -> Self {
        Self {
            status,
            message,
            code: -32000,
            wait: None,
            challenge: Challenge::None,
        }
    }

    pub(super) const fn bad_request(message: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) const fn forbidden(message: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// No token came, or another one is needed.
    pub(super) const fn unauthorized(challenge: Challenge, message: &'static str) -> Self {
        Self {
            challenge,
            ..Self::new(StatusCode::UNAUTHORIZED, message)
        }
    }

    /// Too much came of one caller; worth trying again after this time.
    pub(super) const fn too_many(wait: Duration, message: &'static str) -> Self {
        Self {
            wait: Some(wait),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, message)
        }
    }

    pub(super) const fn not_found(message: &'static str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// A token lacks scopes: that for reading, and for writing if the grant allows writes.
    pub(super) const fn lacking_scope(write: bool) -> Self {
        Self {
            challenge: Challenge::Scope { write },
            ..Self::forbidden(
                "the token lacks a scope for this; scope in WWW-Authenticate names all that are needed",
            )
        }
    }

    /// The server is busy; worth trying again soon.
    pub(super) const fn busy(message: &'static str) -> Self {
        Self {
            wait: Some(Duration::from_secs(1)),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
        }
    }
}

impl IntoResponse for HttpRefusal {
    /// A protocol error without an id, since no request of the protocol was read.
    fn into_response(self) -> Response {
        let error = json!({
            "jsonrpc": "2.0",
            "error": { "code": self.code, "message": self.message },
        });
        let mut response = respond(self.status, "application/json", error.to_string());
        let mut set = |name: HeaderName, value: String| {
            if let Ok(value) = value.parse() {
                response.headers_mut().insert(name, value);
            }
        };
        if self.status == StatusCode::UNAUTHORIZED {
            set(header::WWW_AUTHENTICATE, "Bearer".to_owned());
        }
        if let Some(wait) = self.wait {
            // Whole seconds, rounded up, so that a request at that time is admitted.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            set(header::RETRY_AFTER, seconds.max(1).to_string());
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// The layer `count`: counts and logs what the layers below it refuse.
pub(super) async fn count(
    State(state): State<Arc<HttpState>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    if let Some(refusal) = response.extensions().get::<HttpRefusal>() {
        let status = refusal.status.as_u16();
        if let Some(first) = state.sites.all().first() {
            first.app().metrics.turned_away(status);
        }
        tracing::debug!(status, %peer, "a request was refused");
    }
    response
}

/// A complete answer, not to be cached.
pub(super) fn respond(status: StatusCode, kind: &'static str, body: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body).into_response()
}
