//! The protocol over standard input and output.

pub(super) mod framing;
pub(super) mod large_message;
pub(super) mod serve;
