//! Gives the earlier states in which an existing page was seen, to those who may read them.

use super::known::KnownPages;
use crate::audit::{AuditError, AuditResult};
use crate::mirror::{Mirror, SeenState};
use crate::page::{Date, Field, PageReading, ReadScope};
use crate::store::{Store, on};

/// A state in which a page was seen, without its content.
#[derive(Debug, Clone)]
pub struct SeenVersion {
    /// Its id: the time at which it was seen first, in milliseconds. No version of a wiki has one as large.
    pub id: i64,
    /// The state.
    pub seen: SeenState,
    /// The fields that were not seen, or that the caller cannot read of the present page.
    pub unseen: Vec<Field>,
    /// True if the page is so now.
    pub is_present: bool,
}

impl Mirror {
    /// The states in which a page was seen, the newest first, within the scope by the present and the last
    /// seen place and tags and by their own. No state is read.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn versions(
        &self,
        now: &PageReading,
        scope: &ReadScope,
    ) -> AuditResult<Vec<SeenVersion>> {
        let Some(id) = now.id.filter(|_| scope.admits(now)) else {
            return Ok(Vec::new());
        };
        let load = move |store: &dyn Store| KnownPages::load_beside(store, id);
        let known = on(&self.store, load).await?;
        // After a backup of the wiki its id may be another page's.
        let is_same = |created: &Date| {
            let now = now.created_at.as_ref().filter(|now| now.is_set());
            now.is_none_or(|now| !created.is_set() || now.same(created))
        };
        let mut pages = known.iter().filter(|page| {
            let is_there = page.id == id && page.gone.is_none() && is_same(&page.created);
            is_there && page.place.is_admitted_by(scope)
        });
        let Some(page) = pages.next() else {
            return Ok(Vec::new());
        };
        let present = page.last().filter(|last| {
            let now = now.updated_at.as_ref();
            now.is_none_or(|date| last.is_dated(date))
        });
        let version = |seen: &SeenState| SeenVersion {
            id: seen.seen.into(),
            seen: seen.clone(),
            unseen: { Field::ALL.into_iter() }
                .filter(|field| seen.unknown.contains(field) || !now.knows(*field))
                .collect(),
            is_present: Some(seen) == present,
        };
        let states = page.states.iter().rev();
        let told = states.filter(|seen| page.place_in(seen).is_admitted_by(scope));
        Ok(told.map(version).collect())
    }

    /// The page as it was seen, without what the caller cannot read of the present one; `None` if that state
    /// is missing or damaged.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn seen(&self, version: &SeenVersion) -> AuditResult<Option<PageReading>> {
        let state = match self.state(&version.seen).await {
            Err(AuditError::Missing | AuditError::Damaged) => return Ok(None),
            state => state?,
        };
        let mut page = PageReading {
            author_name: version.seen.author.clone(),
            updated_at: Some(version.seen.updated.clone()),
            ..PageReading::from(state)
        };
        for field in &version.unseen {
            page.forget(*field);
        }
        Ok(Some(page))
    }

    /// Completes an old version of a page with what was seen of it: tags, styles and scripts, which the
    /// wiki does not keep in versions (W10). True if anything came of it.
    pub async fn complete(
        &self,
        then: &mut PageReading,
        (now, scope): (&PageReading, &ReadScope),
    ) -> bool {
        let Some(date) = then.updated_at.as_ref() else {
            return false;
        };
        let versions = self.versions(now, scope).await.unwrap_or_default();
        let mut dated =
            { versions.iter() }.filter(|one| !one.is_present && one.seen.is_dated(date));
        let Some(version) = dated.next() else {
            return false;
        };
        let Ok(Some(seen)) = self.seen(version).await else {
            return false;
        };
        let has_more = Field::ALL
            .into_iter()
            .any(|field| !field.is_in_versions() && !then.knows(field) && seen.knows(field));
        *then = then.clone().or(seen);
        has_more
    }
}
