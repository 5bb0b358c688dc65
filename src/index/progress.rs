//! The progress of the index, and what searches wait for.

use std::time::{Duration, Instant};

use super::settings::Pace;
use super::store::IndexCounts;
use crate::wiki::{MAX_KEPT, WikiError};

/// The greatest age of a look at the list, for a wiki too large to keep its list.
const FRESH_IF_LARGE: Duration = Duration::from_mins(1);

/// The progress of the index.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexProgress {
    pub(super) is_running: bool,
    /// Searches want the index to be current as of this time.
    wanted: Option<Instant>,
    /// The index is current as of this time, except for pages that a first pass still has to read.
    caught_up: Option<Instant>,
    /// The time of the last write through this server.
    written: Option<Instant>,
    /// Passes that have ended.
    pub(super) passes: u64,
    /// The time at which the last pass ended early, and its error.
    failed: Option<(Instant, WikiError)>,
    pub(super) of: usize,
    pub(super) count: IndexCounts,
    /// True if the index has held all pages that it may hold.
    pub(super) was_complete: bool,
    /// The bound on all callers' indexes keeps it from growing.
    pub(super) is_full: bool,
    /// The time at which the first search gives up waiting for the first pass.
    first_until: Option<Instant>,
    /// Since when pages are being read, and how many were indexed then.
    pub(super) filling: Option<(Instant, usize)>,
}

/// The condition that a search waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchWait {
    /// The index to be current as of this time.
    time: Instant,
    /// The passes that had ended before.
    passes: u64,
    /// The end of that wait.
    pub(super) until: Instant,
    /// The end of the wait for the first pass.
    pub(super) first_until: Instant,
}

impl IndexProgress {
    /// A search begins; returns what it waits for, and whether a pass must begin for it.
    pub(super) fn search(&mut self, pace: &Pace, most: usize) -> (SearchWait, bool) {
        let now = Instant::now();
        let fresh = if self.of > MAX_KEPT {
            FRESH_IF_LARGE.max(pace.fresh)
        } else {
            pace.fresh
        };
        let recent = now.checked_sub(fresh).unwrap_or(now);
        let time = self.written.map_or(recent, |written| written.max(recent));
        let first_until = *self.first_until.get_or_insert(now + pace.patience);
        let mut wanted = SearchWait {
            time,
            passes: self.passes,
            until: now + pace.patience,
            first_until,
        };
        let is_met = self.is_caught_up(time);
        // After a failure the next search tries again, but not every search immediately.
        if let Some((failed, _)) = &self.failed
            && failed.elapsed() < fresh
        {
            (wanted.until, wanted.first_until) = (now, now);
            return (wanted, false);
        }
        if !is_met {
            self.wanted = self.wanted.max(Some(time));
        }
        let begins = !self.is_running && (!is_met || self.wanting(most).is_some());
        self.is_running |= begins;
        (wanted, begins)
    }

    /// True if a search need not wait any longer, with success or in vain.
    pub(super) fn has(&self, wanted: &SearchWait) -> bool {
        self.is_caught_up(wanted.time) || self.is_over(wanted)
    }

    /// The same for a search that wants the complete index.
    pub(super) fn has_all(&self, wanted: &SearchWait) -> bool {
        self.was_complete || self.is_over(wanted)
    }

    fn is_over(&self, wanted: &SearchWait) -> bool {
        !self.is_running && self.passes > wanted.passes
    }

    fn is_caught_up(&self, time: Instant) -> bool {
        self.caught_up.is_some_and(|caught_up| caught_up >= time)
    }

    /// The time as of which searches want a look at the list, if the last look is older.
    pub(super) fn wanted_look(&self, looked: Option<Instant>) -> Option<Instant> {
        self.wanted.filter(|wanted| looked < Some(*wanted))
    }

    /// Every change up to this time is indexed, or is in the queue of a first pass.
    pub(super) fn catch_up(&mut self, time: Instant) {
        self.caught_up = self.caught_up.max(Some(time));
    }

    /// Nothing is left to be read.
    pub(super) fn complete(&mut self) {
        self.was_complete = true;
        self.filling = None;
    }

    /// Ends a pass; returns whether another must follow because it was another key's or a search
    /// came meanwhile.
    pub(super) fn ended(
        &mut self,
        end: Result<(), Option<WikiError>>,
        is_of_old_key: bool,
    ) -> bool {
        let goes_on = is_of_old_key || (end.is_ok() && self.wanted > self.caught_up);
        self.is_running = goes_on;
        self.passes += 1;
        self.failed = match end {
            Err(Some(error)) => Some((Instant::now(), error)),
            Ok(()) | Err(None) => None,
        };
        goes_on
    }

    pub(super) fn written(&mut self) {
        self.written = Some(Instant::now());
    }

    pub(super) fn error(&self) -> Option<&WikiError> {
        self.failed.as_ref().map(|(_, error)| error)
    }

    /// True if the list was ever looked at.
    pub(super) const fn was_looked_at(&self) -> bool {
        self.caught_up.is_some()
    }

    /// The number of pages to be indexed, if some are still missing.
    pub(super) fn wanting(&self, most: usize) -> Option<usize> {
        let wanted = self.of.min(most);
        (self.count.pages < wanted && !self.is_full).then_some(wanted)
    }

    /// The time that the rest may take, by the time of the pages before it.
    pub(super) fn left(&self, most: usize) -> Option<Duration> {
        let (since, before) = self.filling?;
        let left = self.wanting(most)?.checked_sub(self.count.pages)?;
        let done = self.count.pages.checked_sub(before)?;
        let (left, done) = (u32::try_from(left).ok()?, u32::try_from(done).ok()?);
        (done > 0).then(|| since.elapsed().saturating_mul(left) / done)
    }

    /// Forgets everything: there is another key, or the index was dropped.
    pub(super) fn reset(&mut self) {
        *self = Self {
            is_running: self.is_running,
            passes: self.passes,
            written: self.written,
            // Kept: what a pass under way sees is forgotten too, so searches still want a look.
            wanted: self.wanted,
            ..Self::default()
        };
    }
}
