//! Bytes as lower-case hex.

use std::fmt::Write as _;

/// Bytes in lower-case hex.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
