//! Bytes that are kept with a state, and what they are.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// Bytes, shared by their copies; base64 in JSON.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Blob(Arc<[u8]>);

impl Blob {
    /// Reads base64, without white space.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn from_base64(text: &str) -> Result<Self, String> {
        let bytes = STANDARD.decode(text);
        let bytes = bytes.map_err(|_| "is not base64, or was cut".to_owned())?;
        Ok(Self::from(bytes))
    }

    /// Its base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Their SHA-256, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        hex::encode(&Sha256::digest(&self.0))
    }

    /// Type, size and digest in three lines: all that is shown of the bytes where a change of them
    /// is.
    pub fn described(&self, mime: &str) -> String {
        let mime = super::super::escaped(mime, 100);
        format!(
            "type: {mime}\nbytes: {}\nsha256: {}\n",
            self.size(),
            self.sha256()
        )
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.size())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Blob;

    #[test]
    fn bytes_are_base64_in_json_and_a_digest_where_they_are_shown() {
        let blob = Blob::from(b"hello\n".to_vec());
        let json = serde_json::to_string(&blob).unwrap();
        assert_eq!(json, "\"aGVsbG8K\"");
        assert_eq!(serde_json::from_str::<Blob>(&json).unwrap(), blob);
        assert_eq!(format!("{blob:?}"), "Blob(6 bytes)");
        assert_eq!(
            blob.described("text/\u{202e}plain"),
            "type: text/\\u{202e}plain\nbytes: 6\nsha256: 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\n"
        );
        for cut in ["aGVsbG8", "aGVs bG8K", "a", "aGVsbG8K\n"] {
            assert!(Blob::from_base64(cut).is_err(), "{cut}");
        }
    }
}
