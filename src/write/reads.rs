//! When a session last read which page: what a change of content is held against.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::gates::SessionId;
use crate::page::Date;

/// The most pages that are remembered, over all sessions.
const MAX_PAGES: usize = 1_000;

type Key = (SessionId, i64);

/// The state of pages, by their time, as sessions last saw them.
#[derive(Debug, Default)]
pub(super) struct Reads {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    times: HashMap<Key, Date>,
    order: VecDeque<Key>,
}

impl Reads {
    /// A session saw a page as it was written at a time.
    pub(super) fn note(&self, session: &SessionId, page: i64, updated_at: &Date) {
        let key = (session.clone(), page);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.times.insert(key.clone(), updated_at.clone()).is_none() {
            seen.order.push_back(key);
            if seen.order.len() > MAX_PAGES
                && let Some(oldest) = seen.order.pop_front()
            {
                seen.times.remove(&oldest);
            }
        }
    }

    /// The time of the page as this session last saw it.
    pub(super) fn last(&self, session: &SessionId, page: i64) -> Option<Date> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.times.get(&(session.clone(), page)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAGES, Reads};
    use crate::gates::SessionId;
    use crate::page::Date;

    #[test]
    fn the_last_read_of_a_session_counts_and_the_oldest_pages_are_forgotten() {
        let reads = Reads::default();
        let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
        let time = |text: &str| Date::from(text.to_owned());
        reads.note(&ours, 0, &time("1"));
        reads.note(&ours, 0, &time("2"));
        assert_eq!(reads.last(&ours, 0), Some(time("2")));
        assert_eq!(reads.last(&theirs, 0), None);
        for page in 1..=MAX_PAGES {
            reads.note(&ours, i64::try_from(page).expect("small"), &time("1"));
        }
        assert_eq!(reads.last(&ours, 0), None);
        assert_eq!(reads.last(&ours, 1), Some(time("1")));
    }
}
