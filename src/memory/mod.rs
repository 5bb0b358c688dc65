//! Keeps what clients remember of working in a wiki and that belongs into no page: short texts, in
//! one file of JSON lines for each client beside the wiki's records.
//!
//! [`MemoryStore`] is the one way to the files: every change is on record first, by digest. It knows
//! nothing of pages' visibility, policies or the protocol; `write` decides who may remember and what
//! a caller sees.

mod entry;
mod error;
mod exchange;
mod line;
mod moment;
mod owner;
mod peer;
mod rank;
mod settings;
mod store;
#[cfg(test)]
mod tests;

pub use entry::{Memory, MemoryPage, MemoryType, check_content, digest};
pub use error::MemoryError;
pub use exchange::{
    ExchangeMessage, ExchangeReply, Imported, MemoryImport, MemoryStates, lines_of,
};
pub use line::MemoryLine;
pub use moment::Timestamp;
pub use owner::MemoryOwner;
pub use peer::MemoryPeer;
pub use rank::{Ranked, health, ranked};
pub use settings::MemoryMode;
pub use store::{AuditNote, KEPT_DAYS, Memories, MemoryStore, purge};
