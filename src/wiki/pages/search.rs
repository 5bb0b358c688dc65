//! Search made right (W9): hits with the true ids of their pages.

use std::collections::HashSet;

use super::super::operations::generated::{PageSearch, page_search};
use crate::page::{Locale, PagePath};
use crate::wiki::{Wiki, WikiError};

/// A page that the wiki's search engine found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineHit {
    /// The page's id; `None` if it could not be determined. The engine's own id may be another
    /// page's (W9) and is never passed on.
    pub id: Option<i64>,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
}

impl Wiki {
    /// Searches with the wiki's engine.
    ///
    /// What is wanted of the hits is asked here, since the engines take a path in ways of
    /// their own (W9); a locale spares them work.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn search(
        &self,
        query: &str,
        locale: Option<&Locale>,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
        limit: usize,
    ) -> Result<Vec<EngineHit>, WikiError> {
        let mut hits = self.hits(query, locale, is_wanted).await?;
        hits.truncate(limit);
        let places: Vec<(Locale, PagePath)> = hits
            .iter()
            .map(|hit| (hit.locale.clone(), hit.path.clone()))
            .collect();
        // A hit without its id is better than no hit.
        let ids = self.page_ids(&places).await.unwrap_or_default();
        for (hit, id) in hits.iter_mut().zip(ids) {
            hit.id = id;
        }
        Ok(hits)
    }

    /// The places of all hits in any locale that are wanted.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn places_of_hits(
        &self,
        query: &str,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) -> Result<HashSet<(Locale, PagePath)>, WikiError> {
        let hits = self.hits(query, None, is_wanted).await?;
        Ok(hits.into_iter().map(|hit| (hit.locale, hit.path)).collect())
    }

    /// The engine's hits, without ids.
    async fn hits(
        &self,
        query: &str,
        locale: Option<&Locale>,
        is_wanted: impl Fn(&Locale, &PagePath) -> bool,
    ) -> Result<Vec<EngineHit>, WikiError> {
        let variables = page_search::Variables {
            query: query.to_owned(),
            locale: locale.map(|locale| locale.as_str().to_owned()),
        };
        let data = self.query::<PageSearch>(variables).await?;
        let scope = self.scope();
        let sights = if scope.asks_for_tags() {
            self.sights().await?
        } else {
            None
        };
        let may_be_read = |hit: &EngineHit| {
            let place = (hit.locale.clone(), hit.path.clone());
            scope.admits_place(&hit.locale, &hit.path)
                && sights.as_ref().is_none_or(|sights| sights.contains(&place))
        };
        let results = data.pages.into_iter();
        let results = results.flat_map(|pages| pages.search.results).flatten();
        Ok(results
            .map(|hit| EngineHit {
                id: None,
                locale: Locale::as_stored(hit.locale),
                path: PagePath::as_stored(hit.path),
                title: hit.title,
                description: hit.description,
            })
            .filter(|hit| is_wanted(&hit.locale, &hit.path) && may_be_read(hit))
            .collect())
    }
}
