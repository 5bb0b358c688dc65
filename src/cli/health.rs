//! `wikijs-gate health`: asks a server over HTTP whether it lives, for supervisors without curl.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

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
    let settings = ServeSettings::read(&start::layers()?.source()).map_err(Exit::usage)?;
    let Some(address) = given.or(settings.address) else {
        print::line("WIKI_SERVE_ADDRESS is not set: there is no server over HTTP to ask");
        return Ok(Exit::Done);
    };
    let address = asked_at(address);
    let path = if arguments.ready {
        "/readyz"
    } else {
        "/healthz"
    };
    let failed = |why: &str| Exit::failed(format!("http://{address}{path} {why}"));
    let answer = tokio::time::timeout(PATIENCE, ask(address, path))
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

async fn ask(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
