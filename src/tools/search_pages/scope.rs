//! Filters the pages that a search covers: the same for every engine, from the wiki's current list.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::{ToolContext, page_argument};
use super::Input;
use crate::error::Result;
use crate::page::{Date, Locale, PagePath, PageReading};
use crate::tools::input::{self, Locales};
use crate::wiki::{AllPages, ListQuery, WikiError};

/// The filters that pages must pass to be searched.
#[derive(Debug)]
pub(super) struct SearchScope {
    locales: Locales,
    path: Option<PagePath>,
    /// The pages that the other filters leave; `None` without other filters.
    places: Option<HashSet<(Locale, PagePath)>>,
    /// All pages that the key sees, if they were requested.
    pub(super) listed: Arc<AllPages>,
}

impl SearchScope {
    /// Takes one request if a filter or a related page needs the list, and one more for links.
    pub(super) async fn load(context: &ToolContext, input: &Input) -> Result<Self> {
        let wiki = &context.wiki;
        let links_to = page_argument::links_to(context, input.links_to.as_deref()).await?;
        let (tags, without) = (input.tags.clone(), input.without_tags.clone());
        let mut wanted = input::tag_filters(wiki, tags, without).await?;
        let since = input::date("updatedSince", input.updated_since.as_deref())?;
        wanted.updated_since = since.as_ref().and_then(Date::instant);
        let filters = links_to.is_some() || wanted != ListQuery::default();
        let (locales, path) = input::places(wiki, input.path.as_deref(), input.locale.as_deref())?;
        let mut scope = Self {
            locales,
            path,
            places: None,
            listed: Arc::new(AllPages::new(Vec::new())),
        };
        if filters || input.related_to.is_some() {
            scope.listed = wiki.pages_now().await?;
        }
        if !filters {
            return Ok(scope);
        }
        let linking = match links_to {
            Some(id) => {
                // Pages in other locales are counted too.
                let locale = scope.locale().filter(|_| !scope.locales.is_fallback);
                Some(wiki.linking_to(&scope.listed, id, locale).await?)
            }
            None => None,
        };
        let is_left = |page: &&PageReading| {
            let own = page.tags.as_deref().unwrap_or_default();
            wanted.tags.iter().all(|tag| own.contains(tag)) && wanted.wants(page, linking.as_ref())
        };
        let places = scope.listed.iter().filter(is_left);
        let places = places.map(|page| (page.locale.clone(), page.path.clone()));
        scope.places = Some(places.collect());
        Ok(scope)
    }

    pub(super) const fn locale(&self) -> Option<&Locale> {
        self.locales.one.as_ref()
    }

    pub(super) const fn path(&self) -> Option<&PagePath> {
        self.path.as_ref()
    }

    /// True if the locale is only the default, so that pages in others are counted.
    pub(super) const fn is_fallback(&self) -> bool {
        self.locales.is_fallback
    }

    /// True if the search covers a page.
    pub(super) fn holds(&self, locale: &Locale, path: &PagePath) -> bool {
        self.locale().is_none_or(|own| own == locale) && self.holds_but_for_locale(locale, path)
    }

    /// True if the search would cover a page if its locale were included.
    pub(super) fn holds_elsewhere(&self, locale: &Locale, path: &PagePath) -> bool {
        self.locale().is_some_and(|own| own != locale) && self.holds_but_for_locale(locale, path)
    }

    /// The same as a filter of its own, which lasts as long as the content index searches.
    pub(super) fn filter(self: &Arc<Self>) -> impl Fn(&Locale, &PagePath) -> bool + use<> {
        let scope = Arc::clone(self);
        move |locale, path| scope.holds(locale, path)
    }

    fn holds_but_for_locale(&self, locale: &Locale, path: &PagePath) -> bool {
        self.path.as_ref().is_none_or(|own| path.is_within(own))
            && self
                .places
                .as_ref()
                .is_none_or(|places| places.contains(&(locale.clone(), path.clone())))
    }
}

/// The page of an id, if the key sees it.
pub(super) fn listed(pages: &AllPages, id: i64) -> Result<&PageReading, WikiError> {
    let mut pages = pages.iter();
    pages
        .find(|page| page.id == Some(id))
        .ok_or(WikiError::NotFound)
}
