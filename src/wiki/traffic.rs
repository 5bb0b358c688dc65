//! What goes to the wiki and comes back, counted; shared by all keys of one server.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

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
    dated: Mutex<Option<(Instant, OffsetDateTime)>>,
}

impl Traffic {
    /// The wiki answered something that is no fault of the server.
    pub(super) fn heard(&self) {
        *self.last() = Some(Instant::now());
    }

    /// The wiki answered under this date.
    pub(super) fn dated(&self, date: OffsetDateTime) {
        *self.date() = Some((Instant::now(), date));
    }

    /// The time by the wiki's clock, as its last answer told it: a second late at the most. Our own
    /// clock's where no answer had a date.
    #[must_use]
    pub fn now(&self) -> OffsetDateTime {
        let dated = *self.date();
        dated
            .and_then(|(heard, date)| date.checked_add(heard.elapsed().try_into().ok()?))
            .unwrap_or_else(OffsetDateTime::now_utc)
    }

    fn date(&self) -> std::sync::MutexGuard<'_, Option<(Instant, OffsetDateTime)>> {
        self.dated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was not answered: that the wiki was heard of before says nothing any more.
    pub(super) fn missed(&self) {
        *self.last() = None;
    }

    /// How long ago the wiki last answered, if it answered the last request.
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
