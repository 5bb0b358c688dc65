//! The writes, above the rooms of [`wikijs_gate_core`].

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at what other rooms wrote"
    )
)]

pub mod write;

use wikijs_gate_core::*;
