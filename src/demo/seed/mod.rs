//! The pages of the sample wiki.

use super::store::Store;

/// Puts the sample pages into an empty store.
pub(super) fn plant(store: &mut Store) {
    store.settle();
}
