//! Deletions that a caller may know: the wiki itself keeps none (W18).

use std::collections::HashSet;

use time::OffsetDateTime;

use crate::audit::{CallId, KeptState};
use crate::error::Failure;
use crate::page::{Locale, PagePath};
use crate::wiki::SeenPage;

use super::super::context::WriteContext;
use super::history::WriteHistory;

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
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Copy,
    ) -> Result<Deletions, Failure> {
        // Asked before the list, which has every page that these know and that is there.
        let mut seen = self.wiki.pages_seen();
        let indexed = self.index.ids_known().await;
        let past = &self.past;
        let (settled, mut deleted, mut asked) =
            past.told_by_record_and_lists(since, is_wanted).await?;
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
        past.add_seen(&mut deleted, &mut asked, seen, is_wanted)
            .await?;
        past.add_known(&mut deleted, &mut asked, settled, is_wanted)
            .await?;
        deleted.sort_by_key(|page| std::cmp::Reverse((page.at, page.last_seen, page.id)));
        Ok(Deletions {
            pages: deleted,
            more: asked.saturating_sub(MOST_ASKED),
            is_index_unread,
        })
    }
}

impl WriteHistory {
    /// The deletions that the record and this key's lists tell, and the number of places that the
    /// wiki was asked about. The ids are those of pages that are there, that a list had and the next
    /// one had not, or whose deletion is on record: each is told by its last place, or not at all.
    async fn told_by_record_and_lists(
        &self,
        since: OffsetDateTime,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Copy,
    ) -> Result<(HashSet<i64>, Vec<Deleted>, usize), Failure> {
        // A list of now shows what the one before had. A page that is hidden now is there all the
        // same, and must not be told as gone.
        let unbounded = self.wiki.unbounded();
        let there = unbounded.pages_now().await?;
        let mut settled: HashSet<i64> = there.iter().filter_map(|page| page.id).collect();
        settled.extend(unbounded.gone_pages().iter().map(|page| page.id));
        let on_record = self.audit.writes.deleted_since(since).await?;
        let mut deleted = Vec::new();
        let mut asked = 0_usize;
        for deletion in on_record {
            settled.insert(deletion.id);
            let is_told = self
                .wiki
                .scope()
                .admits_place(&deletion.locale, &deletion.path);
            if !is_told || !is_wanted(&deletion.locale, &deletion.path) {
                continue;
            }
            if !self.admits_deleted(deletion.before).await? {
                continue;
            }
            if deletion.key != Some(self.key()) {
                asked = asked.saturating_add(1);
                if asked > MOST_ASKED {
                    continue;
                }
                let (locale, path) = (&deletion.locale, &deletion.path);
                if !self.wiki.may_read(locale, path).await? {
                    continue;
                }
            }
            deleted.push(Deleted {
                id: deletion.id,
                locale: deletion.locale,
                path: deletion.path,
                at: Some(deletion.time),
                last_seen: None,
                call: Some(deletion.call),
            });
        }
        self.add_missed(&mut deleted, since, is_wanted);
        Ok((settled, deleted, asked))
    }

    /// Adds the pages that a list of this key had and the next one had not.
    fn add_missed(
        &self,
        deleted: &mut Vec<Deleted>,
        since: OffsetDateTime,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) {
        let known: HashSet<i64> = deleted.iter().map(|page| page.id).collect();
        let missed = self.wiki.gone_pages().into_iter();
        let missed = missed.filter(|page| {
            page.time >= since && !known.contains(&page.id) && is_wanted(&page.locale, &page.path)
        });
        deleted.extend(missed.map(|page| Deleted {
            id: page.id,
            locale: page.locale,
            path: page.path,
            at: Some(page.time),
            last_seen: None,
            call: None,
        }));
    }

    /// Adds the pages that this key or its content index saw and that are gone, nobody knows when.
    async fn add_seen(
        &self,
        deleted: &mut Vec<Deleted>,
        asked: &mut usize,
        seen: Vec<SeenPage>,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) -> Result<(), Failure> {
        let mut told = HashSet::new();
        for page in seen {
            let (locale, path) = (&page.locale, &page.path);
            let scope = self.wiki.scope();
            let may_be_told = scope.admits_place(locale, path) && scope.admits_tags(&page.tags);
            if !may_be_told || !is_wanted(locale, path) || !told.insert(page.id) {
                continue;
            }
            let place = (page.locale, page.path);
            self.add_gone(deleted, asked, (page.id, place, page.time))
                .await?;
        }
        Ok(())
    }

    /// Adds the pages that the record knows and that are gone, nobody knows when.
    async fn add_known(
        &self,
        deleted: &mut Vec<Deleted>,
        asked: &mut usize,
        settled: HashSet<i64>,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) -> Result<(), Failure> {
        let known = self.audit.writes.pages_not_among(settled).await?;
        let told: HashSet<i64> = deleted.iter().map(|page| page.id).collect();
        for page in known {
            let (locale, path) = (&page.locale, &page.path);
            let may_be_told = self.wiki.scope().admits_place(locale, path);
            if told.contains(&page.id) || !may_be_told || !is_wanted(locale, path) {
                continue;
            }
            if !self.admits_deleted(page.before).await? {
                continue;
            }
            let place = (page.locale, page.path);
            self.add_gone(deleted, asked, (page.id, place, page.time))
                .await?;
        }
        Ok(())
    }

    /// Adds a page that is gone, unless it may be there and this key may no more read it: also if it could
    /// once.
    async fn add_gone(
        &self,
        deleted: &mut Vec<Deleted>,
        asked: &mut usize,
        (id, (locale, path), seen): (i64, (Locale, PagePath), OffsetDateTime),
    ) -> Result<(), Failure> {
        *asked = asked.saturating_add(1);
        if *asked <= MOST_ASKED && self.wiki.may_read(&locale, &path).await? {
            deleted.push(Deleted {
                id,
                locale,
                path,
                at: None,
                last_seen: Some(seen),
                call: None,
            });
        }
        Ok(())
    }

    /// True if a deleted page could be read, by its tags before. If these are unknown, it could not.
    async fn admits_deleted(&self, before: Option<KeptState>) -> Result<bool, Failure> {
        if !self.wiki.scope().asks_for_tags() {
            return Ok(true);
        }
        match before {
            Some(before) => self.admits_kept(before).await,
            None => Ok(false),
        }
    }
}
