//! The history of a page made right (W10).

use super::super::operations::generated::{PageHistory, page_history};
use super::authors::author;
use crate::page::{Date, Locale, PagePath};
use crate::wiki::{Wiki, WikiError, WikiResult};

/// An entry of a page's history: a version that a later write replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The version's id.
    pub version_id: i64,
    /// The time at which the version was made.
    pub version_date: Date,
    /// The author, by the user's id.
    pub author_id: i64,
    /// Their name; account 1 stands for any API key as well (W45).
    pub author_name: String,
    /// `initial`, `edit` or `move`.
    pub action: String,
    /// The path that a moved page came from.
    pub moved_from: Option<String>,
    /// The path that it went to.
    pub moved_to: Option<String>,
}

/// A part of a history, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The entries.
    pub entries: Vec<HistoryEntry>,
    /// Number of entries in all.
    pub total: usize,
}

impl Wiki {
    /// The history of a page from the entry `offset` on, newest first.
    ///
    /// The wiki's own offset counts pages of results (W10): the one or two that hold the
    /// wanted entries are asked for in one request.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] for an unknown page.
    pub async fn history(&self, id: i64, offset: usize, limit: usize) -> WikiResult<History> {
        let locale = self.admit_id(id).await?;
        let size = limit.max(1);
        let first = offset / size;
        let skipped = offset % size;
        let pages = first..=first + usize::from(skipped > 0);
        let asked = pages.map(|page| page_history::Variables {
            id,
            offset_page: i64::try_from(page).ok(),
            offset_size: i64::try_from(size).ok(),
        });
        let mut entries = Vec::new();
        let mut total = 0;
        for part in self.batch::<PageHistory>(asked.collect()).await? {
            let part = part.map_err(|error| self.explain(error))?;
            let (more, of) = part_of(part).ok_or(WikiError::NotFound)?;
            total = of;
            entries.extend(more);
        }
        let mut entries: Vec<HistoryEntry> =
            entries.into_iter().skip(skipped).take(limit).collect();
        // The oldest entry is called a move from nowhere when it ends a full page of results (W10).
        if offset + entries.len() == total
            && let Some(oldest) = entries.last_mut()
        {
            "initial".clone_into(&mut oldest.action);
            oldest.moved_from = None;
            oldest.moved_to = None;
        }
        if let Some(locale) = locale {
            self.hide_places(&locale, &mut entries);
        }
        Ok(History { entries, total })
    }

    /// Hides former places that may not be read. The wiki names them without a locale; the page's
    /// own is assumed.
    fn hide_places(&self, locale: &Locale, entries: &mut [HistoryEntry]) {
        let may = |path: &String| self.scope().admits_place(locale, &PagePath::new(path));
        for entry in entries {
            entry.moved_from = entry.moved_from.take().filter(may);
            entry.moved_to = entry.moved_to.take().filter(may);
        }
    }
}

/// The entries of one answer as the wiki has them, and how many there are in all; `None` for an
/// unknown page.
pub(in crate::wiki) fn part_of(
    data: page_history::ResponseData,
) -> Option<(Vec<HistoryEntry>, usize)> {
    let history = data.pages?.history?;
    let entries = history.trail.into_iter().flatten().flatten().map(entry);
    let total = usize::try_from(history.total).unwrap_or_default();
    Some((entries.collect(), total))
}

/// The date of the newest version; `None` if a page has no versions.
pub(in crate::wiki) fn newest_version(
    data: page_history::ResponseData,
) -> WikiResult<Option<Date>> {
    let history = data.pages.and_then(|pages| pages.history);
    let history = history.ok_or(WikiError::NotFound)?;
    let newest = history.trail.into_iter().flatten().flatten().next();
    match newest {
        Some(entry) => Ok(Some(entry.version_date)),
        None if history.total == 0 => Ok(None),
        None => Err(WikiError::NotFound),
    }
}

fn entry(entry: page_history::PageHistoryPagesHistoryTrail) -> HistoryEntry {
    HistoryEntry {
        version_id: entry.version_id,
        version_date: entry.version_date,
        author_id: entry.author_id,
        author_name: author(entry.author_id, entry.author_name),
        action: entry.action_type,
        moved_from: entry.value_before,
        moved_to: entry.value_after,
    }
}
