//! Reads the content of pages, by the layers that give it to the key.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::content_index::ContentIndex;
use super::fill::FillError;
use super::layers::LayerSelector;
use crate::page::{Date, PageReading};
use crate::wiki::{ContentLayer, Contents, Wiki, WikiError, WikiResult};

/// A turn that reads pages one by one ends after this time, so that other indexes of this wiki get
/// their turn.
const LONG_TURN: Duration = Duration::from_millis(250);
/// Number of pages that are read whole in one turn: one request, for a key that may manage them (W26).
pub const WHOLE_AT_ONCE: usize = 40;
/// Bytes of texts beyond which fewer pages are read in the next turn.
const LARGE_ANSWER: usize = 8 * 1024 * 1024;

/// The answer of a layer for some pages.
#[derive(Debug, Default)]
struct LayerResult {
    read: Vec<PageReading>,
    refused: Vec<PageReading>,
    has_gone: bool,
}

impl LayerResult {
    /// Takes the answer for one page; returns an error that would hit the other pages as well.
    fn take(
        &mut self,
        page: PageReading,
        answer: WikiResult<Option<PageReading>>,
    ) -> WikiResult<()> {
        match answer {
            Ok(Some(read)) => self.read.push(read),
            Err(WikiError::NotFound) => self.has_gone = true,
            Err(error) if error.ends_a_pass() => return Err(error),
            // Another layer is tried for this page, or its content stays empty.
            Ok(None) | Err(_) => self.refused.push(page),
        }
        Ok(())
    }
}

impl ContentIndex {
    /// The next pages of some of the list, with all that the key can read of them, without deleted ones: as
    /// many as one answer of the wiki has, in turn with the index's own reading. They go into the index as
    /// well, which then need not read them again. `at_once` follows how large the answers are.
    ///
    /// # Errors
    /// What keeps the wiki from being asked at all; a page that fails by itself is left out.
    pub async fn read_whole(
        self: &Arc<Self>,
        wiki: &Wiki,
        left: &mut &[Arc<PageReading>],
        at_once: &mut usize,
    ) -> WikiResult<Vec<PageReading>> {
        loop {
            let all = *left;
            let (listed, others) = all.split_at(all.len().min(*at_once));
            let ids: Vec<i64> = listed.iter().filter_map(|page| page.id).collect();
            let turn = self.turns.take().await;
            let answer = wiki.some_whole(&ids).await;
            drop(turn);
            let pages = match answer {
                Err(error) if error.ends_a_pass() => return Err(error),
                Err(_) if ids.len() > 1 => {
                    *at_once = ids.len() / 2;
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, ?ids, "a page could not be read");
                    Vec::new()
                }
                Ok(pages) => pages,
            };
            *left = others;
            let bytes: usize = { pages.iter() }
                .filter_map(|page| Some(page.content.as_ref()?.len()))
                .sum();
            *at_once = if bytes > LARGE_ANSWER {
                (*at_once / 2).max(1)
            } else {
                WHOLE_AT_ONCE.min(*at_once * 2)
            };
            // The wiki says of what form a text is in its list alone.
            let listed = |page: &PageReading| listed.iter().find(|listed| listed.id == page.id);
            let whole = pages.into_iter().map(|page| match listed(&page) {
                Some(listed) => page.or(PageReading::clone(listed)),
                None => page,
            });
            let whole: Vec<PageReading> = whole.collect();
            self.feed(wiki, &whole).await;
            return Ok(whole);
        }
    }

    /// The versions that a page had after a time and that later writes replaced, the oldest first, of so
    /// many the newest; asked for in turn with the index's own reading.
    ///
    /// # Errors
    /// What the wiki says.
    pub(crate) async fn versions_since(
        &self,
        wiki: &Wiki,
        (id, since): (i64, &Date),
        most: usize,
    ) -> WikiResult<Vec<PageReading>> {
        let _turn = self.turns.take().await;
        let history = wiki.history(id, 0, most).await?;
        let later = { history.entries.iter() }
            .take_while(|entry| entry.version_date.instant() > since.instant());
        let ids: Vec<i64> = later.map(|entry| entry.version_id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let versions = wiki.versions(id, &ids).await?;
        let newest_last = versions.into_iter().rev().flatten();
        Ok(newest_last.map(|version| version.page).collect())
    }

    /// Pages of the list with their content, as far as the key may read it, without deleted pages.
    pub(super) async fn read(
        &self,
        wiki: &Wiki,
        layers: &mut LayerSelector,
        mut pages: Vec<PageReading>,
    ) -> Result<Vec<PageReading>, FillError> {
        let mut read = Vec::new();
        for layer in layers.worth_asking() {
            if pages.is_empty() {
                break;
            }
            let given = if layer.most_at_once() == 1 {
                self.one_by_one(wiki, layer, pages).await?
            } else {
                self.in_batches(wiki, layer, pages).await?
            };
            if given.has_gone {
                // The list is older than the deletion.
                wiki.forget_pages().await;
            }
            layers.learn(layer, given.read.len(), given.refused.len());
            read.extend(given.read);
            pages = given.refused;
        }
        read.extend(pages);
        Ok(read)
    }

    /// Reads in batches as large as the wiki answers well. A failed batch is split until the page
    /// at fault is alone.
    async fn in_batches(
        &self,
        wiki: &Wiki,
        layer: ContentLayer,
        pages: Vec<PageReading>,
    ) -> WikiResult<LayerResult> {
        let mut given = LayerResult::default();
        let mut left = vec![pages];
        while let Some(mut batch) = left.pop() {
            let most = self.batches.most(layer);
            if batch.len() > most {
                left.push(batch.split_off(most));
            }
            let turn = self.turns.take().await;
            let answer = wiki.contents(layer, &batch).await;
            let took = turn.took();
            drop(turn);
            match answer {
                Ok(Contents { each, bytes }) => {
                    self.batches.answered(batch.len(), took, bytes);
                    for (page, answer) in batch.into_iter().zip(each) {
                        given.take(page, answer)?;
                    }
                }
                Err(error) if batch.len() == 1 => {
                    for page in batch {
                        given.take(page, Err(error.clone()))?;
                    }
                }
                Err(error) => {
                    let is_of_one = matches!(
                        error,
                        WikiError::NotFound
                            | WikiError::Forbidden { .. }
                            | WikiError::Internal { .. }
                    );
                    if !is_of_one {
                        self.batches.too_much(batch.len());
                    }
                    if error.ends_a_pass() {
                        return Err(error);
                    }
                    left.push(batch.split_off(batch.len() / 2));
                    left.push(batch);
                }
            }
        }
        Ok(given)
    }

    /// Reads one page a request: several requests at once, but only one while a call waits for the
    /// wiki.
    async fn one_by_one(
        &self,
        wiki: &Wiki,
        layer: ContentLayer,
        pages: Vec<PageReading>,
    ) -> WikiResult<LayerResult> {
        let mut given = LayerResult::default();
        let mut pages = pages.into_iter().peekable();
        while pages.peek().is_some() {
            let turn = self.turns.take().await;
            while pages.peek().is_some() && turn.took() < LONG_TURN {
                let at_once = if wiki.traffic().has_callers() {
                    1
                } else {
                    self.settings.pace.at_once.max(1)
                };
                let some: Vec<PageReading> = pages.by_ref().take(at_once).collect();
                let answers = some
                    .iter()
                    .map(|page| wiki.contents(layer, std::slice::from_ref(page)));
                for (page, answer) in some.iter().zip(join_all(answers).await) {
                    let answer = answer
                        .and_then(|contents| contents.each.into_iter().next().unwrap_or(Ok(None)));
                    given.take(page.clone(), answer)?;
                }
            }
        }
        Ok(given)
    }
}
