//! A Model Context Protocol server for Wiki.js 2 in which a write keeps every field it was not asked to change, or
//! refuses.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at what other rooms wrote"
    )
)]

pub mod cli;
pub mod config;
#[cfg(feature = "demo")]
pub mod demo;
pub mod files;
pub mod review;
pub mod server;
pub mod tools;

pub use wikijs_gate_core::*;
pub use wikijs_gate_write::write;
