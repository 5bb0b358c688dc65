//! The links of a page mended after pages moved: each that led to an old place leads to the
//! new one as the wiki resolves it, and nothing else of the text changes.

mod mended;
mod moves;
mod part;
mod resolve;
mod rewrite;

pub use mended::{LeftLink, MendedLink, MendedText, WhyLeft, mend_copied, mend_links};
pub use moves::{Moves, PartPage};
pub use part::MovedPart;
pub use resolve::{LinkBase, LinkedSite, PagePlace};

#[cfg(test)]
mod tests;
