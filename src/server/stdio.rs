//! The protocol over standard input and output. stdout is its own: nothing else prints there.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
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

/// Serves until stdin closes or `stop` is cancelled, then lets writes under way finish and
/// closes the audit log.
///
/// # Errors
/// One sentence, where the handshake fails for another reason than an early end.
pub async fn serve_stdio(app: Arc<App>, stop: CancellationToken) -> Result<Ended, String> {
    let handler = Handler::new(Arc::clone(&app), SessionId::new("stdio"));
    let ended = match handler
        .serve_with_ct(rmcp::transport::io::stdio_pipes(), stop.clone())
        .await
    {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::Cancelled) => Ok(Ended::ByToken),
            Ok(_) => Ok(Ended::ByClient),
            Err(error) => Err(format!("the server broke off: {error}")),
        },
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Ended::ByClient),
        Err(ServerInitializeError::Cancelled) => Ok(Ended::ByToken),
        Err(error) => Err(format!("the handshake failed: {error}")),
    };
    app.writer.finish().await;
    ended
}
