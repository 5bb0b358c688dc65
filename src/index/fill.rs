//! Making the index as the wiki is: one look at the list of pages, then the content of those that
//! changed, side by side and at a pace.

use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};

use super::content_index::ContentIndex;
use super::store::{Known, mark};
use crate::page::PageReading;
use crate::private_files;
use crate::wiki::{ContentLayer, Wiki, WikiError};

/// How often a layer may refuse in a row, before it is asked no more in this pass.
const MOST_REFUSALS: usize = 20;

/// Which layers give this key the content of pages.
#[derive(Debug, Default)]
struct Layers {
    /// The place of the one that worked last.
    last: AtomicUsize,
    /// How often each has refused, without ever answering.
    refusals: [AtomicUsize; ContentLayer::ALL.len()],
}

impl ContentIndex {
    /// One pass: the list, and what changed since the last one.
    ///
    /// # Errors
    /// What the wiki said when it stopped; what came before is kept.
    pub(super) async fn pass(self: &Arc<Self>, wiki: &Wiki) -> Result<(), WikiError> {
        let generation = wiki.generation();
        let mut pages = wiki.all_pages().await?;
        let all = pages.len();
        pages.truncate(self.settings.most);
        let there: HashSet<i64> = pages.iter().filter_map(|page| page.id).collect();
        let lock = self.filling_lock(wiki);
        let looked = self.with_store(generation, move |store| {
            store.look(&there)?;
            Ok((store.known()?, store.count()?))
        });
        let Some((known, count)) = looked.await else {
            return Ok(());
        };
        self.counted(count);
        self.looked(all);
        if self.is_on_disk() && lock.is_none() {
            // Another server of this wiki and key fills it.
            return Ok(());
        }
        let is_first = self.is_first_pass();
        let is_changed = |page: &PageReading| {
            page.id.is_some_and(|id| match known.get(&id) {
                Some(Known {
                    mark: old,
                    has_content,
                }) => *old != mark(page) || (is_first && !has_content),
                None => true,
            })
        };
        pages.retain(is_changed);
        let layers = Layers::default();
        let read = |page: PageReading| self.read(wiki, &layers, page);
        let mut read = stream::iter(pages)
            .map(read)
            .buffer_unordered(self.settings.pace.at_once);
        while let Some(page) = read.next().await {
            let Some(page) = page? else { continue };
            let put = self.with_store(generation, move |store| {
                store.put(&page)?;
                store.count()
            });
            let Some(count) = put.await else {
                // The index was dropped meanwhile, or cannot be written.
                break;
            };
            self.counted(count);
            if self.is_outdated() {
                break;
            }
        }
        drop(lock);
        Ok(())
    }

    /// A page of the list with its content, if the key may read that; nothing if it is gone.
    async fn read(
        &self,
        wiki: &Wiki,
        layers: &Layers,
        page: PageReading,
    ) -> Result<Option<PageReading>, WikiError> {
        let first = layers.last.load(Ordering::Relaxed);
        let order =
            (0..ContentLayer::ALL.len()).map(|next| (first + next) % ContentLayer::ALL.len());
        for at in order {
            let (Some(layer), Some(refusals)) =
                (ContentLayer::ALL.get(at), layers.refusals.get(at))
            else {
                continue;
            };
            if refusals.load(Ordering::Relaxed) >= MOST_REFUSALS {
                continue;
            }
            self.turns.wait().await;
            match wiki.content(*layer, &page).await {
                Ok(Some(page)) => {
                    layers.last.store(at, Ordering::Relaxed);
                    refusals.store(0, Ordering::Relaxed);
                    return Ok(Some(page));
                }
                Err(WikiError::NotFound) => return Ok(None),
                Err(error) if error.ends_a_pass() => return Err(error),
                // This page is read without its content; the others may do better.
                Ok(None) | Err(_) => {
                    refusals.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Ok(Some(page))
    }

    /// Of several servers with one index on the disk, one fills it.
    fn filling_lock(&self, wiki: &Wiki) -> Option<File> {
        let mut name = self.file(wiki)?.into_os_string();
        name.push(".lock");
        let file = private_files::open(&PathBuf::from(name)).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }
}
