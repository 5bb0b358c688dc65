//! Checks that the address leads to a wiki.

use super::finding::DoctorFinding;
use crate::wiki::{Reached, TlsFault, Unreachable, Wiki, WikiError};

pub(super) fn found(wiki: &Wiki, reached: &Result<Reached, Unreachable>) -> DoctorFinding {
    let settings = wiki.settings();
    match reached {
        Ok(reached) => DoctorFinding::good(format!(
            "{} answers at {} within {} ms{}",
            settings.base_url,
            reached.peer,
            reached.took.as_millis().max(1),
            if settings.base_url.scheme() == "https" {
                ", its certificate is good"
            } else {
                ""
            }
        )),
        Err(why) => wrong(wiki, why),
    }
}

fn wrong(wiki: &Wiki, why: &Unreachable) -> DoctorFinding {
    const CHECK: &str = "Correct WIKI_BASE_URL.";
    const PATH: &str = "Correct WIKI_GRAPHQL_PATH, or WIKI_BASE_URL if the wiki lies below a path.";
    const OF_PAGE: &str =
        "Leave the path out of WIKI_BASE_URL, unless the wiki as a whole lies below it.";
    let settings = wiki.settings();
    let host = settings.base_url.host_str().unwrap_or_default();
    let port = settings
        .base_url
        .port_or_known_default()
        .unwrap_or_default();
    let path = &settings.graphql_path;
    match why {
        Unreachable::NoSuchHost => {
            DoctorFinding::wrong(format!("the name {host} has no address"), CHECK)
        }
        Unreachable::Refused => DoctorFinding::wrong(
            format!("nobody listens at {host}, port {port}"),
            "Start the wiki, or correct WIKI_BASE_URL.",
        ),
        Unreachable::NoConnection { after } => DoctorFinding::wrong(
            format!(
                "no connection to {host}, port {port}, within {} ms",
                after.as_millis()
            ),
            "Check for a firewall in between, or correct WIKI_BASE_URL.",
        ),
        Unreachable::NotConnected(kind) => DoctorFinding::wrong(
            format!("no connection to {host}, port {port}: {kind}"),
            CHECK,
        ),
        Unreachable::Tls(fault) => tls(*fault, host),
        Unreachable::Redirected { status, to } => DoctorFinding::wrong(
            format!(
                "it redirects{} (HTTP status {status}); the key was not sent along",
                to.as_deref()
                    .map_or_else(String::new, |to| format!(" to {to}"))
            ),
            "Set WIKI_BASE_URL to the address that the wiki itself answers at.",
        ),
        Unreachable::NotTheApi { .. } | Unreachable::WrongPath
            if settings.base_url.path() != "/" =>
        {
            let seen = format!("there is no API below {}", settings.base_url);
            DoctorFinding::wrong(seen, OF_PAGE)
        }
        Unreachable::NotTheApi {
            status,
            is_html: true,
        } => DoctorFinding::wrong(
            format!(
                "a web page answers at {path} in place of the API (HTTP status {status}): a proxy, a login page or another site"
            ),
            "Let requests to the API pass the gateway before the wiki, or correct WIKI_BASE_URL.",
        ),
        Unreachable::NotTheApi {
            status,
            is_html: false,
        } => DoctorFinding::wrong(
            format!("what answers at {path} is not the API of Wiki.js (HTTP status {status})"),
            PATH,
        ),
        Unreachable::WrongPath => DoctorFinding::wrong(format!("there is no API at {path}"), PATH),
        Unreachable::Other(error) => DoctorFinding::wrong(
            error.to_string(),
            match error {
                WikiError::Timeout { .. } => {
                    "Find out why the wiki is slow, or raise WIKI_HTTP_TIMEOUT_MS."
                }
                WikiError::TurnedAway { .. } => {
                    "Let this machine's requests pass the gateway or firewall before the wiki."
                }
                WikiError::RateLimited { .. } => "Wait, or ask for a higher limit.",
                _ => "Look into the log of the wiki or of the gateway before it.",
            },
        ),
    }
}

fn tls(fault: TlsFault, host: &str) -> DoctorFinding {
    let (seen, todo) = match fault {
        TlsFault::UnknownIssuer => (
            "this system does not trust whoever issued the certificate; it may be self-signed"
                .to_owned(),
            "Name a file with the certificate's authority in WIKI_CA_FILE, or put it into the system's trust store.",
        ),
        TlsFault::Expired => (
            "the certificate has expired".to_owned(),
            "Have the wiki's certificate renewed.",
        ),
        TlsFault::NotYetValid => (
            "the certificate is not valid yet".to_owned(),
            "Look at this machine's clock, then at the certificate.",
        ),
        TlsFault::WrongHost => (
            format!("the certificate is not for {host}"),
            "Set WIKI_BASE_URL to a name that the certificate is for.",
        ),
        TlsFault::NotTls => (
            "what answers does not speak TLS".to_owned(),
            "Look at the port in WIKI_BASE_URL, or begin it with http:// if the wiki has no TLS.",
        ),
        TlsFault::Ended => (
            "what answers ended TLS: it may ask for a certificate, and got none that it takes"
                .to_owned(),
            "Name a certificate that it takes in WIKI_CLIENT_CERT_FILE, with WIKI_CLIENT_KEY_FILE.",
        ),
        TlsFault::Other => (
            "TLS failed".to_owned(),
            "Look at the wiki's certificate and the versions of TLS that it offers.",
        ),
    };
    DoctorFinding::wrong(seen, todo)
}
