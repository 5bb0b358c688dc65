//! The protocol over standard input and output. stdout is its own: nothing else prints there.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{
    QuitReason, RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::handler::Handler;
use super::metrics::Metrics;
use crate::gates::SessionId;

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed stdin.
    ByClient,
    /// A signal, or whoever holds the token.
    ByToken,
}

/// How long calls under way may still be answered when the client has closed stdin: one that
/// sent all it had to say and closed it wants its answers, but a slow wiki must not keep a
/// server alive that nobody needs.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// How many calls may be under way before no more is read, so that a client that sends all it
/// has at once does not make the memory grow.
const MANY: u64 = 256;
/// After so many pauses a little is read all the same: calls may wait for what comes by stdin
/// alone, a person's answer or a cancellation.
const PAUSES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(2);

/// How many answers may wait to be taken before nothing more is read.
const MANY_ANSWERS: usize = 64;
/// After so long something is read all the same: the client may have closed stdin.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until stdin closes or `stop` is cancelled, then lets writes under way finish and
/// closes the audit log.
///
/// # Errors
/// One sentence, where the handshake fails for another reason than an early end.
pub async fn serve_stdio(app: Arc<App>, stop: CancellationToken) -> Result<Ended, String> {
    let handler = Handler::new(Arc::clone(&app), SessionId::new("stdio"));
    // A token of its own: the service cancels it when it ends, and `stop` is for signals alone.
    let connection = stop.child_token();
    let closed = CancellationToken::new();
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let stdin = UntilClosed {
        stdin,
        closed: closed.clone(),
        metrics: Arc::clone(&app.metrics),
        pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
        pauses: 0,
    };
    let last_answers = tokio::spawn({
        let connection = connection.clone();
        async move {
            closed.cancelled().await;
            tokio::time::sleep(LAST_ANSWERS).await;
            connection.cancel();
        }
    });
    let transport = AsTaken {
        inner: AsyncRwTransport::new_server(stdin, stdout),
        room: Arc::new(Semaphore::new(MANY_ANSWERS)),
    };
    let ended = match handler.serve_with_ct(transport, connection).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::Cancelled) if stop.is_cancelled() => Ok(Ended::ByToken),
            Ok(_) => Ok(Ended::ByClient),
            Err(error) => Err(format!("the server broke off: {error}")),
        },
        Err(ServerInitializeError::Cancelled) if stop.is_cancelled() => Ok(Ended::ByToken),
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(Ended::ByClient)
        }
        Err(error) => Err(format!("the handshake failed: {error}")),
    };
    last_answers.abort();
    app.writer.finish().await;
    ended
}

/// A transport that takes messages no faster than its own are taken: whoever sends without
/// reading must not make the memory grow.
struct AsTaken<T> {
    inner: T,
    room: Arc<Semaphore>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for AsTaken<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let room = Arc::clone(&self.room);
        let sent = self.inner.send(message);
        async move {
            // It is never closed.
            let _place = room.acquire_owned().await;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Whoever waits for room before has it first.
        let _ = tokio::time::timeout(PATIENCE, self.room.acquire()).await;
        self.inner.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// stdin, read no faster than calls end, and a token that tells when it has closed.
struct UntilClosed<R> {
    stdin: R,
    closed: CancellationToken,
    metrics: Arc<Metrics>,
    pause: Pin<Box<Sleep>>,
    /// How many there were since something was read.
    pauses: u32,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilClosed<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.metrics.in_flight.get() >= MANY && self.pauses < PAUSES {
            ready!(self.pause.as_mut().poll(context));
            self.pause.as_mut().reset(Instant::now() + PAUSE);
            self.pauses += 1;
        }
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stdin).poll_read(context, buffer));
        self.pauses = 0;
        if read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0) {
            self.closed.cancel();
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::Poll;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use rmcp::model::{EmptyResult, RequestId, ServerJsonRpcMessage, ServerResult};
    use rmcp::transport::Transport as _;
    use rmcp::transport::async_rw::AsyncRwTransport;
    use tokio::io::{
        AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, ReadBuf,
    };
    use tokio::sync::Semaphore;
    use tokio_util::sync::CancellationToken;

    use super::super::metrics::Metrics;
    use super::{AsTaken, MANY, UntilClosed};

    #[tokio::test]
    async fn nothing_is_read_while_answers_wait_to_be_taken() {
        let (mut to_server, input) = tokio::io::duplex(1024);
        let (output, mut from_server) = tokio::io::duplex(8);
        let room = Arc::new(Semaphore::new(1));
        let mut transport = AsTaken {
            inner: AsyncRwTransport::new_server(input, output),
            room: Arc::clone(&room),
        };
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
    async fn no_more_is_read_while_many_calls_are_under_way_but_a_little_after_a_while() {
        let metrics = Arc::new(Metrics::default());
        let mut input = UntilClosed {
            stdin: &b"abc"[..],
            closed: CancellationToken::new(),
            metrics: Arc::clone(&metrics),
            pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
            pauses: 0,
        };
        let under_way: Vec<_> = (0..MANY).map(|_| metrics.in_flight.enter()).collect();
        let mut space = [0; 1];
        let mut once = async || {
            let mut buffer = ReadBuf::new(&mut space);
            poll_fn(|context| {
                let read = Pin::new(&mut input).poll_read(context, &mut buffer);
                Poll::Ready(read.is_ready())
            })
            .await
        };
        assert!(!once().await);
        assert_eq!(input.read_u8().await.unwrap(), b'a');
        drop(under_way);
        let mut space = [0; 1];
        let mut buffer = ReadBuf::new(&mut space);
        let read = poll_fn(|context| {
            Poll::Ready(
                Pin::new(&mut input)
                    .poll_read(context, &mut buffer)
                    .is_ready(),
            )
        });
        assert!(read.await);
        assert_eq!(buffer.filled(), b"b");
    }
}
