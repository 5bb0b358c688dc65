//! Looks at the wiki's list, and what they show of watched pages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use crate::page::{Date, Locale, PagePath, PageReading};
use crate::watch::WatchPace;
use crate::wiki::{AllPages, ListQuery, Wiki, WikiError};

/// The place of a page.
pub(super) type WatchedPath = (Locale, PagePath);

/// If more pages changed since the last look, the whole list is requested.
const MANY: usize = 100;

/// A page as it stood in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedPage {
    id: i64,
    updated_at: Option<Date>,
}

impl ObservedPage {
    pub(super) fn new(page: &PageReading) -> Option<Self> {
        Some(Self {
            id: page.id?,
            updated_at: page.updated_at.clone(),
        })
    }

    /// True if it may have been written after this time.
    pub(super) fn is_after(&self, time: OffsetDateTime) -> bool {
        let written = self.updated_at.as_ref().and_then(Date::instant);
        written.is_none_or(|written| written >= time)
    }
}

/// The result of one look at the list.
#[derive(Debug)]
pub(super) enum PageListSnapshot {
    /// All pages: a page that is missing here is gone.
    All(Arc<AllPages>),
    /// The last written pages: nothing is known of the others.
    Newest(Vec<PageReading>),
}

impl PageListSnapshot {
    fn pages(&self) -> Box<dyn Iterator<Item = &PageReading> + '_> {
        match self {
            Self::All(all) => Box::new(all.iter()),
            Self::Newest(pages) => Box::new(pages.iter()),
        }
    }

    /// The places whose pages changed since they were last seen; updates what was seen.
    pub(super) fn changed(
        &self,
        watched: &mut HashMap<WatchedPath, Option<ObservedPage>>,
    ) -> Vec<WatchedPath> {
        let pages = self.pages();
        let by_place: HashMap<(&Locale, &PagePath), &PageReading> = pages
            .map(|page| ((&page.locale, &page.path), page))
            .collect();
        let mut changed = Vec::new();
        for (place, seen) in watched {
            let now = by_place.get(&(&place.0, &place.1));
            let now = match (now, self) {
                (Some(page), _) => ObservedPage::new(page),
                (None, Self::All(_)) => None,
                // The page was written and is at another place now.
                (None, Self::Newest(pages)) if has_moved(seen.as_ref(), pages) => None,
                (None, Self::Newest(_)) => continue,
            };
            if now != *seen {
                *seen = now;
                changed.push(place.clone());
            }
        }
        changed
    }
}

fn has_moved(seen: Option<&ObservedPage>, pages: &[PageReading]) -> bool {
    seen.is_some_and(|seen| pages.iter().any(|page| page.id == Some(seen.id)))
}

/// Looks at the list, and remembers its last looks.
#[derive(Debug, Default)]
pub(super) struct ListPoller {
    /// The time of the last look at the whole list, and its duration.
    whole: Option<(Instant, Duration)>,
    /// The date of the last written page.
    newest: Option<OffsetDateTime>,
    /// The number of failed looks in a row.
    pub(super) failures: u32,
}

impl ListPoller {
    /// Looks at the list: at all of it if that is due, otherwise at its beginning.
    pub(super) async fn look(&mut self, wiki: &Wiki) -> Result<PageListSnapshot, WikiError> {
        let found = self.ask(wiki).await;
        self.failures = match &found {
            Ok(_) => 0,
            Err(_) => self.failures.saturating_add(1),
        };
        let found = found?;
        let newest = found
            .pages()
            .next()
            .and_then(|page| page.updated_at.as_ref());
        self.newest = self.newest.max(newest.and_then(Date::instant));
        Ok(found)
    }

    async fn ask(&mut self, wiki: &Wiki) -> Result<PageListSnapshot, WikiError> {
        let is_due = self
            .whole
            .is_none_or(|(asked, took)| WatchPace::allows_whole(asked.elapsed(), took));
        if !is_due && let Some(newest) = self.newest {
            let query = ListQuery {
                updated_since: Some(newest),
                ..ListQuery::newest_first()
            };
            let part = wiki.list(&query, MANY).await?;
            if part.next.is_none() {
                return Ok(PageListSnapshot::Newest(part.pages));
            }
        }
        let asked = Instant::now();
        let pages = wiki.pages_now().await;
        self.whole = Some((asked, asked.elapsed()));
        Ok(PageListSnapshot::All(pages?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::{ObservedPage, PageListSnapshot, WatchedPath};
    use crate::page::{Date, Locale, PagePath, PageReading};
    use crate::wiki::AllPages;

    fn place(path: &str) -> WatchedPath {
        (Locale::as_stored("en"), PagePath::as_stored(path))
    }

    fn page(id: i64, path: &str, minute: u8) -> PageReading {
        let (locale, path) = place(path);
        let date = format!("2026-01-01T00:{minute:02}:00Z");
        PageReading {
            updated_at: Date::parse(&date).ok(),
            ..PageReading::bare(Some(id), locale, path, String::new())
        }
    }

    fn changed(pages: &[&str], found: &PageListSnapshot) -> Vec<String> {
        let seen = |(id, path): (i64, &&str)| (place(path), ObservedPage::new(&page(id, path, 1)));
        let mut watched: HashMap<_, _> = (1_i64..).zip(pages).map(seen).collect();
        let changed = found.changed(&mut watched);
        // A change is reported once.
        assert_eq!(found.changed(&mut watched), Vec::new());
        let mut paths: Vec<_> = changed.iter().map(|place| place.1.to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn a_page_is_told_that_was_written_moved_or_is_gone() {
        let all = vec![page(1, "written", 2), page(2, "elsewhere", 2)];
        let watched = ["written", "moved", "gone"];
        assert_eq!(
            changed(
                &watched,
                &PageListSnapshot::All(Arc::new(AllPages::new(all.clone())))
            ),
            ["gone", "moved", "written"]
        );
        // A page that is not among the newest may be unchanged.
        assert_eq!(
            changed(&watched, &PageListSnapshot::Newest(all)),
            ["moved", "written"]
        );
    }

    #[test]
    fn a_page_that_is_as_it_was_is_not_told() {
        let all = vec![page(1, "same", 1), page(7, "other", 2)];
        assert_eq!(
            changed(
                &["same"],
                &PageListSnapshot::All(Arc::new(AllPages::new(all.clone())))
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            changed(&["same"], &PageListSnapshot::Newest(all)),
            Vec::<String>::new()
        );
    }
}
