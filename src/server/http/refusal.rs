//! Refusals of requests before they reach the protocol.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, Response, StatusCode, header};
use serde_json::json;

/// A refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HttpRefusal {
    pub(super) status: StatusCode,
    pub(super) message: &'static str,
    pub(super) wait: Option<Duration>,
}

impl HttpRefusal {
    pub(super) const fn new(status: StatusCode, message: &'static str) -> Self {
        Self {
            status,
            message,
            wait: None,
        }
    }

    /// The server is busy; worth trying again soon.
    pub(super) const fn busy(message: &'static str) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            message,
            wait: Some(Duration::from_secs(1)),
        }
    }

    /// The answer: a protocol error without an id, since no request of the protocol was read.
    pub(super) fn into_response(self) -> Response<Body> {
        let error = json!({
            "jsonrpc": "2.0",
            "error": { "code": -32000, "message": self.message },
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
        response
    }
}

/// A complete answer, not to be cached.
pub(super) fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    response
}
