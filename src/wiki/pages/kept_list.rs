//! Keeps the list of all pages that the key may see, for a while. It finds pages by title and
//! completes paths. It also spares a large wiki from sending the whole list for every page that a
//! key without `single` reads, and for every look for changes: the newest pages alone show all
//! changes but deletions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::rights::key_state::KeyState;
use super::all_pages::{AllPages, FEW, a_moment_ago};
use super::list::{ListQuery, without_cut_end};
use crate::page::PageReading;
use crate::wiki::{PageOrderBy, Wiki, WikiError, WikiResult};

/// Lifetime of a list.
const LIFE: Duration = Duration::from_mins(1);
/// The most pages that are kept; a larger wiki is listed again each time.
pub const MAX_KEPT: usize = 50_000;
/// Number of rows of pages and their tags requested in a look at the newest pages (W7).
const NEWEST_ROWS: usize = 150;

impl Wiki {
    /// All pages as they were a minute ago or later.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_lately(&self) -> WikiResult<Arc<AllPages>> {
        if self.scope().asks_for_tags() {
            return self.pages_as_of(a_moment_ago()).await;
        }
        match self.kept_pages().await {
            Some(kept) => Ok(self.seen_of(kept)),
            None => self.pages_now().await,
        }
    }

    /// All pages as they are; concurrent callers share one list.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_now(&self) -> WikiResult<Arc<AllPages>> {
        Ok(self.seen_of(self.list_all().await?))
    }

    /// All pages as they are, without bounds on reading.
    async fn list_all(&self) -> WikiResult<Arc<AllPages>> {
        let (keyed, asked) = (self.keyed(), Instant::now());
        let _listing = keyed.listing.lock().await;
        if let Some(kept) = self.listed_since(asked).await {
            return Ok(kept);
        }
        let _turn = self.turn_to_list().await?;
        let now = Instant::now();
        let pages = self.rows(&ListQuery::newest_first(), None).await?;
        Ok(self.keep_whole(&keyed, pages, now).await)
    }

    /// All pages as of this time or later, except for deletions, which may be seen a minute late:
    /// on a large wiki a look at the newest pages updates the list of the last minute. Concurrent
    /// callers share one look.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_as_of(&self, time: Instant) -> WikiResult<Arc<AllPages>> {
        Ok(self.seen_of(Box::pin(self.all_as_of(time)).await?))
    }

    /// The same without bounds on reading.
    async fn all_as_of(&self, time: Instant) -> WikiResult<Arc<AllPages>> {
        let keyed = self.keyed();
        let _looking = keyed.looking.lock().await;
        let Some(kept) = self.all_kept().await else {
            return self.list_all().await;
        };
        if kept.looked >= time {
            return Ok(kept);
        }
        if kept.is_short() {
            return self.list_all().await;
        }
        let looked = Instant::now();
        let newest = self
            .rows(&ListQuery::newest_first(), Some(NEWEST_ROWS))
            .await?;
        let newest = without_cut_end(newest, PageOrderBy::Updated);
        let newest = self.traffic().pages.share(newest);
        match kept.with_newest(newest, looked) {
            Some(pages) => {
                let pages = Arc::new(pages);
                keep(&keyed, &pages).await;
                Ok(pages)
            }
            // More pages changed than one look shows.
            None => self.list_all().await,
        }
    }

    /// Forgets the list of pages: something was deleted.
    pub async fn forget_pages(&self) {
        if let Some(kept) = &*self.keyed().pages.lock().await {
            kept.is_outdated.store(true, Ordering::Relaxed);
        }
    }

    /// The whole list that is kept, as far as it may be read.
    pub(in crate::wiki) async fn kept_pages(&self) -> Option<Arc<AllPages>> {
        Some(self.seen_of(self.all_kept().await?))
    }

    /// The list that was requested at this time or later, without bounds on reading.
    pub(in crate::wiki) async fn listed_since(&self, time: Instant) -> Option<Arc<AllPages>> {
        let kept = self.all_kept().await;
        kept.filter(|kept| kept.listed >= time)
    }

    /// The whole list that is kept, without bounds on reading.
    async fn all_kept(&self) -> Option<Arc<AllPages>> {
        let kept = self.keyed().pages.lock().await.clone();
        kept.filter(|pages| {
            pages.listed.elapsed() < LIFE && !pages.is_outdated.load(Ordering::Relaxed)
        })
    }

    /// One page of the whole list, as it is now, with its source if the key may read that. The date
    /// of the source shows whether the list's entry is still current.
    pub(in crate::wiki) async fn listed(
        &self,
        is_wanted: impl Fn(&PageReading) -> bool,
    ) -> WikiResult<PageReading> {
        let is_wanted = |page: &PageReading| is_wanted(page) && self.scope().admits(page);
        if let Some(kept) = self.kept_pages().await
            && kept.pages.len() > FEW
            && let Some(page) = kept.iter().find(|page| is_wanted(page))
        {
            let (read, date) = self.sourced(page.clone()).await?;
            let is_current = match (date, &page.updated_at) {
                (Some(now), Some(then)) => now.same(then),
                _ => self.is_as_listed(&kept, page).await?,
            };
            if is_current {
                return Ok(read);
            }
        }
        let pages = self.pages_now().await?;
        let page = pages.iter().find(|page| is_wanted(page));
        self.with_source(page.ok_or(WikiError::NotFound)?.clone())
            .await
    }

    /// True if a page's entry in the list is still current: no page was changed since, and it is
    /// still at the same place.
    async fn is_as_listed(&self, kept: &AllPages, page: &PageReading) -> WikiResult<bool> {
        let newest = self.rows(&ListQuery::newest_first(), Some(1)).await?;
        let newest = newest.first().and_then(|page| page.updated_at.as_ref());
        let both = newest.zip(kept.last_change());
        if !both.is_some_and(|(now, then)| now.same(then)) {
            return Ok(false);
        }
        let node = self.page_node(&page.locale, &page.path).await?;
        Ok(node.is_some_and(|node| node.page_id == page.id))
    }

    /// Keeps the whole list, asked for at this time.
    pub(in crate::wiki) async fn keep_whole(
        &self,
        keyed: &KeyState,
        pages: Vec<PageReading>,
        listed: Instant,
    ) -> Arc<AllPages> {
        let pages = self.traffic().pages.share(pages);
        let pages = Arc::new(AllPages::at(listed, pages));
        if let Some(before) = keep(keyed, &pages).await {
            keyed.note_gone(&before, &pages);
        }
        pages
    }
}

/// Keeps a list; returns the one that was kept before.
async fn keep(keyed: &KeyState, pages: &Arc<AllPages>) -> Option<Arc<AllPages>> {
    let mut kept = keyed.pages.lock().await;
    (pages.pages.len() <= MAX_KEPT)
        .then(|| kept.replace(Arc::clone(pages)))
        .flatten()
}
