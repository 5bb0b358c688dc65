//! How a pass begins and ends, and what it says of itself meanwhile.

use std::sync::Arc;
use std::time::Instant;

use super::content_index::{ContentIndex, Held};
use super::fill::Broken;
use super::progress::Progress;
use super::store::{Count, IndexError, Seen, Store};
use crate::wiki::{Wiki, WikiError};

impl ContentIndex {
    /// Passes, until one ends that nothing came between.
    pub(super) async fn pass_until_done(self: Arc<Self>) {
        loop {
            let (this, wiki) = (Arc::clone(&self), Arc::new(self.wiki.pinned()));
            let generation = wiki.generation();
            // In a task of its own: whatever becomes of it, another one may begin.
            let pass = tokio::spawn(async move { this.open_and_pass(&wiki).await }).await;
            if !self.ended(generation, pass.unwrap_or(Err(None))).await {
                return;
            }
        }
    }

    async fn open_and_pass(self: &Arc<Self>, wiki: &Wiki) -> Result<(), Broken> {
        let (this, home, generation) = (Arc::clone(self), self.home(wiki), wiki.generation());
        let opened = tokio::task::spawn_blocking(move || {
            let mut held = this.store();
            if generation != this.wiki.generation() {
                return Err(IndexError);
            }
            let held = match &mut *held {
                Some(held) if held.generation == generation => held,
                held => held.insert(Held {
                    generation,
                    store: Store::open(&home)?,
                }),
            };
            Ok((held.store.count()?, held.store.bytes()?))
        });
        let (count, bytes) = opened.await.ok().and_then(Result::ok).ok_or(None)?;
        self.counted(count, bytes);
        let end = self.pass(wiki).await;
        if end.is_err() {
            // What a look found may not have been read: the next one looks at all pages.
            let forget = self.with_store(generation, |store| {
                store.seen = Seen::default();
                Ok(())
            });
            forget.await;
        }
        end
    }

    /// A pass has ended; gives whether another one has to follow.
    async fn ended(self: &Arc<Self>, generation: u64, end: Result<(), Broken>) -> bool {
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

    /// When the wiki has to be looked at again, by what searches want and when it last was.
    pub(super) fn wanted_look(&self, looked: Option<Instant>) -> Option<Instant> {
        self.progress.borrow().wanted_look(looked)
    }

    /// The list was looked at: it has so many pages, and so many of them are indexed.
    pub(super) fn looked(&self, of: usize, count: Count) {
        self.progress.send_modify(|progress| {
            progress.of = of;
            progress.count = count;
        });
    }

    /// So many pages are indexed now, and take so many bytes.
    pub(super) fn counted(&self, count: Count, bytes: u64) {
        let has_room = self.tenant.is_none_or(|name| self.room.grow(name, bytes));
        self.progress.send_modify(|progress| {
            progress.count = count;
            progress.is_full = !has_room;
        });
    }

    /// All is indexed that stood in the wiki at this time, but for what a first pass has yet to read.
    pub(super) fn catch_up(&self, time: Instant) {
        self.progress
            .send_modify(|progress| progress.catch_up(time));
    }

    /// Pages are being read from now on, if they were not already.
    pub(super) fn began_filling(&self) {
        self.progress.send_modify(|progress| {
            let pages = progress.count.pages;
            progress
                .filling
                .get_or_insert_with(|| (Instant::now(), pages));
        });
    }

    /// Nothing is left to be read.
    pub(super) fn complete(&self) {
        self.progress.send_modify(Progress::complete);
    }

    pub(super) fn was_complete(&self) -> bool {
        self.progress.borrow().was_complete()
    }

    pub(super) fn is_full(&self) -> bool {
        self.progress.borrow().is_full
    }

    pub(super) fn is_first_pass(&self) -> bool {
        self.progress.borrow().passes == 0
    }
}
