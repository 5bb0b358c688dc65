//! The runs of a log: the file of each, its number and end, and reading them back.

pub(super) mod clock;
pub(super) mod heads;
pub(super) mod indexed;
pub(super) mod lines;
pub(super) mod numbers;
pub(super) mod open_attempts;
pub(super) mod own;
pub(super) mod parsed;
pub(super) mod reader;
pub(super) mod tail;
pub(super) mod unsettled;
