//! Puts what is on record into words, once for every door: terminal, review page, JSON. Pure: whoever
//! shows it makes it harmless, and links what has an address.

mod call;
mod client;
mod story;

pub(crate) use call::{CallView, FactPart, facts};
pub(crate) use client::client_name;
pub(crate) use story::whose;
pub use story::{Story, StoryChange, StoryLine};
