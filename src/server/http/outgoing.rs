//! Outgoing answers: what they hold while they are sent, and when they end.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use time::OffsetDateTime;

/// A response that holds a place until it has gone out.
pub(super) fn holding(place: impl Send + Sync + 'static, response: Response) -> Response {
    response.map(|body| {
        let parts = body.into_data_stream();
        Body::from_stream(parts.inspect(move |_| {
            let _held = &place;
        }))
    })
}

/// A stream that ends when something is not so any more, which is looked at every second.
pub(super) fn while_so(is_so: impl Fn() -> bool + Send + 'static, response: Response) -> Response {
    let ended = async move {
        while is_so() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    ending(ended, response)
}

/// A stream that ends with its client, as every call does.
pub(super) fn until(end: Option<OffsetDateTime>, response: Response) -> Response {
    let Some(end) = end else {
        return response;
    };
    let left = Duration::try_from(end - OffsetDateTime::now_utc()).unwrap_or_default();
    ending(tokio::time::sleep(left), response)
}

fn ending(end: impl Future<Output = ()> + Send + 'static, response: Response) -> Response {
    response.map(|body| {
        let parts = body.into_data_stream();
        Body::from_stream(parts.take_until(Box::pin(end)))
    })
}
