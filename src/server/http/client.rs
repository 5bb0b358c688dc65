//! A named client: its token, known by its digest alone, and what it may do less than the
//! server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::visit::Rights;
use crate::audit::{ClientId, to_hex};
use crate::gates::Narrowing;
use crate::page::{Prefix, ReadRule};

/// How every token begins, so that one that was lost somewhere is known for what it is.
pub const TOKEN_PREFIX: &str = "wjs_";

/// A token as its client keeps it: 256 random bits. It is shown once and kept nowhere here.
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bits = [0u8; 32];
        getrandom::fill(&mut bits)?;
        Ok(Self(format!(
            "{TOKEN_PREFIX}{}",
            URL_SAFE_NO_PAD.encode(bits)
        )))
    }

    /// Its text, for the one time that it is shown.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// What a client may do less than the server. The default takes nothing away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Grant {
    /// It is offered no tool that writes.
    #[serde(skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// The only tools that it is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The only prefixes below which it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Vec<String>>,
    /// The only prefixes below which it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_prefixes: Option<Vec<String>>,
    /// The prefixes below which it does not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_read_prefixes: Option<Vec<String>>,
    /// The tags with which it reads no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_read_tags: Option<Vec<String>>,
    /// Its writes end as previews.
    #[serde(skip_serializing_if = "is_false")]
    pub dry_run: bool,
    /// `person`: a person says yes to each of its writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ClientConfirm>,
    /// How many requests a minute it may send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// When it ends, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// How a client's writes are confirmed, where that is its own rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientConfirm {
    /// By a person.
    Person,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A client as the tokens file has it: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedClient {
    /// Its id, which outlives its name and its token, and to which proposals and writes belong.
    /// Lines that were made before there were ids have none; see [`NamedClient::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<ClientId>,
    /// Its name, under which its calls are on record.
    pub name: String,
    /// SHA-256 of its token, in hex.
    sha256: String,
    /// When it was made, in RFC 3339.
    pub created: String,
    /// What it may do less than the server.
    pub may: Grant,
}

impl NamedClient {
    /// A client whose token this is.
    ///
    /// # Errors
    /// One sentence about the name, or what is granted.
    pub fn new(name: &str, token: &Token, may: Grant) -> Result<Self, String> {
        let now = OffsetDateTime::now_utc().replace_nanosecond(0).ok();
        let id = ClientId::new().map_err(|error| error.to_string())?;
        let client = Self {
            id: Some(id),
            name: name.to_owned(),
            sha256: digest(token.reveal()),
            created: now
                .and_then(|now| now.format(&Rfc3339).ok())
                .unwrap_or_default(),
            may,
        };
        client.checked(Duration::ZERO)?;
        Ok(client)
    }

    /// When it ends, if it does.
    ///
    /// # Errors
    /// One sentence.
    pub fn expires(&self) -> Result<Option<OffsetDateTime>, String> {
        let date = |text: &String| {
            OffsetDateTime::parse(text, &Rfc3339)
                .map_err(|_| "expires must be a time in RFC 3339".to_owned())
        };
        self.may.expires.as_ref().map(date).transpose()
    }

    /// Its id; where its line has none, one that is made of its name and its token, and so is the
    /// same as long as both are.
    #[must_use]
    pub fn id(&self) -> ClientId {
        let derived =
            || ClientId::derived(&format!("{}#{}", self.name, self.sha256.to_lowercase()));
        self.id.unwrap_or_else(derived)
    }

    /// The client as the server takes it; `thinking` is the time that a person has.
    pub(super) fn checked(&self, thinking: Duration) -> Result<KnownClient, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !(1..=64).contains(&self.name.len()) || !self.name.chars().all(is_plain) {
            return Err(
                "a name is 1 to 64 letters, digits, hyphens, dots and underscores".to_owned(),
            );
        }
        if self.sha256.len() != 64 || !self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("sha256 must be 64 hex characters".to_owned());
        }
        if self.may.rate == Some(0) {
            return Err("a rate is at least 1 a minute".to_owned());
        }
        let narrowing = Narrowing {
            is_read_only: self.may.read_only,
            is_dry_run: self.may.dry_run,
            person: self.may.confirm.map(|ClientConfirm::Person| thinking),
            prefixes: prefixes(self.may.prefixes.as_deref())?,
            reads: self.may.reads()?,
        };
        Ok(KnownClient {
            id: self.id(),
            name: self.name.clone(),
            // Two clients of one name, one after the other, share nothing.
            identity: format!("{}#{}", self.name, self.id()),
            sha256: self.sha256.to_lowercase(),
            expires: self.expires()?,
            rate: self.may.rate,
            rights: Rights {
                narrowing: Arc::new(narrowing),
                tools: self.may.tools.clone().map(Into::into),
            },
        })
    }
}

fn prefixes(texts: Option<&[String]>) -> Result<Option<Vec<Prefix>>, String> {
    let parsed = texts.map(|texts| texts.iter().map(|text| Prefix::parse(text)).collect());
    parsed
        .transpose()
        .map_err(|fault: String| format!("a prefix {fault}"))
}

impl Grant {
    /// What it lets a client read.
    fn reads(&self) -> Result<ReadRule, String> {
        let tags = self.denied_read_tags.as_deref().unwrap_or_default();
        if tags.iter().any(|tag| tag.trim().is_empty()) {
            return Err("a denied tag must not be empty".to_owned());
        }
        Ok(ReadRule::new(
            prefixes(self.read_prefixes.as_deref())?,
            prefixes(self.denied_read_prefixes.as_deref())?.unwrap_or_default(),
            tags,
        ))
    }
}

/// A client as the server takes it.
#[derive(Debug)]
pub(super) struct KnownClient {
    pub(super) id: ClientId,
    pub(super) name: String,
    /// What its sessions and previews belong to.
    pub(super) identity: String,
    sha256: String,
    expires: Option<OffsetDateTime>,
    pub(super) rate: Option<u32>,
    pub(super) rights: Rights,
}

impl KnownClient {
    /// Whether its token's digest is in a text in lower case.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        text.contains(&self.sha256)
    }

    /// Whether a token with this digest is its own, and still counts.
    pub(super) fn is_of(&self, digest: &str) -> bool {
        let is_same = bool::from(self.sha256.as_bytes().ct_eq(digest.as_bytes()));
        is_same
            && self
                .expires
                .is_none_or(|end| end > OffsetDateTime::now_utc())
    }
}

/// SHA-256 in hex. Digests are compared, which have one length, in constant time.
pub(super) fn digest(token: &str) -> String {
    to_hex(&Sha256::digest(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Grant, NamedClient, Token, digest};

    fn client(token: &Token, may: Grant) -> NamedClient {
        NamedClient::new("ci", token, may).expect("a client")
    }

    #[test]
    fn a_token_has_256_bits_and_never_shows() {
        let (token, other) = (Token::new().expect("bits"), Token::new().expect("bits"));
        assert_ne!(token.reveal(), other.reveal());
        assert_eq!(token.reveal().len(), 4 + 43);
        let client = client(&token, Grant::default());
        let shown = format!("{token:?} {client:?} {:?}", client.checked(Duration::ZERO));
        assert!(!shown.contains(token.reveal()), "{shown}");
        let line = serde_json::to_string(&client).expect("JSON");
        assert!(!line.contains(token.reveal()), "{line}");
    }

    #[test]
    fn only_the_whole_token_counts_and_only_until_its_end() {
        let token = Token::new().expect("bits");
        let known = client(&token, Grant::default())
            .checked(Duration::ZERO)
            .expect("known");
        let (cut, _) = token.reveal().split_at(46);
        for wrong in ["", "wjs_", cut, &format!("{} ", token.reveal())] {
            assert!(!known.is_of(&digest(wrong)), "{wrong:?}");
        }
        assert!(known.is_of(&digest(token.reveal())));
        let ends = |text: &str| Grant {
            expires: Some(text.to_owned()),
            ..Grant::default()
        };
        let past = client(&token, ends("2020-01-01T00:00:00Z"));
        assert!(
            !past
                .checked(Duration::ZERO)
                .expect("known")
                .is_of(&digest(token.reveal()))
        );
        assert!(NamedClient::new("ci", &token, ends("tomorrow")).is_err());
    }

    #[test]
    fn a_name_is_plain() {
        let token = Token::new().expect("bits");
        for bad in ["", "a b", "a/b", "a\n", "ä", &"x".repeat(65)] {
            assert!(
                NamedClient::new(bad, &token, Grant::default()).is_err(),
                "{bad:?}"
            );
        }
    }
}
