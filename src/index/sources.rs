//! Scans the sources of all indexed pages.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::content_index::ContentIndex;
use super::store::{IndexError, Store};
use crate::page::PagePlace;

/// The number of pages scanned before other queries get a turn.
const AT_ONCE: usize = 100;

/// The findings in the sources of all pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InSources<T> {
    /// The findings, in the order of the pages' ids.
    pub found: Vec<T>,
    /// Indexed pages whose source the key cannot read or that could not be scanned.
    pub without: Vec<i64>,
    /// True if all pages were scanned in time.
    pub is_whole: bool,
}

impl<T> Default for InSources<T> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            without: Vec::new(),
            is_whole: true,
        }
    }
}

impl ContentIndex {
    /// Scans the sources of all indexed pages until the time is over: `look` gets a page's id,
    /// place and source.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn in_sources<T: Send + 'static>(
        self: &Arc<Self>,
        look: impl Fn(i64, &PagePlace, &str) -> Option<T> + Send + Sync + 'static,
        until: Instant,
    ) -> Result<InSources<T>, IndexError> {
        let look = Arc::new(look);
        let pages = self.asked(|store| pages(store)).await?;
        let mut all = InSources::default();
        for pages in pages.chunks(AT_ONCE) {
            if Instant::now() >= until {
                all.is_whole = false;
                break;
            }
            let (pages, look) = (pages.to_vec(), Arc::clone(&look));
            let part = self
                .asked(move |store| in_these(store, &pages, &*look, until))
                .await?;
            all.found.extend(part.found);
            all.without.extend(part.without);
            all.is_whole &= part.is_whole;
        }
        Ok(all)
    }
}

/// A page, and whether its source is known.
type IndexedPage = (i64, PagePlace, bool);

fn pages(store: &Store) -> Result<Vec<IndexedPage>, IndexError> {
    let sourced: HashSet<i64> = store.sourced()?;
    let pages = store.newest_first()?.into_iter();
    let mut pages: Vec<IndexedPage> = pages
        .filter_map(|page| {
            let id = page.id?;
            Some((id, (page.locale, page.path), sourced.contains(&id)))
        })
        .collect();
    pages.sort_unstable_by_key(|page| page.0);
    Ok(pages)
}

fn in_these<T>(
    store: &Store,
    pages: &[IndexedPage],
    look: &(dyn Fn(i64, &PagePlace, &str) -> Option<T> + Send + Sync),
    until: Instant,
) -> Result<InSources<T>, IndexError> {
    let mut part = InSources::default();
    for (id, place, is_sourced) in pages {
        if Instant::now() >= until {
            part.is_whole = false;
            break;
        }
        let content = if *is_sourced {
            store.content(*id)?
        } else {
            None
        };
        let Some(content) = content else {
            part.without.push(*id);
            continue;
        };
        // The parser panics on some texts; such a page must not keep the others from being scanned.
        match catch_unwind(AssertUnwindSafe(|| look(*id, place, &content.text))) {
            Ok(found) => part.found.extend(found),
            Err(_) => part.without.push(*id),
        }
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{in_these, pages};
    use crate::index::store::{Home, Store};
    use crate::page::{Locale, PagePath, PageReading};

    fn page(id: i64, content: Option<&str>) -> PageReading {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a/b"));
        PageReading {
            content: content.map(str::to_owned),
            ..PageReading::bare(Some(id), locale, path, "A".to_owned())
        }
    }

    #[test]
    fn every_source_is_looked_at_once_and_what_is_not_is_named() {
        let mut store = Store::open(&Home::Memory).expect("a store");
        let all = [
            page(3, Some("three")),
            page(1, Some("one")),
            page(2, None),
            page(4, Some("")),
        ];
        store.put(&all).expect("put");
        let pages = pages(&store).expect("pages");
        let look = |id: i64, _: &_, text: &str| {
            assert!(id != 3, "a parser that breaks off");
            (!text.is_empty()).then(|| text.to_owned())
        };
        let later = Instant::now() + Duration::from_mins(1);
        let found = in_these(&store, &pages, &look, later).expect("found");
        assert_eq!(
            (found.found, found.is_whole),
            (vec!["one".to_owned()], true)
        );
        assert_eq!(found.without, [2, 3]);
        let none = in_these(&store, &pages, &look, Instant::now()).expect("found");
        assert_eq!((none.found.len(), none.is_whole), (0, false));
    }
}
