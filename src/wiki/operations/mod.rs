//! The operations, and the permit that a mutation asks for.

pub(super) mod custom;
pub(super) mod generated;
pub(super) mod mutate;
