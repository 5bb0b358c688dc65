//! Bytes as lower-case hex.

use std::fmt::Write as _;

/// Bytes in lower-case hex.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// True if a text is exactly this many characters of lower-case hex.
pub fn is_hex(text: &str, chars: usize) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == chars && text.bytes().all(is_digit)
}
