//! Holds the state that all requests of one demo wiki share.

use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::keys::Keyring;
use super::store::Store;
use super::testing::Testing;
use crate::demo::Fault;

/// The times at which comments were sent and written.
#[derive(Default)]
struct CommentTimes {
    /// The start of the limit's window.
    window: Option<Instant>,
    /// The time of the last comment of the account of all keys.
    written: Option<Instant>,
}

/// One comment in this time for one address (W31).
const LIMIT: Duration = Duration::from_secs(15);
/// One comment in this time for one account (W31).
const DELAY: Duration = Duration::from_secs(30);

/// The wiki behind the handlers. A test that panics while it holds a part does not take it along.
#[derive(Default)]
pub(super) struct Shared {
    store: Mutex<Store>,
    keyring: Mutex<Keyring>,
    comments: Mutex<CommentTimes>,
    /// The means of tests.
    pub(super) testing: Testing,
}

impl Shared {
    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }

    pub(super) fn keyring(&self) -> MutexGuard<'_, Keyring> {
        self.keyring.lock()
    }

    /// Counts a comment that is sent; the limit holds whatever becomes of it.
    pub(super) fn take_comment(&self) -> Result<(), Fault> {
        let now = self.now();
        let mut times = self.comments.lock();
        if let Some(left) = times
            .window
            .and_then(|began| (began + LIMIT).checked_duration_since(now))
            && !left.is_zero()
        {
            return Err(Fault::Limited(
                left.as_secs() + u64::from(left.subsec_nanos() > 0),
            ));
        }
        times.window = Some(now);
        Ok(())
    }

    /// True if the account's last comment was written or changed long enough ago.
    pub(super) fn may_comment(&self) -> bool {
        let now = self.now();
        let written = self.comments.lock().written;
        written.is_none_or(|at| now.saturating_duration_since(at) >= DELAY)
    }

    /// A comment was written or changed now.
    pub(super) fn commented(&self) {
        let now = self.now();
        self.comments.lock().written = Some(now);
    }

    fn now(&self) -> Instant {
        Instant::now() + self.testing.comments_ahead()
    }
}
