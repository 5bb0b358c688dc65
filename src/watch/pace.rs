//! Sets the pace at which the list is looked at.

use std::time::Duration;

/// The whole list is requested so rarely that it takes at most one part in this many of the time.
const PARTS: u32 = 50;
/// After this many failed looks in a row the pause is not doubled any further.
const MOST_DOUBLED: u32 = 4;

/// The pace of looks at the list, and the bounds on watched pages.
#[derive(Debug, Clone, Copy)]
pub struct WatchPace {
    /// The time between two looks.
    pub apart: Duration,
    /// The least time between two looks after a write through this server.
    pub after_write: Duration,
    /// The most pages that one session watches.
    pub most_of_session: usize,
    /// The most pages that all sessions of one owner watch.
    pub most_of_owner: usize,
    /// The most pages that all watch together.
    pub most: usize,
}

impl Default for WatchPace {
    fn default() -> Self {
        Self {
            apart: Duration::from_secs(10),
            after_write: Duration::from_secs(1),
            most_of_session: 100,
            most_of_owner: 500,
            most: 2_000,
        }
    }
}

impl WatchPace {
    /// The time to the next look, after a number of failures in a row.
    pub(super) fn pause(&self, failures: u32) -> Duration {
        self.apart
            .saturating_mul(2_u32.saturating_pow(failures.min(MOST_DOUBLED)))
    }

    /// True if the whole list may be requested again, by the time since the last request and the
    /// time that it took.
    pub(super) fn allows_whole(since: Duration, took: Duration) -> bool {
        since >= took.saturating_mul(PARTS)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::WatchPace;

    #[test]
    fn a_wiki_that_fails_is_looked_at_less_often_and_never_less_than_every_few_minutes() {
        let pace = WatchPace::default();
        let pauses = [0, 1, 4, 5, u32::MAX].map(|failures| pace.pause(failures).as_secs());
        assert_eq!(pauses, [10, 20, 160, 160, 160]);
    }

    #[test]
    fn the_whole_list_takes_at_most_a_fiftieth_of_the_time() {
        let took = Duration::from_millis(300);
        assert!(!WatchPace::allows_whole(Duration::from_secs(14), took));
        assert!(WatchPace::allows_whole(Duration::from_secs(15), took));
    }
}
