//! Leads people to their issuer to sign in, and takes them when they come back.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::form::FormFields;
use super::reply::{BrowserResponse, BrowserResult, page, see_other, trouble};
use super::sign_in::{self, SignInTarget};
use super::visitor::{Reviews, cookie};
use super::{IssuerAnswer, IssuerDoor, IssuerRefusal, ReviewOrigin};

/// `GET /review/sign-in/issuer`
pub(super) async fn begin(State(reviews): State<Arc<Reviews>>, request: Request) -> BrowserResult {
    let (issuer, url) = way(&reviews, &request)?;
    let query = FormFields::of_query(request.uri().query());
    let begun = issuer.begin(url, query.text("then")).await;
    let begun = begun.map_err(|refusal| refused(&refusal))?;
    let is_secure = reviews.place.is_secure_for(request.extensions());
    let mut reply = see_other(&begun.location);
    add_cookie(&mut reply, &sign_in::begun(&begun.cookie, is_secure));
    Ok(reply)
}

/// `GET /review/signed-in`
pub(super) async fn finish(State(reviews): State<Arc<Reviews>>, request: Request) -> BrowserResult {
    let (issuer, url) = way(&reviews, &request)?;
    let query = FormFields::of_query(request.uri().query());
    let is_secure = reviews.place.is_secure_for(request.extensions());
    let own = sign_in::begun_name(is_secure);
    let named = query.text("iss");
    let answer = IssuerAnswer {
        page: url,
        cookie: cookie(request.headers(), own).unwrap_or_default(),
        state: query.text("state"),
        code: query.text("code"),
        issuer: (!named.is_empty()).then_some(named),
        error: query.text("error"),
    };
    let over = sign_in::begun("", is_secure);
    let done = match issuer.finish(answer).await {
        Ok(done) => done,
        Err(refusal) => {
            let mut reply = refused(&refusal);
            add_cookie(&mut reply, &over);
            return Ok(reply);
        }
    };
    tracing::info!(reviewer = %done.name, "signed in to the review page at the issuer");
    let then = SignInTarget::read(&done.then).address();
    let mut reply = page(StatusCode::OK, sign_in::signed_in(&done.name, &then));
    add_cookie(&mut reply, &over);
    add_cookie(&mut reply, &sign_in::cookie(&done.cookie, is_secure));
    Ok(reply)
}

/// The issuer, and the address of this page; whoever puts the sign-in into a frame is refused.
fn way<'a>(
    reviews: &'a Reviews,
    request: &'a Request,
) -> Result<(&'a dyn IssuerDoor, &'a str), BrowserResponse> {
    if is_framed(request.headers()) {
        let what = "Somebody shows the sign-in inside another page.";
        let then = "Open the review page in a tab of its own.";
        return Err(trouble(StatusCode::FORBIDDEN, "Not in a frame", what, then));
    }
    let issuer = reviews.doors.issuer();
    let url = ReviewOrigin::url_for(request.extensions());
    issuer.zip(url).ok_or_else(|| {
        let what = "People sign in here by a link that the operator makes.";
        trouble(StatusCode::NOT_FOUND, "There is no issuer", what, "")
    })
}

/// True if a browser asks for something else than a page of a tab.
fn is_framed(headers: &HeaderMap) -> bool {
    let destination = headers.get("sec-fetch-dest");
    destination.is_some_and(|destination| destination.as_bytes() != b"document")
}

fn refused(refusal: &IssuerRefusal) -> BrowserResponse {
    let status = if refusal.is_away {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::FORBIDDEN
    };
    let then = "Open the review page and sign in again.";
    trouble(status, "You are not signed in", &refusal.why, then)
}

fn add_cookie(reply: &mut BrowserResponse, cookie: &str) {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        reply.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
