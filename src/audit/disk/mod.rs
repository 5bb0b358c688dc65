//! Kept states, and the paths of runs.

pub(super) mod blocking;
pub(super) mod kept_states;
pub(super) mod layout;
