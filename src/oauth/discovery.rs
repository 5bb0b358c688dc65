//! Fetches what an issuer says about itself and its keys: bounded, and nowhere but where it says.
#![expect(
    clippy::disallowed_types,
    reason = "the issuer's addresses, never the wiki's"
)]

use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode};
use serde::{Deserialize, Deserializer, de};
use url::Url;

use super::keys::KeySet;
use crate::wiki::{Network, fetch, http_client, is_safe};

/// The most bytes of an answer.
const MOST_BYTES: usize = 256 * 1024;

/// The parts of an issuer's document that are used; every address is https, or http on loopback.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IssuerDocument {
    issuer: String,
    #[serde(deserialize_with = "safe")]
    jwks_uri: Url,
    /// The address to which a browser is sent to sign in.
    #[serde(default, deserialize_with = "some_safe")]
    pub authorization_endpoint: Option<Url>,
    /// The address where a code is exchanged for tokens.
    #[serde(default, deserialize_with = "some_safe")]
    pub token_endpoint: Option<Url>,
    /// The address to which a browser is sent to sign out.
    #[serde(default, deserialize_with = "some_safe")]
    pub end_session_endpoint: Option<Url>,
    /// The address where tokens are taken back (RFC 7009).
    #[serde(default, deserialize_with = "some_safe")]
    pub revocation_endpoint: Option<Url>,
    /// The scopes that it knows, if it says so.
    #[serde(default)]
    pub scopes_supported: Vec<String>,
    /// True if its answers to browsers name it (`iss`, RFC 9207).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

impl IssuerDocument {
    /// True if keys and secrets go by TLS alone.
    fn is_by_tls(&self) -> bool {
        let ends = [
            &self.authorization_endpoint,
            &self.token_endpoint,
            &self.revocation_endpoint,
        ];
        let mut all = ends.into_iter().flatten().chain([&self.jwks_uri]);
        all.all(|url| url.scheme() == "https")
    }
}

/// HTTP to an issuer.
#[derive(Debug)]
pub(super) struct IssuerHttp {
    client: Client,
    timeout: Duration,
}

impl IssuerHttp {
    pub(super) fn new(issuer: &Url, network: &Network, timeout: Duration) -> Result<Self, String> {
        // Headers for the gateway before the wiki are not the issuer's to see.
        let network = Network {
            headers: reqwest::header::HeaderMap::new(),
            ..network.clone()
        };
        let client = http_client(issuer, &network)?;
        Ok(Self { client, timeout })
    }

    /// A request by POST.
    pub(super) fn post(&self, url: &Url) -> RequestBuilder {
        self.client.post(url.clone())
    }

    /// Sends a request; the status and the body, which is bounded. Redirects are not followed. The fault says
    /// nothing of the request.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        fetch(request.timeout(self.timeout), MOST_BYTES).await
    }

    async fn get(&self, url: Url) -> Result<Vec<u8>, String> {
        let (status, body) = self.send(self.client.get(url)).await?;
        (status == StatusCode::OK)
            .then_some(body)
            .ok_or_else(|| format!("it answered {}", status.as_u16()))
    }

    /// The issuer's document, by either of its well-known addresses, and its keys.
    pub(super) async fn discover(&self, issuer: &str) -> Result<(IssuerDocument, KeySet), String> {
        let bare = issuer.trim_end_matches('/');
        let url = Url::parse(&format!("{bare}/.well-known/openid-configuration"));
        let mut url = url.map_err(|_| "its address is invalid".to_owned())?;
        let document = match self.get(url.clone()).await {
            Ok(document) => document,
            Err(fault) => {
                let path = Url::parse(bare).map(|url| url.path().trim_end_matches('/').to_owned());
                let path = path.unwrap_or_default();
                url.set_path(&format!("/.well-known/oauth-authorization-server{path}"));
                self.get(url).await.map_err(|_| fault)?
            }
        };
        let document: IssuerDocument = serde_json::from_slice(&document).map_err(|error| {
            // What it quotes is the issuer's, and of any length.
            let why: String = error.to_string().chars().take(160).collect();
            format!("its document is not that of an issuer: {why}")
        })?;
        if document.issuer != issuer {
            return Err(
                "its document names another issuer; oauth.issuer must be the same to the letter"
                    .to_owned(),
            );
        }
        if bare.starts_with("https:") && !document.is_by_tls() {
            return Err("its document names addresses of this machine".to_owned());
        }
        let keys = self.get(document.jwks_uri.clone()).await;
        let keys = keys.map_err(|fault| format!("its keys cannot be fetched: {fault}"))?;
        Ok((document, KeySet::parse(&keys)?))
    }
}

/// An address by which secrets and keys may travel.
fn safe<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    checked(&String::deserialize(deserializer)?)
}

fn some_safe<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| checked(&text)).transpose()
}

fn checked<E: de::Error>(text: &str) -> Result<Url, E> {
    let url = Url::parse(text).ok().filter(is_safe);
    url.ok_or_else(|| E::custom("an address in it is neither https nor on loopback"))
}
