//! Limits each owner to a fair share of something bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// The shares of owners, all of one size.
#[derive(Debug)]
pub(super) struct FairShares {
    size: usize,
    /// The rest of each owner's share, if the owner has some of it or waits for some.
    left: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl FairShares {
    /// Shares of this size.
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            left: Mutex::default(),
        }
    }

    /// Size of one owner's share.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// The rest of an owner's share. It is remembered as long as somebody holds on to it, as all do
    /// who took some of it.
    pub(super) fn share(&self, owner: &str) -> Arc<Semaphore> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|_, share| Arc::strong_count(share) > 1);
        let share = left
            .entry(owner.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.size)));
        Arc::clone(share)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::FairShares;

    #[test]
    fn a_share_is_forgotten_when_its_owner_has_none_of_it() {
        let shares = FairShares::new(2);
        let taken = shares
            .share("a")
            .try_acquire_owned()
            .expect("a whole share");
        assert_eq!(shares.share("a").available_permits(), 1);
        assert_eq!(shares.share("b").available_permits(), 2);
        assert_eq!(shares.left.lock().expect("no panic").len(), 2);
        drop(taken);
        let again = shares.share("a");
        assert_eq!(again.available_permits(), 2);
        assert_eq!(Arc::strong_count(&again), 2);
        assert_eq!(shares.left.lock().expect("no panic").len(), 1);
    }
}
