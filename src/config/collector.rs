//! Reads where spans go: OpenTelemetry's own name, and a file of headers.

use reqwest::header::HeaderMap;
use secrecy::ExposeSecret as _;
use url::Url;

use super::network::network;
use super::{SettingError, SettingsSource, read_secret};
use crate::wiki::{Network, header_lines};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "WIKI_OTLP_HEADERS_FILE";

/// The collector of spans.
#[derive(Debug, Clone)]
pub struct CollectorSettings {
    /// The address that takes traces.
    pub traces: Url,
    /// Headers of each request; their values are secrets.
    pub headers: HeaderMap,
    /// The network between this program and the collector.
    pub network: Network,
}

/// The collector, if one is set.
///
/// # Errors
/// The setting that is bad, or that names a bad file.
pub(super) fn collector(
    source: &SettingsSource<'_>,
) -> Result<Option<CollectorSettings>, SettingError> {
    let source = source.of_server();
    // By OpenTelemetry's rules an empty value is none.
    let endpoint = source.text(ENDPOINT)?.unwrap_or_default();
    let endpoint = endpoint.trim().trim_end_matches('/');
    let file = source.filled(HEADERS)?;
    if endpoint.is_empty() {
        return Ok(None);
    }
    let traces = Url::parse(&format!("{endpoint}/v1/traces")).ok();
    let traces = traces.filter(|url| matches!(url.scheme(), "http" | "https"));
    let traces = traces.ok_or_else(|| {
        let fault = "must be an address such as http://collector.example.com:4318";
        SettingError::new(ENDPOINT, fault)
    })?;
    let read = |path: String| {
        let text = read_secret(path.as_ref());
        let text = text.map_err(|fault| format!("names a file that {fault}"));
        let is_taken = |name: &str| matches!(name, "content-type" | "content-length" | "host");
        let read = text.and_then(|text| header_lines(text.expose_secret(), is_taken));
        read.map_err(|fault| SettingError::new(HEADERS, fault))
    };
    Ok(Some(CollectorSettings {
        headers: file.map(read).transpose()?.unwrap_or_default(),
        network: network(&source, Some(&traces), &mut Vec::new())?,
        traces,
    }))
}
