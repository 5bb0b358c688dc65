//! Encodes and decodes characters as `%` and two hexadecimal digits a byte.

use std::fmt::Write as _;

/// A text with its codes decoded; what is no code stays as it is.
pub(in crate::page) fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = coded_byte(part);
        bytes.push(code.unwrap_or(b'%'));
        bytes.extend(part.bytes().skip(if code.is_some() { 2 } else { 0 }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text with its codes decoded; `None` if one is broken.
pub fn percent_decoded_whole(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(coded_byte(part)?);
        bytes.extend(part.bytes().skip(2));
    }
    String::from_utf8(bytes).ok()
}

/// The byte whose two hexadecimal digits a text begins with, as behind a `%`.
pub(in crate::page) fn coded_byte(text: &str) -> Option<u8> {
    let code = text.get(..2)?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_hexdigit());
    u8::from_str_radix(code, 16).ok().filter(|_| is_code)
}

/// Adds a character percent-encoded.
pub fn push_coded(text: &mut String, c: char) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a string cannot fail.
        let _ = write!(text, "%{byte:02X}");
    }
}
