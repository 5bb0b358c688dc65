//! Authenticates a named client by its bearer token.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::super::clients::client_record::{ClientRecord, Unwelcome};
use super::super::clients::secret::LINK_PREFIX;
use super::refusal::HttpRefusal;
use super::state::HttpState;

/// The named client whose token a request carries; `None` if no names are needed.
pub(super) async fn authenticate(
    state: &HttpState,
    headers: &HeaderMap,
) -> Result<Option<Arc<ClientRecord>>, HttpRefusal> {
    let Some(clients) = &state.clients else {
        return Ok(None);
    };
    let token = bearer(headers);
    let message = if token.starts_with(LINK_PREFIX) {
        "this is the secret of a sign-in link, which opens the review page in a browser and nothing here"
    } else {
        match clients.authenticate(&token).await {
            Ok(client) => return Ok(Some(client)),
            Err(Unwelcome::Ended) => {
                "this client's token has ended; its operator makes another with `wikijs-gate token rotate`"
            }
            Err(Unwelcome::DelegateEnded) => {
                "this delegate has ended, or its maker may not call any more; only its maker makes another"
            }
            Err(Unwelcome::Unknown) => {
                "a client's token is needed, as Authorization: Bearer wjs_…; this one is missing or unknown"
            }
        }
    };
    Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, message))
}

/// The token that a request carries; empty if there is none.
pub(super) fn bearer(headers: &HeaderMap) -> String {
    let token = |value: &HeaderValue| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| token.trim().to_owned())
    };
    let token = headers.get(header::AUTHORIZATION).and_then(token);
    token.unwrap_or_default()
}
