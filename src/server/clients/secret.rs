//! Makes and checks the tokens of clients.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub(in crate::server) use crate::review::digest;
use crate::review::random;

/// The prefix of every token, so that a leaked one can be recognized.
pub const TOKEN_PREFIX: &str = "wjs_";
/// Its length.
const LENGTH: usize = 47;

/// A token as its client keeps it: 256 random bits. It is shown once and kept nowhere here.
pub struct ClientToken(String);

impl ClientToken {
    /// A new one.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn new() -> Result<Self, getrandom::Error> {
        random(TOKEN_PREFIX).map(Self)
    }

    /// True if a text has the form of one.
    pub(in crate::server) fn is_like(text: &str) -> bool {
        text.len() == LENGTH && text.starts_with(TOKEN_PREFIX)
    }

    /// Its text, for the one time that it is shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientToken")
    }
}

/// Compares two digests in constant time.
pub(in crate::server) fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// True if a text is a digest in hex.
pub(in crate::server) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The digest of something that counts until a time, as the tokens file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::server) struct Dated {
    /// SHA-256 in hex.
    sha256: String,
    /// In RFC 3339.
    ends: String,
}

impl Dated {
    pub(in crate::server) fn new(sha256: String, ends: OffsetDateTime) -> Self {
        let ends = ends.replace_nanosecond(0).unwrap_or(ends);
        Self {
            sha256,
            ends: ends.format(&Rfc3339).unwrap_or_default(),
        }
    }

    /// The digest in lower case, and the time until which it counts.
    pub(in crate::server) fn checked(&self) -> Result<(String, OffsetDateTime), String> {
        let ends = OffsetDateTime::parse(&self.ends, &Rfc3339);
        let ends = ends.map_err(|_| "ends must be a time in RFC 3339".to_owned())?;
        if !is_digest(&self.sha256) {
            return Err("sha256 must be 64 hex characters".to_owned());
        }
        Ok((self.sha256.to_lowercase(), ends))
    }
}

#[cfg(test)]
mod tests {
    use super::ClientToken;

    #[test]
    fn a_token_has_256_bits_and_never_shows() {
        let (token, other) = (
            ClientToken::new().expect("bits"),
            ClientToken::new().expect("bits"),
        );
        assert_ne!(token.reveal(), other.reveal());
        assert_eq!(token.reveal().len(), 4 + 43);
        assert!(ClientToken::is_like(token.reveal()) && !ClientToken::is_like("wjs_guess"));
        assert_eq!(format!("{token:?}"), "ClientToken");
    }
}
