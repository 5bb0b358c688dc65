//! Seals what a browser or a file keeps for this server, so that nobody else can read or make it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use crate::config::read_secret;
use crate::hex;
use crate::oauth::OauthSettings;

/// The least characters of a secret that a key is made from.
const LEAST: usize = 32;

/// A key, and the id by which what it sealed is known.
#[derive(Debug)]
pub(super) struct Seal {
    key: LessSafeKey,
    pub(super) id: String,
}

/// The secret of the review page as a client of the issuer, if it has one.
///
/// # Errors
/// One sentence about its file.
pub(super) fn page_secret(settings: &OauthSettings) -> Result<Option<SecretString>, String> {
    let read = |path| {
        let secret = read_secret(path);
        let secret =
            secret.map_err(|fault| format!("review_secret_file names a file that {fault}"))?;
        Ok(secret.expose_secret().trim().to_owned().into())
    };
    settings.review_secret_file.as_deref().map(read).transpose()
}

impl Seal {
    /// The key of the settings' file; without one, that of a secret of this process.
    ///
    /// # Errors
    /// One sentence about the file.
    pub(super) fn of_settings(
        settings: &OauthSettings,
        own: &SecretString,
    ) -> Result<Self, String> {
        let Some(path) = settings.review_key_file.as_deref() else {
            return Self::new(own).map_err(str::to_owned);
        };
        let secret = read_secret(path);
        let seal = secret.and_then(|secret| Self::new(&secret).map_err(str::to_owned));
        seal.map_err(|fault| format!("review_key_file names a file that {fault}"))
    }

    /// The key of a secret.
    pub(super) fn new(secret: &SecretString) -> Result<Self, &'static str> {
        let secret = secret.expose_secret().trim();
        if secret.len() < LEAST {
            return Err(
                "must hold at least 32 random characters, such as those of `openssl rand -base64 32`",
            );
        }
        let made = |what: &str| Sha256::digest(format!("wikijs-gate review {what}\0{secret}"));
        let key = UnboundKey::new(&AES_256_GCM, &made("key")).map_err(|_| "makes no key")?;
        let id = made("id");
        Ok(Self {
            key: LessSafeKey::new(key),
            id: hex::encode(id.get(..8).unwrap_or_default()),
        })
    }

    /// Seals a text for a purpose; it is opened for no other.
    pub(super) fn seal(&self, purpose: &str, text: &str) -> Result<String, &'static str> {
        let failed = "the system gave no random numbers";
        let mut nonce = [0_u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| failed)?;
        let mut bytes = text.as_bytes().to_vec();
        let (own, aad) = (Nonce::assume_unique_for_key(nonce), Aad::from(purpose));
        self.key
            .seal_in_place_append_tag(own, aad, &mut bytes)
            .map_err(|_| "it is too long to be sealed")?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat()))
    }

    /// Opens what was sealed for a purpose.
    pub(super) fn open(&self, purpose: &str, sealed: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, bytes) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let (own, mut bytes) = (Nonce::assume_unique_for_key(*nonce), bytes.to_vec());
        let opened = self.key.open_in_place(own, Aad::from(purpose), &mut bytes);
        String::from_utf8(opened.ok()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Seal;

    #[test]
    fn what_is_sealed_opens_for_its_purpose_by_its_key_and_as_it_was() {
        let seal = Seal::new(&"a".repeat(32).into()).unwrap();
        let other = Seal::new(&"b".repeat(32).into()).unwrap();
        let sealed = seal.seal("x", "text").unwrap();
        assert_eq!(seal.open("x", &sealed).as_deref(), Some("text"));
        assert_eq!(seal.open("y", &sealed), None);
        assert_eq!(other.open("x", &sealed), None);
        assert_ne!(seal.id, other.id);
        assert_ne!(seal.seal("x", "text").unwrap(), sealed);
        for bad in [
            "",
            "x",
            "AAAA",
            sealed.get(1..).unwrap(),
            &format!("{sealed}AA"),
        ] {
            assert_eq!(seal.open("x", bad), None, "{bad}");
        }
        assert!(Seal::new(&"a".repeat(31).into()).is_err());
        assert!(!format!("{seal:?}").contains("aaa"));
    }
}
