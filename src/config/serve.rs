//! Settings of the server over HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::collector::{CollectorSettings, collector};
use super::network::network;
use super::parse::SettingFaults;
use super::tls::{self, ServerTls};
use super::{AddressRange, SettingError, SettingsSource};
use crate::oauth::OauthSettings;
use crate::wiki::Network;

/// Settings of the server over HTTP.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// The address on which the server listens; `None` for standard input and output.
    pub address: Option<SocketAddr>,
    /// Host names of the server, beside those of loopback.
    pub allowed_hosts: Vec<String>,
    /// Web origins whose pages may call the server from a browser.
    pub allowed_origins: Vec<String>,
    /// The file of named clients.
    pub tokens_file: Option<PathBuf>,
    /// Its own TLS; without it, it speaks plain HTTP.
    pub tls: Option<ServerTls>,
    /// True if each caller brings a key of its own.
    pub has_caller_keys: bool,
    /// Proxies that are trusted to name a caller's address.
    pub trusted_proxies: Vec<AddressRange>,
    /// The most requests of a client in a minute.
    pub rate: u32,
    /// The time to wait for a person whose confirmation one client's own limits demand.
    pub person_limit: Duration,
    /// People's sign-in.
    pub oauth: Option<Arc<OauthSettings>>,
    /// The network between this program and their issuer.
    pub issuer_network: Network,
    /// The collector of spans.
    pub collector: Option<Box<CollectorSettings>>,
}

impl ServeSettings {
    /// Reads the settings from a source.
    ///
    /// # Errors
    /// The first setting that is bad.
    pub fn read(source: &SettingsSource<'_>) -> Result<Self, SettingError> {
        let mut faults = SettingFaults::new(source);
        let settings = Self::gather(&mut faults);
        settings.ok_or_else(|| faults.found.swap_remove(0))
    }

    /// Reads the settings; every bad one is among the faults.
    pub(super) fn gather(faults: &mut SettingFaults<'_>) -> Option<Self> {
        let source = faults.source;
        let seconds = faults.sift(source.number("WIKI_PERSON_TIMEOUT_S"));
        let asked_at = faults.sift(Self::asked_at(source));
        let allowed_hosts = faults.sift(list(source, "WIKI_SERVE_ALLOWED_HOSTS", host));
        let allowed_origins = faults.sift(list(source, "WIKI_SERVE_ALLOWED_ORIGINS", origin));
        let tokens_file = faults.sift(tokens_file(source));
        let tls = faults.sift(tls::server(source));
        let has_caller_keys = faults.sift(source.flag("WIKI_SERVE_CALLER_KEYS"));
        let proxies = list(source, "WIKI_SERVE_TRUSTED_PROXIES", AddressRange::parse);
        let trusted_proxies = faults.sift(proxies);
        let rate = faults.sift(source.number("WIKI_SERVE_RATE"));
        let issuer_network = faults.sift(issuer_network(source));
        let collector = faults.sift(collector(source));
        Some(Self {
            address: asked_at?.0,
            allowed_hosts: allowed_hosts?,
            allowed_origins: allowed_origins?,
            tokens_file: tokens_file?,
            tls: tls?,
            has_caller_keys: has_caller_keys?,
            trusted_proxies: trusted_proxies?,
            rate: rate?,
            person_limit: Duration::from_secs(seconds?.into()),
            issuer_network: issuer_network?,
            oauth: source.tables().oauth.map(Arc::new),
            collector: collector?.map(Box::new),
        })
    }

    /// The address of a server, and whether it speaks TLS, for a probe: no file is read.
    ///
    /// # Errors
    /// The setting that is bad.
    pub fn asked_at(
        source: &SettingsSource<'_>,
    ) -> Result<(Option<SocketAddr>, bool), SettingError> {
        let address = source.filled("WIKI_SERVE_ADDRESS")?;
        let address = address.map(|text| address_of(&text)).transpose()?;
        Ok((address, source.filled(tls::SERVER[0])?.is_some()))
    }

    /// The scheme by which it is called.
    pub const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

/// The network towards the issuer: proxy and authorities are those for the wiki.
fn issuer_network(source: &SettingsSource<'_>) -> Result<Network, SettingError> {
    let oauth = source.tables().oauth;
    let url = oauth.and_then(|oauth| OauthSettings::issuer_url(&oauth.issuer).ok());
    let Some(url) = url else {
        return Ok(Network::default());
    };
    // What there is to be warned of is said with the wiki's settings.
    network(&source.of_server(), Some(&url), &mut Vec::new())
}

/// The file of named clients, which must be there or not as `WIKI_SERVE_CLIENTS` says.
fn tokens_file(source: &SettingsSource<'_>) -> Result<Option<PathBuf>, SettingError> {
    const NAME: &str = "WIKI_SERVE_CLIENTS";
    let file = source.path("WIKI_SERVE_TOKENS_FILE")?;
    let fault = match (source.choice(NAME)?, &file) {
        (Some("named"), None) => {
            "is `named`: set WIKI_SERVE_TOKENS_FILE, and make a client with `wikijs-gate token new`"
        }
        (Some("anyone"), Some(_)) => {
            "is `anyone`, but WIKI_SERVE_TOKENS_FILE names who may call: leave one of the two out"
        }
        _ => return Ok(file),
    };
    Err(SettingError::new(NAME, fault))
}

/// An address to listen at, from a setting or an argument. A port alone, or with `localhost`, means
/// loopback.
///
/// # Errors
/// What is wrong.
pub fn address_of(text: &str) -> Result<SocketAddr, SettingError> {
    let allowed = "must be an address and a port, such as 127.0.0.1:8765";
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let of_port = || {
        let is_loopback = host.is_empty() || host.eq_ignore_ascii_case("localhost");
        let port = port.parse().ok().filter(|_| is_loopback)?;
        Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    };
    text.parse()
        .ok()
        .or_else(of_port)
        .ok_or_else(|| SettingError::new("WIKI_SERVE_ADDRESS", allowed))
}

fn list<T>(
    source: &SettingsSource<'_>,
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, SettingError> {
    let text = source.filled(name)?.unwrap_or_default();
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            parse(part)
                .map_err(|fault| SettingError::new(name, format!("has {part:?}, which {fault}")))
        })
        .collect()
}

fn host(text: &str) -> Result<String, String> {
    let is_host = text.parse::<axum::http::uri::Authority>().is_ok() && !text.contains('@');
    // A pattern would match nothing.
    (is_host && !text.contains('*'))
        .then(|| text.to_owned())
        .ok_or_else(|| "must be a host such as wiki-mcp.example.com".to_owned())
}

fn origin(text: &str) -> Result<String, String> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(|url| url.origin().ascii_serialization())
        // A path or trailing slash is refused: it would seem to matter, but does not.
        .filter(|origin| origin.eq_ignore_ascii_case(text))
        .ok_or_else(|| "must be an origin such as https://app.example.com".to_owned())
}

#[cfg(test)]
mod tests {
    use super::address_of;

    #[test]
    fn a_port_alone_or_of_localhost_is_loopbacks() {
        for (text, address) in [
            ("127.0.0.1:8765", "127.0.0.1:8765"),
            ("[::1]:8765", "[::1]:8765"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("localhost:8765", "127.0.0.1:8765"),
            (":8765", "127.0.0.1:8765"),
            ("8765", "127.0.0.1:8765"),
        ] {
            let read = address_of(text).map(|address| address.to_string());
            assert_eq!(read.ok().as_deref(), Some(address), "{text}");
        }
        for bad in [
            "",
            ":",
            "localhost",
            "wiki:8765",
            "99999",
            "127.0.0.1",
            "::1",
        ] {
            assert!(address_of(bad).is_err(), "{bad}");
        }
    }
}
