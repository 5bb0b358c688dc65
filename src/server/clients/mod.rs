//! Named clients: their file, their tokens, their limits.

#![expect(
    clippy::disallowed_methods,
    reason = "the named clients are a file of the operator"
)]

pub(in crate::server) mod client;
pub(in crate::server) mod client_record;
pub(in crate::server) mod last_uses;
pub(in crate::server) mod person;
pub(in crate::server) mod registry;
pub(in crate::server) mod secret;
pub(in crate::server) mod tokens_fault;
pub(in crate::server) mod tokens_file;
