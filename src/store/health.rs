//! Defines what is said of the files of a store, which owners and modes can spoil.

use std::path::PathBuf;

/// The state of a store's files; a database has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// True if records can be written there, or the directory can be made.
    pub is_writable: bool,
    /// True if its file system is mounted for reading alone.
    pub is_read_only: bool,
    /// The user and group that own the directory and serve from it.
    pub owner: Option<(u32, u32)>,
    /// Files that this user cannot open.
    pub closed: Vec<PathBuf>,
    /// The directories that others than their owner may write.
    pub writable_by_others: Vec<PathBuf>,
    /// The files and directories that others than their owner may read or write.
    pub exposed: usize,
    /// The free space in bytes, if known.
    pub free: Option<u64>,
}
