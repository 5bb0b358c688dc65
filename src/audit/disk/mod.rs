//! Kept states, and the paths of runs.

pub(super) mod blocking;
pub mod kept_states;
pub(super) mod layout;
