//! Whole lists of pages, which are large: few are held at a time, all who want the same at the same
//! time share one, and a page that several lists hold is kept once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex as Lock;
use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::list::{ListQuery, variables};
use crate::page::PageReading;
use crate::share::OneByOne;
use crate::wiki::{Wiki, WikiError, WikiResult};

/// A whole list of pages, in the order that was asked for.
#[derive(Debug)]
pub(in crate::wiki) struct WholeList {
    pub(in crate::wiki) pages: Vec<PageReading>,
    _turn: OwnedSemaphorePermit,
}

/// A requested list, its time and its result.
type ListSlot = Mutex<Option<(Instant, WikiResult<Arc<WholeList>>)>>;

/// The whole lists that are asked for with one key at the moment.
#[derive(Default)]
pub(in crate::wiki) struct Flights(Lock<HashMap<String, Weak<ListSlot>>>);

impl Flights {
    /// The list of this name, held by those alone who want it: the last to leave drops it.
    fn join(&self, name: String) -> Arc<ListSlot> {
        let mut slots = self.0.lock();
        // An entry that nobody holds any more would still take room.
        slots.retain(|_, slot| slot.strong_count() > 0);
        if let Some(slot) = slots.get(&name).and_then(Weak::upgrade) {
            return slot;
        }
        let slot = Arc::default();
        slots.insert(name, Arc::downgrade(&slot));
        slot
    }
}

impl Wiki {
    /// A turn at asking for a whole list or looking through one.
    pub(in crate::wiki) async fn turn_to_list(&self) -> WikiResult<OwnedSemaphorePermit> {
        let after = OneByOne::PATIENCE;
        let turn = self.traffic().lists.turn().await;
        turn.ok_or(WikiError::Timeout { after })
    }

    /// All pages of a query that the wiki itself can choose by, as they are: in a request that was
    /// begun after this was called, though maybe for somebody else.
    pub(in crate::wiki) async fn whole(&self, query: &ListQuery) -> WikiResult<Arc<WholeList>> {
        let (keyed, asked) = (self.keyed(), Instant::now());
        let name = serde_json::to_string(&variables(query, None)).unwrap_or_default();
        let joined = keyed.flights.join(name);
        let mut slot = joined.lock().await;
        if let Some((began, list)) = &*slot
            && *began >= asked
        {
            return list.clone();
        }
        // It holds a turn itself.
        *slot = None;
        let turn = self.turn_to_list().await?;
        let began = Instant::now();
        let list = self
            .rows(query, None)
            .await
            .map(|pages| Arc::new(WholeList { pages, _turn: turn }));
        *slot = Some((began, list.clone()));
        list
    }
}

/// Pages as lists of several keys hold them: what is the same for all is kept once.
#[derive(Debug, Default)]
pub(in crate::wiki) struct SharedPages(Lock<HashMap<i64, Weak<PageReading>>>);

impl SharedPages {
    /// The same pages, with shared entries for those already known.
    pub(in crate::wiki) fn share(&self, pages: Vec<PageReading>) -> Vec<Arc<PageReading>> {
        let mut known = self.0.lock();
        // An entry that nobody holds any more would still take room.
        known.retain(|_, page| page.strong_count() > 0);
        let share = |page: PageReading| {
            let Some(id) = page.id else {
                return Arc::new(page);
            };
            let same = known.get(&id).and_then(Weak::upgrade);
            if let Some(same) = same.filter(|same| **same == page) {
                return same;
            }
            let page = Arc::new(page);
            known.insert(id, Arc::downgrade(&page));
            page
        };
        pages.into_iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Flights, SharedPages};
    use crate::page::{Locale, PagePath, PageReading};

    #[test]
    fn a_list_is_shared_by_those_who_want_it_and_dropped_with_the_last() {
        let flights = Flights::default();
        let first = flights.join("all".to_owned());
        let second = flights.join("all".to_owned());
        let other = flights.join("some".to_owned());
        assert!(Arc::ptr_eq(&first, &second) && !Arc::ptr_eq(&first, &other));
        let held = Arc::downgrade(&first);
        drop((first, second));
        // The turn is free again, whoever left last.
        assert_eq!(held.strong_count(), 0);
        let again = flights.join("all".to_owned());
        assert!(again.try_lock().expect("free").is_none());
        drop((again, other));
        flights.join("none".to_owned());
        assert_eq!(flights.0.lock().len(), 1);
    }

    #[test]
    fn pages_that_are_the_same_are_kept_once_and_forgotten_with_their_lists() {
        let page = |title: &str| {
            let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a"));
            vec![PageReading::bare(Some(1), locale, path, title.to_owned())]
        };
        let shared = SharedPages::default();
        let first = shared.share(page("one"));
        let same = shared.share(page("one"));
        assert!(first.iter().zip(&same).all(|(a, b)| Arc::ptr_eq(a, b)));
        // What another key sees otherwise is its own.
        let other = shared.share(page("two"));
        assert_eq!(first.first().map(|page| &*page.title), Some("one"));
        assert_eq!(other.first().map(|page| &*page.title), Some("two"));
        drop((first, same, other));
        shared.share(Vec::new());
        assert!(shared.0.lock().is_empty());
    }
}
