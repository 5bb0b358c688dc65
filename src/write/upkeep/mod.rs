//! Works beside the writes: recovery, purges, the sets under way.

pub(super) mod purge;
pub(super) mod recover;
pub(super) mod refusals;
pub(super) mod sets;
