//! What sessions last read of which page: what a change of content is held against, and the
//! base of a merge where the wiki's history cannot be read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::gates::SessionId;
use crate::page::{Date, PageReading};

/// The most pages whose times are remembered, over all sessions.
const MAX_PAGES: usize = 1_000;
/// The most bytes of pages that are remembered whole, over all sessions.
const MAX_BYTES: usize = 4 * 1024 * 1024;

type Key = (SessionId, i64);

/// A page as a session last saw it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// When it had been written.
    pub(super) at: Date,
    /// All that was read of it, as long as there is room.
    pub(super) page: Option<Arc<PageReading>>,
}

/// Pages as sessions last saw them.
#[derive(Debug, Default)]
pub(super) struct Reads {
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    seen: HashMap<Key, Seen>,
    /// The oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

impl Reads {
    /// A session saw a page as it was written at a time.
    pub(super) fn note(&self, session: &SessionId, id: i64, at: &Date, page: Option<&PageReading>) {
        if !session.lasts() {
            return;
        }
        let page = page
            .filter(|page| bytes(page) <= MAX_BYTES)
            .cloned()
            .map(Arc::new);
        let seen = Seen {
            at: at.clone(),
            page,
        };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.put(&(session.clone(), id), seen);
    }

    /// The page as this session last saw it.
    pub(super) fn last(&self, session: &SessionId, page: i64) -> Option<Seen> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.seen.get(&(session.clone(), page)).cloned()
    }
}

impl All {
    fn put(&mut self, key: &Key, seen: Seen) {
        self.forget_text(key);
        self.bytes += seen.page.as_deref().map_or(0, bytes);
        if self.seen.insert(key.clone(), seen).is_none() {
            self.order.push_back(key.clone());
            if self.order.len() > MAX_PAGES
                && let Some(oldest) = self.order.pop_front()
            {
                self.forget_text(&oldest);
                self.seen.remove(&oldest);
            }
        }
        for at in 0..self.order.len() {
            if self.bytes <= MAX_BYTES {
                break;
            }
            if let Some(other) = self.order.get(at).filter(|other| *other != key).cloned() {
                self.forget_text(&other);
            }
        }
    }

    fn forget_text(&mut self, key: &Key) {
        if let Some(page) = self.seen.get_mut(key).and_then(|seen| seen.page.take()) {
            self.bytes = self.bytes.saturating_sub(bytes(&page));
        }
    }
}

/// About how much memory a page takes.
fn bytes(page: &PageReading) -> usize {
    [&page.content, &page.script_css, &page.script_js]
        .into_iter()
        .flatten()
        .map(String::len)
        .sum::<usize>()
        + 1_024
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, MAX_PAGES, Reads};
    use crate::gates::SessionId;
    use crate::page::{Date, Locale, PagePath, PageReading};

    #[test]
    fn the_last_read_of_a_session_counts_and_the_oldest_pages_are_forgotten() {
        let reads = Reads::default();
        let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
        let time = |text: &str| Date::from(text.to_owned());
        let last = |session, page| reads.last(session, page).map(|seen| seen.at);
        reads.note(&ours, 0, &time("1"), None);
        reads.note(&ours, 0, &time("2"), None);
        assert_eq!(last(&ours, 0), Some(time("2")));
        assert_eq!(last(&theirs, 0), None);
        for page in 1..=MAX_PAGES {
            reads.note(&ours, i64::try_from(page).expect("small"), &time("1"), None);
        }
        assert_eq!(last(&ours, 0), None);
        assert_eq!(last(&ours, 1), Some(time("1")));
    }

    #[test]
    fn whole_pages_are_kept_as_far_as_there_is_room_the_newest_first() {
        let reads = Reads::default();
        let session = SessionId::new("a");
        let mut page = PageReading::bare(
            None,
            Locale::as_stored("en"),
            PagePath::as_stored("p"),
            String::new(),
        );
        page.content = Some("x".repeat(MAX_BYTES / 3));
        let has_text = |id| {
            reads
                .last(&session, id)
                .is_some_and(|seen| seen.page.is_some())
        };
        for id in 0..4 {
            reads.note(&session, id, &Date::Unset, Some(&page));
        }
        assert_eq!([0, 1, 2, 3].map(has_text), [false, false, true, true]);
        page.content = Some("x".repeat(MAX_BYTES));
        reads.note(&session, 3, &Date::Unset, Some(&page));
        assert_eq!([2, 3].map(has_text), [true, false]);
    }
}
