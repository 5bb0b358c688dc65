//! Settings of the server over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::parse::{SettingError, Source};
use crate::server::http::Network;

/// Settings of the server over HTTP.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// Where it listens; standard input and output without it.
    pub address: Option<SocketAddr>,
    /// Names under which it is called, beside those of loopback.
    pub allowed_hosts: Vec<String>,
    /// Sites whose pages may call it from a browser.
    pub allowed_origins: Vec<String>,
    /// The file of named clients.
    pub tokens_file: Option<PathBuf>,
    /// Whether each caller brings a key of its own.
    pub has_caller_keys: bool,
    /// Proxies whose word on a caller's address counts.
    pub trusted_proxies: Vec<Network>,
    /// The most requests of a client in a minute.
    pub rate: u32,
    /// How long a person may think who is asked for one client alone.
    pub person_limit: Duration,
}

impl ServeSettings {
    /// Reads them from a source.
    ///
    /// # Errors
    /// The first setting that is bad.
    pub fn read(source: &Source<'_>) -> Result<Self, SettingError> {
        let address = source.filled("WIKI_SERVE_ADDRESS")?;
        let seconds = source.number("WIKI_PERSON_TIMEOUT_S", 50)?;
        Ok(Self {
            address: address.map(|text| address_of(&text)).transpose()?,
            allowed_hosts: list(source, "WIKI_SERVE_ALLOWED_HOSTS", host)?,
            allowed_origins: list(source, "WIKI_SERVE_ALLOWED_ORIGINS", origin)?,
            tokens_file: source.filled("WIKI_SERVE_TOKENS_FILE")?.map(PathBuf::from),
            has_caller_keys: source.flag("WIKI_SERVE_CALLER_KEYS", false)?,
            trusted_proxies: list(source, "WIKI_SERVE_TRUSTED_PROXIES", Network::parse)?,
            rate: source.number("WIKI_SERVE_RATE", 600)?,
            person_limit: Duration::from_secs(seconds.into()),
        })
    }
}

/// An address to listen at, as a setting or an argument has it.
///
/// # Errors
/// What is wrong.
pub fn address_of(text: &str) -> Result<SocketAddr, SettingError> {
    let allowed = "must be an address and a port, such as 127.0.0.1:8765";
    text.parse()
        .map_err(|_| SettingError::new("WIKI_SERVE_ADDRESS", allowed))
}

fn list<T>(
    source: &Source<'_>,
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
    is_host
        .then(|| text.to_owned())
        .ok_or_else(|| "must be a host such as wiki-mcp.example.com".to_owned())
}

fn origin(text: &str) -> Result<String, String> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(|url| url.origin().ascii_serialization())
        // A path or a slash behind would look as if it counted.
        .filter(|origin| origin.eq_ignore_ascii_case(text))
        .ok_or_else(|| "must be an origin such as https://app.example.com".to_owned())
}
