//! The content index of one wiki and key, for as long as a server runs.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout_at;

use super::find::{self, ContentHit, RareWords};
use super::layers::Batches;
use super::pace::Turns;
use super::progress::{IndexProgress, SearchWait};
use super::quota::{Evictable, IndexQuota};
use super::settings::{IndexMode, IndexSettings};
use super::store::{self, Home, IndexCounts, IndexError, IndexResult, Store};
use crate::blocking;
use crate::page::{Locale, PagePath};
use crate::share::OneByOne;
use crate::wiki::{Wiki, WikiError, WikiResult};

/// The extent to which the wiki is indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The pages that are indexed.
    pub pages: usize,
    /// The pages that the key sees.
    pub of: usize,
    /// True if all of them are indexed, as of the last look at the list.
    pub is_complete: bool,
    /// The indexed pages whose content the key could not read.
    pub without_content: usize,
    /// The most pages that the index may hold.
    pub most: usize,
    /// The time that the missing pages may still take, if some were read already.
    pub left: Option<Duration>,
}

impl Coverage {
    /// The number of pages to be indexed, if some are still missing.
    pub fn wanting(&self) -> Option<usize> {
        let wanted = self.of.min(self.most);
        (self.pages < wanted).then_some(wanted)
    }
}

/// The store, and the generation of the key that it was filled for: another key may not see its
/// pages.
#[derive(Debug)]
pub(super) struct KeyedStore {
    pub(super) generation: u64,
    pub(super) store: Store,
}

/// The content index of one wiki and key. Nothing is opened or asked before the first search.
#[derive(Debug)]
pub struct ContentIndex {
    /// The wiki whose pages it has.
    pub wiki: Arc<Wiki>,
    /// Its settings.
    pub settings: IndexSettings,
    /// Shared by all keys, so that made-up keys cannot raise the load on the wiki.
    pub(super) turns: Arc<Turns>,
    pub(super) batches: Arc<Batches>,
    /// Shared by all keys.
    scans: Arc<OneByOne>,
    /// The memory that the indexes of callers' keys take together.
    pub(super) room: Arc<IndexQuota>,
    /// This index's name in `room`, if the key is a caller's: then no index is made for a key that
    /// the wiki does not know.
    pub(super) tenant: Option<u64>,
    pub(super) store: Mutex<Option<KeyedStore>>,
    pub(super) progress: watch::Sender<IndexProgress>,
    /// The index of the server's own key without further bounds, if this is another one.
    pub(super) whole: Option<Arc<Self>>,
    /// Held while sections get vectors.
    pub(super) embedding: tokio::sync::Mutex<Option<String>>,
}

impl ContentIndex {
    /// An index of what the wiki's key sees.
    pub fn new(wiki: Arc<Wiki>, settings: IndexSettings) -> Self {
        Self {
            wiki,
            turns: Arc::new(Turns::new(settings.pace.load)),
            batches: Arc::default(),
            scans: Arc::default(),
            room: Arc::new(IndexQuota::new(settings.callers_bytes)),
            tenant: None,
            settings,
            store: Mutex::new(None),
            progress: watch::Sender::new(IndexProgress::default()),
            whole: None,
            embedding: tokio::sync::Mutex::default(),
        }
    }

    /// The present extent of the index, and a flag for a pass under way.
    pub fn now(&self) -> (Coverage, bool) {
        let progress = self.progress.borrow();
        (self.coverage(&progress), progress.is_running)
    }

    /// Waits until no pass is under way, however long it takes.
    pub async fn pass_ended(&self) {
        let mut changes = self.progress.subscribe();
        // It cannot fail: the sender is this index's own.
        drop(changes.wait_for(|progress| !progress.is_running).await);
    }

    /// The error that ended the last pass early, if the wiki was the reason.
    pub fn failure(&self) -> Option<WikiError> {
        self.progress.borrow().error().cloned()
    }

    /// An index of what a caller's key sees. It is in memory, since made-up keys would otherwise
    /// leave files on the disk.
    #[must_use]
    pub fn for_key(self: &Arc<Self>, wiki: Arc<Wiki>) -> Self {
        Self {
            turns: Arc::clone(&self.turns),
            batches: Arc::clone(&self.batches),
            scans: Arc::clone(&self.scans),
            room: Arc::clone(&self.room),
            tenant: Some(self.room.enter()),
            wiki,
            settings: self.settings.clone(),
            store: Mutex::new(None),
            progress: watch::Sender::new(IndexProgress::default()),
            whole: Some(self.whole.clone().unwrap_or_else(|| Arc::clone(self))),
            embedding: tokio::sync::Mutex::default(),
        }
    }

    /// A turn at scanning all texts or all links; `None` if it does not come in time.
    pub async fn turn_to_scan(&self) -> Option<OwnedSemaphorePermit> {
        self.scans.turn().await
    }

    /// True if there is an index at all.
    pub fn is_on(&self) -> bool {
        self.settings.mode != IndexMode::Off
    }

    /// Brings the index up to date: with all writes through this server, and those of others up to
    /// a few seconds ago. Long work continues in the background; a search waits for a first pass
    /// only as long as its patience allows. While it waits, `tell` is called with the number of
    /// indexed pages and of all pages.
    ///
    /// # Errors
    /// Why nothing is indexed, or why the key no longer counts. An existing index is used even if
    /// the wiki does not answer.
    pub async fn ready(self: &Arc<Self>, tell: impl Fn(usize, usize)) -> WikiResult<Coverage> {
        if let Some(expired) = self.wiki.expired() {
            self.forget().await;
            return Err(expired);
        }
        if let Some(tenant) = self.tenant {
            if self.wiki.is_guest().await == Some(true) {
                return Err(WikiError::Guest);
            }
            let own: Weak<Self> = Arc::downgrade(self);
            self.room.searched(tenant, own);
        }
        let mut changes = self.progress.subscribe();
        let wanted = self.begin();
        let heard = |progress: &IndexProgress| {
            if progress.of > 0 {
                tell(progress.count.pages, progress.of.min(self.settings.most));
            }
        };
        // Pages that are not indexed in time are indexed later.
        let caught_up = changes.wait_for(|progress| {
            heard(progress);
            progress.has(&wanted)
        });
        drop(timeout_at(wanted.until.into(), caught_up).await);
        let complete = changes.wait_for(|progress| {
            heard(progress);
            progress.has_all(&wanted)
        });
        drop(timeout_at(wanted.first_until.into(), complete).await);
        let now = self.progress.borrow();
        match now.error() {
            Some(error) if now.count.pages == 0 => Err(error.clone()),
            _ => Ok(self.coverage(&now)),
        }
    }

    /// Begins a pass if one is due; returns what to wait for.
    pub(super) fn begin(self: &Arc<Self>) -> SearchWait {
        let settings = &self.settings;
        let mut begun = None;
        self.progress
            .send_modify(|progress| begun = Some(progress.search(&settings.pace, settings.most)));
        let (wanted, begins) =
            begun.unwrap_or_else(|| IndexProgress::default().search(&settings.pace, 0));
        if begins {
            tokio::spawn(Arc::clone(self).pass_until_done());
        }
        wanted
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.settings.mode == IndexMode::Disk && self.tenant.is_none()
    }

    fn coverage(&self, progress: &IndexProgress) -> Coverage {
        let IndexCounts {
            pages,
            without_content,
        } = progress.count;
        Coverage {
            pages,
            of: progress.of.max(pages),
            is_complete: pages >= progress.of
                && progress.error().is_none()
                && progress.was_looked_at(),
            without_content,
            most: if progress.is_full {
                pages
            } else {
                self.settings.most
            },
            left: progress.left(self.settings.most),
        }
    }

    /// Something was written to the wiki: the next search looks at it again before it answers.
    pub fn outdated(&self) {
        self.progress.send_if_modified(|progress| {
            progress.written();
            false
        });
    }

    /// Drops the index, from the disk too.
    pub async fn forget(self: &Arc<Self>) {
        self.forget_key(&self.wiki.pinned()).await;
    }

    /// The wiki has another key now: drops the old key's index, from the disk too.
    pub async fn forget_key(self: &Arc<Self>, old: &Wiki) {
        let (this, file, generation) = (Arc::clone(self), self.file(old), old.generation());
        let dropped = tokio::task::spawn_blocking(move || {
            let mut held = this.store();
            drop(held.take_if(|held| held.generation == generation));
            file.map_or(Ok(false), |file| store::remove(&file))
        });
        if !matches!(dropped.await, Ok(Ok(_))) {
            tracing::error!("the content index could not be removed");
        }
        self.progress.send_modify(IndexProgress::reset);
    }

    /// Pages whose content, title, headings, tags, path or description have words.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn find(
        self: &Arc<Self>,
        query: String,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        most: (usize, usize),
    ) -> IndexResult<Vec<ContentHit>> {
        self.asked(move |store| find::find(store, &query, &is_wanted, most))
            .await
    }

    /// Pages that have rare words in common with a page.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn alike(
        self: &Arc<Self>,
        id: i64,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        limit: usize,
    ) -> IndexResult<Vec<RareWords>> {
        self.asked(move |store| find::alike(store, id, &is_wanted, limit))
            .await
    }

    /// Queries the index of the key in use; gives the default if no pass has opened it yet.
    pub(super) async fn asked<T: Default + Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Store) -> IndexResult<T> + Send + 'static,
    ) -> IndexResult<T> {
        let generation = self.wiki.generation();
        // A page that was moved or tagged since it was indexed may now be out of bounds; it is left
        // out.
        let seen = self.wiki.admitted_ids().await.map_err(|_| IndexError)?;
        let question = move |store: &mut Store| {
            if let Some(seen) = seen {
                store.look(&seen)?;
            }
            question(store)
        };
        match self.with_store(generation, question).await {
            Some(answer) => Ok(answer),
            None if self.progress.borrow().is_running => Ok(T::default()),
            None => Err(IndexError),
        }
    }

    /// Runs work that may block on the store of a key; `None` if there is no such store.
    pub(super) async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        generation: u64,
        act: impl FnOnce(&mut Store) -> IndexResult<T> + Send + 'static,
    ) -> Option<T> {
        let this = Arc::clone(self);
        let done = blocking::run(move || {
            let mut held = this.store();
            let held = held.as_mut().filter(|held| held.generation == generation)?;
            Some(act(&mut held.store))
        });
        done.await??.ok()
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Option<KeyedStore>> {
        self.store.lock()
    }

    /// The place of the index.
    pub(super) fn home(&self, wiki: &Wiki) -> Home {
        match self.file(wiki) {
            Some(file) => Home::File(file),
            None if self.tenant.is_some() => Home::Memory,
            None => Home::Nameless,
        }
    }

    /// Its file, if it lies on the disk.
    pub(super) fn file(&self, wiki: &Wiki) -> Option<PathBuf> {
        self.is_on_disk()
            .then(|| self.settings.file(wiki.settings(), &wiki.key()))
            .flatten()
    }
}

impl Evictable for ContentIndex {
    fn give_way(&self) {
        drop(self.store().take());
        self.progress.send_modify(IndexProgress::reset);
    }
}

impl Drop for ContentIndex {
    fn drop(&mut self) {
        if let Some(name) = self.tenant {
            self.room.leave(name);
        }
    }
}
