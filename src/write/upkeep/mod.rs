//! Works beside the writes: recovery and purges.

pub(super) mod purge;
pub(super) mod recover;
