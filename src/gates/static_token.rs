//! Keeps the operator's static token, and compares guesses with it.

use std::sync::Arc;
use std::time::Instant;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::guesses::{Guesses, Missed};
use super::session::SessionId;

/// The operator's static token. Its text is never shown. Wrong guesses are counted for all keys and
/// sessions of one server.
#[derive(Debug, Clone)]
pub struct StaticToken {
    token: SecretString,
    guesses: Arc<Guesses>,
}

/// Two are equal if their texts are; compared in constant time.
impl PartialEq for StaticToken {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.expose())
    }
}

impl Eq for StaticToken {}

impl StaticToken {
    /// The fewest characters of a token: fewer can be guessed.
    const FEWEST: usize = 16;

    /// Takes a token that cannot be guessed.
    ///
    /// # Errors
    /// One fragment about the token, without its text.
    pub fn new(token: SecretString) -> Result<Self, String> {
        if token.expose_secret().chars().count() < Self::FEWEST {
            return Err(format!(
                "must have at least {} characters, so that it cannot be guessed",
                Self::FEWEST
            ));
        }
        Ok(Self {
            token,
            guesses: Arc::default(),
        })
    }

    /// Checks a given token, unless its guesser gave too many wrong ones before.
    pub(super) fn check(&self, of: &SessionId, given: &str) -> Result<(), Missed> {
        let is_right = || self.matches(given);
        self.guesses.look(Instant::now(), of, is_right)
    }

    /// Its text, to search for it where it must not appear.
    pub fn expose(&self) -> &str {
        self.token.expose_secret()
    }

    /// True if it is the token; compares in constant time, the length included.
    pub fn matches(&self, given: &str) -> bool {
        let digest = |text: &str| Sha256::digest(text.as_bytes());
        digest(self.token.expose_secret())
            .as_slice()
            .ct_eq(digest(given).as_slice())
            .into()
    }

    /// The number of wrong guesses.
    pub(super) fn wrong(&self) -> u64 {
        self.guesses.wrong.get()
    }
}

#[cfg(test)]
mod tests {
    use super::StaticToken;
    use crate::gates::SessionId;

    const TOKEN: &str = "open sesame, please";

    #[test]
    fn wrong_static_tokens_are_counted() {
        let token = StaticToken::new(TOKEN.into()).expect("long");
        let session = SessionId::new("s");
        for _ in 0..2 {
            assert!(token.check(&session, "wrong").is_err());
        }
        assert!(token.check(&session, TOKEN).is_ok());
        assert_eq!(token.wrong(), 2);
        assert_eq!(token.expose(), TOKEN);
    }

    #[test]
    fn a_static_token_that_can_be_guessed_is_refused() {
        assert!(StaticToken::new("fifteen letters".into()).is_err());
        assert!(StaticToken::new("sixteen  letters".into()).is_ok());
    }
}
