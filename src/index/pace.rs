//! Requests one after another, some time apart.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Gives turns, each some time after the one before.
#[derive(Debug)]
pub(super) struct Turns {
    apart: Duration,
    next: Mutex<Option<Instant>>,
}

impl Turns {
    pub(super) const fn new(apart: Duration) -> Self {
        Self {
            apart,
            next: Mutex::new(None),
        }
    }

    /// Waits for the next turn.
    pub(super) async fn wait(&self) {
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let turn = next.map_or(now, |next| next.max(now));
            *next = Some(turn + self.apart);
            turn
        };
        tokio::time::sleep_until(turn.into()).await;
    }
}
