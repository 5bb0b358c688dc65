//! Old versions of a page, and what was written since a time.

use time::OffsetDateTime;

use super::super::operations::generated::{PageVersion, page_version};
use super::authors::author_of_text;
use crate::page::{Date, Locale, PagePath, PageReading};
use crate::wiki::{Wiki, WikiError};

/// An earlier state of a page, replaced by a later write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The version's id.
    pub id: i64,
    /// The time at which the next state was written.
    pub ended: Date,
    /// The page as far as the version keeps it: no tags, styles or scripts (W10). Its date is the time
    /// at which it was written that way; its author, measured on 2.5.314, that of this state, not of
    /// what came after.
    pub page: PageReading,
}

/// The version that an answer holds.
pub(in crate::wiki) fn one(data: page_version::ResponseData) -> Option<Version> {
    let version = data.pages?.version?;
    let page = PageReading {
        description: Some(version.description),
        content: Some(version.content),
        editor: Some(version.editor),
        is_published: Some(version.is_published),
        is_private: Some(version.is_private),
        publish_start_date: Some(version.publish_start_date),
        publish_end_date: Some(version.publish_end_date),
        author_name: Some(author_of_text(&version.author_id, version.author_name)),
        updated_at: Some(version.version_date),
        ..PageReading::bare(
            None,
            Locale::as_stored(version.locale),
            PagePath::as_stored(version.path),
            version.title,
        )
    };
    Some(Version {
        id: version.version_id,
        ended: version.created_at,
        page,
    })
}

impl Wiki {
    /// An old version of a page; `None` if the page has no such version.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn version(&self, page: i64, version: i64) -> Result<Option<Version>, WikiError> {
        let variables = page_version::Variables {
            page_id: page,
            version_id: version,
        };
        self.admit_id(page).await?;
        let data = self.query::<PageVersion>(variables).await?;
        Ok(one(data).filter(|version| self.admits_version(version)))
    }

    /// Several old versions of a page, in one request; `None` for each that the page does not have.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn versions(
        &self,
        page: i64,
        versions: &[i64],
    ) -> Result<Vec<Option<Version>>, WikiError> {
        self.admit_id(page).await?;
        let asked = versions.iter().map(|version| page_version::Variables {
            page_id: page,
            version_id: *version,
        });
        let answers = self.batch::<PageVersion>(asked.collect()).await?;
        let seen = |data| one(data).filter(|version| self.admits_version(version));
        answers.into_iter().map(|data| Ok(seen(data?))).collect()
    }

    /// True if a version's place may be read; its tags are unknown (W10).
    pub(in crate::wiki) fn admits_version(&self, version: &Version) -> bool {
        let page = &version.page;
        self.scope().admits_place(&page.locale, &page.path)
    }

    /// Finds what was written on a page since a time, among this many of its newest versions.
    ///
    /// A version is dated by the page's `updatedAt` of its day and ends with the write that
    /// came after. `updatedAt` moves without a write, too, when a page that it links to comes or
    /// goes: a time that no version is dated by lies in the life of the one that ended after it.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn written_since(
        &self,
        page: i64,
        time: &Date,
        look_back: usize,
    ) -> Result<Since, WikiError> {
        let Some(time) = time.instant() else {
            return Ok(Since::Unknown);
        };
        let history = self.history(page, 0, look_back).await?;
        let is_older = |date: &Date| date.instant().is_none_or(|date| date < time);
        let later = history
            .entries
            .iter()
            .take_while(|entry| !is_older(&entry.version_date));
        let (later, passed) = (later.clone().last(), later.count());
        if let Some(exact) = later.filter(|entry| entry.version_date.instant() == Some(time)) {
            return self.since(page, exact.version_id).await;
        }
        match history.entries.get(passed) {
            Some(before) => {
                let version = self.version(page, before.version_id).await?;
                if let Some(version) = version.filter(|version| !is_older(&version.ended)) {
                    return Ok(Since::Written(Box::new(version)));
                }
            }
            None if history.total > history.entries.len() => return Ok(Since::Unknown),
            None => {}
        }
        match later {
            Some(entry) => self.since(page, entry.version_id).await,
            None => Ok(Since::Nothing),
        }
    }

    /// The newest version of a page that is dated at a time or before, and those dated since, the oldest
    /// first; none if its so many newest versions do not go back that far, or some of them cannot be read.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub(crate) async fn versions_at_and_since(
        &self,
        (page, at): (i64, OffsetDateTime),
        most: usize,
    ) -> Result<Vec<Version>, WikiError> {
        let entries = self.history(page, 0, most).await?.entries;
        let is_then = |date: &Date| date.instant().is_some_and(|date| date <= at);
        let Some(then) = { entries.iter() }.position(|one| is_then(&one.version_date)) else {
            return Ok(Vec::new());
        };
        let ids = entries.iter().take(then + 1).map(|one| one.version_id);
        let versions = self.versions(page, &ids.collect::<Vec<_>>()).await?;
        let oldest_first = versions.into_iter().rev();
        let all: Option<Vec<_>> = oldest_first.collect();
        Ok(all.unwrap_or_default())
    }

    async fn since(&self, page: i64, version: i64) -> Result<Since, WikiError> {
        let version = self.version(page, version).await?;
        Ok(version.map_or(Since::Unknown, |version| Since::Written(Box::new(version))))
    }
}

/// The writes to a page since a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing: whatever else moved `updatedAt` left no version behind.
    Nothing,
    /// Something; this is the page as it was at that time.
    Written(Box<Version>),
    /// The time lies further back than the searched history.
    Unknown,
}
