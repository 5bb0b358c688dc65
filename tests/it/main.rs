//! Integration tests, written from the outside in.
#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets what it did not expect shall fail there"
)]
#![expect(
    clippy::assigning_clones,
    reason = "a row that a test changes costs nothing"
)]

mod cli;
mod command;
mod harness;
mod house;
mod http;
mod prelude;
mod reads;
mod record;
mod review;
mod script;
mod session;
mod sets;
mod sites;
mod testkit;
mod wiki;
mod writes;
