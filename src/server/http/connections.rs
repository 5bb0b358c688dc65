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
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::limits::HttpLimits;
use super::open_connections::{ConnectionPlace, OpenConnections};
use super::refusal::HttpRefusal;
use super::stall::Stalling;
use crate::config::ServerTls;

/// The most bytes of a connection that are read before they are wanted, its head among them.
const MOST_UNREAD: usize = 64 * 1024;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;
/// Time for the refusal of a surplus connection, and for an idle one to close.
const SHORTLY: Duration = Duration::from_secs(1);
/// Time for which nothing is accepted when the system has nothing left to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Gives the TLS that the next connection begins with; none for plain HTTP.
type TlsInForce = Box<dyn Fn() -> Option<ServerTls> + Send + Sync>;

/// The connections of one listener.
pub(super) struct Connections {
    limits: HttpLimits,
    tls: TlsInForce,
    open: Arc<OpenConnections>,
    all: TaskTracker,
    /// Ends each of them when its answer has gone out.
    closing: CancellationToken,
}

/// Serves routes at a listener until `stop` is cancelled; requests under way then have a second.
pub async fn serve_routes(listener: TcpListener, routes: Router, stop: CancellationToken) {
    let connections = Connections::new(&HttpLimits::default(), Box::new(|| None));
    // It is one person's own page: no peer is kept to a share.
    connections
        .accept(&listener, &routes, &|_| true, &stop)
        .await;
    drop(listener);
    connections.end().await;
}

impl Connections {
    pub(super) fn new(limits: &HttpLimits, tls: TlsInForce) -> Self {
        Self {
            limits: *limits,
            tls,
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
            let place = self.open.take((!is_proxy(counted)).then_some(counted));
            let routes = routes.clone().layer(Extension(peer));
            let (limits, closing) = (self.limits, self.closing.clone());
            let times = [limits.idle, limits.stalled];
            match (place, (self.tls)()) {
                (Some(place), None) => {
                    self.all.spawn(serve(stream, routes, times, closing, place));
                }
                (Some(place), Some(tls)) => {
                    self.all.spawn(async move {
                        if let Some(stream) =
                            shake_hands(stream, tls, limits.handshake, &place).await
                        {
                            serve(stream, routes, times, closing, place).await;
                        }
                    });
                }
                (None, None) => {
                    self.all.spawn(turn_away(stream));
                }
                // Without a handshake nothing can be told.
                (None, Some(_)) => drop(stream),
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

/// Begins TLS, unless that takes too long or the connection gives way to another one: handshakes
/// are bounded with the connections that have sent no head.
async fn shake_hands(
    stream: TcpStream,
    tls: ServerTls,
    limit: Duration,
    place: &ConnectionPlace,
) -> Option<TlsStream<TcpStream>> {
    let shaken = TlsAcceptor::from(tls.config).accept(stream);
    tokio::select! {
        shaken = tokio::time::timeout(limit, shaken) => match shaken {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a connection began no TLS");
                None
            }
            Err(_) => None,
        },
        () = place.gives_way() => None,
    }
}

/// Serves one connection until it ends, gives way to another one, or is ended when its answer has
/// gone out.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    [idle, stalled]: [Duration; 2],
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
        .header_read_timeout(idle)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_UNREAD)
        .serve_connection(TokioIo::new(Stalling::new(stream, stalled)), service);
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
