//! The traffic to the wiki, bounded and counted; shared by all keys of one server.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::sync::Semaphore;

use super::super::pages::shared_list::SharedPages;
use super::super::rights::unknown_keys::UnknownKeys;
use crate::meter::{Counter, Gauge, Histogram};
use crate::share::OneByOne;

/// The most requests under way at once, whatever keys they are made with.
const MAX_REQUESTS: usize = 8;
/// From this size on a page is large, in bytes.
const LARGE: usize = 256 * 1024;
/// The most large pages that are remembered.
const MOST_LARGE: usize = 1_000;

/// The traffic to the wiki, bounded and counted.
#[derive(Debug)]
pub struct Traffic {
    /// A place for each request under way.
    pub(in crate::wiki) places: Semaphore,
    /// Turns at whole lists of pages, with whatever keys: one of 10,000 pages takes 20 MB until it
    /// is shared.
    pub(in crate::wiki) lists: OneByOne,
    /// The entries that such lists have in common.
    pub(in crate::wiki) pages: SharedPages,
    /// The keys that the wiki lately did not know.
    pub(in crate::wiki) strangers: UnknownKeys,
    /// Durations of requests, answered or not.
    pub latency: Histogram,
    /// Reads that were tried again.
    pub retries: Counter,
    /// Requests under way.
    pub in_flight: Gauge,
    /// Requests that a call waits for, including those still waiting for a slot.
    pub(in crate::wiki) of_calls: Gauge,
    /// The pages whose texts were large when they were read last.
    pub(in crate::wiki) large: LargePages,
    last_heard: Mutex<Option<Instant>>,
    dated: Mutex<Option<(Instant, OffsetDateTime)>>,
    /// The time at which the last comment was sent.
    comment: Mutex<Option<Instant>>,
}

/// The sizes of large pages, as they were read last, in bytes.
#[derive(Debug, Default)]
pub(in crate::wiki) struct LargePages(Mutex<HashMap<i64, usize>>);

impl LargePages {
    /// Size of a page; 0 if it was not large, or not read.
    pub(in crate::wiki) fn size_of(&self, id: i64) -> usize {
        self.0.lock().get(&id).copied().unwrap_or_default()
    }

    /// A page was read whose text is this large.
    pub(in crate::wiki) fn note(&self, id: i64, bytes: usize) {
        let mut pages = self.0.lock();
        if bytes < LARGE {
            pages.remove(&id);
            return;
        }
        if pages.len() >= MOST_LARGE && !pages.contains_key(&id) {
            // A page that is forgotten takes its room while its answer comes.
            pages.clear();
        }
        pages.insert(id, bytes);
    }
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            places: Semaphore::new(MAX_REQUESTS),
            lists: OneByOne::default(),
            pages: SharedPages::default(),
            strangers: UnknownKeys::default(),
            latency: Histogram::default(),
            retries: Counter::default(),
            in_flight: Gauge::default(),
            of_calls: Gauge::default(),
            large: LargePages::default(),
            last_heard: Mutex::default(),
            dated: Mutex::default(),
            comment: Mutex::default(),
        }
    }
}

impl Traffic {
    /// The wiki answered something that is no fault of the server.
    pub(in crate::wiki) fn heard(&self) {
        *self.last_heard.lock() = Some(Instant::now());
    }

    /// True if a call waits for an answer; background requests then yield.
    pub fn has_callers(&self) -> bool {
        self.of_calls.get() > 0
    }

    /// The wiki answered under this date.
    pub(in crate::wiki) fn dated(&self, date: OffsetDateTime) {
        *self.dated.lock() = Some((Instant::now(), date));
    }

    /// The time by the wiki's clock, from its last answer, at most a second late. Our own clock's
    /// if no answer had a date.
    pub fn now(&self) -> OffsetDateTime {
        let dated = *self.dated.lock();
        dated
            .and_then(|(heard, date)| date.checked_add(heard.elapsed().try_into().ok()?))
            .unwrap_or_else(OffsetDateTime::now_utc)
    }

    /// A comment is being sent.
    pub(in crate::wiki) fn comment_sent(&self) {
        *self.comment.lock() = Some(Instant::now());
    }

    /// Time since the last comment was sent from here, with whatever key.
    pub(in crate::wiki) fn since_comment(&self) -> Option<Duration> {
        self.comment.lock().map(|at| at.elapsed())
    }

    /// A request was not answered: that the wiki was heard of before says nothing any more.
    pub(in crate::wiki) fn missed(&self) {
        *self.last_heard.lock() = None;
    }

    /// Time since the wiki last answered, if it answered the last request.
    pub fn silence(&self) -> Option<Duration> {
        self.last_heard.lock().map(|heard| heard.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGE, LargePages, MOST_LARGE};

    #[test]
    fn large_pages_are_remembered_until_they_are_small_or_too_many() {
        let pages = LargePages::default();
        assert_eq!(pages.size_of(1), 0);
        pages.note(1, LARGE - 1);
        assert_eq!(pages.size_of(1), 0);
        pages.note(1, LARGE);
        assert_eq!(pages.size_of(1), LARGE);
        pages.note(1, 5);
        assert_eq!(pages.size_of(1), 0);
        for id in 0..=i64::try_from(MOST_LARGE).expect("few") {
            pages.note(id, LARGE);
        }
        assert!(pages.0.lock().len() <= MOST_LARGE);
    }
}
