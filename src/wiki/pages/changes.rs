//! The writes to several pages since a time, by their histories.
//!
//! A version is the state that a write produced (W10): it has the date and the author of that
//! state, and ends with the next write. So the page at a time is the first version that ended after
//! it, and no version names the author of the current state. Measured on 2.5.314: an entry of the
//! history names the author of its state, too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use time::OffsetDateTime;

use super::super::operations::generated::{PageHistory, PageVersion, page_history, page_version};
use super::super::{ListQuery, Wiki, WikiError, WikiResult};
use super::history::{HistoryEntry, part_of};
use super::version::{Version, one};
use crate::page::{Date, PageReading};

/// Number of a page's newest versions that are considered.
const LOOK_BACK: usize = 50;
/// Number of versions in one request: their texts are large.
const AT_ONCE: usize = 10;
/// Number of requests under way at once.
const REQUESTS: usize = 4;
/// After this many refusals in a row a layer is not asked again.
const MOST_REFUSALS: usize = 3;
/// Rows of the limited lists that are requested before the whole list: a page takes one for each
/// tag.
const ROWS: [usize; 2] = [300, 1_500];

/// A page that was changed since a time, as far as the key may know of it.
#[derive(Debug, Clone)]
pub struct ChangedPage {
    /// The current page, with its text if the key may read it.
    pub page: PageReading,
    /// Its writes; `None` if no history could be read.
    pub past: Option<PageWrites>,
}

/// The writes to a page since a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWrites {
    /// The page before these writes.
    pub before: Before,
    /// Number of writes since; a lower bound if the time is too far back.
    pub writes: usize,
    /// Its authors since then except the last, newest first, each once.
    pub authors: Vec<String>,
}

/// The state of a page at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// It did not exist. The version of its first state, if a later write left one.
    Absent(Option<i64>),
    /// Like this version.
    Version(Box<Version>),
    /// As it is now: its date moved without a write, as happens when a linked page is created or
    /// deleted.
    Same,
    /// The time is too far back, or the history could not be read.
    Unknown,
}

impl Wiki {
    /// The pages dated at a time or later, by the list, the last first. The date may have moved
    /// without a write. Sends one to three requests.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn dated_since(&self, since: OffsetDateTime) -> WikiResult<Vec<PageReading>> {
        let query = ListQuery::newest_first();
        let is_new = |page: &PageReading| {
            let written = page.updated_at.as_ref().and_then(Date::instant);
            written.is_some_and(|written| written >= since)
        };
        for rows in ROWS {
            let mut pages = self.rows(&query, Some(rows)).await?;
            if pages.last().is_some_and(|last| !is_new(last)) {
                pages.retain(is_new);
                return Ok(self.bounds_by_tags().readable(pages));
            }
        }
        let whole = self.whole(&query).await?;
        let new = whole.pages.iter().filter(|page| is_new(page));
        Ok(self.bounds_by_tags().readable(new.cloned().collect()))
    }

    /// The writes to these pages of the list since a time. Sends a few requests for all histories
    /// and versions, and one or two for each page.
    ///
    /// # Errors
    /// An error that would affect every request; whatever the key may not read is left out.
    pub async fn changes(
        &self,
        listed: Vec<PageReading>,
        since: OffsetDateTime,
    ) -> WikiResult<Vec<ChangedPage>> {
        let pasts = self.pasts(&listed, since);
        let layers = LayerRefusals::default();
        let pages = listed.iter().cloned();
        let reads: Vec<_> = pages.map(|page| self.as_it_is(page, &layers)).collect();
        let now = stream::iter(reads).buffered(REQUESTS).collect::<Vec<_>>();
        let (pasts, now) = tokio::join!(pasts, now);
        pasts?
            .into_iter()
            .zip(now)
            .map(|(past, page)| Ok(ChangedPage { page: page?, past }))
            // The page may have been moved or tagged meanwhile.
            .filter(|changed: &WikiResult<ChangedPage>| {
                let is_hidden = |changed: &ChangedPage| !self.scope().admits(&changed.page);
                !changed.as_ref().is_ok_and(is_hidden)
            })
            .collect()
    }

    async fn pasts(
        &self,
        listed: &[PageReading],
        since: OffsetDateTime,
    ) -> WikiResult<Vec<Option<PageWrites>>> {
        let variables = listed.iter().map(|page| page_history::Variables {
            id: page.id.unwrap_or_default(),
            offset_page: Some(0),
            offset_size: i64::try_from(LOOK_BACK).ok(),
        });
        let histories = self.batch::<PageHistory>(variables.collect()).await?;
        let mut slices = Vec::with_capacity(listed.len());
        for (page, history) in listed.iter().zip(histories) {
            slices.push(match history {
                Ok(history) => part_of(history)
                    .map(|(entries, total)| HistorySlice::new(page, since, entries, total)),
                // The page is gone, or the key may not read its history.
                Err(error) if !error.ends_a_pass() => None,
                Err(error) => return Err(error),
            });
        }
        let candidates = listed.iter().zip(&slices).flat_map(|(page, slice)| {
            let candidates = slice.iter().flat_map(HistorySlice::candidates);
            candidates.map(|(_, entry)| page_version::Variables {
                page_id: page.id.unwrap_or_default(),
                version_id: entry.version_id,
            })
        });
        let candidates: Vec<_> = candidates.collect();
        let chunks = candidates.chunks(AT_ONCE);
        let reads: Vec<_> = chunks.map(|some| self.readable_versions(some)).collect();
        let read: Vec<_> = stream::iter(reads).buffered(REQUESTS).collect().await;
        let read = read.into_iter().flatten();
        let mut known: HashMap<i64, Version> = read.map(|version| (version.id, version)).collect();
        let past = |slice: &Option<HistorySlice>| Some(slice.as_ref()?.past(since, &mut known));
        Ok(slices.iter().map(past).collect())
    }

    /// These versions, as far as they can be read.
    async fn readable_versions(&self, asked: &[page_version::Variables]) -> Vec<Version> {
        let answers = self.batch::<PageVersion>(asked.to_vec()).await;
        let answers = answers.inspect_err(|error| {
            tracing::warn!(%error, "versions of changed pages could not be read");
        });
        let answers = answers.into_iter().flatten();
        let versions = answers.filter_map(|answer| one(answer.ok()?));
        versions
            .filter(|version| self.admits_version(version))
            .collect()
    }

    /// The current state of a listed page, by the first layer that gives its text to this key.
    async fn as_it_is(
        &self,
        listed: PageReading,
        layers: &LayerRefusals,
    ) -> WikiResult<PageReading> {
        let id = listed.id.unwrap_or_default();
        for (layer, refusals) in layers.0.iter().enumerate() {
            if refusals.load(Ordering::Relaxed) >= MOST_REFUSALS {
                continue;
            }
            let read = match layer {
                0 => self.single(id).await,
                _ => self.conflict_latest(id).await,
            };
            match read {
                Ok(page) => {
                    refusals.store(0, Ordering::Relaxed);
                    return Ok(page);
                }
                Err(error) if error.is_forbidden() => {
                    refusals.fetch_add(1, Ordering::Relaxed);
                }
                // The page was deleted meanwhile.
                Err(WikiError::NotFound) => return Ok(listed),
                Err(error) => return Err(error),
            }
        }
        self.with_source(listed).await
    }
}

/// Number of refusals in a row by `single` and `conflictLatest`: the wiki's rules may allow a key
/// only some pages.
#[derive(Debug, Default)]
struct LayerRefusals([AtomicUsize; 2]);

/// The part of a page's history since a time.
#[derive(Debug)]
struct HistorySlice {
    /// The page was made since.
    was_absent: bool,
    /// The newest states in the history, newest first.
    entries: Vec<HistoryEntry>,
    /// Number of them that were written since.
    later: usize,
    /// The history goes back further than was read, and so may what was written since.
    is_cut: bool,
}

impl HistorySlice {
    fn new(
        page: &PageReading,
        since: OffsetDateTime,
        entries: Vec<HistoryEntry>,
        total: usize,
    ) -> Self {
        let is_since = |date: &Date| date.instant().is_some_and(|date| date >= since);
        let later = { entries.iter() }
            .take_while(|entry| is_since(&entry.version_date))
            .count();
        Self {
            was_absent: page.created_at.as_ref().is_some_and(is_since),
            is_cut: total > entries.len() && later == entries.len(),
            entries,
            later,
        }
    }

    /// Versions that may be the page at that time, the likeliest first, each with the number of newer
    /// ones: that which was written before that time and ended after it; or, if the page's date moved
    /// without a write, the first one after it.
    fn candidates(&self) -> impl Iterator<Item = (usize, &HistoryEntry)> + Clone {
        let places = [Some(self.later), self.later.checked_sub(1)].into_iter();
        let places = places.flatten().filter(move |_| !self.was_absent);
        places.filter_map(move |place| Some((place, self.entries.get(place)?)))
    }

    /// The writes since, by the versions that could be read; takes the one that it tells out of them.
    fn past(&self, since: OffsetDateTime, known: &mut HashMap<i64, Version>) -> PageWrites {
        let is_since = |date: &Date| date.instant().is_some_and(|date| date >= since);
        let candidates = self.candidates();
        let read = |(later, entry): (usize, &HistoryEntry)| {
            let version = known.get(&entry.version_id)?;
            let is_it = is_since(&entry.version_date) || is_since(&version.ended);
            Some((later, is_it.then_some(version.id)))
        };
        let are_all_there = candidates.clone().all(|one| read(one).is_some());
        let mut read = candidates.filter_map(read);
        let found = read.find_map(|(later, version)| Some((later, version?)));
        let found = found.and_then(|(later, version)| Some((later, known.remove(&version)?)));
        let all = self.entries.len();
        let (before, later) = match found {
            _ if self.was_absent => {
                let oldest = self.entries.last().filter(|_| !self.is_cut);
                let first = oldest.map(|entry| entry.version_id);
                (Before::Absent(first), all)
            }
            _ if self.is_cut => (Before::Unknown, all),
            Some((later, version)) => (Before::Version(Box::new(version)), later),
            None if !are_all_there => (Before::Unknown, 0),
            None => (Before::Same, 0),
        };
        let mut authors: Vec<String> = Vec::new();
        for entry in self.entries.iter().take(later) {
            if !authors.contains(&entry.author_name) {
                authors.push(entry.author_name.clone());
            }
        }
        let writes = match before {
            Before::Same => 0,
            _ => later.saturating_add(1),
        };
        PageWrites {
            before,
            writes,
            authors,
        }
    }
}
