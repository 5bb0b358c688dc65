//! Documents beside the log, which are replaced whole (proposals, drafts, the pause), and kept states.

pub(super) mod draft;
pub(super) mod drafts;
pub(super) mod notices;
pub(super) mod pause;
pub(super) mod pause_file;
pub(super) mod proposal;
pub(super) mod proposals;
pub(super) mod states;
