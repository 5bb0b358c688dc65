//! Passes admitted requests to rmcp, and ends its answers when their callers end.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::store::SessionStore;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::super::clients::registry::ClientRegistry;
use super::super::mcp::caller::CallerContext;
use super::body::Message;
use super::caller::{CALLER_KEY, HttpCaller};
use super::concurrency::{ConcurrencyPermit, Places};
use super::refusal::HttpRefusal;
use super::sessions::{ActiveRequestGuard, McpSessions, SessionOwner};
use super::shared_answers::{OwnedSession, SessionQuestions, SharedAnswers};
use super::shared_sessions::SharedSessions;
use super::state::HttpState;
use crate::store::Store;

/// rmcp's service, whatever handler answers.
type Service = Box<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>;

/// The protocol behind the layers.
pub(super) struct Mcp {
    pub(super) sessions: Arc<McpSessions>,
    pub(super) places: Arc<Places>,
    clients: Option<Arc<ClientRegistry>>,
    /// Passes on the answers to questions of other servers, and takes those to its own from them.
    answers: Option<Arc<SharedAnswers>>,
    with_sessions: Service,
    without_sessions: Service,
}

/// What a call holds until it has ended, even if its client hangs up, since a session continues it.
type CallPermits = (Arc<ConcurrencyPermit>, Option<ActiveRequestGuard>);

impl Mcp {
    pub(super) fn new<H: ServerHandler>(
        state: &HttpState,
        handler: impl Fn() -> H + Clone + Send + Sync + 'static,
        stop: &CancellationToken,
    ) -> Self {
        let store = shared_store(state);
        let shared = store.clone().and_then(SharedSessions::new);
        let sessions = Arc::new(McpSessions::new(&state.limits, shared));
        let answers = store.and_then(|store| SharedAnswers::new(store, Arc::clone(&sessions.open)));
        // Host, Origin and size are checked by layers, before a body is read.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(state.limits.body)
            .with_json_response(true)
            .with_cancellation_token(stop.clone());
        let shared = sessions.shared.clone();
        config.session_store = shared.map(|shared| -> Arc<dyn SessionStore> { shared });
        let service = |has_sessions| -> Service {
            let handler = handler.clone();
            let service = StreamableHttpService::new(
                move || Ok(handler()),
                Arc::clone(&sessions.open),
                config.clone().with_legacy_session_mode(has_sessions),
            );
            Box::new(move |request| {
                let service = service.clone();
                async move { service.handle(request).await.map(Body::new) }.boxed()
            })
        };
        Self {
            with_sessions: service(true),
            without_sessions: service(false),
            places: Arc::new(Places::new(&state.limits)),
            clients: state.clients.clone(),
            answers: answers.map(Arc::new),
            sessions,
        }
    }

    /// Opens a session.
    async fn open(
        &self,
        request: Request,
        caller: HttpCaller,
        place: &Arc<ConcurrencyPermit>,
    ) -> Result<Response, HttpRefusal> {
        let owner = SessionOwner::new(&caller);
        let (sessions, place) = (Arc::clone(&self.sessions), Arc::clone(place));
        let opening = (self.with_sessions)(announced(request, caller, None));
        // In a task of its own, so that a client that hangs up does not interrupt it.
        let opened = tokio::spawn(async move {
            let _held = place;
            sessions.open_one(owner, opening).await
        });
        opened.await.map_err(|_| HttpRefusal::BROKE_OFF)?
    }

    fn permits(
        &self,
        caller: &HttpCaller,
        message: Message,
        place: &Arc<ConcurrencyPermit>,
    ) -> Result<CallPermits, HttpRefusal> {
        let request = caller.session.clone().zip(message.id);
        let begun = request.map(|(session, id)| self.sessions.begin(session, id));
        Ok((Arc::clone(place), begun.transpose()?))
    }
}

/// The store of sessions that other servers go on with; all sites keep their state in one place.
fn shared_store(state: &HttpState) -> Option<Arc<dyn Store>> {
    let app = state.sites.all().first().map(|site| site.app())?;
    Some(app.desk.audit().home().shared())
}

/// Answers a request that the layers let through.
pub(super) async fn answer(
    State(mcp): State<Arc<Mcp>>,
    mut request: Request,
) -> Result<Response, HttpRefusal> {
    let found = request.extensions_mut();
    let caller = found.remove::<Arc<HttpCaller>>();
    let mut caller = Arc::unwrap_or_clone(caller.ok_or(HttpRefusal::BROKE_OFF)?);
    let mut place = found
        .remove::<Arc<ConcurrencyPermit>>()
        .ok_or(HttpRefusal::BROKE_OFF)?;
    let mut message = found.remove::<Message>();
    if let Some((answers, id)) = mcp.answers.as_ref().zip(caller.session.clone()) {
        let session = OwnedSession {
            id,
            owner: caller.context.session.owner().to_owned(),
        };
        let reply = message.as_mut().and_then(|message| message.reply.take());
        if let Some(reply) = reply
            && answers.passes_on(&session, reply).await?
        {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        caller.context.questions = Some(Arc::new(SessionQuestions {
            session,
            answers: Arc::clone(answers),
        }));
    }
    // A request that listens may last for days: it is a stream, and no call under way.
    let is_listening = message.as_ref().is_some_and(Message::is_listening);
    if is_listening {
        place = Arc::new(mcp.places.streams.take(&caller)?);
    }
    let is_stream = is_listening || message.is_none();
    let end = (caller.context.client.as_ref()).and_then(|client| client.expires);
    let ending = mcp.clients.clone().zip(caller.ending());
    let is_initializing = message.as_ref().is_some_and(Message::is_initializing);
    let response = if caller.session.is_none() && is_initializing {
        mcp.open(request, caller, &place).await?
    } else {
        let service = if message.is_none() || caller.session.is_some() {
            &mcp.with_sessions
        } else {
            &mcp.without_sessions
        };
        let permits = message.map(|message| mcp.permits(&caller, message, &place));
        service(announced(request, caller, permits.transpose()?)).await
    };
    // A call is under way until its answer has gone out, too.
    let response = holding(place, response);
    if !is_stream {
        return Ok(response);
    }
    // A stream ends with its client, as every call does; a delegate's or a person's ends with them,
    // whoever ends them.
    let response = until(end, response);
    Ok(match ending {
        Some((clients, id)) => while_so(move || clients.present(id).is_some(), response),
        None => response,
    })
}

/// The request with its caller's context and without its secrets.
fn announced(mut request: Request, caller: HttpCaller, held: Option<CallPermits>) -> Request {
    for name in [header::AUTHORIZATION.as_str(), CALLER_KEY] {
        request.headers_mut().remove(name);
    }
    let context = CallerContext {
        _held: held.map(|held| -> Arc<dyn Any + Send + Sync> { Arc::new(held) }),
        ..caller.context
    };
    request.extensions_mut().insert(Arc::new(context));
    request.extensions_mut().insert(caller.site);
    request
}

/// A response that holds a place until it has gone out.
fn holding(place: impl Send + Sync + 'static, response: Response) -> Response {
    response.map(|body| {
        let parts = body.into_data_stream();
        Body::from_stream(parts.inspect(move |_| {
            let _held = &place;
        }))
    })
}

/// A stream that ends when something is not so any more, which is looked at every second.
fn while_so(is_so: impl Fn() -> bool + Send + 'static, response: Response) -> Response {
    let ended = async move {
        while is_so() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    ending(ended, response)
}

/// A stream that ends with its client, as every call does.
fn until(end: Option<OffsetDateTime>, response: Response) -> Response {
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
