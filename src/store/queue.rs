//! Waits for leases, first come, first served: the one place that does.
//!
//! In a process, those who want a lease alone take turns. Among processes whoever finds it held
//! takes a second lease beside it, *next*, and gets the first when it is free. Later ones queue
//! behind that, the next of the process that just had it too. So among those who want a lease alone no
//! process starves another. Who wants to share one stands in no line, and may keep them waiting.
//!
//! Leases are taken in one order, so there is no deadlock: `RECOVERY`, a proposal's or draft's, a page's, the
//! tree's, then those that one step of work holds: a delegate's, `DRAFTS`, `APPROVALS`, `MEMORIES`, `PURGE`,
//! `PAUSE`, `INDEX`, `RUNS`, `BLOBS`. Never two of a kind are held.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex as PlainMutex;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout};

use super::{Fence, Lease, LeaseMode, LeaseName, Store, StoreError, StoreResult, blocking};

/// Time between the first two tries; it doubles up to the longest.
const FIRST_POLL: Duration = Duration::from_millis(1);
const LONGEST_POLL: Duration = Duration::from_millis(20);

/// The leases of a store, and who waits for them in this process.
#[derive(Debug, Clone)]
pub struct LeaseQueue {
    store: Arc<dyn Store>,
    turns: Arc<LeaseTurns>,
}

/// A lease that was waited for; given back when dropped, or when the process ends.
#[derive(Debug)]
#[must_use = "the lease is held only as long as this lives"]
pub struct HeldLease {
    // Dropped in this order: whoever waits in this process finds the lease free.
    lease: Lease,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl HeldLease {
    /// The lease itself.
    pub const fn lease(&self) -> &Lease {
        &self.lease
    }

    /// As [`Lease::fence`].
    pub fn fence(&self) -> Fence {
        self.lease.fence()
    }

    /// True if nobody else can have it now, nor for a while: looked at right before anything is sent.
    pub fn is_sure(&self) -> bool {
        self.lease.is_sure()
    }

    /// One of this process alone, which is sure as long as `is_sure` says so.
    pub fn as_long_as(is_sure: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            lease: Lease::as_long_as(is_sure),
            _turn: None,
        }
    }

    /// One that is sure for so many looks.
    #[cfg(any(test, feature = "testing"))]
    pub fn sure_for(looks: usize) -> Self {
        Self {
            lease: Lease::sure_for(looks),
            _turn: None,
        }
    }
}

impl LeaseQueue {
    /// The queue for the leases of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            turns: Arc::default(),
        }
    }

    /// Takes a lease alone, after all that already wait for it, with at least one try.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after `wait`.
    pub async fn alone(&self, name: &LeaseName, wait: Duration) -> StoreResult<HeldLease> {
        // Who waits for a lease holds it in a future of its own, which stays small so.
        Box::pin(self.in_line(name, wait)).await
    }

    /// Takes a lease that others may share, with at least one try.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after `wait`.
    pub async fn shared(&self, name: &LeaseName, wait: Duration) -> StoreResult<HeldLease> {
        Ok(HeldLease {
            lease: Box::pin(self.poll(name, LeaseMode::Shared, wait)).await?,
            _turn: None,
        })
    }

    async fn in_line(&self, name: &LeaseName, wait: Duration) -> StoreResult<HeldLease> {
        let asked = Instant::now();
        let left = || wait.saturating_sub(asked.elapsed());
        let turn = timeout(wait, self.turns.turn(name))
            .await
            .map_err(|_| StoreError::Busy)?;
        let next = name.next();
        let (store, own, line) = (Arc::clone(&self.store), name.clone(), next.clone());
        let at_once = move || {
            if store.may_be_held(&line) {
                return Ok(None);
            }
            store.try_lease(&own, LeaseMode::Alone)
        };
        let at_once = blocking::<_, StoreError, _>(at_once).await?;
        let lease = if let Some(lease) = at_once {
            lease
        } else {
            let _next = self.poll(&next, LeaseMode::Alone, left()).await?;
            self.poll(name, LeaseMode::Alone, left()).await?
        };
        Ok(HeldLease {
            lease,
            _turn: Some(turn),
        })
    }

    async fn poll(&self, name: &LeaseName, mode: LeaseMode, wait: Duration) -> StoreResult<Lease> {
        let asked = Instant::now();
        let mut pause = FIRST_POLL;
        loop {
            let (store, own) = (Arc::clone(&self.store), name.clone());
            let tried = blocking::<_, StoreError, _>(move || store.try_lease(&own, mode)).await?;
            if let Some(lease) = tried {
                return Ok(lease);
            }
            let left = wait.saturating_sub(asked.elapsed());
            if left.is_zero() {
                return Err(StoreError::Busy);
            }
            sleep(left.min(pause)).await;
            pause = LONGEST_POLL.min(pause * 2);
        }
    }
}

/// Takes a lease alone, in a thread that may wait, with at least one try. It stands in no line.
///
/// # Errors
/// [`StoreError::Busy`] after `wait`.
pub fn wait_for(store: &dyn Store, name: &LeaseName, wait: Duration) -> StoreResult<Lease> {
    let until = std::time::Instant::now() + wait;
    let mut pause = FIRST_POLL;
    loop {
        if let Some(lease) = store.try_lease(name, LeaseMode::Alone)? {
            return Ok(lease);
        }
        if std::time::Instant::now() >= until {
            return Err(StoreError::Busy);
        }
        std::thread::sleep(pause);
        pause = LONGEST_POLL.min(pause * 2);
    }
}

/// The turns that this process holds or waits for.
#[derive(Debug, Default)]
struct LeaseTurns(PlainMutex<HashMap<LeaseName, Arc<Mutex<()>>>>);

impl LeaseTurns {
    /// A turn in this process; given back when dropped.
    async fn turn(&self, name: &LeaseName) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock();
            // Only the map itself still has what nobody holds or waits for.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(name.clone()).or_default())
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{LeaseName, LeaseTurns};

    #[tokio::test]
    async fn those_who_want_one_lease_take_turns_and_those_of_others_do_not_wait() {
        let turns = LeaseTurns::default();
        let name = LeaseName::page(7);
        let held = turns.turn(&name).await;
        let other = LeaseName::page(8);
        assert!(turns.turn(&other).now_or_never().is_some());
        let mut waiting = Box::pin(turns.turn(&name));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(held);
        drop(waiting.await);
    }

    #[tokio::test]
    async fn a_lease_that_nobody_waits_for_has_no_entry() {
        let (turns, name) = (LeaseTurns::default(), LeaseName::page(7));
        let held = turns.turn(&name).await;
        let mut waiting = Box::pin(turns.turn(&name));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(waiting);
        assert_eq!(turns.0.lock().len(), 1);
        let mut waiting = Box::pin(turns.turn(&name));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(held);
        // The waiting one was given the turn, and is dropped without having noticed.
        drop(waiting);
        drop(turns.turn(&LeaseName::page(8)).await);
        assert!(!turns.0.lock().contains_key(&name));
    }
}
