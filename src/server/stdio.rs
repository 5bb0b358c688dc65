//! The protocol over standard input and output. stdout is its own: nothing else prints there.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::handler::Handler;
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
    };
    let last_answers = tokio::spawn({
        let connection = connection.clone();
        async move {
            closed.cancelled().await;
            tokio::time::sleep(LAST_ANSWERS).await;
            connection.cancel();
        }
    });
    let ended = match handler.serve_with_ct((stdin, stdout), connection).await {
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

/// stdin, and a token that tells when it has closed.
struct UntilClosed<R> {
    stdin: R,
    closed: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilClosed<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stdin).poll_read(context, buffer));
        if read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0) {
            self.closed.cancel();
        }
        Poll::Ready(read)
    }
}
