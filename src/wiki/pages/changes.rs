//! The writes to several pages since a time, by their histories.
//!
//! A version is the state that a write produced (W10): it has the date and the author of that
//! state, and ends with the next write. So the page at a time is the first version that ended after
//! it, and no version names the author of the current state. Measured on 2.5.314: an entry of the
//! history names the author of its state, too.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use time::OffsetDateTime;

use super::super::client::Wiki;
use super::super::error::WikiError;
use super::super::operations::generated::{PageHistory, PageVersion, page_history, page_version};
use super::history::{HistoryEntry, part_of};
use super::list::ListQuery;
use super::version::{Version, one};
use crate::page::{Date, PageReading};

/// Number of a page's newest versions that are considered.
const LOOK_BACK: usize = 50;
/// Number of pages' versions in one request: their texts are large.
const AT_ONCE: usize = 5;
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
    pub async fn dated_since(&self, since: OffsetDateTime) -> Result<Vec<PageReading>, WikiError> {
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
    ) -> Result<Vec<ChangedPage>, WikiError> {
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
            .filter(|changed: &Result<ChangedPage, WikiError>| {
                let is_hidden = |changed: &ChangedPage| !self.scope().admits(&changed.page);
                !changed.as_ref().is_ok_and(is_hidden)
            })
            .collect()
    }

    async fn pasts(
        &self,
        listed: &[PageReading],
        since: OffsetDateTime,
    ) -> Result<Vec<Option<PageWrites>>, WikiError> {
        let variables = listed.iter().map(|page| page_history::Variables {
            id: page.id.unwrap_or_default(),
            offset_page: Some(0),
            offset_size: i64::try_from(LOOK_BACK).ok(),
        });
        let histories = self.batch::<PageHistory>(variables.collect()).await?;
        let mut trails = Vec::with_capacity(listed.len());
        for (page, history) in listed.iter().zip(histories) {
            let trail = match history {
                Ok(history) => part_of(history)
                    .map(|(entries, total)| HistorySlice::new(page, since, entries, total)),
                // The page is gone, or the key may not read its history.
                Err(error) if !error.ends_a_pass() => None,
                Err(error) => return Err(error),
            };
            trails.push((trail, page));
        }
        let chunks = trails.chunks(AT_ONCE);
        let reads: Vec<_> = chunks.map(|trails| self.versions_of(trails)).collect();
        let read: Vec<_> = stream::iter(reads).buffered(REQUESTS).collect().await;
        let versions = read.into_iter().flatten();
        Ok(trails
            .iter()
            .zip(versions)
            .map(|((trail, _), versions)| trail.as_ref().map(|trail| trail.past(since, versions)))
            .collect())
    }

    /// The candidates of these trails, as far as they could be read.
    async fn versions_of(
        &self,
        trails: &[(Option<HistorySlice>, &PageReading)],
    ) -> Vec<Vec<Option<Version>>> {
        let variables = trails.iter().flat_map(|(trail, page)| {
            let candidates = trail.iter().flat_map(|trail| &trail.candidates);
            candidates.map(|version| page_version::Variables {
                page_id: page.id.unwrap_or_default(),
                version_id: version.entry.version_id,
            })
        });
        let answers = self.batch::<PageVersion>(variables.collect()).await;
        let answers = answers.inspect_err(|error| {
            tracing::warn!(%error, "versions of changed pages could not be read");
        });
        let mut answers = answers.into_iter().flatten();
        let mut next = |_: &VersionCandidate| {
            let version = answers.next().and_then(Result::ok).and_then(one);
            version.filter(|version| self.admits_version(version))
        };
        trails
            .iter()
            .map(|(trail, _)| {
                let candidates = trail.iter().flat_map(|trail| &trail.candidates);
                candidates.map(&mut next).collect()
            })
            .collect()
    }

    /// The current state of a listed page, by the first layer that gives its text to this key.
    async fn as_it_is(
        &self,
        listed: PageReading,
        layers: &LayerRefusals,
    ) -> Result<PageReading, WikiError> {
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
    was_absent: bool,
    /// Versions that may be the page at that time, the likeliest first.
    candidates: Vec<VersionCandidate>,
    /// The authors of the states in the history, newest first.
    authors: Vec<String>,
    /// The oldest version that was read.
    oldest: Option<i64>,
    /// The history goes back further than was read.
    is_cut: bool,
}

#[derive(Debug)]
struct VersionCandidate {
    entry: HistoryEntry,
    /// Number of newer states before it.
    later: usize,
}

impl HistorySlice {
    fn new(
        page: &PageReading,
        since: OffsetDateTime,
        entries: Vec<HistoryEntry>,
        total: usize,
    ) -> Self {
        let is_since = |date: &Date| date.instant().is_some_and(|date| date >= since);
        let was_absent = page.created_at.as_ref().is_some_and(is_since);
        let later = entries
            .iter()
            .take_while(|entry| is_since(&entry.version_date))
            .count();
        // The version that was written before that time and ended after it; or, if the page's date
        // moved without a write, the first one after it.
        let places = if was_absent {
            vec![]
        } else {
            vec![Some(later), later.checked_sub(1)]
        };
        let candidate = |place: usize| {
            let entry = entries.get(place)?.clone();
            Some(VersionCandidate {
                entry,
                later: place,
            })
        };
        Self {
            was_absent,
            candidates: places.into_iter().flatten().filter_map(candidate).collect(),
            oldest: entries.last().map(|entry| entry.version_id),
            is_cut: total > entries.len() && later == entries.len(),
            authors: entries.into_iter().map(|entry| entry.author_name).collect(),
        }
    }

    fn past(&self, since: OffsetDateTime, versions: Vec<Option<Version>>) -> PageWrites {
        let are_all_there = versions.iter().all(Option::is_some);
        let is_it = |(candidate, version): &(&VersionCandidate, Version)| {
            let date = candidate.entry.version_date.instant();
            date.is_some_and(|date| date >= since)
                || version.ended.instant().is_some_and(|ended| ended >= since)
        };
        let candidates = self.candidates.iter().zip(versions);
        let mut known = candidates.filter_map(|(candidate, version)| Some((candidate, version?)));
        let (before, later) = match known.find(is_it) {
            _ if self.was_absent => {
                let first = self.oldest.filter(|_| !self.is_cut);
                (Before::Absent(first), self.authors.len())
            }
            _ if self.is_cut => (Before::Unknown, self.authors.len()),
            Some((candidate, version)) => (Before::Version(Box::new(version)), candidate.later),
            None if !are_all_there => (Before::Unknown, 0),
            None => (Before::Same, 0),
        };
        let mut authors: Vec<String> = Vec::new();
        for author in self.authors.iter().take(later) {
            if !authors.contains(author) {
                authors.push(author.clone());
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
