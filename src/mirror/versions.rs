//! Gives the states in which a page that is there was seen before, to those who may read them.

use super::bin::Mirror;
use super::known::KnownPages;
use super::pages::SeenState;
use crate::audit::{AuditError, kept_states};
use crate::page::{Field, PageReading, PageState, ReadScope};
use crate::store::on;

/// A state in which a page was seen.
#[derive(Debug, Clone)]
pub struct SeenVersion {
    /// Its id: the time at which it was seen first, in milliseconds. No version of a wiki has one as large.
    pub id: i64,
    /// The state.
    pub seen: SeenState,
    /// The page, as far as it was seen and the caller can read the present page.
    pub page: PageReading,
}

impl Mirror {
    /// The newest states in which a page was seen before the present one, the newest first; or only that
    /// of an id. They are within the scope by the present and the last seen place and tags and by their
    /// own, and what the caller cannot read of the present page stays out of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn versions(
        &self,
        (now, scope): (&PageReading, &ReadScope),
        only: Option<i64>,
        most: usize,
    ) -> Result<Vec<SeenVersion>, AuditError> {
        let Some(id) = now.id.filter(|_| scope.admits(now)) else {
            return Ok(Vec::new());
        };
        let (now, scope) = (now.clone(), scope.clone());
        on(self.store(), move |store| {
            let known = KnownPages::load_beside(store, id)?;
            let mut pages = known.iter().filter(|page| {
                let is_there = page.id == id && page.gone.is_none();
                let is_told = scope.admits_place(&page.locale, &page.path);
                is_there && is_told && scope.admits_tags(&page.tags)
            });
            let Some(page) = pages.next() else {
                return Ok(Vec::new());
            };
            let present = page.last().filter(|last| {
                let now = now.updated_at.as_ref();
                now.is_none_or(|date| last.is_dated(date))
            });
            let is_meant = |seen: &&SeenState| match only {
                Some(id) => i64::from(seen.seen) == id,
                None => Some(*seen) != present,
            };
            let mut found = Vec::new();
            for seen in page.states.iter().rev().filter(is_meant).take(most) {
                match kept_states::kept(store, seen.state) {
                    Err(AuditError::Missing | AuditError::Damaged) => {}
                    Ok(state) if !scope.admits_state(&state) => {}
                    state => found.push(told(seen, state?, &now)),
                }
            }
            Ok(found)
        })
        .await
    }

    /// Completes an old version of a page with what was seen of it: tags, styles and scripts, which the
    /// wiki does not keep in versions (W10). True if anything came of it.
    pub async fn complete(
        &self,
        then: &mut PageReading,
        within: (&PageReading, &ReadScope),
    ) -> bool {
        let Some(date) = then.updated_at.clone() else {
            return false;
        };
        let all = self.versions(within, None, usize::MAX).await;
        let mut all = all.into_iter().flatten();
        let Some(seen) = all.find(|one| one.seen.is_dated(&date)) else {
            return false;
        };
        let fields = [Field::Tags, Field::ScriptCss, Field::ScriptJs];
        let has_more =
            { fields.iter() }.any(|field| !then.knows(*field) && seen.page.knows(*field));
        *then = then.clone().or(seen.page);
        has_more
    }
}

/// A state without what the caller cannot read of the present page.
fn told(seen: &SeenState, state: PageState, now: &PageReading) -> SeenVersion {
    let fields = Field::ALL.into_iter();
    let unknown = fields.filter(|field| !(state.knows(*field) && now.knows(*field)));
    let unknown: Vec<Field> = unknown.collect();
    let mut page = PageReading {
        author_name: seen.author.clone(),
        updated_at: Some(seen.updated.clone()),
        ..PageReading::from(state)
    };
    for field in unknown {
        page.forget(field);
    }
    let (id, seen) = (seen.seen.into(), seen.clone());
    SeenVersion { id, seen, page }
}
