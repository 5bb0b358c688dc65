//! Places, tags and links of the whole wiki.

use std::collections::{BTreeSet, HashMap};

use super::client::Wiki;
use super::error::WikiError;
use super::operations::{PageLinks, PagePlaces, PageTags, page_links, page_places, page_tags};
use crate::page::{Date, Locale, PagePath};

/// A tag that some page has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The tag, in lower case.
    pub tag: String,
    /// Its title, if it has one of its own.
    pub title: Option<String>,
    /// When it was first used.
    pub created_at: Date,
    /// When it was last changed.
    pub updated_at: Date,
}

/// Where a page is, and its tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePlace {
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// Its tags, all of them.
    pub tags: Vec<String>,
}

/// A page that links to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkingPage {
    /// Its id.
    pub id: i64,
    /// Its path, without the locale.
    pub path: PagePath,
    /// Its title.
    pub title: String,
}

impl Wiki {
    /// All tags, in the order of the wiki.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn tags(&self) -> Result<Vec<Tag>, WikiError> {
        let data = self.query::<PageTags>(page_tags::Variables).await?;
        let tags = data.pages.map(|pages| pages.tags).unwrap_or_default();
        Ok(tags
            .into_iter()
            .flatten()
            .map(|tag| Tag {
                tag: tag.tag,
                title: tag.title,
                created_at: tag.created_at,
                updated_at: tag.updated_at,
            })
            .collect())
    }

    /// How many of the pages that the key may see have each tag.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn tag_counts(&self) -> Result<HashMap<String, i64>, WikiError> {
        let mut counts = HashMap::new();
        for place in self.places().await? {
            for tag in place.tags {
                *counts.entry(tag).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Where all pages are that the key may see, in the order of their ids.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn places(&self) -> Result<Vec<PagePlace>, WikiError> {
        let data = self.query::<PagePlaces>(page_places::Variables).await?;
        let pages = data.pages.map(|pages| pages.list).unwrap_or_default();
        Ok(pages
            .into_iter()
            .map(|page| PagePlace {
                locale: Locale::as_stored(page.locale),
                path: PagePath::as_stored(page.path),
                tags: page
                    .tags
                    .unwrap_or_default()
                    .into_iter()
                    .flatten()
                    .collect(),
            })
            .collect())
    }

    /// The pages of the same locale that link to a place.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_linking_to(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> Result<Vec<LinkingPage>, WikiError> {
        self.links_to(&[locale].into(), locale, path).await
    }

    /// The pages of some locales that link to a place, but for the page there: in one request.
    pub(super) async fn links_to(
        &self,
        locales: &BTreeSet<&Locale>,
        locale: &Locale,
        path: &PagePath,
    ) -> Result<Vec<LinkingPage>, WikiError> {
        let place = format!("{locale}/{path}");
        let variables = locales
            .iter()
            .map(|locale| page_links::Variables {
                locale: locale.as_str().to_owned(),
            })
            .collect();
        let mut linking = Vec::new();
        for (locale, data) in locales
            .iter()
            .zip(self.batch::<PageLinks>(variables).await?)
        {
            let pages = data?
                .pages
                .and_then(|pages| pages.links)
                .unwrap_or_default();
            let is_linking = |page: &page_links::PageLinksPagesLinks| {
                page.path != place && page.links.iter().flatten().any(|link| *link == place)
            };
            linking.extend(pages.into_iter().flatten().filter(is_linking).map(|page| {
                let own = page.path.strip_prefix(&format!("{locale}/"));
                LinkingPage {
                    id: page.id,
                    path: PagePath::as_stored(own.unwrap_or(&page.path)),
                    title: page.title,
                }
            }));
        }
        Ok(linking)
    }
}
