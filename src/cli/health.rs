//! `wikijs-gate health`: asks a server over HTTP whether it lives, for supervisors without curl.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::redirect;

use crate::cli::prelude::*;
use crate::config::{ServeSettings, address_of};
use crate::wiki::provide_tls;

/// The time limit for the server's answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// No more of an answer is read.
const MOST_BYTES: usize = 64 * 1024;

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
    let url = format!("{scheme}://{address}{path}");
    let failed = |why: &str| Exit::failed(format!("{url} {why}"));
    let (status, body) = tokio::time::timeout(PATIENCE, ask(&url))
        .await
        .map_err(|_| failed("does not answer in time"))?
        .map_err(|error| {
            failed(if error.is_connect() {
                "cannot be asked: no connection could be opened; see whether the server runs, and listens there"
            } else {
                "cannot be asked: what listens there does not answer as a server over HTTP"
            })
        })?;
    let body = print::harmless(body.trim());
    if status == 200 {
        print::line(&body);
        return Ok(Exit::Done);
    }
    Err(failed(&format!("answers {status}: {body}")))
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

/// Asks, and gives the status and the beginning of the answer.
///
/// Nothing secret is sent, and whoever listens here is who is asked for: any certificate will do, since none
/// is for an address of loopback.
#[expect(clippy::disallowed_types, reason = "this asks our own server")]
async fn ask(url: &str) -> reqwest::Result<(u16, String)> {
    provide_tls();
    let client = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .tls_danger_accept_invalid_certs(true)
        .build()?;
    let mut answer = client.get(url).send().await?;
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await?
        && body.len() < MOST_BYTES
    {
        body.extend(part);
    }
    let body = String::from_utf8_lossy(&body);
    Ok((answer.status().as_u16(), body.into_owned()))
}
