//! Connections: taken in, bounded, ended.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::limits::HttpLimits;
use super::open_connections::{ConnectionPlace, OpenConnections};
use super::refusal::HttpRefusal;
use super::stall::Stalling;

/// The most bytes of a connection that are read before they are wanted, its head among them.
const MOST_UNREAD: usize = 64 * 1024;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;
/// Time for the refusal of a surplus connection, and for an idle one to close.
const SHORTLY: Duration = Duration::from_secs(1);
/// Time for which nothing is accepted when the system has nothing left to give.
const PAUSE: Duration = Duration::from_millis(100);

/// The connections of one listener.
pub(super) struct Connections {
    limits: HttpLimits,
    open: Arc<OpenConnections>,
    all: TaskTracker,
    /// Ends each of them when its answer has gone out.
    closing: CancellationToken,
}

/// Serves routes at a listener until `stop` is cancelled; requests under way then have a second.
pub async fn serve_routes(listener: TcpListener, routes: Router, stop: CancellationToken) {
    let connections = Connections::new(&HttpLimits::default());
    // It is one person's own page: no peer is kept to a share.
    connections
        .accept(&listener, &routes, &|_| true, &stop)
        .await;
    drop(listener);
    connections.end().await;
}

impl Connections {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self {
            limits: *limits,
            open: OpenConnections::new(limits.connections),
            all: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Takes connections in until `stop` is cancelled. `is_proxy` says which peers bring callers
    /// from elsewhere, and so need no share.
    pub(super) async fn accept(
        &self,
        listener: &TcpListener,
        routes: &Router,
        is_proxy: &(dyn Fn(IpAddr) -> bool + Sync),
        stop: &CancellationToken,
    ) {
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            // Small answers must not wait for more data.
            let _ = stream.set_nodelay(true);
            let counted = peer.ip().to_canonical();
            match self.open.take((!is_proxy(counted)).then_some(counted)) {
                Some(place) => {
                    let routes = routes.clone().layer(Extension(peer));
                    let closing = self.closing.clone();
                    let served = serve(stream, routes, self.limits, closing, place);
                    self.all.spawn(served);
                }
                None => {
                    self.all.spawn(turn_away(stream));
                }
            }
        }
        self.all.close();
    }

    /// Ends all of them, as soon as their answers have gone out.
    pub(super) async fn end(self) {
        self.closing.cancel();
        let _ = tokio::time::timeout(SHORTLY, self.all.wait()).await;
    }
}

/// Serves one connection until it ends, gives way to another one, or is ended when its answer has
/// gone out.
async fn serve(
    stream: TcpStream,
    router: Router,
    limits: HttpLimits,
    closing: CancellationToken,
    place: ConnectionPlace,
) {
    let (head, served) = (place.head_flag(), TowerToHyperService::new(router));
    let service = service_fn(move |request| {
        head.store(true, Ordering::Release);
        served.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // From the end of one request to the end of the next one's head.
        .header_read_timeout(limits.idle)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_UNREAD)
        .serve_connection(TokioIo::new(Stalling::new(stream, limits.stalled)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.gives_way() => return,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Tells a connection that is one too many to come again.
async fn turn_away(mut stream: TcpStream) {
    let told = async {
        // What was sent must be read, or the answer is lost with the connection.
        let _ = stream.read(&mut [0; 8192]).await?;
        let refusal = HttpRefusal::busy("too many connections");
        let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n";
        let text = refusal.message;
        let answer = format!("{head}Content-Length: {}\r\n\r\n{text}", text.len());
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let _: Result<io::Result<()>, _> = tokio::time::timeout(SHORTLY, told).await;
}
