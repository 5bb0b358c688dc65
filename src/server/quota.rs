//! Bounds for all and for each owner: fair shares, and room for large messages.
//!
//! A message takes room before it is read, and releases it when its call has ended, since it takes
//! several times its bytes once read. A message without room waits for a while, unless many wait
//! already.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most bytes of a message.
pub(super) const MOST_BYTES: usize = 7 * 1024 * 1024;
/// The unit of room, in bytes.
const UNIT: usize = 1024;
/// All large messages together: two of the largest.
pub(super) const ALL_BYTES: usize = 2 * MOST_BYTES;
/// Time for which a message waits for room.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The most messages that may wait for room.
pub(super) const MOST_WAITING: usize = 64;

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

    /// The rest of an owner's share. It is remembered as long as somebody holds on to it, as all do
    /// who took some of it.
    pub(super) fn share(&self, owner: &str) -> Arc<Semaphore> {
        let mut left = self.left.lock();
        left.retain(|_, share| Arc::strong_count(share) > 1);
        let share = left
            .entry(owner.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.size)));
        Arc::clone(share)
    }
}

/// Room taken by a message; released when dropped.
#[derive(Debug)]
pub(super) struct MessagePermit {
    _all: OwnedSemaphorePermit,
    _share: Option<OwnedSemaphorePermit>,
}

/// Room for large messages.
#[derive(Debug)]
pub(super) struct MessageQuota {
    all: Arc<Semaphore>,
    waiting: Semaphore,
    /// The shares of owners, in units.
    shares: FairShares,
    patience: Duration,
}

impl MessageQuota {
    /// Room for this many bytes in all; an owner's share fits at least its largest message.
    pub(super) fn new(all: usize, share: usize, waiting: usize, patience: Duration) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all / UNIT)),
            waiting: Semaphore::new(waiting),
            shares: FairShares::new(share.min(all) / UNIT),
            patience,
        }
    }

    /// Takes room for a message of this many bytes; `None` if there is none for a while.
    pub(super) async fn take(&self, bytes: usize, owner: Option<&str>) -> Option<MessagePermit> {
        let units = bytes.div_ceil(UNIT).min(self.shares.size);
        let units = u32::try_from(units).ok()?;
        let _waits = self.waiting.try_acquire().ok()?;
        let taking = async {
            // Its own share first: waiting for that blocks nobody else.
            let share = match owner {
                Some(owner) => Some(self.shares.share(owner).acquire_many_owned(units).await?),
                None => None,
            };
            let all = Arc::clone(&self.all).acquire_many_owned(units).await?;
            Ok::<_, tokio::sync::AcquireError>(MessagePermit {
                _all: all,
                _share: share,
            })
        };
        let taken = tokio::time::timeout(self.patience, taking).await;
        taken.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::{FairShares, MessageQuota, UNIT};

    #[test]
    fn a_share_is_forgotten_when_its_owner_has_none_of_it() {
        let shares = FairShares::new(2);
        let taken = shares
            .share("a")
            .try_acquire_owned()
            .expect("a whole share");
        assert_eq!(shares.share("a").available_permits(), 1);
        assert_eq!(shares.share("b").available_permits(), 2);
        assert_eq!(shares.left.lock().len(), 2);
        drop(taken);
        let again = shares.share("a");
        assert_eq!(again.available_permits(), 2);
        assert_eq!(Arc::strong_count(&again), 2);
        assert_eq!(shares.left.lock().len(), 1);
    }

    fn room(waiting: usize, patience: Duration) -> MessageQuota {
        MessageQuota::new(4 * UNIT, 2 * UNIT, waiting, patience)
    }

    #[tokio::test]
    async fn an_owner_has_its_share_and_leaves_the_rest_to_others() {
        let room = room(8, Duration::from_mins(1));
        let first = room.take(2 * UNIT, Some("a")).await.expect("room");
        let mut more = Box::pin(room.take(1, Some("a")));
        assert!((&mut more).now_or_never().is_none());
        let _other = room.take(2 * UNIT, Some("b")).await.expect("room");
        let mut third = Box::pin(room.take(UNIT, Some("c")));
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        assert!(third.await.is_some());
        assert!(more.await.is_some());
    }

    #[tokio::test]
    async fn who_finds_no_room_is_told_so_after_a_while_and_at_once_where_many_wait() {
        let room = room(1, Duration::ZERO);
        let _held = [
            room.take(2 * UNIT, None).await.expect("room"),
            room.take(2 * UNIT, None).await.expect("room"),
        ];
        assert!(room.take(1, None).await.is_none());
        let room = self::room(1, Duration::from_mins(1));
        let _held = [
            room.take(2 * UNIT, None).await.expect("room"),
            room.take(2 * UNIT, None).await.expect("room"),
        ];
        let mut waits = Box::pin(room.take(1, None));
        assert!((&mut waits).now_or_never().is_none());
        let next = room.take(1, None).now_or_never().expect("no wait");
        assert!(next.is_none());
    }
}
