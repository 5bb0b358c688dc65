//! API keys (W3, W4).

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

use crate::demo::Access;

/// The keys that every demo wiki has, one a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Keys {
    /// Full access.
    pub admin: String,
    /// Reads, writes, moves and deletes pages; no styles or scripts.
    pub editor: String,
    /// The rights of `editor`, and styles and scripts.
    pub scripter: String,
    /// Reads and writes pages; may not move or delete, nor read a page as a whole (W1).
    pub writer: String,
    /// Reads pages, their source and their history.
    pub readonly: String,
    /// Reads pages, not their source.
    pub reader: String,
    /// Was revoked.
    pub revoked: String,
}

/// The rights of the keys for pages: each key has the first few of these.
const RIGHTS: [&str; 8] = [
    "read:pages",
    "read:source",
    "read:history",
    "write:pages",
    "manage:pages",
    "delete:pages",
    "write:styles",
    "write:scripts",
];

/// The group of full access.
const ADMINISTRATORS: i64 = 1;

#[derive(Debug)]
struct Entry {
    access: Access,
    expires: OffsetDateTime,
    revoked: bool,
    /// True if it is refused after its end, and not yet a guest's.
    is_renewable: bool,
}

/// All keys of a wiki.
#[derive(Debug, Default)]
pub(super) struct Keyring {
    entries: HashMap<String, Entry>,
    last: i64,
}

impl Keyring {
    /// Issues the keys that every wiki has.
    pub(super) fn issue_all(&mut self) -> Keys {
        let keys = Keys {
            editor: self.issue_first(6),
            scripter: self.issue_first(8),
            writer: self.issue_first(4),
            readonly: self.issue_first(3),
            reader: self.issue_first(1),
            admin: self.issue(Access::full()),
            revoked: self.issue(Access::full()),
        };
        self.revoke(&keys.revoked);
        keys
    }

    fn issue_first(&mut self, count: usize) -> String {
        let rights = RIGHTS.get(..count).unwrap_or_default();
        self.issue(Access::new(rights, ""))
    }

    pub(super) fn revoke(&mut self, token: &str) {
        if let Some(entry) = self.entries.get_mut(token) {
            entry.revoked = true;
        }
    }

    /// A key that is good for a year.
    pub(super) fn issue(&mut self, access: Access) -> String {
        self.issue_until(access, OffsetDateTime::now_utc() + Duration::days(365))
    }

    /// Lets the key be in the wiki's renewal time after its end (W3).
    #[cfg(feature = "testing")]
    pub(super) fn set_renewable(&mut self, token: &str) {
        if let Some(entry) = self.entries.get_mut(token) {
            entry.is_renewable = true;
        }
    }

    /// A key that expires then.
    pub(super) fn issue_until(&mut self, access: Access, expires: OffsetDateTime) -> String {
        self.last += 1;
        let group = if access == Access::full() {
            ADMINISTRATORS
        } else {
            ADMINISTRATORS + self.last
        };
        let token = token(self.last, group, expires);
        let entry = Entry {
            access,
            expires,
            revoked: false,
            is_renewable: false,
        };
        self.entries.insert(token.clone(), entry);
        token
    }

    /// What the holder of this key may do; `None` for one that was revoked. Unknown, malformed and expired
    /// keys are a guest's.
    pub(super) fn access(&self, token: Option<&str>) -> Option<Access> {
        match token.and_then(|token| self.entries.get(token)) {
            Some(entry) if entry.revoked => None,
            Some(entry) if entry.expires > OffsetDateTime::now_utc() => Some(entry.access.clone()),
            Some(entry) if entry.is_renewable => Some(Access::just_expired()),
            _ => Some(Access::guest()),
        }
    }
}

/// A JWT in looks. The signature is a digest that nobody checks: a key counts
/// because the ring has it.
fn token(key: i64, group: i64, expires: OffsetDateTime) -> String {
    let issued = expires - Duration::days(365);
    let header = serde_json::json!({"alg": "RS256", "typ": "JWT"});
    let payload = serde_json::json!({
        "api": key,
        "grp": group,
        "iat": issued.unix_timestamp(),
        "exp": expires.unix_timestamp(),
        "aud": "urn:wiki.js",
        "iss": "urn:wiki.js",
    });
    let encode = |part: &[u8]| URL_SAFE_NO_PAD.encode(part);
    let signed = format!(
        "{}.{}",
        encode(header.to_string().as_bytes()),
        encode(payload.to_string().as_bytes())
    );
    let signature = encode(&Sha256::digest(&signed));
    format!("{signed}.{signature}")
}

#[cfg(test)]
mod tests {
    use time::{Duration, OffsetDateTime};

    use super::Keyring;
    use crate::demo::access::Access;

    #[test]
    fn a_key_without_worth_is_a_guest_s() {
        let mut ring = Keyring::default();
        let ended = OffsetDateTime::now_utc() - Duration::hours(1);
        let expired = ring.issue_until(Access::full(), ended);
        for token in [None, Some("nonsense"), Some(expired.as_str())] {
            assert_eq!(ring.access(token), Some(Access::guest()));
        }
    }

    #[test]
    fn a_revoked_key_is_no_guest_s() {
        let mut ring = Keyring::default();
        let keys = ring.issue_all();
        assert_eq!(ring.access(Some(&keys.revoked)), None);
        assert_eq!(ring.access(Some(&keys.admin)), Some(Access::full()));
    }
}
