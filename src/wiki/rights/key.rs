//! The wiki's API key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::audit::KeyDigest;
use crate::words::words;

words! {
    /// The setting that a key comes from.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum KeySetting: name, ALL {
        /// The key itself.
        #[default]
        Token = "WIKI_API_TOKEN",
        /// A file that holds it.
        File = "WIKI_API_TOKEN_FILE",
        /// A command that prints it.
        Command = "WIKI_TOKEN_COMMAND",
    }
}

impl KeySetting {
    /// Advice on installing a new key; `name` is the setting's name in the place where it is set.
    pub fn place(self, name: &str) -> String {
        match self {
            Self::Token => format!("set it as {name}"),
            Self::File => format!("put it into the file that {name} names"),
            Self::Command => format!("have {name} print it"),
        }
    }

    /// Advice that names this setting, out of advice that names the usual one.
    pub fn named_in(self, advice: &str) -> String {
        let usual = Self::Token.name();
        advice
            .replace(&Self::Token.place(usual), &self.place(self.name()))
            .replace(&format!("{usual} "), &format!("{} ", self.name()))
    }
}

/// An API key. Its text never shows: not in `Debug`, not in an error, not in a log.
#[derive(Debug, Clone)]
pub struct ApiKey {
    secret: SecretString,
    /// The time at which the key expires or expired, according to itself (W4).
    pub expires: Option<OffsetDateTime>,
    /// True if the text has the form of a Wiki.js key at all.
    pub is_jwt: bool,
    /// True if the key says of itself that it has full access (W4).
    pub is_full_access: bool,
    /// The setting that it comes from.
    pub setting: KeySetting,
}

#[derive(Deserialize)]
struct Claims {
    exp: Option<i64>,
    grp: Option<i64>,
}

/// The group of full access (W4).
const ADMINISTRATORS: i64 = 1;

impl ApiKey {
    /// Takes a key and reads its own expiry from it (W4).
    pub fn new(secret: SecretString) -> Self {
        let claims = claims(secret.expose_secret());
        Self {
            is_jwt: claims.is_some(),
            is_full_access: claims.as_ref().and_then(|claims| claims.grp) == Some(ADMINISTRATORS),
            expires: claims
                .and_then(|claims| claims.exp)
                .and_then(|exp| OffsetDateTime::from_unix_timestamp(exp).ok()),
            secret,
            setting: KeySetting::default(),
        }
    }

    /// The same key, from this setting.
    #[must_use]
    pub fn of_setting(self, setting: KeySetting) -> Self {
        Self { setting, ..self }
    }

    /// The time at which the key expired, in RFC 3339, if it has.
    pub fn expired_at(&self) -> Option<String> {
        self.expires
            .filter(|expires| *expires <= OffsetDateTime::now_utc())
            .and_then(|expires| expires.format(&Rfc3339).ok())
    }

    /// True if the key has expired, according to itself and our clock.
    pub fn has_expired(&self) -> bool {
        self.left().is_some_and(|left| !left.is_positive())
    }

    /// The time until the key expires, according to itself; negative if it has expired.
    pub fn left(&self) -> Option<time::Duration> {
        Some(self.expires? - OffsetDateTime::now_utc())
    }

    /// Its text, for searching places where it must not be.
    pub fn expose(&self) -> &str {
        self.secret.expose_secret()
    }

    /// A digest that distinguishes keys; the key cannot be recovered from it.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.secret.expose_secret()).into()
    }

    /// The digest of the key that goes on record.
    pub fn digest_on_record(&self) -> KeyDigest {
        KeyDigest::new(&self.digest())
    }

    pub(in crate::wiki) fn authorization(&self) -> String {
        format!("Bearer {}", self.secret.expose_secret())
    }
}

/// A time to come in words: days; less than two of them in hours, less than two hours in minutes.
pub fn in_words(left: time::Duration) -> String {
    let (number, unit) = match (left.whole_days(), left.whole_hours(), left.whole_minutes()) {
        (days @ 2.., _, _) => (days, "day"),
        (_, hours @ 2.., _) => (hours, "hour"),
        (_, _, minutes @ 1..) => (minutes, "minute"),
        _ => return "less than a minute".to_owned(),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

fn claims(key: &str) -> Option<Claims> {
    let mut parts = key.split('.');
    let (_header, payload, _signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&payload).ok()
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, KeySetting, in_words};

    #[test]
    fn advice_names_the_setting_in_use() {
        let advice = "Have a new key made and set it as WIKI_API_TOKEN. WIKI_API_TOKEN holds none.";
        for (setting, told) in [
            (KeySetting::Token, advice),
            (
                KeySetting::File,
                "Have a new key made and put it into the file that WIKI_API_TOKEN_FILE names. \
                 WIKI_API_TOKEN_FILE holds none.",
            ),
            (
                KeySetting::Command,
                "Have a new key made and have WIKI_TOKEN_COMMAND print it. \
                 WIKI_TOKEN_COMMAND holds none.",
            ),
        ] {
            assert_eq!(setting.named_in(advice), told);
        }
    }

    #[test]
    fn a_time_to_come_is_never_0_days() {
        for (seconds, words) in [
            (10, "less than a minute"),
            (60, "1 minute"),
            (7_199, "119 minutes"),
            (7_200, "2 hours"),
            (86_399, "23 hours"),
            (86_400, "24 hours"),
            (172_800, "2 days"),
            (2_592_000, "30 days"),
        ] {
            assert_eq!(in_words(time::Duration::seconds(seconds)), words);
        }
    }

    #[test]
    fn the_expiry_is_read_from_the_key_itself() {
        // {"api":1,"exp":1000000000} and {"api":1,"exp":32503680000}
        let old = ApiKey::new("e30.eyJhcGkiOjEsImV4cCI6MTAwMDAwMDAwMH0.sig".into());
        assert_eq!(old.expired_at().as_deref(), Some("2001-09-09T01:46:40Z"));
        let new = ApiKey::new("e30.eyJhcGkiOjEsImV4cCI6MzI1MDM2ODAwMDB9.sig".into());
        assert!(new.is_jwt && new.expired_at().is_none());
    }

    #[test]
    fn any_other_string_is_no_key_but_is_taken() {
        for text in ["", "abc", "a.b", "a.b.c.d", "e30.!!.x"] {
            assert!(!ApiKey::new(text.into()).is_jwt, "{text}");
        }
    }

    #[test]
    fn the_key_never_shows_in_debug() {
        let shown = format!("{:?}", ApiKey::new("very-secret".into()));
        assert!(!shown.contains("very-secret"), "{shown}");
    }
}
