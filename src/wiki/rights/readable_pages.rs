//! Checks every page before it leaves this room: it must be one that may be read.
//!
//! Lists kept for a key hold everything that the key sees, and callers with different bounds may
//! share them. So every function that returns pages asks here; a test checks this for every file
//! that sends requests.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::page::{Locale, PagePath, PagePlace, PageReading, ReadRule, ReadScope};
use crate::wiki::{AllPages, Wiki, WikiError, WikiResult, WikiSettings, a_moment_ago};

/// The pages of a list that may be read.
pub(in crate::wiki) struct Bounds {
    scope: ReadScope,
    /// The ids of readable pages, if the list has no tags.
    ids: Option<HashSet<Option<i64>>>,
}

impl Bounds {
    fn admits(&self, page: &PageReading) -> bool {
        match &self.ids {
            Some(ids) => {
                self.scope.admits_place(&page.locale, &page.path) && ids.contains(&page.id)
            }
            None => self.scope.admits(page),
        }
    }

    /// The readable ones of some pages.
    pub(in crate::wiki) fn readable(&self, mut pages: Vec<PageReading>) -> Vec<PageReading> {
        if !self.scope.is_open() {
            pages.retain(|page| self.admits(page));
        }
        pages
    }

    /// The same of a shared list.
    pub(in crate::wiki) fn of_shared<'a>(
        &self,
        pages: &'a [PageReading],
    ) -> Cow<'a, [PageReading]> {
        if self.scope.is_open() {
            return Cow::Borrowed(pages);
        }
        let admitted = pages.iter().filter(|page| self.admits(page));
        Cow::Owned(admitted.cloned().collect())
    }
}

impl Wiki {
    /// The pages that may be read.
    pub fn scope(&self) -> &ReadScope {
        &self.settings.reads
    }

    /// The same wiki with the same key and narrower bounds.
    #[must_use]
    pub fn within(&self, rule: &ReadRule) -> Self {
        self.bounded(self.scope().narrowed_by(rule))
    }

    /// The same wiki with the same key and without bounds. Only for settling a write: its outcome
    /// must not be misjudged because a page is hidden now. Nothing read here goes to a caller.
    #[must_use]
    pub fn unbounded(&self) -> Self {
        self.bounded(ReadScope::default())
    }

    fn bounded(&self, reads: ReadScope) -> Self {
        let settings = WikiSettings::clone(&self.settings);
        Self {
            settings: Arc::new(WikiSettings { reads, ..settings }),
            ..self.clone()
        }
    }

    /// The page if it may be read; otherwise the error of a missing page.
    pub(in crate::wiki) fn admitted_one(&self, page: PageReading) -> WikiResult<PageReading> {
        if !self.scope().admits(&page) {
            return Err(WikiError::NotFound);
        }
        self.note_seen(&page);
        Ok(page)
    }

    /// The bounds of a list of the wiki. If the list has no tags, the ids come from the newest list
    /// of all pages. That list is requested now, before the other one takes the only slot for whole
    /// lists.
    pub(in crate::wiki) async fn bounds(&self, tells_tags: bool) -> WikiResult<Bounds> {
        let scope = self.scope().clone();
        let ids = if scope.asks_for_tags() && !tells_tags {
            let seen = self.pages_as_of(Instant::now()).await?;
            Some(seen.iter().map(|page| page.id).collect())
        } else {
            None
        };
        Ok(Bounds { scope, ids })
    }

    /// The same for a list with all tags.
    pub(in crate::wiki) fn bounds_by_tags(&self) -> Bounds {
        Bounds {
            scope: self.scope().clone(),
            ids: None,
        }
    }

    /// Checks by its id that a page may be read; returns its locale if there are bounds.
    pub(in crate::wiki) async fn admit_id(&self, id: i64) -> WikiResult<Option<Locale>> {
        if self.scope().is_open() {
            return Ok(None);
        }
        let find = |pages: &AllPages| {
            let mut pages = pages.iter();
            let page = pages.find(|page| page.id == Some(id))?;
            Some(page.locale.clone())
        };
        let lately = self.pages_as_of(a_moment_ago()).await?;
        if let Some(locale) = find(&lately) {
            return Ok(Some(locale));
        }
        let now = self.pages_as_of(Instant::now()).await?;
        find(&now).map(Some).ok_or(WikiError::NotFound)
    }

    /// The readable pages of a kept list.
    pub(in crate::wiki) fn seen_of(&self, pages: Arc<AllPages>) -> Arc<AllPages> {
        let scope = self.scope();
        if scope.is_open() {
            return pages;
        }
        Arc::new(pages.filtered(|page| scope.admits(page)))
    }

    /// The places where pages may be read; `None` where all may be.
    pub(in crate::wiki) async fn sights(&self) -> WikiResult<Option<HashSet<PagePlace>>> {
        if self.scope().is_open() {
            return Ok(None);
        }
        let seen = self.pages_as_of(Instant::now()).await?;
        let places = { seen.iter() }.map(|page| (page.locale.clone(), page.path.clone()));
        Ok(Some(places.collect()))
    }

    /// The ids of the pages that may be read, by a list that is some seconds old at most; `None`
    /// where all may be.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn admitted_ids(&self) -> WikiResult<Option<HashSet<i64>>> {
        if self.scope().is_open() {
            return Ok(None);
        }
        let seen = self.pages_as_of(a_moment_ago()).await?;
        Ok(Some(seen.iter().filter_map(|page| page.id).collect()))
    }

    /// The places of pages with these ids, of those that this key sees and that may be read, by a
    /// list that is some seconds old at most.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn places_of(
        &self,
        ids: &HashSet<i64>,
    ) -> WikiResult<HashMap<i64, (Locale, PagePath)>> {
        let seen = self.pages_as_of(a_moment_ago()).await?;
        let wanted = |page: &PageReading| {
            let id = page.id.filter(|id| ids.contains(id))?;
            Some((id, (page.locale.clone(), page.path.clone())))
        };
        Ok(seen.iter().filter_map(wanted).collect())
    }

    /// Those of these pages that the wiki has no more, by the list as of a moment ago and by what it says
    /// of each.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_gone(&self, ids: &HashSet<i64>) -> WikiResult<HashSet<i64>> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let seen = self.pages_as_of(a_moment_ago()).await?;
        let seen: HashSet<i64> = seen.iter().filter_map(|page| page.id).collect();
        let lost: Vec<i64> = ids.difference(&seen).copied().collect();
        self.deleted_among(&lost).await
    }

    /// The ids of the pages at these places, by the list as of a moment ago.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn ids_at(&self, places: &HashSet<PagePlace>) -> WikiResult<HashMap<PagePlace, i64>> {
        let seen = self.pages_as_of(a_moment_ago()).await?;
        let wanted = |page: &PageReading| {
            let place = (page.locale.clone(), page.path.clone());
            Some((places.get(&place)?.clone(), page.id?))
        };
        Ok(seen.iter().filter_map(wanted).collect())
    }

    /// The ids of the pages that now lie elsewhere than at some places, whoever may read them: what
    /// is on record of such a page is hidden from whoever is held to these places. By a list as of
    /// this time; without one, some seconds old at most.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn ids_outside(
        &self,
        as_of: Option<Instant>,
        holds: impl Fn(&Locale, &PagePath) -> bool,
    ) -> WikiResult<HashSet<i64>> {
        let as_of = as_of.unwrap_or_else(a_moment_ago);
        let all = self.unbounded().pages_as_of(as_of).await?;
        let outside = all.iter().filter(|page| !holds(&page.locale, &page.path));
        Ok(outside.filter_map(|page| page.id).collect())
    }

    /// Checks whether a caller may see a record about a page: its place must be readable, and so
    /// must the page, if it still exists.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn admits_record(
        &self,
        id: Option<i64>,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<bool> {
        let scope = self.scope();
        if scope.is_open() {
            return Ok(true);
        }
        if !scope.admits_place(locale, path) {
            return Ok(false);
        }
        let (Some(id), true) = (id, scope.asks_for_tags()) else {
            return Ok(true);
        };
        let all = self.unbounded().pages_as_of(a_moment_ago()).await?;
        let page = all.iter().find(|page| page.id == Some(id));
        Ok(page.is_none_or(|page| scope.admits(page)))
    }
}
