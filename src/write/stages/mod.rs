//! The stages of a write, in the order of [`super::pipeline`]. Each stage is one function or small type;
//! its signature names its input and its result.

pub(super) mod add_to_draft;
pub(super) mod apply;
pub(super) mod ask;
pub(super) mod batch_preview;
pub(super) mod check;
pub(super) mod lock;
pub(super) mod outcome;
pub(super) mod propose;
pub(super) mod question;
pub(super) mod read;
pub(super) mod record;
pub(super) mod rights;
pub(super) mod rule;
pub(super) mod send;
pub(super) mod show;
pub(super) mod verify;
