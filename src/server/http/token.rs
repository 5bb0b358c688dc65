//! Authenticates a named client by its bearer token.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};

use super::super::clients::client_record::{ClientRecord, Unwelcome};
use super::refusal::{Challenge, HttpRefusal};
use super::state::HttpState;
use crate::oauth::TokenFault;
use crate::review::LINK_PREFIX;

/// The client whose token a request carries: a named client, a delegate or a person who signed in;
/// `None` if no names are needed.
pub(super) async fn authenticate(
    state: &HttpState,
    headers: &HeaderMap,
) -> Result<Option<Arc<ClientRecord>>, HttpRefusal> {
    let Some(clients) = &state.clients else {
        return Ok(None);
    };
    let token = bearer(headers);
    let oauth = state.oauth();
    if let Some((issuer, settings)) = &oauth
        && is_signed(&token)
    {
        let claims = issuer.verify_access(&token, settings).await;
        let claims = claims.map_err(of_token)?;
        let admitted = clients.admit(claims, || state.settings().oauth.clone());
        // Another token does not help a person without a grant.
        let admitted = admitted.map_err(|why| HttpRefusal::forbidden(why.message()));
        return admitted.map(Some);
    }
    let message = if token.starts_with(LINK_PREFIX) {
        "this is the secret of a sign-in link, which opens the review page in a browser and nothing here"
    } else {
        match clients.authenticate(&token).await {
            Ok(client) => return Ok(Some(client)),
            Err(why @ Unwelcome::StoreAway) => return Err(HttpRefusal::busy(why.message())),
            Err(Unwelcome::Unknown) if oauth.is_some() => {
                "a token is needed, as Authorization: Bearer: of the issuer that WWW-Authenticate leads to, or of a client, wjs_…; this one is missing or unknown"
            }
            Err(why) => why.message(),
        }
    };
    let challenge = if token.is_empty() {
        Challenge::NoToken
    } else {
        Challenge::InvalidToken
    };
    Err(HttpRefusal::unauthorized(challenge, message))
}

/// True if a text has the form of a signed token, which no client's own has.
fn is_signed(token: &str) -> bool {
    token.split('.').count() == 3
}

/// The refusal of a token that does not count.
fn of_token(fault: TokenFault) -> HttpRefusal {
    // Another token would not help.
    if fault == TokenFault::IssuerAway {
        return HttpRefusal::busy(fault.message());
    }
    HttpRefusal::unauthorized(Challenge::InvalidToken, fault.message())
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
