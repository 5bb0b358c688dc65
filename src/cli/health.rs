//! `wikijs-gate health`: asks a server over HTTP whether it lives, for supervisors without curl.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::exit::Exit;
use super::{CommandResult, print, start};
use crate::config::{ServeSettings, address_of};

/// The time limit for the server's answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest answer that is read.
const MOST_BYTES: u64 = 64 * 1024;

/// Arguments of `health`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It ends with 0 if the server answers well within 3 seconds, else with 1. Where no address is set\nthere is nothing to ask: a server over standard input and output is watched by its client.\n\nExamples:\n  wikijs-gate health\n  wikijs-gate health --ready --http 127.0.0.1:8765"
)]
pub(super) struct Arguments {
    /// Where the server listens, in place of `WIKI_SERVE_ADDRESS`
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Ask whether calls can be served (`/readyz`), not only whether the process lives (`/healthz`)
    #[arg(long)]
    ready: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    start::start_log(Some("warn"))?;
    let given = arguments.http.as_deref().map(address_of).transpose();
    let given = given.map_err(|error| Exit::usage(format!("--http: {}", error.fault)))?;
    let set = ServeSettings::asked_at(&start::layers()?.source()).map_err(Exit::usage)?;
    let (Some(address), is_tls) = (given.or(set.0), set.1) else {
        print::line("WIKI_SERVE_ADDRESS is not set: there is no server over HTTP to ask");
        return Ok(Exit::Done);
    };
    let address = asked_at(address);
    let path = if arguments.ready {
        "/readyz"
    } else {
        "/healthz"
    };
    let scheme = if is_tls { "https" } else { "http" };
    let failed = |why: &str| Exit::failed(format!("{scheme}://{address}{path} {why}"));
    let answer = tokio::time::timeout(PATIENCE, ask(address, is_tls, path))
        .await
        .map_err(|_| failed("does not answer in time"))?
        .map_err(|error| failed(&format!("cannot be asked: {error}")))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or("nothing");
    let body = print::harmless(body.trim());
    if status == "200" {
        print::line(&body);
        return Ok(Exit::Done);
    }
    Err(failed(&format!(
        "answers {}: {body}",
        print::harmless(status)
    )))
}

/// The address at which to ask a server: loopback, if it listens everywhere.
fn asked_at(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn ask(address: SocketAddr, is_tls: bool, path: &str) -> std::io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    if !is_tls {
        return told_by(stream, address, path).await;
    }
    // Nothing secret is sent, and whoever listens here is who is asked for: any certificate will
    // do, since none is for an address of loopback.
    let client = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(client));
    let stream = connector.connect(address.ip().into(), stream).await?;
    told_by(stream, address, path).await
}

/// The answer of a server on a connection.
async fn told_by(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
    path: &str,
) -> std::io::Result<String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Takes every certificate.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let by = default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, &by)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let by = default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, &by)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
