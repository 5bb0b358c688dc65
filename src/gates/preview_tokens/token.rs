//! The token of a preview: 128 random bits in hex.

use crate::error::{Code, Failure, Result};
use crate::hex::is_hex;

/// The number of characters of a token: 128 bits in hex.
const TOKEN_CHARS: usize = 32;

/// A new token.
///
/// # Errors
/// `INTERNAL_ERROR` if the system gives no randomness.
pub(super) fn new() -> Result<String> {
    let mut bits = [0u8; 16];
    getrandom::fill(&mut bits)
        .map_err(|_| Failure::new(Code::InternalError, "The system gave no random numbers."))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// True if a text has the form of a token.
pub(super) fn has_form(token: &str) -> bool {
    is_hex(token, TOKEN_CHARS)
}

/// The refusal of a token that does not count.
pub(super) fn uncounted(token: &str) -> Failure {
    if !has_form(token) {
        return Failure::new(
            Code::ConfirmMismatch,
            "The argument confirm is no token of a preview: those have 32 characters, 0 to 9 and a to f.",
        )
        .hint("Call again without confirm; pass the value of confirm in that preview, to the letter.");
    }
    Failure::new(
        Code::ConfirmExpired,
        "The confirm token is unknown to this session, older than ten minutes, already used, or of a preview under other settings.",
    )
}

/// The refusal of a token whose document is gone: another server used it up, or it could not be kept.
pub(super) fn claimed() -> Failure {
    Failure::new(
        Code::ConfirmExpired,
        "This token counts no more: another server has used it up, or its preview could not be kept.",
    )
    .hint("Nothing was sent now. Call again with this confirm in some seconds to hear what became of it; do not repeat the write before.")
}
