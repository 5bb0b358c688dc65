//! Asks a peer server for what it remembers, by its ordinary MCP door.

use std::time::Duration;

use futures_util::future::OptionFuture;
use reqwest::header::{ACCEPT, HeaderMap};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use url::Url;

use super::{ExchangeMessage, ExchangeReply, MemoryError};
use crate::store::SecretSource;
use crate::wiki::{Network, fetch, http_client, is_safe_place};

/// The tool that exchanges memories, there as here.
const TOOL: &str = "wikijs_sync_site";
/// The longest wait for one answer.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const MOST_BYTES: usize = 2 << 20;
/// The longest code of an error that is repeated.
const LONGEST_CODE: usize = 40;

/// The server with which a site's memories are exchanged.
#[derive(Debug)]
pub struct MemoryPeer {
    address: Url,
    token: Option<SecretSource>,
}

impl MemoryPeer {
    /// The server at this address of MCP, and the token of a client that it has for this one.
    ///
    /// # Errors
    /// The fault of the address, as the end of a sentence that repeats nothing of it.
    pub fn new(address: &str, token: Option<SecretSource>) -> Result<Self, &'static str> {
        let address = Url::parse(address).ok().filter(is_safe_place).ok_or(
            "must be the address of a server's MCP, such as https://office.example.com/mcp/docs, by https or on this machine, without a user, a password or a query",
        )?;
        Ok(Self { address, token })
    }

    /// The name of its host.
    pub fn host(&self) -> &str {
        self.address.host_str().unwrap_or_default()
    }

    /// Sends a message; the authorities of the wiki's network may vouch for the server.
    ///
    /// # Errors
    /// [`MemoryError::Peer`], which repeats nothing that the peer said but the code of an error.
    pub async fn ask(
        &self,
        network: &Network,
        message: &ExchangeMessage,
    ) -> Result<ExchangeReply, MemoryError> {
        let answer = self.call(network, message);
        answer.await.map_err(MemoryError::Peer)
    }

    async fn call(
        &self,
        network: &Network,
        message: &ExchangeMessage,
    ) -> Result<ExchangeReply, String> {
        let token = OptionFuture::from(self.token.as_ref().map(SecretSource::load)).await;
        let token = token
            .transpose()
            .map_err(|why| format!("its token {why}"))?;
        let network = Network {
            headers: HeaderMap::new(),
            certificate: None,
            proxy: None,
            ..network.clone()
        };
        let message = serde_json::to_string(message).map_err(|_| "it cannot be written to")?;
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": TOOL, "arguments": { "memories": message } } });
        let mut request = http_client(&self.address, &network)?
            .post(self.address.clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .timeout(LONGEST_WAIT)
            .json(&call);
        if let Some(token) = token {
            request = request.bearer_auth(token.expose_secret());
        }
        let (status, body) = fetch(request, MOST_BYTES).await?;
        if matches!(status.as_u16(), 401 | 403) {
            return Err(format!("it does not take the token ({})", status.as_u16()));
        }
        let mut answer: Value = serde_json::from_slice(&body)
            .map_err(|_| format!("it answered {} and no MCP message", status.as_u16()))?;
        if let Some(code) = answer.pointer("/result/_meta/error/code") {
            let is_code = |text: &&str| {
                let mut letters = text.bytes();
                text.len() <= LONGEST_CODE && letters.all(|c| c.is_ascii_uppercase() || c == b'_')
            };
            let code = code.as_str().filter(is_code).unwrap_or("an error");
            return Err(format!("it refused with {code}"));
        }
        let reply = answer.pointer_mut("/result/structuredContent/memories");
        let reply = reply
            .ok_or("it offers this client no exchange: that takes its toolsets sites and memory")?;
        serde_json::from_value(reply.take()).map_err(|_| "its answer cannot be read".to_owned())
    }
}
