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
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex as PlainMutex;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout};

use super::{Fence, Lease, LeaseMode, LeaseName, Store, StoreError, blocking};

/// Time between the first two tries; it doubles up to the longest.
const FIRST_POLL: Duration = Duration::from_millis(1);
const LONGEST_POLL: Duration = Duration::from_millis(20);

/// The leases of a store, and who waits for them in this process.
#[derive(Debug, Clone)]
pub(crate) struct LeaseQueue {
    store: Arc<dyn Store>,
    turns: Arc<LeaseTurns>,
}

/// A lease that was waited for; given back when dropped, or when the process ends.
#[derive(Debug)]
#[must_use = "the lease is held only as long as this lives"]
pub struct HeldLease {
    // Dropped in this order: whoever waits in this process finds the lease free.
    lease: Lease,
    _turn: Option<LeaseTurn>,
}

impl HeldLease {
    /// The lease itself.
    pub(crate) const fn lease(&self) -> &Lease {
        &self.lease
    }

    /// As [`Lease::fence`].
    pub(crate) fn fence(&self) -> Fence {
        self.lease.fence()
    }

    /// True if nobody else can have it now, nor for a while: looked at right before anything is sent.
    pub(crate) fn is_sure(&self) -> bool {
        self.lease.is_sure()
    }

    /// One that is sure for so many looks.
    #[cfg(test)]
    pub(crate) fn sure_for(looks: usize) -> Self {
        Self {
            lease: Lease::sure_for(looks),
            _turn: None,
        }
    }
}

impl LeaseQueue {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            turns: Arc::default(),
        }
    }

    /// Takes a lease alone, after all that already wait for it, with at least one try.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after `wait`.
    pub(crate) async fn alone(
        &self,
        name: &LeaseName,
        wait: Duration,
    ) -> Result<HeldLease, StoreError> {
        // Who waits for a lease holds it in a future of its own, which stays small so.
        Box::pin(self.in_line(name, wait)).await
    }

    /// Takes a lease that others may share, with at least one try.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after `wait`.
    pub(crate) async fn shared(
        &self,
        name: &LeaseName,
        wait: Duration,
    ) -> Result<HeldLease, StoreError> {
        Ok(HeldLease {
            lease: Box::pin(self.poll(name, LeaseMode::Shared, wait)).await?,
            _turn: None,
        })
    }

    async fn in_line(&self, name: &LeaseName, wait: Duration) -> Result<HeldLease, StoreError> {
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

    async fn poll(
        &self,
        name: &LeaseName,
        mode: LeaseMode,
        wait: Duration,
    ) -> Result<Lease, StoreError> {
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
pub(crate) fn wait_for(
    store: &dyn Store,
    name: &LeaseName,
    wait: Duration,
) -> Result<Lease, StoreError> {
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

/// The turns that this process holds or waits for; other names have no entry.
#[derive(Debug, Default)]
struct LeaseTurns {
    turns: PlainMutex<HashMap<LeaseName, Weak<Mutex<()>>>>,
}

/// A turn in this process; given back when dropped.
#[derive(Debug)]
struct LeaseTurn {
    // Dropped in this order: a waiting task continues before the entry is checked.
    _turn: OwnedMutexGuard<()>,
    _ticket: Ticket,
}

/// An interest in a turn, held or waited for; the last one removes the entry.
#[derive(Debug)]
struct Ticket {
    name: LeaseName,
    turn: Option<Arc<Mutex<()>>>,
    all: Arc<LeaseTurns>,
}

impl LeaseTurns {
    async fn turn(self: &Arc<Self>, name: &LeaseName) -> LeaseTurn {
        let turn = self.enter(name);
        let ticket = Ticket {
            name: name.clone(),
            turn: Some(Arc::clone(&turn)),
            all: Arc::clone(self),
        };
        LeaseTurn {
            _turn: turn.lock_owned().await,
            _ticket: ticket,
        }
    }

    fn enter(&self, name: &LeaseName) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock();
        let entry = turns.entry(name.clone()).or_default();
        entry.upgrade().unwrap_or_else(|| {
            let turn = Arc::default();
            *entry = Arc::downgrade(&turn);
            turn
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut turns = self.all.turns.lock();
        self.turn = None;
        let is_last = |turn: &Weak<Mutex<()>>| turn.strong_count() == 0;
        if turns.get(&self.name).is_some_and(is_last) {
            turns.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;

    use super::{LeaseName, LeaseTurns};

    #[tokio::test]
    async fn those_who_want_one_lease_take_turns_and_those_of_others_do_not_wait() {
        let turns = Arc::new(LeaseTurns::default());
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
        let (turns, name) = (Arc::new(LeaseTurns::default()), LeaseName::page(7));
        let held = turns.turn(&name).await;
        let mut waiting = Box::pin(turns.turn(&name));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(waiting);
        assert_eq!(turns.turns.lock().len(), 1);
        let mut waiting = Box::pin(turns.turn(&name));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(held);
        // The waiting one was given the turn, and is dropped without having noticed.
        drop(waiting);
        assert_eq!(turns.turns.lock().len(), 0);
    }
}
