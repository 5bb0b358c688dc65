//! Keys that sign anchors: Ed25519.
//!
//! The signing key stands in a file of its own, as one line that scanners for secrets can know by
//! its beginning. The public key is a line as well, to be kept where the log is checked.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use super::super::{AuditError, AuditResult};
use crate::hex;

/// Prefix of a signing key's line.
const SECRET: &str = "wikijs-gate-audit-key:";
/// Prefix of a public key's line.
const PUBLIC: &str = "ed25519:";
/// Stands before all that is signed, so that a signature is good for an anchor and nothing else.
const DOMAIN: &[u8] = b"wikijs-gate anchor 1\n";

/// A key that signs anchors. Its secret part is shown nowhere.
pub struct SigningKey(Ed25519KeyPair);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no {0}")]
pub struct NotAKey(&'static str);

impl SigningKey {
    /// A new key, and the line of its file.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn generate() -> AuditResult<(Self, SecretString)> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|_| AuditError::Randomness)?;
        let pair =
            Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| AuditError::Randomness)?;
        let line = format!("{SECRET}{}", STANDARD.encode(seed));
        Ok((Self(pair), line.into()))
    }

    /// Reads the line of a key's file.
    ///
    /// # Errors
    /// If it is none; the message holds nothing of it.
    pub fn parse(line: &SecretString) -> Result<Self, NotAKey> {
        let not_a_key = NotAKey("signing key of `wikijs-gate audit key new`");
        let text = line.expose_secret().trim().strip_prefix(SECRET);
        let seed = STANDARD.decode(text.ok_or(not_a_key)?);
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed.map_err(|_| not_a_key)?);
        pair.map(Self).map_err(|_| not_a_key)
    }

    /// The key that its signatures are checked with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().as_ref().try_into().unwrap_or_default())
    }

    /// The signature of a text, in base64.
    pub(in crate::audit) fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.0.sign(&message(text)))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

/// A key that signatures are checked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Its id in anchors: the beginning of its SHA-256, 16 hex characters.
    pub fn id(&self) -> String {
        let digest = Sha256::digest(self.0);
        hex::encode(digest.get(..8).unwrap_or_default())
    }

    /// True if this key made the signature, in base64, of a text.
    pub(in crate::audit) fn verifies(&self, text: &str, signature: &str) -> bool {
        STANDARD.decode(signature).is_ok_and(|signature| {
            let key = UnparsedPublicKey::new(&ED25519, self.0);
            key.verify(&message(text), &signature).is_ok()
        })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let bytes = text.trim().strip_prefix(PUBLIC);
        let bytes = bytes.and_then(|text| STANDARD.decode(text).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or(NotAKey(
                "public key, as `wikijs-gate audit key show` prints it",
            ))
    }
}

fn message(text: &str) -> Vec<u8> {
    [DOMAIN, text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::{PublicKey, SigningKey};

    #[test]
    fn a_key_is_read_back_and_its_signature_holds_for_that_text_alone() {
        let (key, line) = SigningKey::generate().unwrap();
        let again = SigningKey::parse(&line).unwrap();
        assert_eq!(key.public(), again.public());
        let public: PublicKey = key.public().to_string().parse().unwrap();
        let signature = again.sign("text");
        assert!(public.verifies("text", &signature));
        assert!(!public.verifies("test", &signature));
        assert!(!public.verifies("text", "AAAA"));
        let (other, _) = SigningKey::generate().unwrap();
        assert!(!other.public().verifies("text", &signature));
        assert_ne!(other.public().id(), public.id());
        assert_eq!(public.id().len(), 16);
    }

    /// The first vector of RFC 8032 has another message; this is its key.
    #[test]
    fn the_public_key_is_that_of_the_standard() {
        let line = "wikijs-gate-audit-key:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
        let key = SigningKey::parse(&line.to_owned().into()).unwrap();
        assert_eq!(
            key.public().to_string(),
            "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
        );
    }

    #[test]
    fn neither_debug_nor_a_fault_shows_the_secret_part() {
        let line = "wikijs-gate-audit-key:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
        let key = SigningKey::parse(&line.to_owned().into()).unwrap();
        assert!(!format!("{key:?}").contains("nWGx"));
        for bad in [
            "nWGx",
            "wikijs-gate-audit-key:nWGx",
            "wikijs-gate-audit-key:*",
        ] {
            let fault = SigningKey::parse(&bad.to_owned().into()).unwrap_err();
            assert!(!fault.to_string().contains("nWGx"), "{fault}");
        }
    }
}
