//! A Model Context Protocol server for Wiki.js 2 in which a write keeps every field it was not asked to change, or
//! refuses.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at what other rooms wrote"
    )
)]

pub mod audit;
mod blocking;
pub mod change;
pub mod checks;
pub mod cli;
pub mod config;
pub mod custom;
#[cfg(feature = "demo")]
pub mod demo;
pub mod error;
mod fields;
pub mod files;
pub mod gates;
mod hex;
pub mod index;
pub mod memory;
pub mod meter;
pub mod mirror;
mod nearest;
pub mod notice;
pub mod notify;
pub mod oauth;
pub mod page;
mod private_files;
mod render_budget;
pub mod review;
pub mod rules;
pub mod server;
mod share;
pub mod site;
mod store;
pub mod tools;
pub mod trace;
pub mod view;
pub mod watch;
pub mod wiki;
mod words;
pub mod write;
