//! Defines blobs, which are named by their content.

use std::time::SystemTime;

use super::{Listed, StoreError};

/// Bytes that never change, under a name that proves them. Whoever puts one holds the lease
/// [`super::LeaseName::BLOBS`] shared, whoever removes one holds it alone.
pub trait Blobs {
    /// Keeps bytes, whole and synced, in place of what has the name; gives their length as kept.
    fn put_blob(&self, name: &str, bytes: &[u8]) -> Result<u64, StoreError>;

    /// Marks a blob as kept now, its name synced; false if there is none.
    fn renew_blob(&self, name: &str) -> Result<bool, StoreError>;

    /// The bytes, of at most this length; `None` if there is none of this name.
    fn blob(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Its last bytes, at most as many.
    fn end_of_blob(&self, name: &str, count: u32) -> Result<Option<Vec<u8>>, StoreError>;

    /// All blobs, in no order.
    fn blobs(&self) -> Result<Vec<Listed>, StoreError>;

    /// Removes one that was not put or renewed after this time; says whether it did. It is gone for good
    /// with [`Self::sync_removed`].
    fn remove_blob(&self, name: &str, not_since: SystemTime) -> Result<bool, StoreError>;

    /// Sees to it that removed blobs and runs do not come back after a power cut.
    fn sync_removed(&self) -> Result<(), StoreError>;
}
