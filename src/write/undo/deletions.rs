//! Deletions that a caller may know: the wiki itself keeps none (W18).

use std::collections::HashSet;

use time::OffsetDateTime;

use crate::audit::{CallId, KeptState, PageOnRecord};
use crate::error::Result;
use crate::page::{Locale, PagePath};
use crate::wiki::SeenPage;

use crate::write::{WriteContext, WriteHistory};

/// The number of deletions by other keys that are checked: each takes a request or more to find out
/// if this key may read the place.
const MOST_ASKED: usize = 20;

/// A page that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// Its id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The time at which it was deleted, or missed; `None` if the page is gone and nobody knows
    /// since when.
    pub at: Option<OffsetDateTime>,
    /// The time at which the key or the record saw it last, where it is not known when it went.
    pub last_seen: Option<OffsetDateTime>,
    /// The call that deleted it; `None` if it was only missing from the wiki's list.
    pub call: Option<CallId>,
}

impl From<SeenPage> for Deleted {
    /// A page that was seen, and is gone since nobody knows when.
    fn from(page: SeenPage) -> Self {
        Self {
            id: page.id,
            locale: page.locale,
            path: page.path,
            at: None,
            last_seen: Some(page.time),
            call: None,
        }
    }
}

/// The deletions since a time, as far as they are known.
#[derive(Debug, Default)]
pub struct Deletions {
    /// The pages that are gone, newest first.
    pub pages: Vec<Deleted>,
    /// The number of further deletions that there may be.
    pub more: usize,
    /// True if the content index could not be asked for the pages that it knew.
    pub is_index_unread: bool,
}

impl WriteContext {
    /// The pages deleted through this server at a time or later, those that disappeared from this
    /// key's lists since, and those that the record, this key's reads or its content index know
    /// and the wiki has no more, which may have gone before. Pages that the key may not read are
    /// left out.
    ///
    /// # Errors
    /// `AUDIT_UNAVAILABLE`, or what the wiki says.
    pub async fn deletions(
        &self,
        since: OffsetDateTime,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) -> Result<Deletions> {
        // Asked before the list, which has every page that these know and that is there.
        let mut seen = self.wiki.pages_seen();
        let indexed = self.index.ids_known().await;
        // A list of now shows what the one before had. A page that is hidden now is there all the
        // same, and must not be told as gone.
        let unbounded = self.wiki.unbounded();
        let there = unbounded.pages_now().await?;
        let on_record = self.audit.writes.deleted_since(since).await?;
        // The pages that are there, that a list had and the next one had not, or whose deletion is
        // on record: each is told by its last place, or not at all.
        let mut settled: HashSet<i64> = there.iter().filter_map(|page| page.id).collect();
        settled.extend(unbounded.gone_pages().iter().map(|page| page.id));
        settled.extend(on_record.iter().map(|page| page.id));
        let mut search = DeletionSearch {
            past: &self.past,
            is_wanted,
            found: Vec::new(),
            asked: 0,
        };
        search.add_recorded(on_record, true).await?;
        search.add_missed(since);
        let indexed = match indexed {
            Ok(ids) => {
                let gone = ids.difference(&settled).copied().collect();
                self.index.pages_known(gone).await
            }
            Err(error) => Err(error),
        };
        let is_index_unread = indexed.is_err();
        seen.extend(indexed.unwrap_or_default());
        seen.retain(|page| !settled.contains(&page.id));
        search.add_seen(seen).await?;
        let known = self.audit.writes.pages_not_among(settled).await?;
        search.add_recorded(known, false).await?;
        let mut pages = search.found;
        pages.sort_by_key(|page| std::cmp::Reverse((page.at, page.last_seen, page.id)));
        Ok(Deletions {
            pages,
            more: search.asked.saturating_sub(MOST_ASKED),
            is_index_unread,
        })
    }
}

/// The deletions found so far, and the number of places that the wiki was asked about.
struct DeletionSearch<'a, W> {
    past: &'a WriteHistory,
    is_wanted: W,
    found: Vec<Deleted>,
    asked: usize,
}

impl<W: Fn(&Locale, &PagePath) -> bool> DeletionSearch<'_, W> {
    /// Adds pages on record that are not among those found: pages that a write deleted, or pages that
    /// are gone, nobody knows when.
    async fn add_recorded(&mut self, pages: Vec<PageOnRecord>, are_deleted: bool) -> Result<()> {
        let known = self.ids();
        for page in pages {
            let is_own = are_deleted && page.key == Some(self.past.key());
            let before = page.before;
            let gone = Deleted {
                id: page.id,
                locale: page.locale,
                path: page.path,
                at: are_deleted.then_some(page.time),
                last_seen: (!are_deleted).then_some(page.time),
                call: are_deleted.then_some(page.call),
            };
            if known.contains(&gone.id)
                || !self.admits(&gone)
                || !self.past.admits_deleted(before).await?
            {
                continue;
            }
            if is_own {
                self.found.push(gone);
            } else {
                self.ask(gone).await?;
            }
        }
        Ok(())
    }

    /// Adds the pages that a list of this key had and the next one had not.
    fn add_missed(&mut self, since: OffsetDateTime) {
        let known = self.ids();
        for page in self.past.wiki.gone_pages() {
            let is_new = page.time >= since && !known.contains(&page.id);
            if is_new && (self.is_wanted)(&page.locale, &page.path) {
                self.found.push(Deleted {
                    at: Some(page.time),
                    last_seen: None,
                    ..page.into()
                });
            }
        }
    }

    /// Adds the pages that this key or its content index saw and that are gone, nobody knows when.
    async fn add_seen(&mut self, seen: Vec<SeenPage>) -> Result<()> {
        let mut told = HashSet::new();
        for page in seen {
            let has_tags = self.past.wiki.scope().admits_tags(&page.tags);
            let gone = Deleted::from(page);
            if has_tags && self.admits(&gone) && told.insert(gone.id) {
                self.ask(gone).await?;
            }
        }
        Ok(())
    }

    fn ids(&self) -> HashSet<i64> {
        self.found.iter().map(|page| page.id).collect()
    }

    /// True if a page is looked for and, by its place alone, may be told of.
    fn admits(&self, page: &Deleted) -> bool {
        let (locale, path) = (&page.locale, &page.path);
        self.past.wiki.scope().admits_place(locale, path) && (self.is_wanted)(locale, path)
    }

    /// Adds a page, unless this key may no more read its place: also if it could once.
    async fn ask(&mut self, page: Deleted) -> Result<()> {
        self.asked = self.asked.saturating_add(1);
        let may_ask = self.asked <= MOST_ASKED;
        if may_ask && self.past.wiki.may_read(&page.locale, &page.path).await? {
            self.found.push(page);
        }
        Ok(())
    }
}

impl WriteHistory {
    /// True if a deleted page could be read, by its tags before. If these are unknown, it could not.
    async fn admits_deleted(&self, before: Option<KeptState>) -> Result<bool> {
        if !self.wiki.scope().asks_for_tags() {
            return Ok(true);
        }
        match before {
            Some(before) => self.admits_kept(before).await,
            None => Ok(false),
        }
    }
}
