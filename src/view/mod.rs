//! Shows the changes of a set, and puts what is on record into words, once for every door: tools,
//! terminal, review page, JSON. Pure: whoever shows it makes it harmless, and links what has an
//! address.

mod call;
mod change;
mod client;
mod story;

pub use call::{CallView, FactPart, facts};
pub use change::{ChangeView, SAMPLES, WriteTarget};
pub use client::client_name;
pub use story::{Story, StoryChange, StoryLine, whose};
