//! The embedded demo wiki: Wiki.js 2.5 as far as its pages, their comments and assets go, in memory.
//!
//! It stands in for a real wiki in `serve --demo`, and in tests, which break it and see what it was
//! asked by the feature `testing`. What it answers
//! is computed from what it holds, by rules that were measured on a real server
//! (W1 to W42); recorded requests and answers of that server are replayed
//! against it by a test. It listens on the loopback interface, keeps nothing,
//! and knows one user. What has nothing to do with pages it does not have:
//! users, groups, settings, rendering, other search engines.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use wikijs_gate::demo::{DemoOptions, DemoWiki};
//!
//! let wiki = DemoWiki::start(DemoOptions::default()).await?;
//! let (address, key) = (wiki.address(), &wiki.keys().editor);
//! # Ok(()) }
//! ```

mod access;
mod anchors;
mod clock;
mod css;
mod css_rules;
mod fault;
mod graphql;
mod http;
mod keys;
mod path;
mod seed;
mod shape;
mod sql;
mod state;
mod store;
mod surrogates;
#[cfg(feature = "testing")]
mod testing;
#[cfg(not(feature = "testing"))]
#[path = "shipped.rs"]
mod testing;
mod upload;
mod views;
mod wiki;
mod writes;

pub(in crate::demo) use access::Access;
pub(in crate::demo) use clock::Date;
pub(in crate::demo) use fault::{Fault, WikiError};
pub use keys::Keys;
pub(in crate::demo) use shape::shape;
#[cfg(feature = "testing")]
pub use store::{AssetRow, CommentRow, FolderRow, PageRow, Store};
#[cfg(feature = "testing")]
pub use testing::{ContentRead, OperationKind, SeenRequest};
pub use wiki::{DemoOptions, DemoWiki, Seed};
