//! HTML as browsers read it: its tags with their places, and its plain text.

mod plain;
mod scan;
mod tag;

pub use plain::plain_text;
pub(in crate::page) use scan::{HtmlToken, scan};
pub(in crate::page) use tag::HtmlTag;

pub(super) mod outline;
#[cfg(test)]
mod tests;
