//! The wiki's own link graph, whole: which page links where.
//!
//! It knows only some forms of links; see `page::links`. The wiki leaves out links from or to pages
//! that the key may not read.

use std::collections::BTreeSet;

use super::super::operations::generated::{PageLinks, page_links};
use crate::page::{Locale, PagePath};
use crate::render_budget::uncounted;
use crate::wiki::{Wiki, WikiError};

/// One page of the graph, as the wiki gives it.
pub(in crate::wiki) type LinkingRow = page_links::PageLinksPagesLinks;

/// The links of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksOfPage {
    /// The page's id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The places that it links to, whether pages are there or not.
    pub to: Vec<(Locale, PagePath)>,
}

impl Wiki {
    /// The links of all pages of some locales; in one request.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn link_graph(
        &self,
        locales: &BTreeSet<&Locale>,
    ) -> Result<Vec<LinksOfPage>, WikiError> {
        let place = |link: String| {
            let (locale, path) = link.split_once('/')?;
            Some((Locale::as_stored(locale), PagePath::as_stored(path)))
        };
        let rows = self.linking_rows(locales).await?.into_iter();
        let graph = rows.filter_map(|page| {
            let (locale, path) = place(page.path)?;
            Some(LinksOfPage {
                id: page.id,
                locale,
                path,
                to: page.links.into_iter().flatten().filter_map(place).collect(),
            })
        });
        Ok(graph.collect())
    }

    /// The pages of some locales that may be read, with their links; in one request.
    pub(in crate::wiki) async fn linking_rows(
        &self,
        locales: &BTreeSet<&Locale>,
    ) -> Result<Vec<LinkingRow>, WikiError> {
        let seen = self.admitted_ids().await?;
        let asked = locales.iter().map(|locale| page_links::Variables {
            locale: locale.as_str().to_owned(),
        });
        let mut rows = Vec::new();
        for data in uncounted(self.batch::<PageLinks>(asked.collect())).await? {
            let pages = data?.pages.and_then(|pages| pages.links);
            rows.extend(pages.unwrap_or_default().into_iter().flatten());
        }
        rows.retain(|page| seen.as_ref().is_none_or(|seen| seen.contains(&page.id)));
        Ok(rows)
    }
}
