//! More queries of the index: links, properties and exact texts.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::content_index::ContentIndex;
use super::exact::{self, Pattern, PatternHits};
use super::facts::IndexedLink;
use super::store::IndexError;
use crate::page::{Locale, PagePath};

/// How long one pattern is searched for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many pages are searched before other queries get a turn.
const AT_ONCE: usize = 100;

impl ContentIndex {
    /// The links in the sources of all indexed pages, and the number of pages whose source the key
    /// cannot read.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn links(self: &Arc<Self>) -> Result<(Vec<IndexedLink>, usize), IndexError> {
        self.asked(|store| Ok((store.links()?, store.without_source()?)))
            .await
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
    ) -> Result<(HashSet<i64>, usize), IndexError> {
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
    ) -> Result<PatternHits, IndexError> {
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
}
