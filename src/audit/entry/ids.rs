//! Names in lower-case hex: of calls, runs, lines and kept states.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::super::{AuditError, AuditResult};
use crate::hex::encode;

/// A text that is not lower-case hex of the right length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {0} lower-case hex characters")]
pub struct NotHex(usize);

/// Makes a type that is written as lower-case hex of exactly its bytes, so that two spellings
/// of one name cannot exist.
macro_rules! hex_name {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl FromStr for $name {
            type Err = NotHex;

            fn from_str(text: &str) -> Result<Self, NotHex> {
                decode(text).map(Self).ok_or(NotHex(2 * $bytes))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&encode(&self.0))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

/// Makes random names.
macro_rules! random_names {
    ($($name:ident)+) => { $(
        impl $name {
            /// A new one at random.
            ///
            /// # Errors
            /// If the system gives no randomness.
            pub fn new() -> AuditResult<Self> {
                let mut name = Self(Default::default());
                getrandom::fill(&mut name.0).map_err(|_| AuditError::Randomness)?;
                Ok(name)
            }
        }
    )+ };
}

random_names! { CallId ProposalId DraftId MemoryId RunId ClientId }

hex_name! {
    /// The name of one call, from its attempt to its outcome: 16 hex characters.
    CallId, 8
}

hex_name! {
    /// The name of a proposal: 16 hex characters.
    ProposalId, 8
}

impl CallId {
    /// The id as a number of the same order.
    pub(in crate::audit) const fn as_number(self) -> i64 {
        i64::from_be_bytes(self.0) ^ i64::MIN
    }

    /// The id of a number.
    pub(in crate::audit) const fn from_number(number: i64) -> Self {
        Self((number ^ i64::MIN).to_be_bytes())
    }
}

hex_name! {
    /// The approval that a write spent, by the id of the call that showed the write or asked a person,
    /// or of the proposal that a person decided on: 16 hex characters.
    ApprovalId, 8
}

impl ApprovalId {
    /// True if it is the id of this call.
    pub fn is_call(self, call: CallId) -> bool {
        self.0 == call.0
    }

    /// The call of this id.
    pub const fn call(self) -> CallId {
        CallId(self.0)
    }
}

impl From<CallId> for ApprovalId {
    fn from(call: CallId) -> Self {
        Self(call.0)
    }
}

impl From<ProposalId> for ApprovalId {
    fn from(proposal: ProposalId) -> Self {
        Self(proposal.0)
    }
}

hex_name! {
    /// The digest of an argument of a call, to compare another call with it: the first half of its
    /// SHA-256, 32 hex characters.
    ArgumentDigest, 16
}

impl ArgumentDigest {
    /// The digest of this argument; the order of the members of an object does not count.
    pub fn new(value: &Value) -> Self {
        Self(first(&Sha256::digest(in_order(value).to_string()).into()))
    }
}

/// The value with the members of its objects in the order of their names.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(in_order).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, in_order(value)));
            let sorted: BTreeMap<&String, Value> = members.collect();
            sorted
                .into_iter()
                .map(|(name, value)| (name.clone(), value))
                .collect()
        }
        other => other.clone(),
    }
}

hex_name! {
    /// The id of a draft: 16 hex characters.
    DraftId, 8
}

hex_name! {
    /// The id of a memory of a client: 16 hex characters.
    MemoryId, 8
}

hex_name! {
    /// The name of one run of the server: 16 hex characters.
    RunId, 8
}

hex_name! {
    /// The id of a named client, which outlives its name and its token, or of a person: 16 hex characters.
    ClientId, 8
}

impl ClientId {
    /// The same id for the same text.
    pub fn derived(text: &str) -> Self {
        Self(first(&Sha256::digest(text).into()))
    }
}

hex_name! {
    /// A digest of a key of the wiki, to tell keys apart without revealing them: the first half of
    /// its SHA-256, 32 hex characters.
    KeyDigest, 16
}

impl KeyDigest {
    /// The digest of a key that has this SHA-256.
    pub fn new(sha256: &[u8; 32]) -> Self {
        Self(first(sha256))
    }
}

hex_name! {
    /// The SHA-256 of a line of the log, which the next line repeats.
    LineHash, 32
}

impl LineHash {
    /// The `prev` of the first line.
    pub const FIRST: Self = Self([0; 32]);

    /// The hash of a line: of its bytes before `,"hash"`.
    pub fn new(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

hex_name! {
    /// The name of a kept state: the SHA-256 of its JSON before compression.
    ///
    /// Only by keeping a state or reading a record can one be made:
    ///
    /// ```compile_fail,E0423
    /// let forged = wikijs_gate_core::audit::KeptState([0; 32]);
    /// ```
    KeptState, 32
}

impl KeptState {
    /// The name of a state with this JSON; the file may not be there yet.
    pub(in crate::audit) fn new(json: &[u8]) -> Self {
        Self(Sha256::digest(json).into())
    }

    /// The name in these 64 characters, if they are one.
    pub fn of_text(text: &[u8]) -> Option<Self> {
        decode(std::str::from_utf8(text).ok()?).map(Self)
    }
}

/// The first bytes of a digest.
fn first<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    digest.first_chunk().copied().unwrap_or([0; N])
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() || pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

const fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{CallId, LineHash, NotHex};

    #[test]
    fn a_name_is_sixteen_lower_case_hex_characters_and_never_the_same_twice() {
        let (a, b) = (CallId::new().unwrap(), CallId::new().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.to_string().len(), 16);
        assert_eq!(a.to_string().parse(), Ok(a));
    }

    #[test]
    fn another_spelling_of_a_name_is_none() {
        for bad in [
            "",
            "0123",
            "0123456789ABCDEF",
            "0123456789abcdeg",
            "0123456789abcdef0",
            "../4567/9abcdef0",
            "ééééébcdef",
        ] {
            assert_eq!(bad.parse::<CallId>(), Err(NotHex(16)), "{bad}");
        }
    }

    #[test]
    fn the_hash_of_nothing_is_the_known_one() {
        assert_eq!(
            LineHash::new(b"").to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
