//! Places, tags and links of the whole wiki.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::operations::generated::{PageList, PageTags, page_tags};
use super::super::pages::list::{self, ListQuery};
use super::tag_branches::branches;
use crate::page::{Locale, PagePath, bare_tag};
use crate::wiki::{AllPages, Wiki, WikiError};

/// Lifetime of cached titles of tags on a large wiki, where they cost more than the counts.
const TITLES_LIFE: Duration = Duration::from_mins(1);

/// A tag that some page has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagUsage {
    /// The tag, in lower case.
    pub tag: String,
    /// Its title, if it has one of its own.
    pub title: Option<String>,
    /// Number of pages that have it.
    pub pages: i64,
    /// Number of pages that have it or a tag below it (`proj/alpha` is below `proj`), each counted
    /// once.
    pub branch: i64,
}

/// The titles of those tags that have one of their own, as the wiki listed them.
#[derive(Debug, Clone)]
pub(in crate::wiki) struct TagTitles {
    listed: Instant,
    titles: Arc<HashMap<String, String>>,
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
pub struct PageLinkLists {
    /// The pages that link to it.
    pub to: Vec<LinkingPage>,
    /// The places that it links to: locale and path, with `/` between.
    pub from: Vec<String>,
}

impl Wiki {
    /// Tags without a leading `#`, unless some page has a tag that begins with it. Sends a request
    /// only if a tag has one.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn without_hash(&self, mut tags: Vec<String>) -> Result<Vec<String>, WikiError> {
        if !tags.iter().any(|tag| tag.starts_with('#')) {
            return Ok(tags);
        }
        let known = self.tags().await?;
        for tag in &mut tags {
            if !known.iter().any(|known| known.tag == *tag) {
                *tag = bare_tag(tag).to_owned();
            }
        }
        let mut seen = BTreeSet::new();
        tags.retain(|tag| seen.insert(tag.clone()));
        Ok(tags)
    }

    /// All tags in alphabetical order, each with the number of pages that the key may see. On a
    /// large wiki that counts the list of pages of the last minute, brought up to date by one look
    /// at the newest; else it is one request.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn tags(&self) -> Result<Vec<TagUsage>, WikiError> {
        let kept = self.kept_pages().await;
        let keyed = self.keyed();
        let titles = keyed.tag_titles.lock().await.clone();
        let titles = titles.filter(|titles| titles.listed.elapsed() < TITLES_LIFE);
        if let (Some(kept), Some(titles)) = (kept, titles)
            && !kept.is_short()
        {
            let pages = self.pages_as_of(Instant::now()).await?;
            return Ok(counted(&titles, &pages));
        }
        let (titles, pages) = self.titles_and_pages().await?;
        Ok(counted(&titles, &self.seen_of(pages)))
    }

    /// Both as they are; concurrent callers share one request.
    async fn titles_and_pages(&self) -> Result<(TagTitles, Arc<AllPages>), WikiError> {
        let (keyed, asked) = (self.keyed(), Instant::now());
        let _turn = self.turn_to_list().await?;
        let titles = keyed.tag_titles.lock().await.clone();
        let titles = titles.filter(|titles| titles.listed >= asked);
        if let (Some(titles), Some(pages)) = (titles, self.listed_since(asked).await) {
            return Ok((titles, pages));
        }
        let now = Instant::now();
        let query = ListQuery::newest_first();
        let listing = list::variables(&query, None);
        let (tags, pages) = self
            .pair::<PageTags, PageList>(page_tags::Variables, listing)
            .await?;
        // It holds for the key, not for one operation of the two.
        keyed.learn(&tags);
        let tags = tags.map_err(|error| self.explain(error))?;
        let tags = tags.pages.map(|pages| pages.tags).unwrap_or_default();
        let titles = tags.into_iter().flatten().filter_map(|tag| {
            let title = tag.title.filter(|title| *title != tag.tag)?;
            Some((tag.tag, title))
        });
        let titles = TagTitles {
            listed: now,
            titles: Arc::new(titles.collect()),
        };
        let pages = pages.map_err(|error| self.explain(error))?;
        let pages = self
            .keep_whole(&keyed, list::listed(pages, &query), now)
            .await;
        *keyed.tag_titles.lock().await = Some(titles.clone());
        Ok((titles, pages))
    }

    /// The pages of some locales that link to a place, and where the page there links to if it
    /// is of one of them; in one request.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn links_within(
        &self,
        locales: &BTreeSet<&Locale>,
        locale: &Locale,
        path: &PagePath,
    ) -> Result<PageLinkLists, WikiError> {
        let place = format!("{locale}/{path}");
        let mut links = PageLinkLists::default();
        for page in self.linking_rows(locales).await? {
            let mut targets = page.links.into_iter().flatten();
            if page.path == place {
                links.from.extend(targets.filter(|link| *link != place));
            } else if targets.any(|link| link == place) {
                let own = page.path.split_once('/').map(|(_, path)| path);
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

/// The tags of some pages in alphabetical order, each with how many of them have it. The wiki lists
/// no tag without pages (W17).
fn counted(titles: &TagTitles, pages: &AllPages) -> Vec<TagUsage> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for tag in pages.iter().filter_map(|page| page.tags.as_ref()).flatten() {
        *counts.entry(tag).or_default() += 1;
    }
    let tags_of_pages = pages.iter().filter_map(|page| page.tags.as_ref());
    let branches = branches(tags_of_pages.map(|tags| tags.iter()));
    let tag = |(tag, pages): (&str, i64)| TagUsage {
        tag: tag.to_owned(),
        title: titles.titles.get(tag).cloned(),
        branch: branches.get(tag).copied().unwrap_or(pages),
        pages,
    };
    counts.into_iter().map(tag).collect()
}
