//! Models the memory mode: which clients share memories.

/// The mode of memory: which clients share memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryMode {
    /// Each client has its own.
    #[default]
    Client,
    /// All clients of a site share theirs.
    Site,
}
