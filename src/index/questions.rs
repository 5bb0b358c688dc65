//! More queries of the index: links, properties, exact texts, and pages that it had.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::exact::{self, Pattern, PatternHits};
use super::store::{IndexError, IndexResult, Store};
use super::{ContentIndex, IndexedLink, past};
use crate::page::{Locale, PagePath};
use crate::wiki::SeenPage;

/// The longest time of a search for one pattern.
const PATIENCE: Duration = Duration::from_secs(1);
/// The number of pages searched before other queries get a turn.
const AT_ONCE: usize = 100;

impl ContentIndex {
    /// The links in the sources of all indexed pages, and the number of pages whose source the key
    /// cannot read.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn links(self: &Arc<Self>) -> IndexResult<(Vec<IndexedLink>, usize)> {
        self.asked(|store| Ok((store.links()?, store.without_source()?)))
            .await
    }

    /// The links in the sources of all indexed pages to places on themselves, and the files that
    /// they show.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn within_pages(
        self: &Arc<Self>,
    ) -> IndexResult<(Vec<IndexedLink>, Vec<IndexedLink>)> {
        self.asked(|store| store.within_pages()).await
    }

    /// For each of some pages, true if all of its anchors are known and none of these forms of one
    /// is among them.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn lack_anchors(
        self: &Arc<Self>,
        asked: Vec<(i64, Vec<String>)>,
    ) -> IndexResult<Vec<bool>> {
        self.asked(move |store| store.lack_anchors(&asked)).await
    }

    /// The pages that have a property, with the given value if there is one, and the number of
    /// pages whose source the key cannot read.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn with_property(
        self: &Arc<Self>,
        name: String,
        value: Option<String>,
    ) -> IndexResult<(HashSet<i64>, usize)> {
        self.asked(move |store| {
            let pages = store.with_property(&name, value.as_deref())?;
            Ok((pages, store.without_source()?))
        })
        .await
    }

    /// The pages whose content has a pattern, within one second: at most this many pages and lines
    /// of each.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn matching(
        self: &Arc<Self>,
        pattern: Pattern,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool + Send + 'static,
        most: (usize, usize),
    ) -> IndexResult<PatternHits> {
        let deadline = Instant::now() + PATIENCE;
        let (pages, without_source) = self
            .asked(move |store| Ok((exact::wanted(store, &is_wanted)?, store.without_source()?)))
            .await?;
        let mut found = PatternHits {
            of: pages.len(),
            without_source,
            ..PatternHits::default()
        };
        for pages in pages.chunks(AT_ONCE) {
            let (pages, pattern, mut so_far) = (pages.to_vec(), pattern.clone(), found);
            found = self
                .asked(move |store| {
                    let state = (&mut so_far, deadline);
                    exact::look(store, &pages, &pattern, most, state)?;
                    Ok(so_far)
                })
                .await?;
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(found)
    }

    /// The ids of the pages that the index has or had; an index on the disk is opened for that.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn ids_known(self: &Arc<Self>) -> IndexResult<HashSet<i64>> {
        let this = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || {
            let wiki = this.wiki.pinned();
            match this.file(&wiki) {
                Some(file) if file.exists() => this.open(&wiki, |_| Ok(())),
                _ => Ok(()),
            }
        });
        opened.await.map_err(|_| IndexError)??;
        self.of_store(|store| Ok(past::ids(&store.db)?)).await
    }

    /// Those of these pages that the index has or had, with the time when each was seen last.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn pages_known(self: &Arc<Self>, ids: HashSet<i64>) -> IndexResult<Vec<SeenPage>> {
        self.of_store(move |store| Ok(past::pages(&store.db, &ids)?))
            .await
    }

    /// An answer of the store as it is; nothing where there is none.
    async fn of_store<T: Default + Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Store) -> IndexResult<T> + Send + 'static,
    ) -> IndexResult<T> {
        // A question that fails is no store without an answer.
        let answer = self.with_store(self.wiki.generation(), move |store| Ok(question(store)));
        answer.await.unwrap_or_else(|| Ok(T::default()))
    }
}
