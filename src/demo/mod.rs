//! The embedded demo wiki: Wiki.js 2.5 as far as its pages, their comments and assets go, in memory.
//!
//! It stands in for a real wiki in tests and in `serve --demo`. What it answers
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
mod controls;
mod css;
mod css_rules;
mod download;
mod editor_view;
mod fault;
mod graphql;
mod head;
mod http;
mod keys;
mod path;
mod reader_view;
mod reads;
mod requests;
mod row_sort;
mod seed;
mod sql;
mod state;
mod store;
mod surrogates;
mod upload;
mod wiki;
mod writes;

pub use keys::Keys;
pub use reads::ContentRead;
pub use requests::{OperationKind, SeenRequest};
pub use store::{AssetRow, CommentRow, FolderRow, PageRow, Store};
pub use wiki::{DemoOptions, DemoWiki, Seed};
