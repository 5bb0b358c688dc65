//! Reads of pages' content: what a test sees of them, and how it makes them slow.

use std::ops::Range;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

/// One request that read the content of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRead {
    /// The number of pages that it read.
    pub pages: usize,
    /// The time at which it came.
    pub began: Instant,
    /// The time at which it was answered; none while it is not.
    pub ended: Option<Instant>,
}

/// All of them, and what they wait for.
#[derive(Debug)]
pub(super) struct Reads {
    /// The reads that wait, counted from 0.
    pub(super) held: watch::Sender<Range<usize>>,
    /// The time that each takes.
    pub(super) time: Mutex<Duration>,
    seen: Mutex<Vec<ContentRead>>,
    /// The number of reads so far.
    count: watch::Sender<usize>,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            held: watch::Sender::new(0..0),
            time: Mutex::default(),
            seen: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

/// A read that is under way.
pub(in crate::demo) struct UnderWay<'a> {
    reads: &'a Reads,
    number: usize,
}

impl Reads {
    /// A request reads so many pages; the answer is not made before this returns.
    pub(super) async fn begin(&self, pages: usize) -> UnderWay<'_> {
        let number = {
            let mut seen = self.seen.lock();
            seen.push(ContentRead {
                pages,
                began: Instant::now(),
                ended: None,
            });
            seen.len() - 1
        };
        self.count.send_modify(|count| *count += 1);
        let under_way = UnderWay {
            reads: self,
            number,
        };
        // It cannot be closed while it is borrowed.
        let _ = self
            .held
            .subscribe()
            .wait_for(|held| !held.contains(&number))
            .await;
        let time = *self.time.lock();
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        under_way
    }

    pub(super) fn all(&self) -> Vec<ContentRead> {
        self.seen.lock().clone()
    }

    /// Waits until so many reads have come.
    pub(super) async fn came(&self, wanted: usize) {
        let _ = self
            .count
            .subscribe()
            .wait_for(|count| *count >= wanted)
            .await;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(read) = self.reads.seen.lock().get_mut(self.number) {
            read.ended = Some(Instant::now());
        }
    }
}
