//! The traffic to the wiki, bounded and counted; shared by all keys of one server.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use time::OffsetDateTime;
use tokio::sync::Semaphore;

use super::strangers::Strangers;
use super::whole::SharedPages;
use crate::meter::{Counter, Gauge, Histogram};
use crate::share::OneByOne;

/// The most requests under way at once, whatever keys they are made with.
const MAX_REQUESTS: usize = 8;

/// The traffic to the wiki, bounded and counted.
#[derive(Debug)]
pub struct Traffic {
    /// A place for each request under way.
    pub(super) places: Semaphore,
    /// Turns at whole lists of pages, with whatever keys: one of 10,000 pages takes 20 MB until it
    /// is shared.
    pub(super) lists: OneByOne,
    /// What such lists hold in common.
    pub(super) pages: SharedPages,
    /// The keys that the wiki lately did not know.
    pub(super) strangers: Strangers,
    /// How long requests took, answered or not.
    pub latency: Histogram,
    /// Reads that were tried again.
    pub retries: Counter,
    /// Requests under way.
    pub in_flight: Gauge,
    /// Requests that a call waits for, including those still waiting for a slot.
    pub(super) of_calls: Gauge,
    last_heard: Mutex<Option<Instant>>,
    dated: Mutex<Option<(Instant, OffsetDateTime)>>,
    /// When the last comment was sent.
    comment: Mutex<Option<Instant>>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            places: Semaphore::new(MAX_REQUESTS),
            lists: OneByOne::default(),
            pages: SharedPages::default(),
            strangers: Strangers::default(),
            latency: Histogram::default(),
            retries: Counter::default(),
            in_flight: Gauge::default(),
            of_calls: Gauge::default(),
            last_heard: Mutex::default(),
            dated: Mutex::default(),
            comment: Mutex::default(),
        }
    }
}

impl Traffic {
    /// The wiki answered something that is no fault of the server.
    pub(super) fn heard(&self) {
        *self.last() = Some(Instant::now());
    }

    /// Whether a call waits for an answer; background requests then yield.
    #[must_use]
    pub fn has_callers(&self) -> bool {
        self.of_calls.get() > 0
    }

    /// The wiki answered under this date.
    pub(super) fn dated(&self, date: OffsetDateTime) {
        *self.date() = Some((Instant::now(), date));
    }

    /// The time by the wiki's clock, from its last answer, at most a second late. Our own clock's
    /// if no answer had a date.
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

    /// A comment is being sent.
    pub(super) fn comment_sent(&self) {
        *self.comment.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// How long ago the last comment was sent from here, with whatever key.
    pub(super) fn since_comment(&self) -> Option<Duration> {
        let sent = *self.comment.lock().unwrap_or_else(PoisonError::into_inner);
        sent.map(|at| at.elapsed())
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
