//! Begins and ends passes, and reports their progress.

use std::sync::Arc;
use std::time::Instant;

use super::content_index::{ContentIndex, KeyedStore};
use super::fill::FillError;
use super::store::{IndexCounts, IndexError, IndexResult, ListSync, Store};
use crate::wiki::{Wiki, WikiError};

impl ContentIndex {
    /// Runs passes until one ends without a new request for another.
    pub(super) async fn pass_until_done(self: Arc<Self>) {
        loop {
            let (this, wiki) = (Arc::clone(&self), Arc::new(self.wiki.pinned()));
            let generation = wiki.generation();
            // In a task of its own, so that even after a panic another pass may begin.
            let pass = tokio::spawn(async move { this.open_and_pass(&wiki).await }).await;
            if !self.ended(generation, pass.unwrap_or(Err(None))).await {
                // Searches find by words meanwhile; why sections lack vectors is in the log.
                let _ = self.embed_missing().await;
                return;
            }
        }
    }

    async fn open_and_pass(self: &Arc<Self>, wiki: &Wiki) -> Result<(), FillError> {
        let (this, pinned, generation) = (Arc::clone(self), wiki.pinned(), wiki.generation());
        let opened = tokio::task::spawn_blocking(move || {
            this.open(&pinned, |store| Ok((store.count()?, store.bytes()?)))
        });
        let (count, bytes) = opened.await.ok().and_then(Result::ok).ok_or(None)?;
        self.counted(count, bytes);
        let end = self.pass(wiki).await;
        if end.is_err() {
            // Changed pages may not have been read: the next look compares all pages.
            let forget = self.with_store(generation, |store| {
                store.seen = ListSync::default();
                Ok(())
            });
            forget.await;
        }
        end
    }

    /// Opens the store of a key, if it is not open, and asks it something.
    pub(super) fn open<T>(
        &self,
        wiki: &Wiki,
        question: impl FnOnce(&Store) -> IndexResult<T>,
    ) -> IndexResult<T> {
        let generation = wiki.generation();
        let mut held = self.store();
        if generation != self.wiki.generation() {
            return Err(IndexError);
        }
        let held = match &mut *held {
            Some(held) if held.generation == generation => held,
            held => held.insert(KeyedStore {
                generation,
                store: Store::open(&self.home(wiki))?,
            }),
        };
        question(&held.store)
    }

    /// Ends a pass; returns whether another one must follow.
    async fn ended(self: &Arc<Self>, generation: u64, end: Result<(), FillError>) -> bool {
        let is_of_old_key = generation != self.wiki.generation();
        let end = if is_of_old_key { Ok(()) } else { end };
        if let Err(Some(error)) = &end {
            tracing::warn!(%error, "the content index could not be filled");
            if matches!(
                error,
                WikiError::KeyRevoked | WikiError::Unauthorized | WikiError::KeyExpired { .. }
            ) {
                self.forget().await;
            }
        }
        let mut goes_on = false;
        self.progress
            .send_modify(|progress| goes_on = progress.ended(end, is_of_old_key));
        goes_on
    }

    /// The time as of which searches want a look at the list, if the last look is older.
    pub(super) fn wanted_look(&self, looked: Option<Instant>) -> Option<Instant> {
        self.progress.borrow().wanted_look(looked)
    }

    /// Notes how many pages are indexed now, and their bytes.
    pub(super) fn counted(&self, count: IndexCounts, bytes: u64) {
        let has_room = self.tenant.is_none_or(|name| self.room.grow(name, bytes));
        self.progress.send_modify(|progress| {
            progress.count = count;
            progress.is_full = !has_room;
        });
    }

    /// Notes that pages are being read from now on.
    pub(super) fn began_filling(&self) {
        self.progress.send_modify(|progress| {
            let pages = progress.count.pages;
            progress
                .filling
                .get_or_insert_with(|| (Instant::now(), pages));
        });
    }
}
