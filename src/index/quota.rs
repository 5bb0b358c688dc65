//! The memory that the indexes of all callers' keys may take together.
//!
//! Keys can be made up, so their indexes share one memory bound. An index that nobody has searched
//! for a while is evicted; if there is none, the newcomer holds only the pages that fit.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The time after a search in which an index is safe from eviction.
const IDLE: Duration = Duration::from_mins(10);

/// An index that can give its memory back.
pub(super) trait Evictable: std::fmt::Debug + Send + Sync {
    /// Forgets all pages.
    fn give_way(&self);
}

/// The memory of callers' indexes.
#[derive(Debug)]
pub(super) struct IndexQuota {
    /// The bound in bytes.
    most: u64,
    idle: Duration,
    /// Held while pages are read.
    reading: Arc<Semaphore>,
    held: Mutex<TenantTable>,
}

#[derive(Debug, Default)]
struct TenantTable {
    tenants: HashMap<u64, Tenant>,
    next: u64,
}

#[derive(Debug)]
struct Tenant {
    index: Weak<dyn Evictable>,
    bytes: u64,
    searched: Instant,
}

impl IndexQuota {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            idle: IDLE,
            reading: Arc::new(Semaphore::new(1)),
            held: Mutex::default(),
        }
    }

    /// A turn at reading pages, since pages that are read but not yet stored take memory, too.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.reading).acquire_owned().await.ok()
    }

    /// A name for an index that has none yet.
    pub(super) fn enter(&self) -> u64 {
        let mut held = self.held.lock();
        held.next += 1;
        held.next
    }

    /// An index is searched.
    pub(super) fn searched(&self, name: u64, index: Weak<dyn Evictable>) {
        let mut held = self.held.lock();
        let bytes = held.tenants.get(&name).map_or(0, |tenant| tenant.bytes);
        let searched = Instant::now();
        let tenant = Tenant {
            index,
            bytes,
            searched,
        };
        held.tenants.insert(name, tenant);
    }

    /// Notes the bytes of an index; returns whether it may grow.
    pub(super) fn grow(&self, name: u64, bytes: u64) -> bool {
        let mut gone = Vec::new();
        let fits = {
            let mut held = self.held.lock();
            if let Some(tenant) = held.tenants.get_mut(&name) {
                tenant.bytes = bytes;
            }
            loop {
                if held.taken() < self.most {
                    break true;
                }
                match held.evict_idle(name, self.idle) {
                    Some(tenant) => gone.push(tenant),
                    None => break false,
                }
            }
        };
        // Only after unlocking: this may be the last reference to an index, whose drop calls
        // `leave`.
        for index in gone.iter().filter_map(Weak::upgrade) {
            index.give_way();
        }
        fits
    }

    /// An index is gone.
    pub(super) fn leave(&self, name: u64) {
        self.held.lock().tenants.remove(&name);
    }
}

impl TenantTable {
    fn taken(&self) -> u64 {
        self.tenants.values().map(|tenant| tenant.bytes).sum()
    }

    /// Takes out the index that was searched longest ago, if it has been idle long enough.
    fn evict_idle(&mut self, but_for: u64, idle: Duration) -> Option<Weak<dyn Evictable>> {
        let others = self.tenants.iter().filter(|(name, tenant)| {
            **name != but_for && tenant.bytes > 0 && tenant.searched.elapsed() >= idle
        });
        let (name, _) = others.min_by_key(|(_, tenant)| tenant.searched)?;
        let name = *name;
        self.tenants.remove(&name).map(|tenant| tenant.index)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::time::Duration;

    use super::{Evictable, IndexQuota};

    #[derive(Debug)]
    struct Nothing;

    impl Evictable for Nothing {
        fn give_way(&self) {}
    }

    #[test]
    fn all_indexes_have_one_bound_and_only_one_that_is_not_used_gives_way() {
        let mut room = IndexQuota::new(100);
        let (one, two) = (room.enter(), room.enter());
        for name in [one, two] {
            room.searched(name, Weak::<Nothing>::new());
        }
        assert!(room.grow(one, 60));
        assert!(room.grow(two, 30));
        // Both are in use, so the newcomer stops growing.
        assert!(!room.grow(two, 40));
        assert!(!room.grow(one, 70));
        room.idle = Duration::ZERO;
        assert!(room.grow(two, 50));
        assert!(room.grow(two, 90));
        room.leave(two);
        room.searched(one, Weak::<Nothing>::new());
        assert!(room.grow(one, 99));
    }
}
