//! The writes, above the rooms of [`wikijs_gate_core`].

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at what other rooms wrote"
    )
)]

#[path = "mod.rs"]
pub mod write;

use wikijs_gate_core::{
    audit, blocking, change, checks, error, gates, hex, index, memory, meter, mirror, notice,
    notify, page, render_budget, rules, share, store, trace, view, wiki, words,
};
