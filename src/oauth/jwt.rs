//! Takes a signed token (JWS in its compact form) apart, without believing any of it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::token_fault::TokenFault;

/// The most bytes of a token.
const MOST_BYTES: usize = 16 * 1024;

/// The head of a token. What else it says, such as the address of a key, is never followed.
#[derive(Debug, Deserialize)]
pub(super) struct JoseHeader {
    pub(super) alg: String,
    pub(super) kid: Option<String>,
    pub(super) typ: Option<String>,
    /// Extensions that whoever takes the token must understand: there are none here.
    crit: Option<Value>,
}

/// A token that nobody has verified yet.
#[derive(Debug)]
pub(super) struct SignedJwt<'a> {
    pub(super) header: JoseHeader,
    pub(super) claims: Map<String, Value>,
    /// The text that is signed.
    pub(super) message: &'a str,
    pub(super) signature: Vec<u8>,
}

impl<'a> SignedJwt<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Self, TokenFault> {
        if token.len() > MOST_BYTES {
            return Err(TokenFault::TooLarge);
        }
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        let read = || {
            let (message, signature) = token.rsplit_once('.')?;
            let (header, claims) = message.split_once('.')?;
            Some(Self {
                header: serde_json::from_slice(&decode(header)?).ok()?,
                claims: serde_json::from_slice(&decode(claims)?).ok()?,
                signature: decode(signature)?,
                message,
            })
        };
        let signed = read().ok_or(TokenFault::Malformed)?;
        if signed.header.crit.is_some() {
            return Err(TokenFault::Critical);
        }
        Ok(signed)
    }

    /// A claim that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    /// A claim that is a time, in seconds since 1970; it may have decimals.
    pub(super) fn time(&self, name: &str) -> Result<Option<i64>, TokenFault> {
        let Some(value) = self.claims.get(name) else {
            return Ok(None);
        };
        let whole = || {
            let seconds = std::time::Duration::try_from_secs_f64(value.as_f64()?).ok()?;
            i64::try_from(seconds.as_secs()).ok()
        };
        let seconds = value.as_i64().or_else(whole);
        seconds.map(Some).ok_or(TokenFault::Malformed)
    }

    /// True if it was made for this audience.
    pub(super) fn is_for(&self, audience: &str) -> bool {
        match self.claims.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(all)) => all.iter().any(|one| one == audience),
            _ => false,
        }
    }
}
