//! The protocol over standard input and output. Nothing else prints to stdout.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ServiceExt;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::Sites;
use super::super::without_wiki::WithoutWiki;
use super::framing::{LineFramer, PayloadSlot};
use crate::config::CommandLineSettings;
use crate::gates::SessionId;
use crate::tools::Registry;

/// Time for which calls under way may still be answered after the client closed stdin. A client
/// that sends everything and closes stdin wants its answers, but a slow wiki must not keep an
/// unused server alive.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// The most requests under way, from their reading until their answers are written. Beyond it no
/// more are read, so that a client that sends everything at once does not make the memory grow.
/// Fewer requests go to the wiki at a time.
const MANY: usize = 64;
/// After this time one more is read nevertheless: those under way may wait for a person's answer or
/// a cancellation, which come only by stdin.
const PAUSE: Duration = Duration::from_millis(500);

/// The most answers that may wait to be taken; with more, nothing more is read.
const MANY_ANSWERS: usize = 64;
/// After this time reading continues nevertheless: the client may have closed stdin.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves one client by the handler that `handler` makes until stdin closes or `stop` is cancelled,
/// then lets writes under way finish and closes the audit log.
///
/// # Errors
/// One sentence, where the handshake fails for another reason than an early end.
pub async fn serve_stdio<H: ServerHandler>(
    sites: Arc<Sites>,
    handler: fn(Arc<Sites>, SessionId) -> H,
    stop: CancellationToken,
) -> Result<(), String> {
    let handler = handler(Arc::clone(&sites), session(&sites)?);
    let ended = answer(handler, stop).await;
    sites.finish().await;
    ended
}

/// The session of the one client. Where people elsewhere use the same store it is no other process's.
fn session(sites: &Sites) -> Result<SessionId, String> {
    let all = sites.all();
    let is_remote = all
        .iter()
        .any(|site| site.app().desk.audit().store().is_remote());
    if !is_remote {
        return Ok(SessionId::new("stdio"));
    }
    let own = getrandom::u64().map_err(|error| error.to_string())?;
    Ok(SessionId::new(format!("stdio/{own:016x}")))
}

/// Serves the list of tools without a wiki until stdin closes or `stop` is cancelled; each call is
/// answered with the settings that are missing, looked for by the command line `given`.
///
/// # Errors
/// As [`serve_stdio`].
pub async fn serve_tools_alone(
    tools: Registry,
    missing: Vec<&'static str>,
    given: CommandLineSettings,
    stop: CancellationToken,
) -> Result<(), String> {
    let handler = WithoutWiki {
        tools,
        missing,
        given,
    };
    answer(handler, stop).await
}

/// Answers the only client of stdin and stdout.
async fn answer(handler: impl ServerHandler, stop: CancellationToken) -> Result<(), String> {
    // A token of its own, since the service cancels it at its end and `stop` is only for signals.
    let connection = stop.child_token();
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let lines = LineFramer::new(stdin);
    let last_answers = tokio::spawn({
        let (closed, connection) = (lines.closed.clone(), connection.clone());
        async move {
            closed.cancelled().await;
            tokio::time::sleep(LAST_ANSWERS).await;
            connection.cancel();
        }
    });
    let transport = LimitedByLoad {
        cargo: lines.slot.clone(),
        inner: AsyncRwTransport::new_server(lines, stdout),
        room: Arc::new(Semaphore::new(MANY_ANSWERS)),
        places: Arc::new(Semaphore::new(MANY)),
        under_way: Arc::default(),
        waits_until: None,
    };
    let ended = match handler
        .into_dyn()
        .serve_with_ct(transport, connection)
        .await
    {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("the server broke off: {error}")),
        },
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(format!("the handshake failed: {error}")),
    };
    last_answers.abort();
    ended
}

/// The requests that are under way, each with its place; those of one id have a place each.
type InFlightRequests = HashMap<RequestId, Vec<OwnedSemaphorePermit>>;

/// The place of a request that has ended, or of one of those with its id.
fn given_back(under_way: &mut InFlightRequests, id: &RequestId) -> Option<OwnedSemaphorePermit> {
    let places = under_way.get_mut(id)?;
    let place = places.pop();
    if places.is_empty() {
        under_way.remove(id);
    }
    place
}

/// A transport that reads messages no faster than they are answered and their answers are accepted,
/// so that a client which sends without reading does not make the memory grow.
struct LimitedByLoad<T> {
    inner: T,
    room: Arc<Semaphore>,
    /// The cargo of the last message.
    cargo: PayloadSlot,
    places: Arc<Semaphore>,
    under_way: Arc<Mutex<InFlightRequests>>,
    /// Until when the next message waits for a place; kept here, since reading may be restarted.
    waits_until: Option<Instant>,
}

impl<T> LimitedByLoad<T> {
    /// A place for the next request; `None` if there was none for a while.
    async fn place(&mut self) -> Option<OwnedSemaphorePermit> {
        let until = *self
            .waits_until
            .get_or_insert_with(|| Instant::now() + PAUSE);
        let place = Arc::clone(&self.places).acquire_owned();
        let place = tokio::time::timeout_at(until, place).await;
        self.waits_until = None;
        place.ok()?.ok()
    }

    /// Keeps the place of a request, and releases that of a cancelled one.
    fn note(&self, message: &RxJsonRpcMessage<RoleServer>, place: Option<OwnedSemaphorePermit>) {
        let mut under_way = self.under_way.lock();
        match (message, place) {
            (JsonRpcMessage::Request(request), Some(place)) => {
                under_way.entry(request.id.clone()).or_default().push(place);
            }
            (JsonRpcMessage::Notification(note), _) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    given_back(&mut under_way, id);
                }
            }
            _ => {}
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for LimitedByLoad<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let room = Arc::clone(&self.room);
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        // Given back when all of the answer is written.
        let place = answered.and_then(|id| given_back(&mut self.under_way.lock(), id));
        let sent = self.inner.send(message);
        async move {
            // It is never closed.
            let _room = room.acquire_owned().await;
            let _place = place;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Earlier answers get room first.
        let _ = tokio::time::timeout(PATIENCE, self.room.acquire()).await;
        let place = self.place().await;
        let mut message = self.inner.receive().await?;
        self.note(&message, place);
        if let Some(cargo) = self.cargo.take()
            && let JsonRpcMessage::Request(request) = &mut message
        {
            request.request.extensions_mut().insert(cargo);
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;
    use rmcp::model::{EmptyResult, RequestId, ServerJsonRpcMessage, ServerResult};
    use rmcp::service::RoleServer;
    use rmcp::transport::Transport as _;
    use rmcp::transport::async_rw::AsyncRwTransport;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
    use tokio::sync::Semaphore;

    use super::{LimitedByLoad, MANY, PayloadSlot};

    #[tokio::test]
    async fn nothing_is_read_while_answers_wait_to_be_taken() {
        let (mut to_server, input) = tokio::io::duplex(1024);
        let (output, mut from_server) = tokio::io::duplex(8);
        let mut transport = between(input, output);
        let room = Arc::clone(&transport.room);
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        to_server.write_all(ping).await.expect("room");
        let answer = ServerResult::EmptyResult(EmptyResult {});
        let answer = ServerJsonRpcMessage::response(answer, RequestId::Number(0));
        let sent = tokio::spawn(transport.send(answer));
        while room.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(transport.receive().now_or_never().is_none());
        let mut line = String::new();
        let mut lines = BufReader::new(&mut from_server);
        lines.read_line(&mut line).await.expect("an answer");
        sent.await.expect("no panic").expect("sent");
        assert!(transport.receive().await.is_some());
    }

    #[tokio::test]
    async fn no_more_is_read_while_many_requests_are_under_way_but_one_after_a_while() {
        let (mut to_server, input) = tokio::io::duplex(1 << 16);
        let (output, mut from_server) = tokio::io::duplex(1 << 16);
        let mut transport = between(input, output);
        let request = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let requests = (0..=MANY).map(request).collect::<Vec<_>>().concat();
        to_server
            .write_all(requests.as_bytes())
            .await
            .expect("room");
        for _ in 0..MANY {
            assert!(transport.receive().await.is_some());
        }
        assert_eq!(transport.places.available_permits(), 0);
        tokio::task::yield_now().await;
        assert!(transport.receive().now_or_never().is_none());
        // One that is answered makes room for the next.
        let answer = ServerResult::EmptyResult(EmptyResult {});
        let answer = ServerJsonRpcMessage::response(answer, RequestId::Number(0));
        transport.send(answer).await.expect("sent");
        let mut line = String::new();
        let mut lines = BufReader::new(&mut from_server);
        lines.read_line(&mut line).await.expect("an answer");
        assert_eq!(transport.places.available_permits(), 1);
        assert!(transport.receive().await.is_some());
        // One that is cancelled does, too.
        let cancelled = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
        to_server
            .write_all(cancelled.as_bytes())
            .await
            .expect("room");
        tokio::task::yield_now().await;
        assert!(transport.receive().now_or_never().is_none());
        assert!(transport.receive().await.is_some());
        assert_eq!(transport.places.available_permits(), 1);
    }

    #[tokio::test]
    async fn requests_of_one_id_take_a_place_each() {
        let (mut to_server, input) = tokio::io::duplex(1 << 16);
        let (output, _from_server) = tokio::io::duplex(1 << 16);
        let mut transport = between(input, output);
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        to_server.write_all(&ping.repeat(3)).await.expect("room");
        for _ in 0..3 {
            assert!(transport.receive().await.is_some());
        }
        assert_eq!(transport.places.available_permits(), MANY - 3);
        for left in [2, 1, 0] {
            let answer = ServerResult::EmptyResult(EmptyResult {});
            let answer = ServerJsonRpcMessage::response(answer, RequestId::Number(1));
            transport.send(answer).await.expect("sent");
            assert_eq!(transport.places.available_permits(), MANY - left);
        }
        assert!(transport.under_way.lock().is_empty());
    }

    fn between(
        input: DuplexStream,
        output: DuplexStream,
    ) -> LimitedByLoad<AsyncRwTransport<RoleServer, DuplexStream, DuplexStream>> {
        LimitedByLoad {
            inner: AsyncRwTransport::new_server(input, output),
            room: Arc::new(Semaphore::new(1)),
            cargo: PayloadSlot::default(),
            places: Arc::new(Semaphore::new(MANY)),
            under_way: Arc::default(),
            waits_until: None,
        }
    }
}
