//! Tags and links of the whole wiki.

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
        let place = format!("{locale}/{path}");
        let variables = page_links::Variables {
            locale: locale.as_str().to_owned(),
        };
        let data = self.query::<PageLinks>(variables).await?;
        let pages = data.pages.and_then(|pages| pages.links).unwrap_or_default();
        let mut links = Links::default();
        for page in pages.into_iter().flatten() {
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
        Ok(links)
    }
}
