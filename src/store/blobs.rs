//! Defines blobs, which are named by their content.

use std::time::SystemTime;

use super::{Listed, StoreResult};

/// Bytes that never change, under a name that proves them. Whoever puts one holds the lease
/// [`super::LeaseName::BLOBS`] shared, whoever removes one holds it alone.
pub trait Blobs {
    /// Keeps bytes, whole and synced, in place of what has the name; gives their length as kept.
    fn put_blob(&self, name: &str, bytes: &[u8]) -> StoreResult<u64>;

    /// Marks a blob as kept now, its name synced; false if there is none.
    fn renew_blob(&self, name: &str) -> StoreResult<bool>;

    /// The bytes, of at most this length; `None` if there is none of this name.
    fn blob(&self, name: &str, most: u64) -> StoreResult<Option<Vec<u8>>>;

    /// Its last bytes, at most as many.
    fn end_of_blob(&self, name: &str, count: u32) -> StoreResult<Option<Vec<u8>>>;

    /// All blobs, in no order.
    fn blobs(&self) -> StoreResult<Vec<Listed>>;

    /// Removes one that was not put or renewed after this time; says whether it did. It is gone for good
    /// with [`Self::sync_removed`].
    fn remove_blob(&self, name: &str, not_since: SystemTime) -> StoreResult<bool>;

    /// Sees to it that removed blobs and runs do not come back after a power cut.
    fn sync_removed(&self) -> StoreResult<()>;
}
