//! The content index: the pages of one wiki as one key sees them, in SQLite FTS5, to find words in
//! their content and similar pages.
//!
//! It knows `page` and `wiki`, and nothing of tools or of MCP. Other rooms use [`ContentIndex`]:
//! `fill` keeps its `store` up to date, `find` queries it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the index is a file of SQLite"
)]

mod embed;
mod embeddings;
mod exact;
mod fact_queries;
mod facts;
mod fill;
mod find;
mod layers;
mod meaning;
mod on_disk;
mod pace;
mod passing;
mod past;
mod progress;
mod questions;
mod read;
mod rendered;
mod settings;
mod snippet;
mod sources;
mod store;
mod terms;
mod tokens;
mod vector;
mod vector_tables;

mod asset_users;
mod content_index;
mod quota;

pub use content_index::{ContentIndex, Coverage};
pub use embeddings::EmbeddingsEndpoint;
pub use exact::{Pattern, PatternHit, PatternHits};
pub use fact_queries::IndexedLink;
pub use find::{ContentHit, RareWords};
pub use meaning::{NearPage, NearPages};
pub use on_disk::clear;
pub use pace::IndexLoad;
pub use read::WHOLE_AT_ONCE;
pub use rendered::as_rendered;
pub use settings::{CALLERS_BYTES, IndexMode, IndexSettings, MOST_PAGES, Pace};
pub use sources::InSources;
pub use store::{IndexError, pages_in};
pub use tokens::columns;
