//! The rooms below the writes: pages and changes, the store and the record, the gates, the wiki, its index.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at what other rooms wrote"
    )
)]

pub mod audit;
pub mod blocking;
pub mod change;
pub mod checks;
pub mod custom;
pub mod error;
pub mod fields;
pub mod gates;
pub mod hex;
pub mod index;
pub mod memory;
pub mod meter;
pub mod mirror;
pub mod nearest;
pub mod notice;
pub mod notify;
pub mod oauth;
pub mod page;
pub mod private_files;
pub mod render_budget;
pub mod rules;
pub mod share;
pub mod site;
pub mod store;
pub mod trace;
pub mod view;
pub mod watch;
pub mod wiki;
pub mod words;
