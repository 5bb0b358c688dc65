//! Makes and checks the secrets of clients: a token with each request, or once the secret of a
//! link.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::hex;

/// The prefix of every token, so that a leaked one can be recognized.
pub const TOKEN_PREFIX: &str = "wjs_";
/// Prefix of the secret of every sign-in link.
pub const LINK_PREFIX: &str = "wjl_";
/// Length of both.
const LENGTH: usize = 47;

macro_rules! secrets {
    ($($(#[$doc:meta])* $name:ident $prefix:ident shown as $shown:literal;)*) => {$(
        $(#[$doc])*
        pub struct $name(String);

        impl $name {
            /// A new one.
            ///
            /// # Errors
            /// If the system gives no random numbers.
            pub fn new() -> Result<Self, getrandom::Error> {
                random($prefix).map(Self)
            }

            /// True if a text has the form of one.
            pub(in crate::server) fn is_like(text: &str) -> bool {
                text.len() == LENGTH && text.starts_with($prefix)
            }

            /// Its text, for the one time that it is shown.
            #[must_use]
            pub fn reveal(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($shown)
            }
        }
    )*};
}

secrets! {
    /// A token as its client keeps it: 256 random bits. It is shown once and kept nowhere here.
    ClientToken TOKEN_PREFIX shown as "Token";
    /// The secret of a link that signs a person in once: 256 random bits.
    LinkSecret LINK_PREFIX shown as "LinkSecret";
}

/// 256 random bits as text behind a prefix.
pub(in crate::server) fn random(prefix: &str) -> Result<String, getrandom::Error> {
    let mut bits = [0u8; 32];
    getrandom::fill(&mut bits)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bits)))
}

/// SHA-256 in hex. Digests are compared, which have one length, in constant time.
pub(in crate::server) fn digest(secret: &str) -> String {
    hex::encode(&Sha256::digest(secret.as_bytes()))
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

    /// True if it is of the secret with this digest, and still valid.
    pub(in crate::server) fn counts_for(&self, digest: &str) -> bool {
        self.checked()
            .is_ok_and(|(own, ends)| is_same(&own, digest) && ends > OffsetDateTime::now_utc())
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, OffsetDateTime};

    use super::{ClientToken, Dated, LinkSecret, digest};

    #[test]
    fn secrets_have_256_bits_tell_their_kind_and_never_show() {
        let (token, other) = (
            ClientToken::new().expect("bits"),
            ClientToken::new().expect("bits"),
        );
        let link = LinkSecret::new().expect("bits");
        assert_ne!(token.reveal(), other.reveal());
        assert_eq!(
            (token.reveal().len(), link.reveal().len()),
            (4 + 43, 4 + 43)
        );
        assert!(LinkSecret::is_like(link.reveal()) && !LinkSecret::is_like(token.reveal()));
        assert!(ClientToken::is_like(token.reveal()) && !ClientToken::is_like(link.reveal()));
        let shown = format!("{token:?} {link:?}");
        assert_eq!(shown, "Token LinkSecret");
    }

    #[test]
    fn what_is_dated_counts_for_its_own_secret_until_its_end() {
        let now = OffsetDateTime::now_utc();
        let until = |ends| Dated::new(digest("secret"), ends);
        assert!(until(now + Duration::MINUTE).counts_for(&digest("secret")));
        assert!(!until(now + Duration::MINUTE).counts_for(&digest("other")));
        assert!(!until(now - Duration::MINUTE).counts_for(&digest("secret")));
    }
}
