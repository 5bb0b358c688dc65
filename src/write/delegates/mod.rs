//! Models delegates as the tools ask for them.

pub(super) mod delegation;
