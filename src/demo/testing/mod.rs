//! Lets tests break the demo wiki, slow it down, and see what it was asked (feature `testing`).
//!
//! `shipped.rs` stands in for this module in every other build: the same names, doing nothing.

mod controls;
mod faults;
mod reads;
mod requests;

pub(super) use faults::Testing;
pub use reads::ContentRead;
pub use requests::{OperationKind, SeenRequest};
