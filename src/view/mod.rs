//! Puts what is on record into words, once for every door: terminal, review page, JSON. Pure: whoever
//! shows it makes it harmless, and links what has an address.

mod client;
mod story;

pub(crate) use client::client_name;
pub use story::{Story, StoryChange, StoryLine};
pub(crate) use story::{warned, whose};
