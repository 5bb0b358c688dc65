//! Brings the index up to date: looks at the list of pages, then reads those that changed, batch by
//! batch, with pauses that leave the wiki time for others.

use std::borrow::Borrow;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;

use super::content_index::ContentIndex;
use super::layers::LayerSelector;
use super::progress::IndexProgress;
use super::store::{IndexCounts, IndexResult, ListSync, PageMark, Store, mark};
use crate::page::{Date, PageReading};
use crate::private_files;
use crate::wiki::{AllPages, Wiki, WikiError};

/// A first pass counts as caught up when this many of the newest pages are read.
const NEWEST: usize = 50;
/// The number of pages stored at a time; searches wait meanwhile.
const PUT_AT_ONCE: usize = 8;

/// The reason why a pass ended early: the wiki's error, or `None` if the index cannot be used or
/// was dropped meanwhile.
pub(super) type FillError = Option<WikiError>;

/// The pages to read.
#[derive(Debug, Default)]
struct ReadQueue {
    pages: VecDeque<Arc<PageReading>>,
    /// The number of first pages that a search waits for.
    urgent: usize,
    /// The queue has every change up to this time.
    looked: Option<Instant>,
}

/// Pages with their content, and the time up to which the index is current once they are stored.
#[derive(Debug, Default)]
struct PageBatch {
    pages: Vec<PageReading>,
    caught_up: Option<Instant>,
}

/// The result of a look at the list.
struct ListScan {
    changed: Vec<Arc<PageReading>>,
    count: IndexCounts,
}

impl ReadQueue {
    /// Puts changed pages before all others.
    fn put_first(&mut self, changed: Vec<Arc<PageReading>>, urgent: usize, looked: Instant) {
        let ids: HashSet<Option<i64>> = changed.iter().map(|page| page.id).collect();
        self.pages.retain(|page| !ids.contains(&page.id));
        for page in changed.into_iter().rev() {
            self.pages.push_front(page);
        }
        self.urgent = self.urgent.max(urgent).min(self.pages.len());
        self.looked = Some(looked);
    }

    /// The next pages to read; pages that a search waits for are not read together with others.
    fn take_next(&mut self, most: usize) -> Vec<PageReading> {
        let first = match self.urgent {
            0 => self.pages.len(),
            urgent => urgent,
        };
        let most = most.min(first);
        self.urgent = self.urgent.saturating_sub(most);
        let next = self.pages.drain(..most);
        next.map(Arc::unwrap_or_clone).collect()
    }

    fn caught_up(&self) -> Option<Instant> {
        self.looked.filter(|_| self.urgent == 0)
    }
}

impl ContentIndex {
    /// One pass: looks at the list as often as searches want it, and reads the changed pages.
    pub(super) async fn pass(self: &Arc<Self>, wiki: &Wiki) -> Result<(), FillError> {
        let lock = self.lock_beside(wiki, "lock");
        // Of several servers with one index on the disk, one fills it.
        let fills = !self.is_on_disk() || lock.is_some();
        let mut layers = LayerSelector::default();
        let mut queue = ReadQueue::default();
        let mut read = PageBatch::default();
        loop {
            if let Some(time) = self.wanted_look(queue.looked) {
                let looked = self.look(wiki, time).await?;
                if fills {
                    let urgent = if self.progress.borrow().was_complete {
                        looked.len()
                    } else {
                        looked.len().min(NEWEST)
                    };
                    queue.put_first(looked, urgent, time);
                } else {
                    queue.looked = Some(time);
                }
                if queue.urgent == 0 {
                    read.caught_up = queue.looked;
                }
                self.began_filling();
            }
            let next = queue.take_next(layers.at_a_time());
            let is_last = next.is_empty();
            let turn = self.turn_of_callers().await;
            // Pages are stored while the next ones are read.
            let (put, next) = tokio::join!(
                self.put(wiki, std::mem::take(&mut read)),
                self.read(wiki, &mut layers, next)
            );
            put?;
            read = PageBatch {
                pages: next?,
                caught_up: queue.caught_up(),
            };
            if turn.is_some() {
                // Pages that were read are stored before the wait for a turn.
                self.put(wiki, std::mem::take(&mut read)).await?;
            }
            drop(turn);
            if self.progress.borrow().is_full {
                queue.pages.clear();
                queue.urgent = 0;
            }
            if is_last && self.wanted_look(queue.looked).is_none() {
                self.put(wiki, read).await?;
                break;
            }
        }
        drop(lock);
        self.progress.send_modify(IndexProgress::complete);
        Ok(())
    }

    /// A turn at reading and storing pages for a caller's key: only one such key at a time has
    /// texts in memory.
    async fn turn_of_callers(&self) -> Option<OwnedSemaphorePermit> {
        self.tenant?;
        self.room.turn().await
    }

    /// Finds the changed pages, by the list as of this time or later.
    async fn look(
        self: &Arc<Self>,
        wiki: &Wiki,
        time: Instant,
    ) -> Result<Vec<Arc<PageReading>>, FillError> {
        let began = Instant::now();
        let pages = wiki.pages_as_of(time).await;
        self.turns.owe(began.elapsed());
        let pages = pages?;
        let all = pages.pages.len();
        let (most, is_first) = (self.settings.most, self.progress.borrow().passes == 0);
        let is_full = self.progress.borrow().is_full;
        let looked = self.with_store(wiki.generation(), move |store| {
            let mut look = look(store, &pages, most, is_first)?;
            if is_full {
                look.changed = known(store, look.changed)?;
            }
            Ok(look)
        });
        let ListScan { changed, count } = looked.await.ok_or(None)?;
        self.progress.send_modify(|progress| {
            progress.of = all;
            progress.count = count;
        });
        Ok(changed)
    }

    /// Stores pages.
    async fn put(self: &Arc<Self>, wiki: &Wiki, read: PageBatch) -> Result<(), FillError> {
        let mut pages = read.pages.into_iter().peekable();
        while pages.peek().is_some() {
            let some: Vec<PageReading> = pages.by_ref().take(PUT_AT_ONCE).collect();
            let is_full = self.progress.borrow().is_full;
            let put = self.with_store(wiki.generation(), move |store| {
                let some = if is_full { known(store, some)? } else { some };
                store.put(&some)?;
                Ok((store.count()?, store.bytes()?))
            });
            // The index was dropped meanwhile, or cannot be written.
            let (count, bytes) = put.await.ok_or(None)?;
            self.counted(count, bytes);
        }
        // Pages that an old key saw must not be shown to the new one.
        if let Some(time) = read.caught_up
            && wiki.generation() == self.wiki.generation()
        {
            self.progress
                .send_modify(|progress| progress.catch_up(time));
        }
        Ok(())
    }

    /// Stores pages that something else read. An index that cannot be opened, or that another server
    /// fills, reads them itself later.
    pub(super) async fn feed(self: &Arc<Self>, wiki: &Wiki, pages: &[PageReading]) {
        if !self.is_on() || self.progress.borrow().is_full {
            return;
        }
        let lock = self.lock_beside(wiki, "lock");
        if self.is_on_disk() && lock.is_none() {
            return;
        }
        let (this, pinned) = (Arc::clone(self), wiki.pinned());
        let opened = tokio::task::spawn_blocking(move || this.open(&pinned, |_| Ok(())));
        if !matches!(opened.await, Ok(Ok(()))) {
            return;
        }
        let read = PageBatch {
            pages: pages.to_vec(),
            caught_up: None,
        };
        if self.put(wiki, read).await.is_err() {
            tracing::warn!("the content index took no pages of the mirror");
        }
        drop(lock);
    }

    /// Of several servers with one index on the disk, one fills it, and one asks for vectors.
    pub(super) fn lock_beside(&self, wiki: &Wiki, ending: &str) -> Option<File> {
        let file = self.file(wiki)?.with_added_extension(ending);
        let file = private_files::open(&file).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }
}

/// The pages that the index holds already: a full index has no room for others.
fn known<P: Borrow<PageReading>>(store: &Store, pages: Vec<P>) -> IndexResult<Vec<P>> {
    let mut known = Vec::new();
    for page in pages {
        let id = page.borrow().id.unwrap_or_default();
        if store.known_of(id)?.is_some() {
            known.push(page);
        }
    }
    Ok(known)
}

/// Compares an index with the list: with all of it if it was read again, otherwise with the pages
/// at least as new as the newest one seen before.
fn look(store: &mut Store, all: &AllPages, most: usize, is_first: bool) -> IndexResult<ListScan> {
    let mut pages = &all.pages[..];
    pages = pages.get(..most).unwrap_or(pages);
    let written = |page: &PageReading| page.updated_at.as_ref().and_then(Date::instant);
    let seen = ListSync {
        listed: Some(all.listed),
        newest: pages.first().and_then(|page| written(page)),
    };
    let before = std::mem::replace(&mut store.seen, seen);
    let is_changed = |page: &PageReading, known: Option<&PageMark>| {
        known.is_none_or(|known| known.mark != mark(page) || (is_first && !known.has_content))
    };
    let changed = if before.listed == seen.listed && before.newest.is_some() {
        let is_new = |page: &&Arc<PageReading>| written(page) >= before.newest;
        let mut changed = Vec::new();
        for page in pages.iter().take_while(is_new) {
            let known = store.known_of(page.id.unwrap_or_default())?;
            if is_changed(page, known.as_ref()) {
                changed.push(page.clone());
            }
        }
        changed
    } else {
        let there: HashSet<i64> = pages.iter().filter_map(|page| page.id).collect();
        store.look(&there)?;
        let known = store.known()?;
        let of = |page: &PageReading| page.id.and_then(|id| known.get(&id));
        let changed = pages.iter().filter(|page| is_changed(page, of(page)));
        changed.cloned().collect()
    };
    Ok(ListScan {
        changed,
        count: store.count()?,
    })
}
