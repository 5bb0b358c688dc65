//! A named client as in the tokens file, which holds only the digest of its token.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::client_record::ClientRecord;
use super::secret::{ClientToken, Dated, is_digest};
use super::tokens_fault::TokensFileError;
use crate::audit::{ClientId, Role};
use crate::gates::Grant;
use crate::review::digest;

/// The name of the client of a connection over stdio, on record and as its delegates' maker.
pub(in crate::server) const STDIO: &str = "stdio";

/// The replacement of a client's present token, and its new end.
#[derive(Debug)]
pub struct Rotation<'a> {
    /// The new token; `None` for a person who signs in.
    pub token: Option<&'a ClientToken>,
    /// Time for which its token before stays valid.
    pub keep: Duration,
    /// Time at which the client ends, in RFC 3339; never if there is none.
    pub expires: Option<String>,
}

/// A client as the tokens file has it: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedClient {
    /// Its id, which outlives its name and its token, and to which proposals and writes belong.
    pub id: ClientId,
    /// Its name, under which its calls are on record.
    pub name: String,
    /// Its role; a line without one is of an agent.
    #[serde(default, skip_serializing_if = "Role::is_default")]
    pub role: Role,
    /// The client that made it, if it is a delegate. The tokens file has no such line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ClientId>,
    /// SHA-256 of its token, in hex; `None` for a person who signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// The previous token, while it is still valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<Dated>,
    /// Time of its creation, in RFC 3339.
    pub created: String,
    /// Its grant, which only takes away from the server's rights.
    pub may: Grant,
}

impl NamedClient {
    /// A client of a role that sends this token; without one, a person who signs in.
    ///
    /// # Errors
    /// One sentence about the name, the role, or what is granted.
    pub fn new(
        name: &str,
        role: Role,
        token: Option<&ClientToken>,
        may: Grant,
    ) -> Result<Self, String> {
        let client = Self {
            name: name.to_owned(),
            sha256: token.map(|token| digest(token.reveal())),
            ..Self::fresh(role, may)?
        };
        client.checked(Duration::ZERO)?;
        Ok(client)
    }

    /// A delegate of a client, whose token this is.
    ///
    /// # Errors
    /// One sentence about what is granted.
    pub(in crate::server) fn delegate(
        token: &ClientToken,
        parent: ClientId,
        may: Grant,
    ) -> Result<Self, String> {
        let client = Self::fresh(Role::Agent, may)?;
        let short: String = client.id.to_string().chars().take(8).collect();
        let client = Self {
            name: format!("delegate-{short}"),
            parent: Some(parent),
            sha256: Some(digest(token.reveal())),
            ..client
        };
        client.checked_whole(Duration::ZERO)?;
        Ok(client)
    }

    /// The same with another grant.
    pub(in crate::server) fn granted(&self, may: Grant) -> Self {
        Self {
            may,
            ..self.clone()
        }
    }

    /// The digest of its token, as its line has it.
    pub(in crate::server) fn digest(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// A client without a name that shows nothing yet, made now.
    fn fresh(role: Role, may: Grant) -> Result<Self, String> {
        let id = ClientId::new().map_err(|_| "the system gave no random numbers".to_owned())?;
        let now = OffsetDateTime::now_utc();
        let now = now.replace_nanosecond(0).unwrap_or(now);
        Ok(Self {
            id,
            name: String::new(),
            role,
            parent: None,
            sha256: None,
            old: None,
            created: now.format(&Rfc3339).unwrap_or_default(),
            may,
        })
    }

    /// The same client, with the same id and its new token.
    pub(in crate::server) fn rotated(
        self,
        rotation: &Rotation<'_>,
    ) -> Result<Self, TokensFileError> {
        let wrong = TokensFileError::NotRotated;
        let fault = |_| wrong("the line of this client cannot be read; see `token list`");
        let ended = self.expires().map_err(fault)?;
        let may = Grant {
            expires: rotation.expires.clone(),
            ..self.may.clone()
        };
        let same = Self { may, ..self };
        match (rotation.token, same.role.signs_in()) {
            (None, true) => Ok(same),
            (Some(token), false) => {
                let until = OffsetDateTime::now_utc() + rotation.keep;
                let until = ended.map_or(until, |end| end.min(until));
                let old = same.sha256.filter(|_| until > OffsetDateTime::now_utc());
                Ok(Self {
                    old: old.map(|sha256| Dated::new(sha256, until)),
                    sha256: Some(digest(token.reveal())),
                    ..same
                })
            }
            (None, false) => Err(TokensFileError::HasNoLink),
            (Some(_), true) => Err(wrong(
                "reviewers and auditors have no token; they sign in with a link",
            )),
        }
    }

    /// Time at which it ends, if it does.
    ///
    /// # Errors
    /// One sentence.
    pub fn expires(&self) -> Result<Option<OffsetDateTime>, String> {
        self.may.ends()
    }

    /// The client as the server takes it; `thinking` is the time that a person has.
    pub(in crate::server) fn checked(&self, thinking: Duration) -> Result<ClientRecord, String> {
        // Only the documents of delegates name a maker, and they are checked against it.
        if self.parent.is_some() {
            return Err("it is a delegate, which this file does not have".to_owned());
        }
        if self.name == STDIO {
            return Err(format!(
                "{STDIO} is on record for sessions over standard input and output; choose another name"
            ));
        }
        self.checked_whole(thinking)
    }

    /// The same for a delegate, too.
    pub(in crate::server) fn checked_whole(
        &self,
        thinking: Duration,
    ) -> Result<ClientRecord, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !(1..=64).contains(&self.name.len()) || !self.name.chars().all(is_plain) {
            return Err(
                "a name is 1 to 64 letters, digits, hyphens, dots and underscores".to_owned(),
            );
        }
        if self.sha256.as_deref().is_some_and(|text| !is_digest(text)) {
            return Err("sha256 must be 64 hex characters".to_owned());
        }
        self.fits_its_role()?;
        let old = self.old.as_ref().map(Dated::checked).transpose()?;
        // Two clients of one name, one after the other, share nothing.
        let identity = format!("{}#{}", self.name, self.id);
        let (named, may) = ((&*self.name, identity), (self.may.clone(), thinking));
        Ok(ClientRecord {
            sha256: self.sha256.as_ref().map(|text| text.to_lowercase()),
            old,
            ..ClientRecord::new(self.id, named, self.role, may)?
        })
    }

    fn fits_its_role(&self) -> Result<(), String> {
        let has_token = self.sha256.is_some() || self.old.is_some();
        let role = self.role.as_str();
        match (self.role.signs_in(), has_token) {
            (false, true) | (true, false) => {}
            (false, false) => return Err(format!("the role {role} has a token")),
            (true, true) => return Err(format!("the role {role} has no token")),
        }
        self.may.fits(self.role)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{NamedClient, Role};
    use crate::gates::Grant;
    use crate::server::http::ClientToken;

    #[test]
    fn what_a_client_shows_is_not_in_its_line() {
        let token = ClientToken::new().expect("bits");
        let client =
            NamedClient::new("ci", Role::Agent, Some(&token), Grant::default()).expect("a client");
        let shown = format!("{client:?} {:?}", client.checked(Duration::ZERO));
        let line = serde_json::to_string(&client).expect("JSON");
        assert!(!(shown + &line).contains(token.reveal()));
    }

    #[test]
    fn a_name_is_plain() {
        let token = ClientToken::new().expect("bits");
        for bad in ["", "a b", "a/b", "a\n", "ä", "stdio", &"x".repeat(65)] {
            assert!(
                NamedClient::new(bad, Role::Agent, Some(&token), Grant::default()).is_err(),
                "{bad:?}"
            );
        }
        let ends = Grant {
            expires: Some("tomorrow".to_owned()),
            ..Grant::default()
        };
        assert!(NamedClient::new("ci", Role::Agent, Some(&token), ends).is_err());
    }

    #[test]
    fn a_line_fits_its_role_or_is_refused() {
        let sha256 = "a".repeat(64);
        let is_taken = |more: &str| {
            let text = format!("{{\"name\":\"x\",\"created\":\"\",\"may\":{{}}{more}}}");
            let client = serde_json::from_str::<NamedClient>(&text);
            client.is_ok_and(|client| client.checked(Duration::ZERO).is_ok())
        };
        let token = format!(",\"sha256\":\"{sha256}\"");
        let id = ",\"id\":\"0123456789abcdef\"".to_owned();
        let role = |role: &str| format!(",\"role\":\"{role}\"");
        for (more, is_good) in [
            (format!("{id}{token}"), true),
            (token.clone(), false),
            (id.clone(), false),
            (role("metrics") + &id + &token, true),
            (role("metrics") + &id, false),
            (role("reviewer") + &id, true),
            (role("reviewer"), false),
            (role("auditor") + &id + &token, false),
            (
                format!("{id}{token},\"parent\":\"0123456789abcdef\""),
                false,
            ),
        ] {
            assert_eq!(is_taken(&more), is_good, "{more}");
        }
    }
}
