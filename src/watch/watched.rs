//! The watchers of one key, and the one task that looks at the list for all of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::looks::{ListPoller, ObservedPage, PageListSnapshot, WatchedPath};
use crate::page::{Locale, PagePath, PageReading};
use crate::watch::WatchPace;
use crate::wiki::{Wiki, WikiError};

/// The reason why a page cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotWatch {
    /// The key sees no such page.
    #[error("there is no such page that the key may read")]
    NoPage,
    /// No more pages can be watched.
    #[error("no more pages can be watched")]
    Full,
    /// The wiki could not be asked.
    #[error(transparent)]
    Wiki(#[from] WikiError),
}

/// The changed pages that a watcher has yet to take. Each is there once, so the set is bounded even
/// if the watcher takes nothing.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    changed: Mutex<BTreeSet<WatchedPath>>,
    wake: Notify,
}

impl PendingChanges {
    fn tell(&self, place: &WatchedPath) {
        self.changed.lock().insert(place.clone());
        self.wake.notify_one();
    }

    pub(super) async fn next(&self) -> WatchedPath {
        loop {
            if let Some(place) = self.changed.lock().pop_first() {
                return place;
            }
            self.wake.notified().await;
        }
    }
}

/// The pages that are watched with one key.
#[derive(Debug)]
pub struct Watch {
    wiki: Arc<Wiki>,
    common: Arc<Common>,
    state: Mutex<WatchState>,
}

/// State shared by all keys of a server.
#[derive(Debug)]
struct Common {
    pace: WatchPace,
    /// The number of pages that each owner watches.
    owners: Mutex<HashMap<Arc<str>, usize>>,
    /// Counts what was written through this server.
    written: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct WatchState {
    /// The watched pages as they were last seen; `None` where there was no page.
    pages: HashMap<WatchedPath, Option<ObservedPage>>,
    watchers: HashMap<WatchedPath, Vec<Arc<PendingChanges>>>,
    /// True while the task runs.
    is_looking: bool,
}

impl Watch {
    /// For a wiki with its key; sends nothing yet.
    pub fn new(wiki: Arc<Wiki>, pace: WatchPace) -> Self {
        Self::with(
            wiki,
            Arc::new(Common {
                pace,
                owners: Mutex::default(),
                written: watch::Sender::default(),
            }),
        )
    }

    /// The same for a caller's own key; all keys share the bounds on watched pages.
    #[must_use]
    pub fn for_key(&self, wiki: Arc<Wiki>) -> Self {
        Self::with(wiki, Arc::clone(&self.common))
    }

    fn with(wiki: Arc<Wiki>, common: Arc<Common>) -> Self {
        Self {
            wiki,
            common,
            state: Mutex::default(),
        }
    }

    /// Something was written through this server: the next look comes soon.
    pub fn written(&self) {
        self.common
            .written
            .send_modify(|written| *written = written.wrapping_add(1));
    }

    /// The number of pages watched with this key.
    pub fn pages(&self) -> usize {
        self.state.lock().pages.len()
    }

    /// True if no task looks at the wiki for this key.
    pub fn is_idle(&self) -> bool {
        !self.state.lock().is_looking
    }

    pub(super) fn pace(&self) -> WatchPace {
        self.common.pace
    }

    /// True if the key sees a page.
    pub async fn sees(&self, place: &(Locale, PagePath)) -> bool {
        self.listed(place).await.is_ok()
    }

    /// A page that the key sees, by a list of the last minute or, if it is missing there, by a new
    /// list.
    async fn listed(&self, place: &WatchedPath) -> Result<PageReading, CannotWatch> {
        let is_it = |page: &&PageReading| page.locale == place.0 && page.path == place.1;
        let lately = self.wiki.pages_lately().await?;
        if let Some(page) = lately.iter().find(is_it) {
            return Ok(page.clone());
        }
        let now = self.wiki.pages_now().await?;
        let page = now.iter().find(is_it).cloned();
        page.ok_or(CannotWatch::NoPage)
    }

    /// Adds a page for a watcher. With a time, a page that may have been written since then, or is
    /// gone, is reported at once.
    pub(super) async fn add(
        self: &Arc<Self>,
        place: WatchedPath,
        told: &Arc<PendingChanges>,
        since: Option<OffsetDateTime>,
    ) -> Result<(), CannotWatch> {
        let seen = match self.listed(&place).await {
            Ok(page) => ObservedPage::new(&page),
            Err(CannotWatch::NoPage) if since.is_some() => None,
            Err(error) => return Err(error),
        };
        let is_as_before = |since| seen.as_ref().is_some_and(|seen| !seen.is_after(since));
        if since.is_some_and(|since| !is_as_before(since)) {
            told.tell(&place);
        }
        let mut state = self.state.lock();
        state.pages.entry(place.clone()).or_insert(seen);
        state
            .watchers
            .entry(place)
            .or_default()
            .push(Arc::clone(told));
        if !std::mem::replace(&mut state.is_looking, true) {
            tokio::spawn(Arc::clone(self).look_on());
        }
        Ok(())
    }

    /// Removes a page of a watcher.
    pub(super) fn remove(&self, place: &WatchedPath, told: &Arc<PendingChanges>) {
        let mut state = self.state.lock();
        let Some(watchers) = state.watchers.get_mut(place) else {
            return;
        };
        watchers.retain(|other| !Arc::ptr_eq(other, told));
        if watchers.is_empty() {
            state.watchers.remove(place);
            state.pages.remove(place);
        }
    }

    /// Counts one more page of an owner, until the returned value is dropped.
    pub(super) fn take(&self, owner: &Arc<str>) -> Result<WatchSlot, CannotWatch> {
        let pace = self.pace();
        let mut owners = self.common.owners.lock();
        let own = owners.get(owner).copied().unwrap_or_default();
        if own >= pace.most_of_owner || owners.values().sum::<usize>() >= pace.most {
            return Err(CannotWatch::Full);
        }
        owners.insert(Arc::clone(owner), own.saturating_add(1));
        Ok(WatchSlot {
            common: Arc::clone(&self.common),
            owner: Arc::clone(owner),
        })
    }

    /// Looks at the list until no watcher is left.
    async fn look_on(self: Arc<Self>) {
        let mut looks = ListPoller::default();
        let mut written = self.common.written.subscribe();
        let pace = self.pace();
        loop {
            let looked = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(pace.pause(looks.failures)) => {}
                _ = written.changed() => {
                    tokio::time::sleep_until(looked + pace.after_write).await;
                    written.mark_unchanged();
                }
            }
            if self.has_ended() {
                return;
            }
            match looks.look(&self.wiki).await {
                Ok(found) => self.tell(&found),
                Err(error) => tracing::debug!(%error, "watched pages could not be looked at"),
            }
        }
    }

    fn has_ended(&self) -> bool {
        let mut state = self.state.lock();
        state.is_looking = !state.pages.is_empty();
        !state.is_looking
    }

    fn tell(&self, found: &PageListSnapshot) {
        let mut state = self.state.lock();
        for place in found.changed(&mut state.pages) {
            for told in state.watchers.get(&place).into_iter().flatten() {
                told.tell(&place);
            }
        }
    }
}

/// One watched page in the count of its owner.
#[derive(Debug)]
pub(super) struct WatchSlot {
    common: Arc<Common>,
    owner: Arc<str>,
}

impl Drop for WatchSlot {
    fn drop(&mut self) {
        let mut owners = self.common.owners.lock();
        if let Some(own) = owners.get_mut(&self.owner) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}
