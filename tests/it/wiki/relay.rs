//! What may stand between a server and its wiki: a proxy, a TLS server, a gateway that puts the
//! wiki below a path. Each passes on what it is told and remembers what that was.

use std::net::SocketAddr;
use std::sync::Mutex;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::prelude::*;

/// Something that listens on loopback until it is dropped.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    told: Arc<Mutex<Vec<u8>>>,
    stop: DropGuard,
    listening: JoinHandle<()>,
}

/// An authority, and a certificate that it signed.
pub(crate) struct Authority {
    /// The authority's certificate in PEM.
    pub(crate) pem: String,
    /// The certificate that it signed, and its key, in PEM.
    pub(crate) signed: [String; 2],
    acceptor: TlsAcceptor,
}

impl Relay {
    /// A proxy that reaches one wiki by whatever name.
    pub(crate) async fn proxy(wiki: SocketAddr) -> Self {
        Self::proxy_at("127.0.0.1:0".parse().unwrap(), wiki).await
    }

    /// The same, where another was before.
    pub(crate) async fn proxy_at(address: SocketAddr, wiki: SocketAddr) -> Self {
        Self::start_at(address, move |stream, told| pass(stream, wiki, told)).await
    }

    /// Closes its port and all connections.
    pub(crate) async fn gone(self) {
        drop(self.stop);
        self.listening.await.unwrap();
    }

    /// A proxy that lets nobody through.
    pub(crate) async fn refusing() -> Self {
        Self::start(|mut stream, told| async move {
            head(&mut stream, &told).await?;
            let answer = b"HTTP/1.1 407 Told\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await
        })
        .await
    }

    /// A TLS server before a wiki.
    pub(crate) async fn tls(wiki: SocketAddr, authority: &Authority) -> Self {
        let acceptor = authority.acceptor.clone();
        Self::start(move |stream, told| {
            let acceptor = acceptor.clone();
            async move {
                let stream = acceptor.accept(stream).await?;
                between(stream, TcpStream::connect(wiki).await?, &told).await
            }
        })
        .await
    }

    /// A gateway that has a wiki below `/wiki`.
    pub(crate) async fn below_a_path(wiki: &DemoWiki) -> Self {
        let base = wiki.address();
        let relay = move |request: Request| {
            let base = base.clone();
            async move { relayed(&base, request).await }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let listening = tokio::spawn(async move {
            let server = axum::serve(listener, Router::new().fallback(relay));
            tokio::select! { _ended = server => {} () = stopped.cancelled() => {} }
        });
        Self {
            address,
            told: Arc::default(),
            stop: stop.drop_guard(),
            listening,
        }
    }

    async fn start<F>(serve: impl Fn(TcpStream, Arc<Mutex<Vec<u8>>>) -> F + Send + 'static) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0".parse().unwrap(), serve).await
    }

    async fn start_at<F>(
        address: SocketAddr,
        serve: impl Fn(TcpStream, Arc<Mutex<Vec<u8>>>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<u8>>>::default();
        let stop = CancellationToken::new();
        let (heard, stopped) = (Arc::clone(&told), stop.clone());
        let listening = tokio::spawn(async move {
            while let Some(Ok((stream, _))) = stopped.run_until_cancelled(listener.accept()).await {
                let served = serve(stream, Arc::clone(&heard));
                let stopped = stopped.clone();
                // What a client breaks off is over.
                tokio::spawn(async move { stopped.run_until_cancelled(served).await });
            }
        });
        Self {
            address,
            told,
            stop: stop.drop_guard(),
            listening,
        }
    }

    /// All that clients have told it so far.
    pub(crate) fn told(&self) -> String {
        String::from_utf8_lossy(&self.told.lock().unwrap()).into_owned()
    }
}

impl Authority {
    /// A new one, whose certificate is for this host.
    pub(crate) fn of(host: &str) -> Self {
        Self::dated(host, 2_200)
    }

    /// The same, for a server that asks for certificates which another one signed.
    pub(crate) fn asking(host: &str, clients: &Self) -> Self {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(clients.pem.as_bytes()).unwrap();
        roots.add(root).unwrap();
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots));
        Self::made(host, 2_200, verifier.build().unwrap())
    }

    /// The same, whose certificate ended with a year.
    pub(crate) fn dated(host: &str, year: i32) -> Self {
        Self::made(host, year, WebPkiClientVerifier::no_client_auth())
    }

    fn made(host: &str, year: i32, clients: Arc<dyn ClientCertVerifier>) -> Self {
        wikijs_gate::wiki::provide_tls();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Two authorities of one name would be taken for one.
        let name = format!("{:?}", key.public_key_raw());
        params.distinguished_name.push(DnType::CommonName, name);
        let cert = params.self_signed(&key).unwrap();
        let ca = CertifiedKey {
            cert,
            key_pair: key,
        };
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let shown = params.signed_by(&key, &ca.cert, &ca.key_pair).unwrap();
        let config = ServerConfig::builder()
            .with_client_cert_verifier(clients)
            .with_single_cert(
                vec![shown.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        Self {
            pem: ca.cert.pem(),
            signed: [shown.pem(), key.serialize_pem()],
            acceptor: TlsAcceptor::from(Arc::new(config)),
        }
    }
}

/// The address of a wiki, for sockets.
pub(crate) fn socket_of(wiki: &DemoWiki) -> SocketAddr {
    let address = wiki.address();
    address.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Reads up to the end of a head, and remembers it.
async fn head(stream: &mut TcpStream, told: &Mutex<Vec<u8>>) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    told.lock().unwrap().extend_from_slice(&head);
    Ok(head)
}

async fn pass(
    mut stream: TcpStream,
    wiki: SocketAddr,
    told: Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<()> {
    let head = head(&mut stream, &told).await?;
    let mut wiki = TcpStream::connect(wiki).await?;
    if head.starts_with(b"CONNECT ") {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    } else {
        // Servers take the whole address for the path in it.
        wiki.write_all(&head).await?;
    }
    between(stream, wiki, &told).await
}

/// Passes all on in both directions, and remembers what the client says.
async fn between(
    client: impl AsyncRead + AsyncWrite,
    wiki: TcpStream,
    told: &Mutex<Vec<u8>>,
) -> std::io::Result<()> {
    let (mut asked, mut answered) = tokio::io::split(client);
    let (mut from, mut to) = wiki.into_split();
    let up = async {
        let mut bytes = vec![0; 1 << 14];
        loop {
            let count = asked.read(&mut bytes).await?;
            if count == 0 {
                return to.shutdown().await;
            }
            told.lock().unwrap().extend_from_slice(&bytes[..count]);
            to.write_all(&bytes[..count]).await?;
        }
    };
    let down = async { copy(&mut from, &mut answered).await.map(drop) };
    tokio::try_join!(up, down).map(drop)
}

#[expect(clippy::disallowed_types, reason = "a gateway is no client of ours")]
async fn relayed(base: &str, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Some(path) = parts.uri.path_and_query().and_then(|uri| {
        let path = uri.as_str().strip_prefix("/wiki")?;
        path.starts_with('/').then_some(path)
    }) else {
        return Response::builder()
            .status(404)
            .body("<html>".into())
            .unwrap();
    };
    let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    wikijs_gate::wiki::provide_tls();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client
        .request(parts.method, format!("{base}{path}"))
        .headers(parts.headers)
        .body(body)
        .send()
        .await
        .unwrap();
    let mut response = Response::builder().status(answer.status());
    *response.headers_mut().unwrap() = answer.headers().clone();
    response.body(answer.bytes().await.unwrap().into()).unwrap()
}
