//! Models the memory mode: which clients share memories.

use std::sync::Arc;

use super::peer::MemoryPeer;

/// The mode of memory: which clients share memories.
#[derive(Debug, Clone, Default)]
pub enum MemoryMode {
    /// Each client has its own.
    #[default]
    Client,
    /// All clients of a site share theirs, and exchange them with a peer server if one is set.
    Site(Option<Arc<MemoryPeer>>),
}
