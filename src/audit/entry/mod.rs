//! Groups the types of a record: its fields, the chain of lines, the ids in them.

pub(super) mod bounds;
pub mod chain;
pub(super) mod changed;
pub(super) mod current_call;
pub(super) mod ending;
pub(super) mod event;
pub(super) mod exclusions;
pub(super) mod ids;
pub(super) mod members;
pub mod record;
pub(super) mod role;
