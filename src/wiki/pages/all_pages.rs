//! The list of all pages, as they were listed last.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::page::{Date, PageReading};

/// Maximum age of a list that tells a page's tags.
const TAGS_LIFE: Duration = Duration::from_secs(5);
/// Listing this many pages is as fast as asking whether anything changed.
pub(super) const FEW: usize = 200;

/// All pages, as they were listed last.
#[derive(Debug)]
pub struct AllPages {
    /// The time at which the whole list was requested: deletions before that are known.
    pub listed: Instant,
    /// The time at which the newest pages were requested.
    pub(super) looked: Instant,
    /// Something was deleted since: then the list only shows what the next one lacks.
    pub(super) is_outdated: AtomicBool,
    /// Shared with other lists, so that they can outlive this one.
    pub pages: Vec<Arc<PageReading>>,
}

impl AllPages {
    /// These pages, listed now; the last changed comes first.
    pub fn new(pages: Vec<PageReading>) -> Self {
        let pages = pages.into_iter().map(Arc::new);
        Self::at(Instant::now(), pages.collect())
    }

    pub(super) fn at(listed: Instant, pages: Vec<Arc<PageReading>>) -> Self {
        Self {
            listed,
            looked: listed,
            is_outdated: AtomicBool::new(false),
            pages,
        }
    }

    /// The pages, the last changed first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &PageReading> + Clone {
        self.pages.iter().map(|page| &**page)
    }

    /// True if the list is so short that it is always requested as a whole.
    pub(in crate::wiki) fn is_short(&self) -> bool {
        self.pages.len() <= FEW
    }

    /// The same list with only these pages.
    pub(in crate::wiki) fn filtered(&self, is_wanted: impl Fn(&PageReading) -> bool) -> Self {
        let pages = self.pages.iter().filter(|page| is_wanted(page));
        Self {
            listed: self.listed,
            looked: self.looked,
            is_outdated: AtomicBool::new(self.is_outdated.load(Ordering::Relaxed)),
            pages: pages.cloned().collect(),
        }
    }

    /// The same list, updated with the newest pages of a later look; `None` if those do not reach
    /// back to the newest page of this list.
    pub(super) fn with_newest(
        &self,
        mut newest: Vec<Arc<PageReading>>,
        looked: Instant,
    ) -> Option<Self> {
        let known = self.last_change()?.instant()?;
        let is_older = |page: &Arc<PageReading>| {
            let changed = page.updated_at.as_ref().and_then(Date::instant);
            changed.is_some_and(|changed| changed < known)
        };
        let reaches = newest.iter().position(is_older)?;
        newest.truncate(reaches);
        let ids: HashSet<Option<i64>> = newest.iter().map(|page| page.id).collect();
        let others = self.pages.iter().filter(|page| !ids.contains(&page.id));
        newest.extend(others.cloned());
        Some(Self {
            looked,
            ..Self::at(self.listed, newest)
        })
    }

    pub(super) fn last_change(&self) -> Option<&Date> {
        self.pages.first()?.updated_at.as_ref()
    }
}

/// The oldest time of a list whose tags are believed.
pub fn a_moment_ago() -> Instant {
    let now = Instant::now();
    now.checked_sub(TAGS_LIFE).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use std::sync::Arc;

    use super::AllPages;
    use crate::page::{Date, Locale, PagePath, PageReading};

    fn page((id, second): (i64, i64)) -> Arc<PageReading> {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a"));
        Arc::new(PageReading {
            updated_at: Some(Date::from(format!("2026-01-01T00:00:{second:02}.000Z"))),
            ..PageReading::bare(Some(id), locale, path, String::new())
        })
    }

    #[test]
    fn the_newest_pages_bring_a_list_up_to_date_where_they_reach_back_to_it() {
        let now = Instant::now();
        let kept = AllPages::at(now, [(1, 30), (2, 20), (3, 10)].map(page).into());
        let looked = |newest: &[(i64, i64)]| {
            let newest = newest.iter().copied().map(page).collect();
            let pages = kept.with_newest(newest, now)?.pages;
            Some(pages.iter().filter_map(|page| page.id).collect::<Vec<_>>())
        };
        assert_eq!(looked(&[(1, 30), (2, 20)]), Some(vec![1, 2, 3]));
        assert_eq!(
            looked(&[(4, 50), (3, 40), (1, 30), (2, 20)]),
            Some(vec![4, 3, 1, 2])
        );
        // The newest page was changed again, or is gone.
        assert_eq!(looked(&[(1, 40), (2, 20)]), Some(vec![1, 2, 3]));
        // Pages of the same time as the newest may be missing, and so may pages in between.
        assert_eq!(looked(&[(4, 50), (1, 30)]), None);
        assert_eq!(looked(&[]), None);
    }
}
