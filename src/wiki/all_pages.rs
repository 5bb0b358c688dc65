//! The list of all pages that the key may see, kept for a while: what finds a page by its title,
//! completes paths, and spares a large wiki its whole list for every page that a key without
//! `single` reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::Wiki;
use super::error::WikiError;
use super::list::ListQuery;
use crate::page::{Date, PageReading};

/// How long a list is used.
const LIFE: Duration = Duration::from_mins(1);
/// The most pages that are kept; a larger wiki is listed anew each time.
const MAX_KEPT: usize = 50_000;
/// As many pages are listed as quickly as it is asked whether anything changed.
const FEW: usize = 200;

/// All pages, as they were listed last.
#[derive(Debug)]
pub struct AllPages {
    listed: Instant,
    pages: Vec<PageReading>,
}

impl AllPages {
    /// The pages, the last changed first.
    #[must_use]
    pub fn pages(&self) -> &[PageReading] {
        &self.pages
    }

    fn find(&self, is_wanted: impl Fn(&PageReading) -> bool) -> Option<&PageReading> {
        self.pages.iter().find(|page| is_wanted(page))
    }

    fn last_change(&self) -> Option<&Date> {
        self.pages.first()?.updated_at.as_ref()
    }
}

impl Wiki {
    /// All pages as they were a minute ago or later.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_lately(&self) -> Result<Arc<AllPages>, WikiError> {
        match self.kept_pages().await {
            Some(kept) => Ok(kept),
            None => self.pages_now().await,
        }
    }

    /// All pages as they are.
    pub(super) async fn pages_now(&self) -> Result<Arc<AllPages>, WikiError> {
        let keyed = self.keyed();
        let pages = Arc::new(AllPages {
            listed: Instant::now(),
            pages: self.all_pages().await?,
        });
        if pages.pages.len() <= MAX_KEPT {
            *keyed.pages.lock().await = Some(Arc::clone(&pages));
        }
        Ok(pages)
    }

    pub(super) async fn kept_pages(&self) -> Option<Arc<AllPages>> {
        let kept = self.keyed().pages.lock().await.clone();
        kept.filter(|pages| pages.listed.elapsed() < LIFE)
    }

    /// The one page of the whole list that is wanted, as it is now, with its source if the key may
    /// read that. A source tells by its date whether what the list said of the page still holds.
    pub(super) async fn listed(
        &self,
        is_wanted: impl Fn(&PageReading) -> bool,
    ) -> Result<PageReading, WikiError> {
        if let Some(kept) = self.kept_pages().await
            && kept.pages.len() > FEW
            && let Some(page) = kept.find(&is_wanted)
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
        let page = pages.find(is_wanted).cloned().ok_or(WikiError::NotFound)?;
        self.with_source(page).await
    }

    /// Whether a page still is as it was listed: no page was changed since, and it still is
    /// where it was.
    async fn is_as_listed(&self, kept: &AllPages, page: &PageReading) -> Result<bool, WikiError> {
        let newest = self.rows(&ListQuery::newest_first(), Some(1)).await?;
        let newest = newest.first().and_then(|page| page.updated_at.as_ref());
        let is_unchanged = match (newest, kept.last_change()) {
            (Some(now), Some(then)) => now.same(then),
            _ => false,
        };
        if !is_unchanged {
            return Ok(false);
        }
        let node = self.page_node(&page.locale, &page.path).await?;
        Ok(node.is_some_and(|node| node.page_id == page.id))
    }
}
