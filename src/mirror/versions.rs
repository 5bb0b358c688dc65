//! Gives the earlier states in which an existing page was seen, to those who may read them.

use std::collections::HashMap;

use super::bin::Mirror;
use super::known::KnownPages;
use super::pages::SeenState;
use crate::audit::{AuditError, kept_states};
use crate::page::{Date, Field, PageReading, PageState, ReadScope};
use crate::store::on;

/// A state in which a page was seen, without its content.
#[derive(Debug, Clone)]
pub struct SeenVersion {
    /// Its id: the time at which it was seen first, in milliseconds. No version of a wiki has one as large.
    pub id: i64,
    /// The state.
    pub seen: SeenState,
    /// The fields that were not seen, or that the caller cannot read of the present page.
    pub unseen: Vec<Field>,
}

/// The choice among the states of a page.
enum WantedStates {
    /// Those before the present one.
    Before,
    /// Those of these ids.
    Of(Vec<i64>),
    /// Those before the present one of which the wiki said this time.
    Dated(Date),
}

impl Mirror {
    /// The newest states in which a page was seen before the present one, the newest first. They are
    /// within the scope by the present and the last seen place and tags and by their own.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn versions(
        &self,
        within: (&PageReading, &ReadScope),
        most: usize,
    ) -> Result<Vec<SeenVersion>, AuditError> {
        let version = |seen: &SeenState, page: PageReading| SeenVersion {
            id: seen.seen.into(),
            seen: seen.clone(),
            unseen: page.unreadable().into_keys().collect(),
        };
        self.each(within, (WantedStates::Before, most), version)
            .await
    }

    /// The page as it was seen in the states of these ids, within the same bounds. What the caller cannot
    /// read of the present page stays out of it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn pages(
        &self,
        within: (&PageReading, &ReadScope),
        ids: &[i64],
    ) -> Result<HashMap<i64, PageReading>, AuditError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted = (WantedStates::Of(ids.to_vec()), ids.len());
        let page = |seen: &SeenState, page: PageReading| (i64::from(seen.seen), page);
        let pages = self.each(within, wanted, page).await?;
        Ok(pages.into_iter().collect())
    }

    /// Makes something of each of so many wanted states, the newest first. One state is in memory at a
    /// time, besides what is made.
    async fn each<T: Send + 'static>(
        &self,
        (now, scope): (&PageReading, &ReadScope),
        (wanted, most): (WantedStates, usize),
        make: impl Fn(&SeenState, PageReading) -> T + Send + 'static,
    ) -> Result<Vec<T>, AuditError> {
        let Some(id) = now.id.filter(|_| scope.admits(now)) else {
            return Ok(Vec::new());
        };
        let (now, scope) = (now.clone(), scope.clone());
        on(self.store(), move |store| {
            let known = KnownPages::load_beside(store, id)?;
            // After a backup of the wiki its id may be another page's.
            let is_same = |created: &Date| {
                let now = now.created_at.as_ref().filter(|now| now.is_set());
                now.is_none_or(|now| !created.is_set() || now.same(created))
            };
            let mut pages = known.iter().filter(|page| {
                let is_there = page.id == id && page.gone.is_none() && is_same(&page.created);
                is_there && page.is_admitted_by(&scope)
            });
            let Some(page) = pages.next() else {
                return Ok(Vec::new());
            };
            let present = page.last().filter(|last| {
                let now = now.updated_at.as_ref();
                now.is_none_or(|date| last.is_dated(date))
            });
            let is_meant = |seen: &&SeenState| match &wanted {
                WantedStates::Of(ids) => ids.contains(&i64::from(seen.seen)),
                WantedStates::Before => Some(*seen) != present,
                WantedStates::Dated(date) => Some(*seen) != present && seen.is_dated(date),
            };
            let mut found = Vec::new();
            for seen in page.states.iter().rev().filter(is_meant).take(most) {
                match kept_states::kept(store, seen.state) {
                    Err(AuditError::Missing | AuditError::Damaged) => {}
                    Ok(state) if !scope.admits_state(&state) => {}
                    state => found.push(make(seen, told(seen, state?, &now))),
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
        let wanted = (WantedStates::Dated(date), 1);
        let found = self.each(within, wanted, |_, page| page).await;
        let Some(seen) = found.ok().and_then(|mut found| found.pop()) else {
            return false;
        };
        let has_more = Field::ALL
            .into_iter()
            .any(|field| !field.is_in_versions() && !then.knows(field) && seen.knows(field));
        *then = then.clone().or(seen);
        has_more
    }
}

/// A state without what the caller cannot read of the present page.
fn told(seen: &SeenState, state: PageState, now: &PageReading) -> PageReading {
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
    page
}
