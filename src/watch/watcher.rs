//! A watcher of pages, each under the name with which it was first added.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use time::OffsetDateTime;

use super::looks::WatchedPath;
use super::watched::{PendingChanges, WatchSlot};
use crate::page::{Locale, PagePath};
use crate::watch::{CannotWatch, Watch};

/// A watcher of pages, until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    watch: Arc<Watch>,
    owner: Arc<str>,
    told: Arc<PendingChanges>,
    /// By place, so that a page with several names is watched once.
    watched: Mutex<BTreeMap<WatchedPath, Watched>>,
    /// Held while a page is added.
    adding: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Watched {
    name: Arc<str>,
    _taken: WatchSlot,
}

impl Watcher {
    /// A new watcher; counted with the others of its owner.
    pub fn new(watch: Arc<Watch>, owner: &str) -> Self {
        Self {
            watch,
            owner: owner.into(),
            told: Arc::default(),
            watched: Mutex::default(),
            adding: tokio::sync::Mutex::default(),
        }
    }

    /// Watches a page under this name; a page that is watched already keeps its name. With a time,
    /// a page that may have been written since then, or is gone, is reported at once.
    ///
    /// # Errors
    /// [`CannotWatch`].
    pub async fn add(
        &self,
        name: &str,
        place: (Locale, PagePath),
        since: Option<OffsetDateTime>,
    ) -> Result<(), CannotWatch> {
        let _turn = self.adding.lock().await;
        if self.watched.lock().contains_key(&place) {
            return Ok(());
        }
        if self.len() >= self.watch.pace().most_of_session {
            return Err(CannotWatch::Full);
        }
        let taken = self.watch.take(&self.owner)?;
        self.watch.add(place.clone(), &self.told, since).await?;
        let watched = Watched {
            name: name.into(),
            _taken: taken,
        };
        self.watched.lock().insert(place, watched);
        Ok(())
    }

    /// Stops watching a page, under any name.
    pub fn remove(&self, place: &(Locale, PagePath)) {
        if self.watched.lock().remove(place).is_some() {
            self.watch.remove(place, &self.told);
        }
    }

    /// The number of watched pages.
    pub fn len(&self) -> usize {
        self.watched.lock().len()
    }

    /// True if no page is watched.
    pub fn is_empty(&self) -> bool {
        self.watched.lock().is_empty()
    }

    /// Waits for the next changed page; returns its name.
    pub async fn next(&self) -> Arc<str> {
        loop {
            let place = self.told.next().await;
            if let Some(watched) = self.watched.lock().get(&place) {
                return Arc::clone(&watched.name);
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        for place in self.watched.lock().keys() {
            self.watch.remove(place, &self.told);
        }
    }
}
