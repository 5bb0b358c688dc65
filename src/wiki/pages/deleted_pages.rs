//! Pages that one list had and the next one did not, and pages that were read one by one: the wiki
//! says nothing of deletions (W18).

use std::collections::HashSet;

use time::OffsetDateTime;

use super::super::operations::generated::page_content;
use super::super::rights::key_state::KeyState;
use super::super::transport::batch;
use super::super::{AllPages, SeenPage, Wiki, WikiError, WikiResult};
use crate::page::PageReading;

/// The most that are remembered of each kind, the newest.
const MOST: usize = 500;
/// After so many pages in a row of which the key learns nothing, it is not asked for more.
const MOST_UNTOLD: usize = 20;

impl Wiki {
    /// Those of these pages that the wiki says it has no more, whoever may read them: nothing else of a
    /// page is told. One of which the key may know nothing is not among them.
    ///
    /// # Errors
    /// If the wiki cannot be asked at all.
    pub async fn deleted_among(&self, ids: &[i64]) -> WikiResult<HashSet<i64>> {
        let mut deleted = HashSet::new();
        let mut untold = 0_usize;
        for some in ids.chunks(batch::MOST) {
            let asked =
                self.many::<page_content::PageContentPagesSingle>(page_content::QUERY, some);
            let answers = match asked.await {
                Ok(answers) => answers.each.into_iter().map(|it| it.map(drop)).collect(),
                Err(error) if error.ends_a_pass() => return Err(error),
                Err(error) => vec![Err(error); some.len()],
            };
            for (id, answer) in some.iter().zip(answers) {
                let is_deleted = match told(answer)? {
                    None if untold < MOST_UNTOLD => self.is_deleted(*id).await?,
                    is_deleted => is_deleted,
                };
                untold = match is_deleted {
                    Some(_) => 0,
                    None => untold.saturating_add(1),
                };
                if is_deleted == Some(true) {
                    deleted.insert(*id);
                }
            }
        }
        Ok(deleted)
    }

    /// Asks for one page by what keys of fewer rights are told of it; `None` if this one is told nothing.
    async fn is_deleted(&self, id: i64) -> WikiResult<Option<bool>> {
        if let Some(is_deleted) = told(self.conflict_latest(id).await.map(drop))? {
            return Ok(Some(is_deleted));
        }
        told(self.unbounded().history(id, 0, 1).await.map(drop))
    }

    /// The pages that this key read or listed apart from the list of all pages, the last first.
    pub fn pages_seen(&self) -> Vec<SeenPage> {
        self.keyed()
            .pages_read
            .lock()
            .iter()
            .rev()
            .cloned()
            .collect()
    }

    /// Remembers a page that was read or listed apart from the list of all pages.
    pub(in crate::wiki) fn note_seen(&self, page: &PageReading) {
        let Some(seen) = SeenPage::new(page, OffsetDateTime::now_utc()) else {
            return;
        };
        let keyed = self.keyed();
        let mut read = keyed.pages_read.lock();
        read.retain(|page| page.id != seen.id);
        read.push_back(seen);
        if read.len() > MOST {
            read.pop_front();
        }
    }

    /// The pages that this key saw and were missed in a later list, the last first.
    pub fn gone_pages(&self) -> Vec<SeenPage> {
        let keyed = self.keyed();
        let gone = keyed.gone.lock();
        let newest_first = gone.iter().rev();
        let scope = self.scope();
        let may_be_told = |page: &&SeenPage| {
            scope.admits_place(&page.locale, &page.path) && scope.admits_tags(&page.tags)
        };
        newest_first.filter(may_be_told).cloned().collect()
    }
}

impl KeyState {
    /// Notes which pages of one list are not in the next.
    pub(in crate::wiki) fn note_gone(&self, before: &AllPages, now: &AllPages) {
        let there: HashSet<i64> = now.iter().filter_map(|page| page.id).collect();
        let mut gone = self.gone.lock();
        // A page that is seen again no longer counts as gone.
        gone.retain(|page| !there.contains(&page.id));
        let missed = OffsetDateTime::now_utc();
        let is_gone = |page: &&PageReading| page.id.is_some_and(|id| !there.contains(&id));
        for page in before.iter().filter(is_gone) {
            gone.extend(SeenPage::new(page, missed));
            if gone.len() > MOST {
                gone.pop_front();
            }
        }
    }
}

/// Tells by an answer whether a page is gone; `None` if it does not say.
fn told(answer: WikiResult<()>) -> WikiResult<Option<bool>> {
    match answer {
        Ok(()) => Ok(Some(false)),
        Err(WikiError::NotFound) => Ok(Some(true)),
        Err(error) if error.ends_a_pass() => Err(error),
        Err(_) => Ok(None),
    }
}
