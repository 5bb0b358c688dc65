//! Calls as the record has them: selected, grouped, counted, rebuilt.

pub(super) mod call;
pub(super) mod call_history;
pub(super) mod call_reader;
pub(super) mod calls;
pub(super) mod deletions;
pub(super) mod filter;
pub(super) mod groups;
pub(super) mod left_states;
pub(super) mod reconstruct;
pub(super) mod recreated;
pub(super) mod spent_approval;
pub(super) mod states;
pub(super) mod stats;
pub(super) mod steps;
pub(super) mod time_arg;
pub(super) mod undo_index;
pub(super) mod write_count;
