//! Builds responses with headers that keep a browser from loading or telling anything.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use hyper::body::{Frame, SizeHint};
use maud::Markup;

use crate::render_budget::{self, BudgetPermit};

/// Nothing is loaded from elsewhere, nothing is sent elsewhere, nothing frames the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The most bytes of a body that are handed out at once.
const MOST_OF_PIECE: usize = 64 * 1024;

/// An answer that is under way.
pub(super) type BrowserResponse = Response<Body>;

/// A page.
pub(super) fn page(status: StatusCode, markup: Markup) -> BrowserResponse {
    whole(status, "text/html; charset=utf-8", markup.into_string())
}

/// A word for the page's own script.
pub(super) fn text(word: &'static str) -> BrowserResponse {
    whole(StatusCode::OK, "text/plain; charset=utf-8", word.to_owned())
}

/// A text to read or to save.
pub(super) fn plain(text: String) -> BrowserResponse {
    whole(StatusCode::OK, "text/plain; charset=utf-8", text)
}

/// An image that a change uploads.
pub(super) fn picture(mime: &'static str, bytes: Vec<u8>) -> BrowserResponse {
    whole(StatusCode::OK, mime, bytes)
}

/// An answer, whichever way it came about; what it compares has room until then.
pub(super) async fn answer(
    work: impl Future<Output = Result<BrowserResponse, BrowserResponse>>,
) -> BrowserResponse {
    // A handler's future is large where a write is made in it.
    let answered = render_budget::within(work).await;
    answered.unwrap_or_else(|reply| reply)
}

/// A file that belongs to all pages.
pub(super) fn asset(kind: &'static str, text: &'static str) -> BrowserResponse {
    let mut reply = whole(StatusCode::OK, kind, text.to_owned());
    set(&mut reply, header::CACHE_CONTROL, "private, max-age=60");
    reply
}

/// The browser goes on to another page of ours, by GET.
pub(super) fn see_other(place: &str) -> BrowserResponse {
    let mut reply = whole(
        StatusCode::SEE_OTHER,
        "text/plain; charset=utf-8",
        String::new(),
    );
    set(&mut reply, header::LOCATION, place);
    reply
}

/// The response if the content has not changed since it was shown.
pub(super) fn not_modified(tag: &str) -> BrowserResponse {
    let mut reply = whole(
        StatusCode::NOT_MODIFIED,
        "text/plain; charset=utf-8",
        String::new(),
    );
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
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        // In pieces: what is asked for is sent soon.
        let piece = self.rest.len().min(MOST_OF_PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
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
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        set(&mut reply, name, value);
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
    ] {
        set(&mut reply, HeaderName::from_static(name), value);
    }
    reply
}
