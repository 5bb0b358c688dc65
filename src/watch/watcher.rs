//! One who watches pages, under names of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::OffsetDateTime;
use tokio::sync::Notify;

use super::looks::Place;
use super::watched::{Taken, Watch};
use crate::page::{Locale, PagePath};
use crate::wiki::WikiError;

/// Why a page cannot be watched.
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

/// The places of changed pages that their watcher has yet to take. Each is there once, so that a
/// watcher that takes nothing makes nothing grow.
#[derive(Debug, Default)]
pub(super) struct Told {
    changed: Mutex<BTreeSet<Place>>,
    wake: Notify,
}

impl Told {
    pub(super) fn tell(&self, place: &Place) {
        self.changed().insert(place.clone());
        self.wake.notify_one();
    }

    async fn next(&self) -> Place {
        loop {
            if let Some(place) = self.changed().pop_first() {
                return place;
            }
            self.wake.notified().await;
        }
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<Place>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who watches pages; dropped, it watches none any more.
#[derive(Debug)]
pub struct Watcher {
    watch: Arc<Watch>,
    owner: Arc<str>,
    told: Arc<Told>,
    names: Mutex<BTreeMap<Arc<str>, Watched>>,
    /// Held by whoever adds a name.
    adding: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Watched {
    place: Place,
    _taken: Taken,
}

impl Watcher {
    pub(super) fn new(watch: Arc<Watch>, owner: &str) -> Self {
        Self {
            watch,
            owner: owner.into(),
            told: Arc::default(),
            names: Mutex::default(),
            adding: tokio::sync::Mutex::default(),
        }
    }

    /// Watches a page under a name, which may be watched already. With a time, a page that may
    /// have been written since then, or is gone, is told at once.
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
        if self.names().contains_key(name) {
            return Ok(());
        }
        if self.len() >= self.watch.pace().most_of_session {
            return Err(CannotWatch::Full);
        }
        let taken = self.watch.take(&self.owner)?;
        self.watch.add(place.clone(), &self.told, since).await?;
        let watched = Watched {
            place,
            _taken: taken,
        };
        self.names().insert(name.into(), watched);
        Ok(())
    }

    /// Watches the page of this name no more.
    pub fn remove(&self, name: &str) {
        let mut names = self.names();
        let Some(Watched { place, .. }) = names.remove(name) else {
            return;
        };
        if !names.values().any(|other| other.place == place) {
            self.watch.remove(&place, &self.told);
        }
    }

    /// How many names are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names().len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// Waits for the next page that changed: all its names.
    pub async fn next(&self) -> Vec<Arc<str>> {
        loop {
            let place = self.told.next().await;
            let names = self.names();
            let of_place = names.iter().filter(|(_, other)| other.place == place);
            let told: Vec<_> = of_place.map(|(name, _)| Arc::clone(name)).collect();
            if !told.is_empty() {
                return told;
            }
        }
    }

    fn names(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Watched>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        for watched in self.names().values() {
            self.watch.remove(&watched.place, &self.told);
        }
    }
}
