//! Heads kept where those who may write the log cannot.

pub(super) mod line;
pub(super) mod read;
pub(super) mod schedule;
pub(super) mod signing;
pub(super) mod sink;
