//! Where links lead.

pub(super) mod link;
pub(super) mod mend;
pub(super) mod target;
