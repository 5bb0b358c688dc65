//! Builds responses with headers that keep a browser from loading or telling anything.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use hyper::body::{Frame as BodyFrame, SizeHint};
use maud::Markup;

use super::markup::{self, Frame};
use crate::render_budget::{self, BudgetPermit};
use crate::site::SiteName;

/// Nothing is loaded from elsewhere, nothing is sent elsewhere, nothing frames the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The most bytes of a body that are handed out at once.
const MOST_OF_PIECE: usize = 64 * 1024;

const TEXT: &str = "text/plain; charset=utf-8";

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("assets/review.css");

/// An answer that is under way.
pub(super) type BrowserResponse = Response<Body>;

/// An answer; an error is one that ends the handling early.
pub(super) type BrowserResult = Result<BrowserResponse, BrowserResponse>;

/// A page.
pub(super) fn page(status: StatusCode, markup: Markup) -> BrowserResponse {
    whole(status, "text/html; charset=utf-8", markup.into_string())
}

/// A text to read or to save, or for the page's own script.
pub(super) fn plain(text: impl Into<Bytes>) -> BrowserResponse {
    whole(StatusCode::OK, TEXT, text)
}

/// An image that a change uploads.
pub(super) fn picture(mime: &'static str, bytes: Vec<u8>) -> BrowserResponse {
    whole(StatusCode::OK, mime, bytes)
}

tokio::task_local! {
    /// The site that the address of a request names.
    static NAMED: Option<SiteName>;
}

/// Answers a request whose address names this site. Pages that say what is wrong lead back to the site.
pub(super) async fn at_site<T>(site: Option<SiteName>, answer: impl Future<Output = T>) -> T {
    NAMED.scope(site, answer).await
}

/// A page that says what is wrong and what to do.
pub(super) fn trouble(status: StatusCode, title: &str, what: &str, then: &str) -> BrowserResponse {
    let frame = Frame {
        site: NAMED.try_with(Clone::clone).ok().flatten(),
        ..Frame::default()
    };
    page(status, markup::trouble(title, &frame, what, then))
}

/// Says that there is nothing at an address.
pub(super) fn nothing_here(what: &str) -> BrowserResponse {
    trouble(StatusCode::NOT_FOUND, "There is nothing here", what, "")
}

/// A file that belongs to all pages, compiled in.
pub(super) fn asset(name: &str) -> BrowserResult {
    let (kind, text) = match name {
        "review.css" => ("text/css; charset=utf-8", STYLE),
        "icon.svg" => ("image/svg+xml", include_str!("assets/icon.svg")),
        "review.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/review.js"),
        ),
        _ => return Err(nothing_here("There is no such file.")),
    };
    let mut reply = whole(StatusCode::OK, kind, text);
    set(&mut reply, header::CACHE_CONTROL, "private, max-age=60");
    Ok(reply)
}

/// The browser goes on to another page of ours, by GET.
pub(super) fn see_other(place: &str) -> BrowserResponse {
    let mut reply = whole(StatusCode::SEE_OTHER, TEXT, "");
    set(&mut reply, header::LOCATION, place);
    reply
}

/// The response if the content has not changed since it was shown.
pub(super) fn not_modified(tag: &str) -> BrowserResponse {
    let mut reply = whole(StatusCode::NOT_MODIFIED, TEXT, "");
    set(&mut reply, header::ETAG, tag);
    reply
}

/// Sets a header; a text that can be none is left out.
pub(super) fn set(reply: &mut BrowserResponse, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}

/// A body that keeps its room in memory until it is sent.
struct BudgetedBody {
    rest: Bytes,
    _room: BudgetPermit,
}

impl HttpBody for BudgetedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        // In pieces: what is asked for is sent soon.
        let piece = self.rest.len().min(MOST_OF_PIECE);
        Poll::Ready(Some(Ok(BodyFrame::data(self.rest.split_to(piece)))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.rest.len()).unwrap_or(u64::MAX))
    }
}

fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> BrowserResponse {
    let rest = body.into();
    let body = match render_budget::keep_for_answer(rest.len()) {
        Some(room) => Body::new(BudgetedBody { rest, _room: room }),
        None => Body::from(rest),
    };
    let headers = [
        ("content-type", kind),
        ("cache-control", "no-store"),
        ("content-security-policy", POLICY),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
    ];
    (status, headers, body).into_response()
}
