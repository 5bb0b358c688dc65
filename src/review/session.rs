//! Knows a signed-in browser by the secret in its cookie.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::sign_ins::{SignInRecord, digest};

/// The session of a request.
pub(super) struct SignedIn {
    /// The name under which it is kept.
    pub name: String,
    /// The session as it was when the request came.
    pub kept: SignInRecord,
    /// The token in every form of the session.
    pub form_token: String,
    /// The key of tokens for single decisions; no page holds it.
    key: hmac::Key,
}

impl SignedIn {
    /// The session of a cookie. What its pages hold follows from the cookie, so any server knows it.
    pub(super) fn new(cookie: &str, kept: SignInRecord) -> Self {
        let own = hmac::Key::new(hmac::HMAC_SHA256, cookie.as_bytes());
        let secret = hmac::sign(&own, b"decisions");
        Self {
            name: digest(cookie),
            kept,
            form_token: URL_SAFE_NO_PAD.encode(hmac::sign(&own, b"forms")),
            key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()),
        }
    }

    /// True if a form carries this session's token.
    pub(super) fn is_own_form(&self, token: &str) -> bool {
        bool::from(self.form_token.as_bytes().ct_eq(token.as_bytes()))
    }

    /// The token of a form that makes one decision, bound to the session and to these words. Only
    /// the page with that form holds it.
    pub(super) fn token_for(&self, words: &[impl AsRef<str>]) -> String {
        let mut token = hmac::Context::with_key(&self.key);
        for word in words.iter().map(AsRef::as_ref) {
            // Lengths tell where one word ends and the next begins.
            token.update(&word.len().to_be_bytes());
            token.update(word.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(token.sign())
    }

    /// Tells whether a form carries the token for these words.
    pub(super) fn is_token_for(&self, words: &[impl AsRef<str>], token: &str) -> bool {
        let own = self.token_for(words);
        bool::from(own.as_bytes().ct_eq(token.as_bytes()))
    }
}

/// A word that tells one text from another.
pub(super) fn short_digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.get(..12).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::sign_ins::SignInRecord;
    use super::SignedIn;
    use crate::audit::ClientId;

    fn session(cookie: &str) -> SignedIn {
        let client = ClientId::new().unwrap();
        SignedIn::new(cookie, SignInRecord::by_link(client, "a", true))
    }

    #[test]
    fn every_server_knows_the_forms_of_a_cookie_and_of_no_other() {
        let (one, again, other) = (session("one"), session("one"), session("other"));
        assert!(again.is_own_form(&one.form_token));
        assert!(!other.is_own_form(&one.form_token) && !one.is_own_form(""));
        assert!(!one.name.contains("one"));
    }

    #[test]
    fn a_token_for_one_decision_is_of_its_session_and_its_words() {
        let (one, other) = (session("one"), session("other"));
        let token = one.token_for(&["delete", "ab", "c"]);
        assert!(session("one").is_token_for(&["delete", "ab", "c"], &token));
        assert!(!one.is_token_for(&["delete", "a", "bc"], &token));
        assert!(!one.is_token_for(&["undo", "ab", "c"], &token));
        assert!(!one.is_token_for(&["delete", "ab", "c"], ""));
        assert!(!other.is_token_for(&["delete", "ab", "c"], &token));
        assert_ne!(token, one.form_token);
    }
}
