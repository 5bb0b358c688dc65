//! Places, tags and links of the whole wiki.

use std::collections::{BTreeSet, HashMap};

use super::client::Wiki;
use super::error::WikiError;
use super::operations::{PageLinks, PageTags, page_links, page_tags};
use crate::page::{Date, Locale, PagePath};

/// A tag that some page has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The tag, in lower case.
    pub tag: String,
    /// Its title, if it has one of its own.
    pub title: Option<String>,
    /// How many pages have it.
    pub pages: i64,
    /// When it was first used.
    pub created_at: Date,
    /// When it was last changed.
    pub updated_at: Date,
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

/// The links to and from one page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// The pages that link to it.
    pub to: Vec<LinkingPage>,
    /// Where it links to: locale and path, with `/` between.
    pub from: Vec<String>,
}

impl Wiki {
    /// Tags without the `#` that people write before them, where no page has a tag that begins so.
    /// A request only if one has it.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn without_hash(&self, mut tags: Vec<String>) -> Result<Vec<String>, WikiError> {
        if !tags.iter().any(|tag| tag.starts_with('#')) {
            return Ok(tags);
        }
        let known = self.tags().await?;
        for tag in &mut tags {
            let bare = tag.trim_start_matches('#').trim();
            if !bare.is_empty() && !known.iter().any(|known| known.tag == *tag) {
                *tag = bare.to_owned();
            }
        }
        let mut seen = BTreeSet::new();
        tags.retain(|tag| seen.insert(tag.clone()));
        Ok(tags)
    }

    /// All tags, in the order of the wiki, each with the number of pages that the key may see:
    /// in one request.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn tags(&self) -> Result<Vec<Tag>, WikiError> {
        let data = self.query::<PageTags>(page_tags::Variables).await?;
        let Some(pages) = data.pages else {
            return Ok(Vec::new());
        };
        let mut counts: HashMap<&str, i64> = HashMap::new();
        for tag in pages
            .list
            .iter()
            .filter_map(|page| page.tags.as_ref())
            .flatten()
            .flatten()
        {
            *counts.entry(tag).or_default() += 1;
        }
        let tags = pages.tags.iter().flatten();
        Ok(tags
            .map(|tag| Tag {
                pages: counts.get(tag.tag.as_str()).copied().unwrap_or_default(),
                tag: tag.tag.clone(),
                title: tag.title.clone(),
                created_at: tag.created_at.clone(),
                updated_at: tag.updated_at.clone(),
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
        Ok(self.links_around(locale, path).await?.to)
    }

    /// The pages of the same locale that link to a place, and where the page there links to.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn links_around(&self, locale: &Locale, path: &PagePath) -> Result<Links, WikiError> {
        self.links_within(&[locale].into(), locale, path).await
    }

    /// The pages of some locales that link to a place, and where the page there links to if it
    /// is of one of them; in one request.
    pub(super) async fn links_within(
        &self,
        locales: &BTreeSet<&Locale>,
        locale: &Locale,
        path: &PagePath,
    ) -> Result<Links, WikiError> {
        let place = format!("{locale}/{path}");
        let variables = locales
            .iter()
            .map(|locale| page_links::Variables {
                locale: locale.as_str().to_owned(),
            })
            .collect();
        let answers = self.batch::<PageLinks>(variables).await?;
        let mut links = Links::default();
        for (locale, data) in locales.iter().zip(answers) {
            let pages = data?.pages.and_then(|pages| pages.links);
            for page in pages.unwrap_or_default().into_iter().flatten() {
                let mut targets = page.links.into_iter().flatten();
                if page.path == place {
                    links.from.extend(targets.filter(|link| *link != place));
                } else if targets.any(|link| link == place) {
                    let own = page.path.strip_prefix(&format!("{locale}/"));
                    links.to.push(LinkingPage {
                        id: page.id,
                        path: PagePath::as_stored(own.unwrap_or(&page.path)),
                        title: page.title,
                    });
                }
            }
        }
        Ok(links)
    }
}
