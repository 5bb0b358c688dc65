//! Files, locks and kept states on the disk.

pub(super) mod blocking;
pub(super) mod fs;
pub(super) mod kept_states;
pub(super) mod layout;
pub(super) mod locks;
