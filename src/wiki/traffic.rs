//! What goes to the wiki and comes back, counted; shared by all keys of one server.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::meter::{Counter, Gauge, Histogram};

/// What goes to the wiki and comes back, counted.
#[derive(Debug, Default)]
pub struct Traffic {
    /// How long requests took, answered or not.
    pub latency: Histogram,
    /// Reads that were tried again.
    pub retries: Counter,
    /// Requests under way.
    pub in_flight: Gauge,
    last_heard: Mutex<Option<Instant>>,
}

impl Traffic {
    /// The wiki answered something that is no fault of the server.
    pub(super) fn heard(&self) {
        *self.last() = Some(Instant::now());
    }

    /// How long ago the wiki last answered.
    #[must_use]
    pub fn silence(&self) -> Option<Duration> {
        self.last().map(|heard| heard.elapsed())
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.last_heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
