//! The layers `length` and `body`: read the body of a call, bounded, and without the arguments if it
//! is large.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use futures_util::StreamExt as _;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId};
use serde_json::error::Category;

use super::super::quota::MessageQuota;
use super::super::stdio::large_message::{MOST_BESIDE, Payload, Scan};
use super::caller::HttpCaller;
use super::limits::HttpLimits;
use super::refusal::HttpRefusal;
use super::scope;
use super::shared_answers::Reply;

const TOO_LARGE: HttpRefusal =
    HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");

/// The bounds of bodies.
pub(super) struct BodyLimits {
    most: usize,
    time: Duration,
    /// Room for large bodies.
    room: MessageQuota,
}

/// The parts of a message that decide its way. All are empty if it is no request.
#[derive(Clone, Default)]
pub(super) struct Message {
    pub(super) method: String,
    /// The id of the request.
    pub(super) id: Option<RequestId>,
    /// The name of the tool that it calls.
    pub(super) tool: String,
    /// The answer to a request of a server, if it is one.
    pub(super) reply: Option<Reply>,
}

impl Message {
    /// Reads a message as rmcp does after it, so that both understand the same: a message with a member
    /// twice, or an id in another form, passes no guard that rmcp's reading would have to pass.
    fn read(body: &[u8]) -> Result<Self, HttpRefusal> {
        let read = serde_json::from_slice(body).map_err(|error| {
            let (code, message) = match error.classify() {
                Category::Data => (
                    ErrorCode::INVALID_REQUEST,
                    "the body is no JSON-RPC message",
                ),
                _ => (ErrorCode::PARSE_ERROR, "the body is no JSON"),
            };
            HttpRefusal {
                code: code.0,
                ..HttpRefusal::bad_request(message)
            }
        })?;
        let read = match read {
            ClientJsonRpcMessage::Request(read) => read,
            other => {
                return Ok(Self {
                    reply: Reply::read(other),
                    ..Self::default()
                });
            }
        };
        Ok(Self {
            method: read.request.method().to_owned(),
            id: Some(read.id),
            tool: match read.request {
                ClientRequest::CallToolRequest(call) => call.params.name.into_owned(),
                _ => String::new(),
            },
            reply: None,
        })
    }

    pub(super) fn is_initializing(&self) -> bool {
        self.method == "initialize"
    }

    /// True if it lasts as long as it listens for changes.
    pub(super) fn is_listening(&self) -> bool {
        self.method == "subscriptions/listen"
    }
}

/// The layer `length`: refuses a body that says that it is too large.
pub(super) fn length(limits: &BodyLimits, request: Request) -> Result<Request, HttpRefusal> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limits.most) {
        return Err(TOO_LARGE);
    }
    Ok(request)
}

/// The layer `body`: reads the body of a call in time, and leaves its `Message` beside it.
pub(super) async fn body(
    State(limits): State<Arc<BodyLimits>>,
    request: Request,
) -> Result<Request, HttpRefusal> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    let caller = request.extensions().get::<Arc<HttpCaller>>().cloned();
    let caller = caller.ok_or(HttpRefusal::BROKE_OFF)?;
    let owner = caller.counted().map(str::to_owned);
    let (head, body) = request.into_parts();
    let reading = tokio::time::timeout(limits.time, limits.read(body, owner.as_deref())).await;
    let (body, payload) = reading
        .map_err(|_| HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the body took too long"))??;
    let message = Message::read(&body)?;
    scope::check(&caller, &message.method, &message.tool)?;
    let mut request = Request::from_parts(head, Body::from(body));
    request.extensions_mut().insert(message);
    if let Some(payload) = payload {
        request.extensions_mut().insert(payload);
    }
    Ok(request)
}

impl BodyLimits {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self {
            most: limits.body,
            time: limits.request,
            room: limits.room(),
        }
    }

    /// Reads a body; returns the arguments of a large call separately. A large body takes its room
    /// before it is read; without a length, as much as the largest.
    async fn read(
        &self,
        body: Body,
        owner: Option<&str>,
    ) -> Result<(Vec<u8>, Option<Payload>), HttpRefusal> {
        const FULL: &str = "large bodies take all the room that there is for them; try again soon";
        let take_room = async |bytes| {
            let taken = self.room.take(bytes, owner).await;
            taken.ok_or(HttpRefusal::busy(FULL))
        };
        let most = self.most;
        let length = usize::try_from(body.size_hint().exact().unwrap_or_default()).unwrap_or(most);
        let mut taken = None;
        if length > MOST_BESIDE {
            taken = Some(take_room(length).await?);
        }
        let mut parts = body.into_data_stream();
        let mut whole = Vec::with_capacity(length.min(most));
        let mut scan: Option<Scan> = None;
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| HttpRefusal::bad_request("the body broke off"))?;
            if whole.len() + part.len() > most {
                return Err(TOO_LARGE);
            }
            if taken.is_none() && whole.len() + part.len() > MOST_BESIDE {
                taken = Some(take_room(most).await?);
            }
            whole.extend_from_slice(&part);
            match &mut scan {
                Some(scan) => scan.feed(&part),
                None if whole.len() > MOST_BESIDE => scan = Some(Scan::new(&whole)),
                None => {}
            }
        }
        let Some(scan) = scan else {
            return Ok((whole, None));
        };
        let (light, payload) = scan.lighten(whole, taken).map_err(|_| {
            HttpRefusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "a message may have 64 kB beside the arguments of a call",
            )
        })?;
        Ok((light, Some(payload)))
    }
}
