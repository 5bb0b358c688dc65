//! The content index of one wiki and key, for as long as a server runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use super::find::{self, ContentHit, RareWords};
use super::pace::Turns;
use super::settings::{IndexMode, IndexSettings};
use super::store::{self, Count, IndexError, Store};
use crate::page::{Locale, PagePath};
use crate::wiki::{Wiki, WikiError};

/// How much of the wiki is indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The pages that are indexed.
    pub pages: usize,
    /// The pages that the key sees.
    pub of: usize,
    /// Whether all of them are, as they were when the list was last looked at.
    pub is_complete: bool,
    /// The indexed pages whose content the key could not read.
    pub without_content: usize,
    /// The most pages that the index may hold.
    pub most: usize,
}

impl Coverage {
    /// The pages that will be indexed, if not all of them are yet.
    #[must_use]
    pub fn wanting(&self) -> Option<usize> {
        let wanted = self.of.min(self.most);
        (self.pages < wanted).then_some(wanted)
    }
}

#[derive(Debug, Clone, Default)]
struct Progress {
    /// When the list was last looked at.
    looked: Option<Instant>,
    is_running: bool,
    /// Something was written since the last look.
    is_outdated: bool,
    /// Passes that have ended.
    passes: u64,
    of: usize,
    count: Count,
    /// Why the last pass ended early.
    error: Option<WikiError>,
}

/// What is indexed, and of which of the wiki's keys in turn: what one key may see is none of the
/// next one's.
#[derive(Debug)]
struct Held {
    generation: u64,
    store: Store,
}

/// The content index of one wiki and key. Nothing is opened or asked before the first search.
#[derive(Debug)]
pub struct ContentIndex {
    pub(super) wiki: Arc<Wiki>,
    pub(super) settings: IndexSettings,
    /// Shared by all keys: the wiki is asked at one pace, whatever keys are made up.
    pub(super) turns: Arc<Turns>,
    /// Whether the key is a caller's, and no index is made if the wiki does not know it.
    is_of_caller: bool,
    store: Mutex<Option<Held>>,
    progress: watch::Sender<Progress>,
}

impl ContentIndex {
    /// An index of what the wiki's key sees.
    #[must_use]
    pub fn new(wiki: Arc<Wiki>, settings: IndexSettings) -> Self {
        Self {
            wiki,
            turns: Arc::new(Turns::new(settings.pace.apart)),
            is_of_caller: false,
            settings,
            store: Mutex::new(None),
            progress: watch::Sender::new(Progress::default()),
        }
    }

    /// How much is indexed at the moment, and whether a pass is under way.
    #[must_use]
    pub fn now(&self) -> (Coverage, bool) {
        let progress = self.progress.borrow();
        (self.coverage(&progress), progress.is_running)
    }

    /// An index like this one of what a caller's key sees; never on the disk, where one would
    /// stay of every key that anybody made up.
    #[must_use]
    pub fn for_key(&self, wiki: Arc<Wiki>) -> Self {
        Self {
            turns: Arc::clone(&self.turns),
            is_of_caller: true,
            ..Self::new(wiki, self.settings.clone().in_memory())
        }
    }

    /// How pages are indexed.
    #[must_use]
    pub const fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    /// Whether there is one at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.settings.mode != IndexMode::Off
    }

    /// Sees to it that the index is as the wiki is, as far as that is possible in a short time;
    /// the rest goes on in the background. An index that was looked after a moment ago is taken
    /// as it is. While it is waited for, `tell` hears how many pages are indexed, and of how many.
    ///
    /// # Errors
    /// Why nothing is indexed, or why the key no longer counts; an index that is there is used
    /// also when the wiki does not answer.
    pub async fn ready(
        self: &Arc<Self>,
        tell: impl Fn(usize, usize),
    ) -> Result<Coverage, WikiError> {
        if let Some(expired) = self.wiki.expired() {
            self.forget().await;
            return Err(expired);
        }
        if self.is_of_caller && self.wiki.is_guest().await == Some(true) {
            return Err(WikiError::Guest);
        }
        let mut progress = self.progress.subscribe();
        let waited_for = self.begin();
        if let Some(pass) = waited_for {
            // What is not there in time comes later.
            let ended = progress.wait_for(|progress| {
                if progress.of > 0 {
                    tell(progress.count.pages, progress.of.min(self.settings.most));
                }
                progress.passes >= pass
            });
            let _in_time = tokio::time::timeout(self.settings.pace.patience, ended).await;
        }
        let now = self.progress.borrow().clone();
        match now.error {
            Some(error) if now.count.pages == 0 => Err(error),
            _ => Ok(self.coverage(&now)),
        }
    }

    /// Begins a pass if one is due; gives how many must have ended, if one is waited for.
    fn begin(self: &Arc<Self>) -> Option<u64> {
        let mut begins = false;
        let mut waits = None;
        self.progress.send_if_modified(|progress| {
            let age = progress.looked.map(|looked| looked.elapsed());
            let pace = self.settings.pace;
            let is_due = progress.is_outdated || age.is_none_or(|age| age >= pace.fresh);
            // A long pass is not waited for: what it has is there already.
            let is_stale = progress.is_outdated
                || age.is_none_or(|age| age >= pace.stale && !progress.is_running);
            begins = is_due && !progress.is_running;
            // A pass that runs meanwhile ends early, and the one after it sees what was written.
            let passes = 1 + u64::from(progress.is_running && progress.is_outdated);
            waits = is_stale.then_some(progress.passes + passes);
            if begins {
                progress.is_running = true;
                progress.is_outdated = false;
            }
            begins
        });
        if begins {
            tokio::spawn(Arc::clone(self).passes());
        }
        waits
    }

    /// Passes, until one ends that no write came between.
    async fn passes(self: Arc<Self>) {
        loop {
            let (this, wiki) = (Arc::clone(&self), Arc::new(self.wiki.pinned()));
            let generation = wiki.generation();
            // In a task of its own: whatever becomes of it, another one may begin.
            let pass = tokio::spawn(async move { this.open_and_pass(&wiki).await }).await;
            if !self
                .ended(generation, pass.ok().and_then(Result::err))
                .await
            {
                return;
            }
        }
    }

    async fn open_and_pass(self: &Arc<Self>, wiki: &Wiki) -> Result<(), WikiError> {
        let (this, file, generation) = (Arc::clone(self), self.file(wiki), wiki.generation());
        let opened = tokio::task::spawn_blocking(move || {
            let mut held = this.store();
            if generation != this.wiki.generation() {
                return Err(IndexError);
            }
            let held = match &mut *held {
                Some(held) if held.generation == generation => held,
                held => held.insert(Held {
                    generation,
                    store: Store::open(file.as_deref())?,
                }),
            };
            held.store.count()
        });
        if let Ok(Ok(count)) = opened.await {
            self.counted(count);
            self.pass(wiki).await?;
        }
        Ok(())
    }

    /// A pass has ended; gives whether another one has to follow.
    async fn ended(self: &Arc<Self>, generation: u64, mut error: Option<WikiError>) -> bool {
        let is_of_old_key = generation != self.wiki.generation();
        if is_of_old_key {
            error = None;
        }
        if let Some(error) = &error {
            tracing::warn!(%error, "the content index could not be filled");
            if matches!(
                error,
                WikiError::KeyRevoked | WikiError::Unauthorized | WikiError::KeyExpired { .. }
            ) {
                self.forget().await;
            }
        }
        let mut goes_on = false;
        self.progress.send_modify(|progress| {
            goes_on = is_of_old_key || (progress.is_outdated && error.is_none());
            progress.is_running = goes_on;
            progress.is_outdated &= !goes_on;
            progress.passes += 1;
            // After a fault the next search tries again, but not each at once.
            progress.looked = (!is_of_old_key).then(Instant::now);
            progress.error = error;
        });
        goes_on
    }

    /// The list was looked at: it has so many pages.
    pub(super) fn looked(&self, of: usize) {
        self.progress.send_modify(|progress| {
            progress.of = of;
            progress.looked = Some(Instant::now());
        });
    }

    /// So many pages are indexed now.
    pub(super) fn counted(&self, count: Count) {
        self.progress.send_modify(|progress| progress.count = count);
    }

    /// Whether something was written since the pass began.
    pub(super) fn is_outdated(&self) -> bool {
        self.progress.borrow().is_outdated
    }

    pub(super) fn is_first_pass(&self) -> bool {
        self.progress.borrow().passes == 0
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.settings.mode == IndexMode::Disk
    }

    fn coverage(&self, progress: &Progress) -> Coverage {
        let Count {
            pages,
            without_content,
        } = progress.count;
        Coverage {
            pages,
            of: progress.of.max(pages),
            is_complete: pages >= progress.of
                && progress.error.is_none()
                && progress.looked.is_some(),
            without_content,
            most: self.settings.most,
        }
    }

    /// Something was written to the wiki: the next search looks at it again before it answers.
    pub fn outdated(&self) {
        self.progress.send_if_modified(|progress| {
            progress.is_outdated = progress.looked.is_some();
            false
        });
    }

    /// Drops all that is indexed, from the disk too.
    pub async fn forget(self: &Arc<Self>) {
        self.drop_index_of(&self.wiki.pinned()).await;
        self.progress.send_modify(|progress| {
            progress.count = Count::default();
            progress.looked = None;
        });
    }

    /// The wiki has another key now: drops all that the old one saw, from the disk too.
    pub async fn forget_key(self: &Arc<Self>, old: &Wiki) {
        self.drop_index_of(old).await;
        self.progress.send_modify(|progress| {
            *progress = Progress {
                is_running: progress.is_running,
                // A pass under way saw it with the old key, and another one has to follow.
                is_outdated: progress.is_running,
                passes: progress.passes,
                ..Progress::default()
            };
        });
    }

    async fn drop_index_of(self: &Arc<Self>, wiki: &Wiki) {
        let (this, file, generation) = (Arc::clone(self), self.file(wiki), wiki.generation());
        let dropped = tokio::task::spawn_blocking(move || {
            let mut held = this.store();
            drop(held.take_if(|held| held.generation == generation));
            file.map_or(Ok(false), |file| store::remove(&file))
        });
        if !matches!(dropped.await, Ok(Ok(_))) {
            tracing::error!("the content index could not be removed");
        }
    }

    /// Pages whose content, title, headings, tags, path or description have words.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn find(
        self: &Arc<Self>,
        query: String,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        limit: usize,
    ) -> Result<Vec<ContentHit>, IndexError> {
        self.asked(move |store| find::find(store, &query, &is_wanted, limit))
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
    ) -> Result<Vec<RareWords>, IndexError> {
        self.asked(move |store| find::alike(store, id, &is_wanted, limit))
            .await
    }

    /// Asks what is indexed for the key in use: nothing is, where a pass has yet to open it.
    async fn asked<T: Default + Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Store) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let generation = self.wiki.generation();
        match self.with_store(generation, question).await {
            Some(answer) => Ok(answer),
            None if self.progress.borrow().is_outdated => Ok(T::default()),
            None => Err(IndexError),
        }
    }

    /// Does something with what is indexed for a key where it may take its time; nothing if there
    /// is none.
    pub(super) async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        generation: u64,
        act: impl FnOnce(&mut Store) -> Result<T, IndexError> + Send + 'static,
    ) -> Option<T> {
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let mut held = this.store();
            let held = held.as_mut().filter(|held| held.generation == generation)?;
            Some(act(&mut held.store))
        });
        done.await.ok()??.ok()
    }

    fn store(&self) -> MutexGuard<'_, Option<Held>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its file, if it lies on the disk.
    pub(super) fn file(&self, wiki: &Wiki) -> Option<PathBuf> {
        self.is_on_disk()
            .then(|| self.settings.file(wiki.settings(), &wiki.key()))
            .flatten()
    }
}

/// Removes the index on the disk of a wiki and key; whether there was one.
///
/// # Errors
/// The file cannot be removed.
pub fn clear(file: &std::path::Path) -> std::io::Result<bool> {
    store::remove(file)
}
