//! How a page is read: whole, in part, as an index, rendered, as plain text, as it was; one or
//! several at once. The two tools that read pages share all of it.

mod answer;
mod ask;
mod metadata;
mod named;
mod read;

pub(super) use answer::Output;
pub(super) use ask::{Ask, Lines, MAX_AT_ONCE, View, one_or_several, page_input, part};
pub(super) use read::{Wanted, answer};
