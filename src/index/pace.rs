//! Turns at background requests: one at a time, with pauses that keep the wiki busy only for a set
//! share of the time.

use std::time::Duration;

use parking_lot::Mutex as Lock;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep_until};

/// The share of its time that a wiki is kept busy with filling the index, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLoad(u32);

impl IndexLoad {
    /// The wiki is asked again as soon as it has answered.
    pub const FULL: Self = Self(100);

    /// A share, limited to 10 to 100 %.
    pub fn percent(share: u32) -> Self {
        Self(share.clamp(10, 100))
    }

    /// The pause after the wiki was busy for some time.
    pub fn pause(self, busy: Duration) -> Duration {
        busy.saturating_mul(100 - self.0) / self.0
    }
}

/// Gives turns, one at a time, with the pauses that the load demands.
#[derive(Debug)]
pub(super) struct Turns {
    load: IndexLoad,
    next: Mutex<Instant>,
    /// Pauses that are still due.
    owed: Lock<Duration>,
}

/// A turn. The pause after it begins when it is dropped.
#[derive(Debug)]
pub(super) struct PacedTurn<'a> {
    load: IndexLoad,
    began: Instant,
    next: MutexGuard<'a, Instant>,
}

impl Turns {
    pub(super) fn new(load: IndexLoad) -> Self {
        Self {
            load,
            next: Mutex::new(Instant::now()),
            owed: Lock::default(),
        }
    }

    /// Notes a request made out of turn because a search waited for it: the next turn comes later
    /// by its pause.
    pub(super) fn owe(&self, busy: Duration) {
        *self.owed.lock() += self.load.pause(busy);
    }

    /// Waits for the next turn.
    pub(super) async fn take(&self) -> PacedTurn<'_> {
        let mut next = self.next.lock().await;
        let owed = std::mem::take(&mut *self.owed.lock());
        *next = (*next).max(Instant::now()) + owed;
        sleep_until(*next).await;
        PacedTurn {
            load: self.load,
            began: Instant::now(),
            next,
        }
    }
}

impl PacedTurn<'_> {
    /// The time that it has lasted.
    pub(super) fn took(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for PacedTurn<'_> {
    fn drop(&mut self) {
        *self.next = Instant::now() + self.load.pause(self.began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::IndexLoad;

    #[test]
    fn a_pause_is_as_long_as_the_load_wants() {
        let busy = Duration::from_millis(100);
        for (percent, pause) in [(10, 900), (25, 300), (50, 100), (80, 25), (100, 0)] {
            let pause = Duration::from_millis(pause);
            assert_eq!(IndexLoad::percent(percent).pause(busy), pause, "{percent}");
        }
        // No setting makes the wiki busier than it can be, or stops the index.
        assert_eq!(IndexLoad::percent(0), IndexLoad::percent(10));
        assert_eq!(IndexLoad::percent(1_000), IndexLoad::percent(100));
    }
}
