//! Keeps what clients remember of working in a wiki and that belongs into no page: short texts, by
//! site and client, in one SQLite file of each wiki beside its records.
//!
//! [`MemoryStore`] is the one way to the file: every change is on record first, by digest. It knows
//! nothing of pages' visibility, policies or the protocol; `write` decides who may remember and what
//! a caller sees.

mod entry;
mod error;
mod exchange;
mod handle;
mod health;
mod moment;
mod open;
mod owner;
mod rank;
mod rows;
mod settings;
#[cfg(test)]
mod tests;
mod upkeep;

pub use entry::{MAX_CHARS, Memory, MemoryEnd, MemoryPage, MemoryType, check_content, digest};
pub use error::{BadLine, MemoryError};
pub use exchange::{Imported, MOST_LINES, MemoryImport, export_line};
pub use handle::{AuditNote, MemoryStore};
pub use health::health;
pub use moment::Timestamp;
pub use owner::MemoryOwner;
pub use rank::{Ranked, ranked};
pub use rows::{MemoryRows, Usage};
pub use settings::MemoryMode;
pub use upkeep::KEPT_DAYS;

/// The most memories of one owner.
pub const MOST: usize = 1_000;
/// The most bytes of all texts of one owner.
pub const MOST_BYTES: usize = 4 << 20;
